"""The candidates of a step that a grammar cut before all else: exact where all that fits is at hand."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from app.core.events import GrammarMask
from app.core.grammar import Grammar
from app.services.next_token import CandidatesView
from tests.made_up_steps import Row, prompt_of, row_of, step_of, tokens_of
from tests.onlooker import Onlooker
from tests.services.test_next_token import SIZE, desk, tell

__all__ = ["desk"]


def masked(desk: Onlooker, row: Row, fits: list[int], *, whole: bool) -> CandidatesView:
    """Show a step of an answer whose grammar leaves these tokens."""
    bits = np.zeros(SIZE, np.bool_)
    bits[fits] = True
    mask = GrammarMask(SIZE - len(fits), np.packbits(bits, bitorder="little").tobytes())
    desk.session.sent.emit(5, 0)
    desk.session.answer_told.emit(prompt_of(5, [1, 2, 3], 0, None))
    desk.session.answer_told.emit(tokens_of(5, 0, [fits[0]]))
    desk.session.answer_told.emit(msgspec.structs.replace(step_of(row, 5, 0, whole=whole), grammar=mask))
    view = desk.next_token.candidates()
    assert view is not None
    return view


@pytest.mark.parametrize("whole", [True, False])
def test_a_grammar_cuts_before_all_other_stages(desk: Onlooker, *, whole: bool) -> None:
    row = row_of(SIZE)
    order = np.argsort(-row)
    fits = order[[1, 4, 9]].tolist()
    desk.next_token.watch(on=True)
    desk.sampling.change(top_k=2)
    view = masked(desk, row, fits, whole=whole)
    assert (view.survivors, view.is_exact) == (2, True)
    assert [each.token for each in view.rows] == order[: len(view.rows)].tolist()
    cut_by = {each.token: each.cut_by for each in view.rows}
    assert [cut_by[token] for token in fits] == [None, None, "top_k"]
    assert {cut_by[token] for token in cut_by if token not in fits} == {"grammar"}
    first, second = (float(np.exp(row[token] - row[fits[0]])) for token in fits[:2])
    after = {each.token: each.after for each in view.rows}
    assert after[fits[0]] == pytest.approx(first / (first + second), abs=1e-5)
    raw = {each.token: each.raw for each in view.rows}
    exact = np.exp(row - row.max())
    assert raw[int(order[0])] == pytest.approx(float(exact.max() / exact.sum()), rel=1e-4)


def test_of_tokens_that_fit_and_are_not_at_hand_nothing_exact_is_said(desk: Onlooker) -> None:
    row = row_of(SIZE)
    order = np.argsort(-row)
    desk.next_token.watch(on=True)
    view = masked(desk, row, order[[2, 4000]].tolist(), whole=False)
    assert not view.is_exact
    assert view.doubt is not None
    assert masked(desk, row, order[[2, 4000]].tolist(), whole=True).is_exact
    nothing = masked(desk, row, [int(order[4000])], whole=False)
    assert {each.cut_by for each in nothing.rows if each.token != order[4000]} == {"grammar"}


def test_what_a_grammar_would_cut_of_an_answer_without_one_is_not_told(desk: Onlooker) -> None:
    desk.next_token.watch(on=True)
    tell(desk, row_of(SIZE))
    desk.sampling.change(grammar=Grammar("gbnf", 'root ::= "x"'))
    view = desk.next_token.candidates()
    assert view is not None
    assert not view.is_exact
    assert view.doubt is not None and "grammar" in view.doubt.english()


@pytest.mark.parametrize("whole", [True, False])
def test_of_a_grammar_that_was_not_counted_no_token_is_said_to_be_left_or_cut(desk: Onlooker, *, whole: bool) -> None:
    row = row_of(SIZE)
    desk.next_token.watch(on=True)
    desk.sampling.change(top_k=2)
    tell(desk, row)
    without = desk.next_token.candidates()
    assert without is not None and without.survivors == 2
    desk.session.answer_told.emit(msgspec.structs.replace(step_of(row, 5, 0, whole=whole), grammar=GrammarMask()))
    view = desk.next_token.candidates()
    assert view is not None
    assert (view.survivors, view.is_exact) == (None, False)
    assert view.doubt is not None and "was not counted, as that takes too long" in view.doubt.english()
    assert {(each.after, each.cut_by) for each in view.rows} == {(None, None)}
    assert [each.token for each in view.rows[:-1]] == [each.token for each in without.rows[: len(view.rows) - 1]]
    assert [each.raw for each in view.rows[:-1]] == pytest.approx([each.raw for each in without.rows][:-1])
