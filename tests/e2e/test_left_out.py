"""What is foretold of a full context is what happens: the real engine, chats of random sizes, and what is kept of them."""

from __future__ import annotations

import random
import sqlite3
from functools import partial
from pathlib import Path

import pytest

from app.bootstrap import Options, build
from app.core.commands import WhenFull
from app.core.events import Event, Failed, PromptReady
from app.services.open_conversation import prompt_turns
from app.services.program import Program
from app.services.wishes import Wish
from app.store.columns import unpack_indices
from app.store.opening import FILE_NAME
from tests.ggufs import write_tiny_llama
from tests.pumping import Pumped

CELLS = 512
QUESTIONS = 30


def words(chance: random.Random) -> str:
    """Return a question: mostly short, at times half as long as the context, seldom longer than it."""
    most = chance.choice((3, 10, 30, 30, 60, 120, 260))
    return " ".join(chance.choice(("why", "blue", "sky", "日本", "<|im_end|>", "42")) for _ in range(most))


def kept(home: Path) -> dict[int, tuple[int, ...]]:
    """Return which messages each answer was written without, as it is on disk."""
    connection = sqlite3.connect(f"file:{next(home.rglob(FILE_NAME))}?mode=ro", uri=True)
    rows = connection.execute("SELECT message, dropped FROM answer_prompt").fetchall()
    connection.close()
    return {answer: unpack_indices(gone) for answer, gone in rows}


def foretold(program: Program) -> tuple[int, ...]:
    """Return which messages (their places in the prompt) are foretold to be left out."""
    shown = program.chat.shown
    owners = prompt_turns(shown.head.system_prompt, shown.turns)
    gone = program.prompt_count.count.left_out
    return tuple(place for place, turn in enumerate(owners) if turn is not None and turn.number in gone)


def is_counted(program: Program, text: str) -> bool:
    count = program.prompt_count.count
    return count.message == text and not count.answering and (count.prompt is not None or count.refused)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_foretold_messages_are_those_that_the_answer_is_written_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("TOKENLIGHT_HOME", str(home))
    program, chance = build(Options(window=True)), random.Random(seed)
    told: list[Event] = []
    expected: dict[int, tuple[int, ...]] = {}
    pumped, refusals = Pumped(program), 0
    program.session.answer_told.connect(told.append)
    try:
        path = write_tiny_llama(tmp_path / "tiny.gguf", context=CELLS)
        program.session.use(Wish(path, {"context": CELLS, "threads": 1}))
        program.start(path)
        pumped.until(lambda: program.session.phase == "ready")
        program.settings.change(system_prompt=chance.choice(("", "Be brief.")))
        for number in range(QUESTIONS):
            policy: WhenFull = "stop" if number % 10 == 9 else "drop_oldest"
            program.settings.change(when_full=policy)
            program.sampling.change(max_tokens=chance.choice((1, 8, 40, 90)), seed=7)
            text = words(chance)
            program.prompt_count.set_draft(text)
            pumped.until(partial(is_counted, program, text))
            count, gone = program.prompt_count.count, foretold(program)
            program.chat.send(text)
            pumped.until(lambda: not program.chat.busy)
            refused = [event for event in told if isinstance(event, Failed)]
            assert bool(refused) is count.refused
            if refused:
                assert refused[-1].kind == "prompt_too_long"
                assert count.excess is None or count.excess > 0
                refusals += 1
            else:
                ready = next(event for event in told if isinstance(event, PromptReady))
                assert (len(ready.ids) // 4, ready.dropped) == (count.prompt, gone)
                expected[program.chat.turns[-1].message] = gone
            told.clear()
    finally:
        program.stop()
    assert kept(home) == expected
    assert sum(map(bool, expected.values())) > 5 and refusals > 0
