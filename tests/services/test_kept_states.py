"""Where the states of chats may be kept, and when what is kept goes: with the setting, the chat, and the budget."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.commands import DropState
from app.core.devices import MainMemory
from app.core.kept_state import StateKept, StatePlace
from app.core.model import ModelRef
from app.core.words import translate
from app.services.kept_states import GIGABYTE
from app.system.state_folder import StatesLook
from tests.desk import Desk
from tests.ggufs import write_tiny_llama

MODEL = ModelRef(10, "abc")


@pytest.fixture
def desk(desk: Desk, tmp_path: Path) -> Desk:
    """A program with a model."""
    desk.program.conversations.start()
    desk.program.kept_states.start(desk.program.chat.deleted)
    desk.load(write_tiny_llama(tmp_path / "model.gguf"))
    return desk


def ask(desk: Desk, text: str) -> StatePlace | None:
    """Ask something; returns where the engine is told to keep the chat."""
    assert desk.program.chat.send(text)
    desk.settle()
    place = desk.engine.question.kept
    desk.answer("Yes.")
    return place


def kept(place: StatePlace | None, size: int) -> Path:
    assert place is not None
    path = Path(place.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(size))
    return path


def looked(desk: Desk) -> StatesLook:
    """What a new look finds."""
    found: list[StatesLook | None] = []
    states = desk.program.kept_states
    disconnect = states.changed.connect(lambda: found.append(states.look))
    states.refresh()
    desk.until(lambda: found)
    disconnect()
    assert states.look is not None
    return states.look


def test_nothing_is_kept_unless_people_turn_it_on(desk: Desk) -> None:
    assert ask(desk, "Hello?") is None
    desk.program.settings.change(kept_states_gb=2)
    place = ask(desk, "Hello?")
    assert place is not None
    assert place.model == desk.program.session.ref.identity  # type: ignore[union-attr]
    assert Path(place.path).name.startswith(f"{desk.program.chat.conversation_id}-")
    assert 0 < place.most_bytes <= 2 * GIGABYTE


@pytest.mark.parametrize(("available", "most", "lacks"), [(3, 1.5, True), (4, 2, False), (9, 2, False)])
def test_a_state_may_take_half_of_the_free_memory_and_the_budget_at_most(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, available: int, most: float, lacks: bool
) -> None:
    desk.program.settings.change(kept_states_gb=2)
    memory = MainMemory(16 * GIGABYTE, available * GIGABYTE, 16 * GIGABYTE)
    monkeypatch.setattr(desk.program.kept_states, "_memory", lambda: memory)
    place = desk.program.kept_states.place(1, MODEL)
    assert place is not None
    assert (place.most_bytes, place.lacks_memory) == (most * GIGABYTE, lacks)


def test_a_prompt_of_no_chat_has_no_place(desk: Desk) -> None:
    desk.program.settings.change(kept_states_gb=2)
    assert desk.program.kept_states.place(None, MODEL) is None
    assert desk.program.kept_states.place(1, None) is None


def test_what_is_turned_off_goes_at_once(desk: Desk) -> None:
    desk.program.settings.change(kept_states_gb=2)
    path = kept(ask(desk, "Hello?"), 100)
    assert looked(desk) == StatesLook(1, 100)
    desk.program.settings.change(kept_states_gb=0)
    desk.program.kept_states.take_gigabytes()
    desk.until(lambda: desk.program.kept_states.look == StatesLook(0, 0))
    assert not path.exists()
    assert [drop.name_begins for drop in desk.engine.all(DropState)] == [""]


def test_what_was_left_when_it_was_turned_off_goes_with_the_next_start(desk: Desk) -> None:
    desk.program.settings.change(kept_states_gb=2)
    left = kept(desk.program.kept_states.place(7, MODEL), 100)
    assert looked(desk) == StatesLook(1, 100)
    desk.program.settings.change(kept_states_gb=0)
    desk.program.kept_states.start(desk.program.chat.deleted)
    desk.until(lambda: not left.exists())


def test_what_the_engine_wrote_after_it_was_turned_off_goes_too(desk: Desk) -> None:
    desk.program.settings.change(kept_states_gb=2)
    path = kept(ask(desk, "Hello?"), 100)
    desk.program.settings.change(kept_states_gb=0)
    desk.engine.say(StateKept(str(path), 80, 100))
    desk.until(lambda: not path.exists())


def test_a_chat_that_is_deleted_takes_its_state_along(desk: Desk) -> None:
    desk.program.settings.change(kept_states_gb=2)
    path = kept(ask(desk, "Hello?"), 100)
    chat = desk.program.chat.conversation_id
    other = kept(desk.program.kept_states.place(chat + 1, MODEL), 100)
    desk.program.conversations.delete(chat)
    desk.until(lambda: not path.exists())
    assert other.exists()
    assert desk.engine.all(DropState)[-1].name_begins == f"{chat}-"


def test_a_state_that_could_not_be_written_is_told_once(desk: Desk) -> None:
    desk.program.settings.change(kept_states_gb=2)
    problem = translate("Engine", "It could not be kept.")
    desk.engine.say(StateKept("x", 80, 0, problem))
    desk.settle()
    assert desk.told == "It could not be kept."
    desk.program.notices.dismiss()
    desk.engine.say(StateKept("x", 80, 0, problem))
    desk.settle()
    assert desk.program.notices.latest is None
