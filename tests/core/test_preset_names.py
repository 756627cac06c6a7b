from __future__ import annotations

import pytest

from app.core.preset_names import LONGEST_NAME, UNNAMED, cleaned, distinct, fitting, name_key


@pytest.mark.parametrize(
    ("name", "becomes"),
    [
        ("Mine", "Mine"),
        ("a  b", "a  b"),
        ("", UNNAMED),
        (" \t", UNNAMED),
        ("\u3164\u2800", UNNAMED),
        ("\u0301", UNNAMED),
        ("\u202eabc", "abc"),
        ("two\nlines", "two lines"),
        ("\ud800x", "x"),
        ("Cafe\u0301 ", "Caf\u00e9"),
        ("x" * 500, "x" * LONGEST_NAME),
        ("\u3164" * LONGEST_NAME + "x", UNNAMED),
    ],
)
def test_a_name_becomes_one_that_could_be_typed(name: str, becomes: str) -> None:
    new = fitting(name)
    assert new == becomes
    assert new == fitting(new) == cleaned(new)
    assert new.isprintable() and 0 < len(new) <= LONGEST_NAME


def test_names_become_distinct_and_those_that_fit_stay() -> None:
    names = ["", "\u202ea", "A", "a", "a 2", " ", "wild", "x" * 60, "X" * 70]
    become = distinct(names, ["Wild"])
    assert list(become) == names
    assert become["A"] == "A" and become["a 2"] == "a 2" and become["x" * 60] == "x" * 60
    assert (become["\u202ea"], become["a"], become["wild"]) == ("a 3", "a 4", "wild 2")
    assert {become[""], become[" "]} == {"?", "? 2"}
    assert become["X" * 70] == "X" * 58 + " 2"
    assert len({name_key(new) for new in become.values()}) == len(names)


def test_very_many_names_of_one_kind_are_told_apart() -> None:
    become = distinct(["\u202e" * count for count in range(1, 3000)])
    assert len(set(become.values())) == 2999
