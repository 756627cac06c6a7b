"""All that the page of the loop shows is of one moment: a step that is told later than its tokens takes all with it."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.chat import PromptSpan
from app.core.events import PrefillProgress, PromptReady, Step, Tokens
from app.gui.inside.loop.faces import face_of
from app.gui.inside.loop.memory_words import kept_words
from app.gui.inside.loop.number_words import number
from app.gui.inside.loop.place_row import place_words
from app.gui.inside.loop.time_words import sentence
from app.services.loop_example import example
from app.services.loop_snapshot import LoopSnapshot, snapshot_of
from app.services.timeline_values import AnswerTimeline, Pause, TimePart
from app.services.units import count
from tests.desk import Desk
from tests.fake_engine import CONTEXT
from tests.ggufs import write_tiny_llama

MS = 1_000_000
TOKEN_BYTES = 23_040
"""What the model that the fake engine tells of adds for a token."""


class Told(NamedTuple):
    """One event: so many more tokens, each so many ms after the one before, and how far the step lags behind."""

    gaps_ms: tuple[int, ...]
    lag: int | None
    """None where no step is told with it."""
    held_after: bool


TOLD = st.builds(
    Told,
    st.lists(st.integers(1, 900), min_size=1, max_size=5).map(tuple),
    st.none() | st.integers(0, 4),
    st.booleans(),
)


class Run:
    """A program whose engine tells a run of which everything is known at every step."""

    def __init__(self, desk: Desk, prompt: int, cached: int) -> None:
        self.desk, self.prompt, self.drawn_ns = desk, prompt, list[int]()
        desk.program.conversations.new()
        desk.settle()
        assert desk.program.chat.send("Why?")
        desk.settle()
        question = desk.engine.question
        self.request, self.sent_ns = question.request, question.sent_ns
        self.at_ns = self.sent_ns + 5 * MS
        ids = array("i", range(prompt)).tobytes()
        desk.engine.say(
            PromptReady(self.request, ids, (PromptSpan(0, prompt, "prompt", 0),), cached, self.at_ns, seed=7)
        )
        self.at_ns += 60 * MS
        desk.engine.say(PrefillProgress(self.request, prompt, prompt, cached, self.at_ns))

    def tell(self, told: Told) -> None:
        """Let the engine tell of more tokens, and of a step that may be an earlier one."""
        first = len(self.drawn_ns)
        for gap in told.gaps_ms:
            self.at_ns += gap * MS
            self.drawn_ns.append(self.at_ns)
        written, new = len(self.drawn_ns), len(told.gaps_ms)
        self.desk.engine.say(
            Tokens(
                request=self.request,
                first=first,
                count=new,
                ids=array("i", range(first, written)).tobytes(),
                text="w" * new,
                record=b"",
                cells_used=self.prompt + written - 1,
                last_ns=self.drawn_ns[-1],
                first_ns=self.drawn_ns[first],
                gaps=array("I", [gap * 1000 for gap in told.gaps_ms[1:]]).tobytes(),
            )
        )
        if told.lag is not None:
            row = array("f", [-0.5 * token for token in range(8)])
            total = math.log(sum(map(math.exp, row)))
            ids = array("i", range(8)).tobytes()
            place = max(written - 1 - told.lag, 0)
            self.desk.engine.say(Step(self.request, place, ids, row.tobytes(), total))
        self.desk.settle()

    @property
    def shown(self) -> LoopSnapshot:
        """What the page would be painted from."""
        views = self.desk.program.views
        return snapshot_of(views.loop.values, views.timeline.timeline, views.loop.token)


def agrees(run: Run) -> None:
    """Check every figure of the picture against the run at the token that the picture says."""
    shown = run.shown
    values, line, moment = shown.values, shown.line, shown.values.written
    assert line is not None and 0 < moment <= len(run.drawn_ns)
    used = run.prompt + moment - (values.phase != "held")
    assert (values.cells_used, values.cache_bytes) == (used, used * TOKEN_BYTES)
    since = [each - run.sent_ns for each in run.drawn_ns[:moment]]
    assert list(line.drawn_ns) == since
    if values.step is not None:
        assert values.step.place == (moment - 1 if values.step.is_drawn else moment)
        assert shown.token == values.step.place
    mean_ms = (since[-1] - since[0]) / (moment - 1) / MS if moment > 1 else None
    assert values.tokens_per_s == (pytest.approx(1e3 / mean_ms) if mean_ms else None)
    assert face_of("answer", values).figure == (f"{count(moment)} tokens" if moment > 1 else "1 token")
    assert f" {count(moment)} token" in number("answer", values)
    assert face_of("kv", values).figure == f"{count(used)} of {count(CONTEXT)}"
    assert kept_words(values).startswith(f"{count(used)} of ")
    assert place_words(moment, moment).endswith(f" of {count(moment)}")
    after = re.search(r"Each of the ([\d,]+) after", sentence(line))
    assert (after is not None and after[1] == count(moment - 1)) if moment > 2 else after is None


@pytest.fixture(scope="module")
def followed() -> Iterator[Desk]:
    """Return a program that people look at, with a model."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        desk = Desk(Path(folder) / "home", patch)
        desk.program.conversations.start()
        desk.load(write_tiny_llama(Path(folder) / "tiny.F16.gguf"))
        desk.program.inspecting.watch(True)
        desk.program.views.loop.watch(True)
        yield desk
        desk.program.stop()


