"""What is written and not sent, as the services know it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.draft import NEW_CHAT, Draft
from app.core.store_commands import KeepDraft, StoreCommand
from app.services.drafts import Drafts, place_of
from tests.desk import Desk
from tests.services.asking import say


@pytest.fixture
def drafts(desk: Desk) -> Drafts:
    desk.program.conversations.start()
    return desk.program.chat.drafts


@pytest.fixture
def kept(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> list[Draft]:
    """Return the drafts that go to the store."""
    sent: list[Draft] = []
    send = desk.store.send

    def note(command: StoreCommand) -> None:
        if isinstance(command, KeepDraft):
            sent.append(command.draft)
        send(command)

    monkeypatch.setattr(desk.store, "send", note)
    return sent


def test_a_draft_that_says_the_same_is_not_written_again(drafts: Drafts, kept: list[Draft]) -> None:
    drafts.write(Draft(NEW_CHAT))
    for text in ("a", "a", "b", ""):
        drafts.write(Draft(NEW_CHAT, text))
    assert [draft.text for draft in kept] == ["a", "b", ""]
    assert drafts.of(NEW_CHAT).is_empty


def test_a_draft_comes_with_its_conversation(
    desk: Desk, drafts: Drafts, again: Callable[[], Desk], model: Path
) -> None:
    desk.load(model)
    say(desk, "One", "1")
    place = place_of(desk.program.chat.shown)
    drafts.write(Draft(place, "half", ("pasted",)))
    drafts.write(Draft(NEW_CHAT, "new"))
    later = again().program.chat.drafts
    assert later.of(place) == Draft(place, "half", ("pasted",))
    assert later.of(NEW_CHAT) == Draft(NEW_CHAT, "new")


def test_what_was_written_since_is_not_replaced_by_what_was_kept(drafts: Drafts) -> None:
    drafts.write(Draft(5, "now"))
    drafts.take(Draft(5, "earlier"))
    drafts.take(None)
    assert drafts.of(5).text == "now"
