from __future__ import annotations

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QLineEdit,
    QToolButton,
)

from app.gui.sampling.escapes import with_escapes, without_escapes
from tests.gui.sampling.stand import Stand, opens_more, writes


def test_stop_strings_are_added_changed_and_removed(stand: Stand) -> None:
    opens_more(stand)
    new = writes(stand, "stop_strings_new", "END")
    assert new.text() == ""
    QTest.keyClicks(new, "\\n\\tUser:\\\\n")
    stand.clicks("stop_strings_add")
    assert stand.values.stop == ("END", "\n\tUser:\\n")
    assert stand.find_as(QLineEdit, "stop_strings_1").text() == "\\n\\tUser:\\\\n"
    writes(stand, "stop_strings_0", "STOP")
    assert stand.values.stop == ("STOP", "\n\tUser:\\n")
    stand.find_as(QToolButton, "stop_strings_0_remove").click()
    assert list(stand.values.stop) == ["\n\tUser:\\n"]
    assert stand.find_as(QLineEdit, "stop_strings_0").text() == "\\n\\tUser:\\\\n"


@pytest.mark.parametrize(
    ("typed", "reason"), [("", "blank"), ("  ", "blank"), ("\\t", "blank"), ("END", "in the list")]
)
def test_a_stop_string_that_would_do_nothing_new_is_refused_in_words(stand: Stand, typed: str, reason: str) -> None:
    opens_more(stand)
    writes(stand, "stop_strings_new", "END")
    writes(stand, "stop_strings_new", "two")
    writes(stand, "stop_strings_new", typed)
    assert list(stand.values.stop) == ["END", "two"]
    assert reason in stand.reads("stop_strings_problem") and stand.sees("stop_strings_problem")
    line = writes(stand, "stop_strings_1", typed)
    assert stand.values.stop == ("END", "two")
    assert line.text() == "two"
    QTest.keyClicks(stand.find("stop_strings_new"), "x")
    assert not stand.sees("stop_strings_problem")


@pytest.mark.parametrize("text", ["a", "\n", "\t\r", "\\n", "\\", "\\\\x", "é 日本 😀", "\u2028\x07\u00a0", "end\\"])
def test_what_is_shown_of_a_text_means_the_text(text: str) -> None:
    shown = with_escapes(text)
    assert without_escapes(shown) == text
    assert shown.isprintable()


def test_a_backslash_before_anything_else_means_itself() -> None:
    assert without_escapes("\\d \\u12 \\") == "\\d \\u12 \\"


def test_texts_that_dry_starts_anew_at_are_a_list_too(stand: Stand) -> None:
    opens_more(stand)
    writes(stand, "dry_breakers_new", "\\t;")
    assert stand.values.dry_sequence_breakers == ("\n", ":", '"', "*", "\t;")
