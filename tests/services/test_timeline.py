"""The timeline of an answer agrees with its figures to the microsecond, and says what nobody knows of it."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import pytest

from app.core.chat import PromptSpan
from app.core.events import PromptReady, Tokens
from app.core.metrics import Metrics
from app.services.timeline import Timeline
from app.services.timeline_values import AnswerTimeline, Pause
from tests.desk import Desk
from tests.fake_engine import MILLISECOND_NS, metrics
from tests.probability.recorded import drawn
from tests.services import timed_answers
from tests.services.lanes import PROMPT
from tests.services.recorded_answers import SEED, answered
from tests.services.recorded_lanes import BLOCK, OPEN, blocks_of, load, some_rows, text_of
from tests.services.timed_answers import (
    CHUNKS_US,
    FIRST_US,
    FROM_CACHE,
    GAPS_US,
    QUEUE_US,
    SAMPLING_US,
    TEMPLATE_US,
    TOKENS_US,
    US,
    ask,
    begin,
    figures,
    finish,
    whole_answer,
    write,
)

USUAL = msgspec.structs.replace(OPEN, seed=None)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "home", monkeypatch)
    made.program.conversations.start()
    load(made, model)
    made.program.inspecting.watch(True)
    yield made
    made.program.stop()


def service(desk: Desk) -> Timeline:
    return desk.program.views.timeline


def line(desk: Desk) -> AnswerTimeline:
    desk.until(lambda: not desk.program.inspecting.is_busy)
    timeline = service(desk).timeline
    assert timeline is not None
    return timeline


def lengths(timeline: AnswerTimeline, kind: str) -> list[int]:
    return [part.ns for part in timeline.parts if part.kind == kind]


def steps(timeline: AnswerTimeline) -> list[int]:
    return [after - before for before, after in pairwise(timeline.drawn_ns)]


def write_part(desk: Desk, ids: list[int], block: bytes, first: int) -> None:
    """Let the tokens of one part of an answer follow, 13 ms apart."""
    request, count = desk.engine.question.request, len(ids)
    first_ns, last_ns = 213 * MILLISECOND_NS, (200 + 13 * count) * MILLISECOND_NS
    data = array("i", ids).tobytes()
    desk.engine.say(Tokens(request, first, count, data, text_of(ids), block, 50, last_ns, first_ns))
    desk.settle()


def part_figures(tokens: int) -> Metrics:
    return msgspec.structs.replace(metrics(tokens), decode_tokens_per_s=1e3 / 13)


def restarted(desk: Desk) -> None:
    """Forget what was seen of answers, as a later start of the program has never seen it."""
    service(desk)._kept.clear()
    service(desk)._look()


def test_the_parts_are_those_of_the_figures_and_add_up_to_the_first_text(desk: Desk) -> None:
    turn = whole_answer(desk)
    assert turn.finished is not None
    timeline, parts = line(desk), turn.finished.metrics.ttft_parts_ms
    assert parts.save is not None
    saved = lengths(timeline, "save")
    assert saved == [round(parts.save * 1e6)], "the store was asked before the engine"
    assert lengths(timeline, "queue") == [pytest.approx(parts.queue * 1e6, abs=US)]
    assert lengths(timeline, "template") == [pytest.approx(TEMPLATE_US * US, abs=2)]
    assert lengths(timeline, "tokenise") == [pytest.approx((TOKENS_US - TEMPLATE_US) * US, abs=2)]
    assert lengths(timeline, "prefill") == pytest.approx([chunk * US for chunk in CHUNKS_US], abs=US)
    assert lengths(timeline, "first_sample") == [pytest.approx(FIRST_US * US, abs=2)]
    before = [part for part in timeline.parts if part.kind not in ("decode", "paint")]
    assert all(one.end_ns == other.start_ns for one, other in pairwise(before)), "one behind the other"
    assert before[-1].kind == "held_back"
    assert before[-1].end_ns == pytest.approx((turn.finished.metrics.ttft_ms or 0) * 1e6, abs=US)


def test_the_steps_are_those_between_the_first_token_and_the_last(desk: Desk) -> None:
    whole_answer(desk)
    timeline = line(desk)
    assert steps(timeline) == [gap * US for gap in GAPS_US]
    first = next(part for part in timeline.parts if part.kind == "first_sample")
    assert timeline.drawn_ns[0] == first.end_ns
    assert timeline.drawn_ns[-1] - timeline.drawn_ns[0] == sum(GAPS_US) * US
    assert timeline.gaps_ms == [gap / 1e3 for gap in GAPS_US]
    assert list(timeline.ordered_ms) == sorted(timeline.gaps_ms)
    assert timeline.sampling_ns == pytest.approx(SAMPLING_US * US / (len(GAPS_US) + 1))
    assert not timeline.pauses and timeline.diagnosis is not None


def test_each_chunk_of_the_prefill_says_which_tokens_were_read_in_it(desk: Desk) -> None:
    whole_answer(desk)
    chunks = [(part.first, part.end) for part in line(desk).parts if part.kind == "prefill"]
    assert chunks == [(FROM_CACHE, 76), (76, 140), (140, 141)]


def test_while_it_is_written_it_grows_with_what_the_engine_says(desk: Desk) -> None:
    ask(desk)
    assert line(desk).parts == () and line(desk).is_open
    begin(desk, chunks=CHUNKS_US[:1])
    assert [part.kind for part in line(desk).parts] == ["before", "prefill"]
    assert lengths(line(desk), "before") == [(QUEUE_US + TOKENS_US) * US]
    heard: list[bool] = []
    service(desk).changed.connect(lambda: heard.append(True))
    last_us = write(desk, QUEUE_US + TOKENS_US + CHUNKS_US[0] + FIRST_US, GAPS_US[:3])
    assert heard and steps(line(desk)) == [gap * US for gap in GAPS_US[:3]]
    assert lengths(line(desk), "first_sample") == [FIRST_US * US]
    write(desk, last_us + 20_000, (), first=4)
    assert steps(line(desk))[-1] == 20_000 * US, "the gap between two events counts"
    assert list(line(desk).ordered_ms) == sorted(line(desk).gaps_ms) and len(line(desk).ordered_ms) == 4
    assert set(line(desk).unknown) == {"template", "sampling"}


def test_time_for_which_it_was_held_is_left_out_and_marked(desk: Desk) -> None:
    ask(desk)
    read_us = begin(desk)
    last_us = write(desk, read_us + FIRST_US, GAPS_US[:2])
    desk.engine.hold()
    write(desk, last_us + 13_000, GAPS_US[3:], first=3, held_ns=8_000 * MILLISECOND_NS)
    assert line(desk).pauses == (Pause(3, 8_000 * MILLISECOND_NS),)
    finish(desk, figures())
    assert line(desk).pauses == (Pause(3, 8_000 * MILLISECOND_NS),)
    assert steps(line(desk)) == [gap * US for gap in (*GAPS_US[:2], 13_000, *GAPS_US[3:])]


def test_a_hold_that_stop_ends_is_held_time_behind_the_last_token(desk: Desk) -> None:
    ask(desk)
    last_us = write(desk, begin(desk) + FIRST_US, GAPS_US[:2])
    desk.engine.hold()
    desk.settle()
    assert line(desk).is_held
    write(desk, last_us + 13_000, (), first=3, held_ns=2_000 * MILLISECOND_NS)
    assert not line(desk).is_held
    desk.engine.hold()
    finish(desk, msgspec.structs.replace(figures(), sampled_tokens=4, held_ms=7_000.0))
    held = line(desk)
    assert held.pauses == (Pause(3, 2_000 * MILLISECOND_NS), Pause(4, 5_000 * MILLISECOND_NS))
    assert [held.is_behind(pause) for pause in held.pauses] == [False, True]
    assert held.timed_steps == held.steps == 3 and not held.lost_holds_ns


def test_of_a_hold_that_the_end_of_the_engine_ends_nobody_knows_how_long_it_was(desk: Desk) -> None:
    ask(desk)
    write(desk, begin(desk) + FIRST_US, GAPS_US[:2])
    desk.engine.hold()
    desk.engine.die(desk.engine.question.request)
    desk.settle()
    held = line(desk)
    assert (held.pauses, held.is_held, held.timed_steps) == ((Pause(3, None),), False, 2)


def test_one_token_has_no_steps_and_no_gaps(desk: Desk) -> None:
    ask(desk)
    read_us = begin(desk)
    write(desk, read_us + FIRST_US, ())
    finish(desk, figures(tokens=1))
    timeline = line(desk)
    assert timeline.steps == 0 and timeline.gaps_ms == [] and len(timeline.drawn_ns) == 1
    assert "steps" not in timeline.unknown and timeline.end_ns >= timeline.drawn_ns[0]


def test_an_answer_that_was_stopped_while_its_prompt_was_read_ends_with_that(desk: Desk) -> None:
    ask(desk)
    begin(desk, chunks=CHUNKS_US[:2])
    desk.program.chat.stop()
    of = figures(tokens=0, visible=False)
    whole = msgspec.structs.replace(of.ttft_parts_ms, prefill=sum(CHUNKS_US[:2]) / 1e3)
    finish(desk, msgspec.structs.replace(of, ttft_parts_ms=whole), reason="cancelled", text="")
    turn = desk.program.chat.turns[-1]
    assert turn.finished is not None and not turn.ids
    timeline = service(desk)._timeline_of(turn)
    assert [part.kind for part in timeline.parts] == ["save", "queue", "template", "tokenise", "prefill", "prefill"]
    assert not timeline.drawn_ns and timeline.sampling_ns is None and not timeline.unknown
    assert timeline.end_ns == (QUEUE_US + TOKENS_US + sum(CHUNKS_US[:2])) * US


def test_an_old_answer_has_its_parts_and_the_times_of_its_record(desk: Desk) -> None:
    turn, _lane = answered(desk, some_rows(20), USUAL)
    restarted(desk)
    timeline = line(desk)
    assert turn.finished is not None and "chunks" in timeline.unknown and "template" in timeline.unknown
    assert "steps" not in timeline.unknown
    assert lengths(timeline, "prefill") == [96 * MILLISECOND_NS], "one part: its chunks were not kept"
    assert steps(timeline) == pytest.approx([13 * MILLISECOND_NS] * 19, abs=10_000)
    first = next(part for part in timeline.parts if part.kind == "first_sample")
    assert timeline.drawn_ns[0] == first.end_ns


def test_holds_of_which_nobody_knows_the_place_any_more_are_still_told(desk: Desk) -> None:
    ask(desk)
    last_us = write(desk, begin(desk) + FIRST_US, GAPS_US[:2])
    desk.engine.hold()
    write(desk, last_us + 13_000, (), first=3, held_ns=2_000 * MILLISECOND_NS)
    finish(desk, msgspec.structs.replace(figures(), sampled_tokens=4, held_ms=2_000.0), reason="length")
    assert not line(desk).lost_holds_ns
    restarted(desk)
    assert not line(desk).pauses and line(desk).lost_holds_ns == 2_000 * MILLISECOND_NS
    desk.program.chat.go_on()
    desk.settle()
    asked = desk.engine.question
    ids = bytes(4 * timed_answers.PROMPT) + array("i", range(4)).tobytes()
    answer = PromptSpan(timed_answers.PROMPT, timed_answers.PROMPT + 4, "answer", 1)
    spans = (PromptSpan(0, timed_answers.PROMPT, "prompt", 0), answer)
    desk.engine.say(PromptReady(asked.request, ids, spans, FROM_CACHE, 0, seed=7))
    desk.engine.hold()
    desk.settle()
    assert line(desk).is_held
    desk.engine.write("b", held_ns=3_000 * MILLISECOND_NS)
    desk.settle()
    assert (line(desk).pauses, line(desk).lost_holds_ns) == (
        (Pause(4, 3_000 * MILLISECOND_NS),),
        2_000 * MILLISECOND_NS,
    )
    assert asked is desk.engine.question and not line(desk).is_held
    finish(desk, msgspec.structs.replace(metrics(1), held_ms=3_000.0), text="b")
    assert line(desk).lost_holds_ns == 5_000 * MILLISECOND_NS
    restarted(desk)
    assert line(desk).lost_holds_ns == 5_000 * MILLISECOND_NS


def test_while_the_record_is_read_nobody_says_that_there_is_none(desk: Desk) -> None:
    answered(desk, some_rows(20), USUAL)
    restarted(desk)
    desk.program.inspecting.watch(False)
    desk.program.inspecting.watch(True)
    timeline = service(desk).timeline
    assert desk.program.inspecting.is_busy and timeline is not None
    assert "reading" in timeline.unknown and "steps" not in timeline.unknown
    timeline = line(desk)
    assert timeline.steps == 19 and not {"reading", "steps"} & set(timeline.unknown)
    assert list(timeline.ordered_ms) == sorted(timeline.gaps_ms)


def test_an_old_answer_without_a_record_has_all_its_steps_as_one(desk: Desk) -> None:
    answered(desk, some_rows(20), USUAL, "off")
    restarted(desk)
    timeline = line(desk)
    decode = [part for part in timeline.parts if part.kind == "decode"]
    assert "steps" in timeline.unknown and timeline.drawn_ns == ()
    assert [part.ns for part in decode] == [pytest.approx(19 / 77.6 * 1e9, abs=US)]
    assert timeline.end_ns == decode[0].end_ns and timeline.gaps_ms == []


def test_an_answer_that_was_interrupted_shows_what_was_seen_of_it(desk: Desk) -> None:
    ask(desk)
    read_us = begin(desk)
    write(desk, read_us + FIRST_US, GAPS_US[:3])
    desk.engine.die(desk.engine.question.request)
    desk.settle()
    timeline = line(desk)
    assert timeline.is_cut_off and not timeline.is_open
    assert steps(timeline) == [gap * US for gap in GAPS_US[:3]]
    restarted(desk)
    assert "parts" in line(desk).unknown and not line(desk).parts


def test_another_answer_that_is_chosen_has_its_own_times(desk: Desk) -> None:
    first = whole_answer(desk)
    ask(desk, "And the sea?")
    read_us = begin(desk)
    write(desk, read_us + FIRST_US, GAPS_US[:2])
    assert line(desk).is_open and line(desk).steps == 2
    desk.program.inspecting.open(first)
    assert line(desk).message == first.message and line(desk).steps == len(GAPS_US)
    finish(desk, figures(tokens=3))
    assert line(desk).message == first.message


def test_an_answer_that_goes_on_has_no_time_between_its_parts(desk: Desk) -> None:
    rows = some_rows(20)
    lane = drawn(rows, USUAL, SEED, np.arange(PROMPT, dtype=np.int32))
    blocks = blocks_of(rows, lane)
    ids = lane.tokens.tolist()
    assert desk.program.chat.send("Why?")
    desk.settle()
    desk.engine.prompt(PROMPT, seed=SEED)
    write_part(desk, ids[:BLOCK], blocks[0], 0)
    finish(desk, part_figures(BLOCK), reason="length", text=text_of(ids[:BLOCK]), tokens=ids[:BLOCK])
    assert steps(line(desk)) == [13 * MILLISECOND_NS] * (BLOCK - 1)
    desk.program.chat.go_on()
    desk.settle()
    desk.engine.prompt(PROMPT, seed=SEED, answer=tuple(ids[:BLOCK]))
    write_part(desk, ids[BLOCK : 2 * BLOCK], blocks[1], 0)
    finish(desk, part_figures(BLOCK), text=text_of(ids[BLOCK : 2 * BLOCK]), tokens=ids[BLOCK : 2 * BLOCK])
    whole = line(desk)
    assert whole.pauses == (Pause(BLOCK, None),) and len(whole.drawn_ns) == 2 * BLOCK
    assert whole.drawn_ns[BLOCK] == whole.drawn_ns[BLOCK - 1], "nobody says how long nothing happened"
    assert len(whole.gaps_ms) == 2 * BLOCK - 2