@settings(max_examples=25)
@given(prompt=st.integers(2, 60), cached=st.integers(0, 1), told=st.lists(TOLD, min_size=1, max_size=6))
def test_every_card_is_of_the_same_moment(followed: Desk, prompt: int, cached: int, told: list[Told]) -> None:
    run = Run(followed, prompt, cached)
    try:
        _goes_through(run, told)
    finally:  # the next one begins anew, whatever was found
        followed.engine.fail("engine")
        followed.settle()


def _goes_through(run: Run, told: list[Told]) -> None:
    engine = run.desk.engine
    for each in told:
        run.tell(each)
        agrees(run)
        if each.held_after:
            engine._count[run.request] = len(run.drawn_ns)
            engine.hold()
            run.desk.settle()
            assert run.shown.values.phase == "held" and run.shown.values.written == len(run.drawn_ns)
            agrees(run)


def test_the_time_of_an_answer_that_is_over_is_all_of_it() -> None:
    line = AnswerTimeline(1, (TimePart("first_sample", 0, 5),), drawn_ns=[5, 15, 25])
    over = msgspec.structs.replace(example(), phase="done", written=2)
    assert snapshot_of(over, line).line is line and snapshot_of(over, None).line is None


def test_what_was_given_and_what_pauses_came_later_is_left_out() -> None:
    pauses = (Pause(12, 7), Pause(13, 9))
    line = AnswerTimeline(
        1, (), 10, [10 * MS, 20 * MS, 40 * MS, 90 * MS], pauses, is_open=True, ordered_ms=(10.0, 20.0, 50.0)
    )
    shown = snapshot_of(msgspec.structs.replace(example(), written=13), line)
    assert shown.line is not None and list(shown.line.drawn_ns) == [10 * MS, 20 * MS, 40 * MS]
    assert shown.line.pauses == pauses[:1] and shown.line.mean_gap_ms == 15.0
    assert shown.values.tokens_per_s == pytest.approx(1e3 / 15)
    assert snapshot_of(msgspec.structs.replace(example(), written=14), line).line is line


def test_what_is_told_of_a_part_of_the_tokens_says_of_how_many(known_line: AnswerTimeline) -> None:
    values = msgspec.structs.replace(example(), written=20, tokens_per_s=3.0)
    shown = snapshot_of(values, known_line)
    assert shown.line is known_line and shown.values.tokens_per_s == pytest.approx(100), "as the ruler has it"
    assert sentence(known_line, 20).endswith("Of the 9 after it 2 have a known time: 10.0 ms on average.")
    assert sentence(known_line, 13).endswith("Each of the 2 after it: 10.0 ms on average.")
    assert sentence(known_line).endswith("Each of the 2 after it: 10.0 ms on average.")


@pytest.fixture
def known_line() -> AnswerTimeline:
    """Return the time of three tokens of an answer of which ten were given."""
    return AnswerTimeline(1, (), 10, [10 * MS, 20 * MS, 30 * MS], is_open=True)
