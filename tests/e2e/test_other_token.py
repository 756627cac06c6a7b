"""An answer goes on by another token, through every part of the program and with the starter model."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from app.core.events import Held
from app.services.inspection import FORCED, NO_DRAW, InspectedAnswer, TokenInsight
from app.services.other_token import beginning_of
from app.services.turns import Turn
from tests.e2e.inside import Inside

SEEDED = {"temperature": 0.8, "top_k": 40, "top_p": 1.0, "min_p": 0.0, "seed": 11, "max_tokens": 14}
NEAR = 0.02
"""In log-probability: so close two candidates are the same in runs of other batches."""
CUT = 5


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, starter_model: Path) -> Iterator[Inside]:
    with Inside(tmp_path / "home", monkeypatch, scripted=False) as made:
        made.program.conversations.start()
        made.load(starter_model)
        made.program.sampling.change(**SEEDED)
        made.program.inspecting.watch(True)
        yield made


def ids_of(turn: Turn) -> list[int]:
    return array("i", turn.ids).tolist()


def known(inside: Inside) -> InspectedAnswer:
    inspecting = inside.program.inspecting
    inside.until(lambda: not inspecting.is_busy)
    assert inspecting.answer is not None
    return inspecting.answer


def insight_of(inside: Inside, token: int) -> TokenInsight:
    inspecting = inside.program.inspecting
    known(inside)
    inspecting.look_at(token)
    inside.until(lambda: inspecting.insight is not None and inspecting.insight.index == token)
    assert inspecting.insight is not None
    return inspecting.insight


def another(inside: Inside, place: int) -> int:
    """Return the likeliest token that did not come at a place."""
    insight = insight_of(inside, place)
    return next(each.token for each in insight.alternatives if not each.is_taken)


def goes_on(inside: Inside, turn: Turn, place: int, token: int) -> Turn:
    """Let an answer go on by another token and wait for its end."""
    known(inside)
    assert inside.program.other_token.refusal(turn) is None
    assert inside.program.other_token.go_on(turn, place, token)
    inside.until(lambda: not inside.program.chat.busy)
    assert inside.answer is not turn
    return inside.answer


class Run(NamedTuple):
    """What one run wrote, with what was recorded of each step."""

    ids: list[int]
    rows: tuple[dict[int, float | None], ...]
    """Of each step: the probability of each candidate after the chain, None where the record does not prove it."""


def run_of(inside: Inside, turn: Turn) -> Run:
    """Return an answer with its record; it stays the one that is looked at."""
    inside.program.inspecting.open(turn)
    ids = ids_of(turn)
    rows = (insight_of(inside, place).alternatives for place in range(len(ids)))
    return Run(ids, tuple({each.token: each.after for each in row} for row in rows))


def is_the_same(one: Run, other: Run) -> bool:
    """Return whether two runs wrote the same as far as both go: the same tokens, or a draw between two as likely ones.

    That is so where at the first token that differs the two have nearly the same log-probability in both runs. A
    candidate that is not in the record, or of which it proves nothing, is as likely as no other.
    """
    common = min(len(one.ids), len(other.ids))
    if one.ids[:common] == other.ids[:common]:
        return True
    place = next(n for n, (first, second) in enumerate(zip(one.ids, other.ids, strict=False)) if first != second)
    gaps = [_apart(run.rows[place], one.ids[place], other.ids[place]) for run in (one, other)]
    print(f"parted at token {place}: {gaps}")
    return max(gaps) <= NEAR


def _apart(row: dict[int, float | None], first: int, second: int) -> float:
    """Return how far apart two candidates of a step are in log-probability."""
    likely = [row.get(token) for token in (first, second)]
    known = [math.log(each) for each in likely if each]
    return abs(known[0] - known[1]) if len(known) == len(likely) else math.inf


def fresh(inside: Inside, question: str, forced: list[int]) -> Turn:
    """Ask in a new chat and choose the first tokens one by one."""
    steps = inside.program.step_mode
    holds: list[Held] = []
    inside.program.session.answer_told.connect(lambda event: holds.append(event) if isinstance(event, Held) else None)
    inside.program.conversations.new()
    steps.pause()
    inside.send(question)
    for place, token in enumerate(forced):
        inside.until(partial(_is_held, holds, place))
        steps.choose(holds[-1].request, place, token)
    inside.until(partial(_is_held, holds, len(forced)))
    steps.run()
    inside.until(lambda: not inside.program.chat.busy)
    steps.end()
    return inside.answer


def test_it_is_the_answer_that_a_fresh_run_with_these_tokens_gives(inside: Inside) -> None:
    first = inside.ask("Why is the sky blue?")
    token = another(inside, CUT)
    branch = goes_on(inside, first, CUT, token)
    known(inside)
    written = ids_of(branch)
    one = run_of(inside, branch)
    assert written[: CUT + 1] == [*ids_of(first)[:CUT], token]
    assert branch.seed == first.seed and branch.text.startswith(first.text[:4])
    again = fresh(inside, "Why is the sky blue?", written[: CUT + 1])
    assert again.text and is_the_same(run_of(inside, again), one)


def test_the_record_marks_the_chosen_token_and_keeps_what_was_recorded_before_it(inside: Inside) -> None:
    first = inside.ask("Why is the sky blue?")
    before = known(inside)
    token = another(inside, CUT)
    branch = goes_on(inside, first, CUT, token)
    after = known(inside)
    assert after.message == branch.message and after.recorded == len(after) == len(ids_of(branch))
    assert list(after.flags[: CUT + 2]) == [0] * CUT + [FORCED | NO_DRAW, 0]
    assert after.log_probabilities[:CUT] == before.log_probabilities[:CUT]
    assert after.entropies[: CUT + 1] == pytest.approx(before.entropies[: CUT + 1], abs=NEAR)
    assert branch.chosen == 1 and branch.finished is not None
    assert [change.token for change in branch.finished.settings] == [0]


def test_no_later_draw_is_another_one(inside: Inside) -> None:
    first = inside.ask("Why is the sky blue?")
    known(inside)
    one = run_of(inside, first)
    branch = goes_on(inside, first, CUT, ids_of(first)[CUT])
    assert is_the_same(one, run_of(inside, branch))


@pytest.mark.parametrize(
    ("in_one", "in_other", "is_same"),
    [
        ({5: 0.300, 6: 0.301}, {5: 0.301, 6: 0.300}, True),
        ({5: 0.300, 6: 0.301}, {5: 0.310, 6: 0.290}, False),
        ({5: 0.010, 6: 0.013}, {5: 0.010, 6: 0.010}, False),
        ({5: None, 6: None}, {5: None, 6: None}, False),
        ({5: 0.0, 6: 0.0}, {5: 0.001, 6: 0.001}, False),
        ({5: 0.3}, {5: 0.3, 6: 0.3}, False),
    ],
)
def test_runs_are_the_same_where_both_call_the_two_tokens_as_likely(
    in_one: dict[int, float | None], in_other: dict[int, float | None], *, is_same: bool
) -> None:
    first: dict[int, float | None] = {3: 1.0}
    assert is_the_same(Run([3, 5], (first, in_one)), Run([3, 6], (first, in_other))) == is_same


def test_the_cache_keeps_what_both_begin_with_and_the_kept_prompt_is_that_of_the_first(inside: Inside) -> None:
    first = inside.ask("Why is the sky blue?")
    known(inside)
    prompt = inside.program.inspecting.prompt
    branch = goes_on(inside, first, CUT, another(inside, CUT))
    known(inside)
    assert inside.program.inspecting.prompt is not None and prompt is not None
    assert inside.program.inspecting.prompt.ids == prompt.ids
    assert branch.finished is not None and branch.finished.metrics.prompt_tokens is not None
    assert branch.finished.metrics.prompt_tokens_from_cache == len(prompt.ids) + CUT - 1
    assert branch.behind == first.behind


def test_it_can_be_reproduced_and_is_there_after_a_restart(
    inside: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, starter_model: Path
) -> None:
    first = inside.ask("Why is the sky blue?")
    branch = goes_on(inside, first, CUT, another(inside, CUT))
    reproducing = inside.program.reproducing
    assert reproducing.begin(branch)
    inside.until(lambda: (found := reproducing.of(branch)) is not None and not found.is_open)
    found = reproducing.of(branch)
    assert found is not None and found.phase in ("same", "tie", "near")
    print(*(sentence.english() for sentence in found.sentences))
    before = known(inside)
    inside.program.stop()
    with Inside(tmp_path / "home", monkeypatch, scripted=False) as later:
        later.program.conversations.start()
        later.until(lambda: later.program.conversations.heads)
        later.program.conversations.open(later.program.conversations.heads[0].id)
        later.until(lambda: later.program.chat.turns)
        later.program.inspecting.watch(True)
        there = known(later)
        assert there == before and later.answer.chosen == 1
        assert later.program.other_token.refusal(later.answer) is not None, "its model is not loaded"
        later.load(starter_model)
        third = goes_on(later, later.answer, CUT + 2, another(later, CUT + 2))
        assert third.chosen == 2 and third.finished is not None and third.finished.settings[0].token == 0
        assert known(later).recorded == len(known(later)) and known(later).flags[: CUT + 3].count(0) == CUT + 1


def test_it_can_be_cut_within_a_character(inside: Inside) -> None:
    steps, vocabulary = inside.program.step_mode, inside.program.vocabulary
    inside.until(lambda: 0 < vocabulary.size == vocabulary.known)
    halves = [next(t for t in vocabulary.holding(byte) if vocabulary.piece(t) == byte) for byte in (b"\xc3", b"\xa9")]
    other = next(t for t in vocabulary.holding(b"\xa8") if vocabulary.piece(t) == b"\xa8")
    letter = next(t for t in vocabulary.holding(b"A") if vocabulary.piece(t) == b"A")
    turn = fresh(inside, "Write a letter.", [letter, *halves])
    assert turn.text.startswith("Aé") and not steps.is_one_by_one
    branch = goes_on(inside, turn, 2, other)
    assert branch.text.startswith("Aè") and ids_of(branch)[:3] == [letter, halves[0], other]
    assert known(inside).flags[:3] == (FORCED | NO_DRAW,) * 3 and branch.chosen == 3


def test_at_the_first_token_nothing_is_kept_but_the_prompt(inside: Inside) -> None:
    first = inside.ask("Why is the sky blue?")
    branch = goes_on(inside, first, 0, another(inside, 0))
    assert ids_of(branch)[0] != ids_of(first)[0]
    assert known(inside).flags[0] == FORCED | NO_DRAW and branch.chosen == 1


def test_where_the_beginning_was_not_recorded_it_becomes_given_words(inside: Inside) -> None:
    inside.program.settings.change(keep_record="off")
    first = inside.ask("Why is the sky blue?")
    answer = known(inside)
    inputs = inside.program.inspecting.inputs
    assert inputs is not None and beginning_of(first, inputs, answer, CUT).is_given
    inside.program.settings.change(keep_record="all")
    token = ids_of(first)[CUT] + 1
    branch = goes_on(inside, first, CUT, token)
    assert ids_of(branch)[: CUT + 1] == [*ids_of(first)[:CUT], token]
    after = known(inside)
    assert after.flags[CUT] == FORCED | NO_DRAW and after.log_probabilities[CUT - 1] is None
    assert branch.finished is not None and branch.finished.settings[0].token == CUT


def test_an_answer_that_goes_on_where_it_was_stopped_keeps_its_record_in_view(inside: Inside) -> None:
    first = inside.ask("Why is the sky blue?")
    length = len(ids_of(first))
    assert first.can_go_on and known(inside).recorded == length
    seen: list[tuple[int, int]] = []
    inspecting = inside.program.inspecting
    inspecting.changed.connect(
        lambda: seen.append((len(inspecting.answer), inspecting.answer.recorded)) if inspecting.answer else None
    )
    inside.program.sampling.change(max_tokens=24)
    inside.program.step_mode.set_speed(15.0)
    inside.program.chat.go_on()
    inside.until(lambda: not inside.program.chat.busy)
    assert known(inside).recorded == len(known(inside)) > length
    assert any(length < count < len(known(inside)) for count, _recorded in seen), "it was followed"
    assert all(recorded >= length for _count, recorded in seen), seen


def test_it_is_refused_with_a_sentence_while_something_is_written(inside: Inside) -> None:
    first = inside.ask("Why is the sky blue?")
    known(inside)
    inside.program.conversations.new()
    inside.program.sampling.change(max_tokens=24)
    inside.send("And the sea?")
    refusal = inside.program.other_token.refusal(first)
    assert refusal is not None and "written at the moment" in refusal.english()
    inside.program.chat.stop()
    inside.until(partial(_is_free, inside))
    assert inside.program.other_token.refusal(first) is None


def _is_held(holds: list[Held], place: int) -> bool:
    return bool(holds) and holds[-1].token == place


def _is_free(inside: Inside) -> bool:
    return not inside.program.answers.runs
