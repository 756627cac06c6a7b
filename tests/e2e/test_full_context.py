"""A chat that outgrows its context, on the real engine and through the services that the window uses."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.bootstrap import Options, build
from app.services.chat import Chat
from app.services.program import Program
from app.services.turns import Turn
from app.services.wishes import Wish
from tests.e2e.program import GUARD_SECONDS
from tests.ggufs import write_tiny_llama

CELLS = 256


class Running:
    """A program without a window, and what a pump would do with its events."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._woken = threading.Event()
        program.inbox.on_first(lambda _urgent: self._woken.set())

    @property
    def chat(self) -> Chat:
        return self.program.chat

    @property
    def told(self) -> str:
        latest = self.program.notices.latest
        return latest.sentence.english() if latest is not None else ""

    def until(self, is_so: Callable[[], object]) -> None:
        while not is_so():
            assert self._woken.wait(GUARD_SECONDS), "nothing happened any more"
            self._woken.clear()
            for event in self.program.inbox.drain():
                self.program.dispatch(event)

    def answered(self) -> Turn:
        """Wait until the answer has ended, and return the last turn."""
        self.until(lambda: not self.chat.busy)
        return self.chat.turns[-1]


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    monkeypatch.setenv("TOKENLIGHT_HOME", str(tmp_path / "home"))
    program = build(Options(window=True))
    made = Running(program)
    path = write_tiny_llama(tmp_path / "tiny.gguf", context=CELLS)
    program.session.use(Wish(path, {"context": CELLS, "threads": 1}))
    made.until(lambda: program.session.phase == "ready")
    program.sampling.use_preset("Greedy")
    yield made
    program.stop()


def test_a_full_context_is_a_clean_end_and_each_policy_says_how_it_goes_on(running: Running) -> None:
    chat, program = running.chat, running.program
    program.sampling.change(max_tokens=16)
    for number in range(3):
        chat.send(f"question {number}")
        assert running.answered().finished is not None
    program.sampling.change(max_tokens=0)
    chat.send("a long story")
    full = running.answered()
    assert full.finished is not None and full.finished.stop_reason == "context_full"
    kept = (full.text, full.ids)
    chat.answer_again()
    again = running.answered()
    assert (again.text, again.ids) == kept
    chat.go_on()
    turn = running.answered()
    assert (turn.text, turn.ids) == kept
    assert str(CELLS) in running.told and "Drop the oldest turns" in running.told

    drafts: list[str] = []
    chat.draft_returned.connect(drafts.append)
    chat.send("and another one")
    running.until(lambda: not chat.busy)
    assert drafts == ["and another one"]
    assert (chat.turns[-1].text, len(chat.turns)) == (kept[0], 8)

    program.settings.change(when_full="drop_oldest")
    chat.go_on()
    turn = running.answered()
    assert turn.text.startswith(kept[0]) and turn.ids.startswith(kept[1]) and len(turn.ids) > len(kept[1])
    assert turn.dropped >= 2 and turn.dropped % 2 == 0
    assert turn.finished is not None and turn.finished.ids == turn.ids
    # Behind another prompt it is a version of its own, and the one that filled the context is as it was.
    assert turn.finished.metrics.sampled_tokens == (len(turn.ids) - len(kept[1])) // 4
    (earlier, more) = chat.shown.versions(turn)[-2:]
    assert more is turn and (earlier.text, earlier.ids) == kept


def test_a_last_turn_that_fills_the_context_alone_says_that_it_cannot_go_on(running: Running) -> None:
    running.program.settings.change(when_full="drop_oldest")
    running.chat.send("a very long story")
    first = running.answered()
    assert first.finished is not None and first.finished.stop_reason == "context_full"
    kept = (first.text, first.ids, first.dropped)
    running.chat.go_on()
    turn = running.answered()
    assert (turn.text, turn.ids, turn.dropped) == kept
    assert f"{CELLS} tokens" in running.told and "cannot go on" in running.told
