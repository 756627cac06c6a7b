"""What a grammar cut is in no record, so nothing is claimed of a chain that has one but what needs no replay."""

from __future__ import annotations

from app.core.grammar import Grammar
from app.probability.replayed import what_if
from tests.probability.recorded import drawn
from tests.probability.test_divergence import parted, some_rows, with_changes

ONE, OTHER = (Grammar("gbnf", f'root ::= "{letter}"') for letter in "ab")


def test_another_grammar_parts_lanes_for_a_reason_that_is_not_known() -> None:
    for seed in range(12):
        rows = some_rows(seed)
        for one, other in ((None, ONE), (ONE, None), (ONE, OTHER)):
            for changes in ({}, {"temperature": 0.0}, {"top_k": 2}):
                settings = with_changes(grammar=one), with_changes(grammar=other, **changes)
                found = parted(*settings, (seed, seed + 50), rows)
                assert found is None or found.reason.kind == "unknown"


def test_of_one_grammar_the_draw_alone_is_known() -> None:
    kinds = set()
    for seed in range(12):
        rows = some_rows(seed)
        same = with_changes(grammar=ONE)
        if (found := parted(same, same, (seed, seed + 50), rows)) is not None:
            kinds.add(found.reason.kind)
        cut = parted(same, with_changes(grammar=ONE, top_k=1), (seed, seed + 50), rows)
        assert cut is None or cut.reason.kind == "unknown"
    assert kinds == {"draw"}


def test_what_if_there_had_been_a_grammar_nobody_knows() -> None:
    rows = some_rows(3)
    found = what_if(drawn(rows, with_changes(), 1), with_changes(grammar=ONE, top_k=1))
    assert found is not None
    assert found.unknown.tolist() == list(range(len(rows)))
    assert (found.cut.size, found.log_probability, found.log_probability_of_known) == (0, None, None)
    assert not found.is_exact.any()
    assert not found.is_known.any()
