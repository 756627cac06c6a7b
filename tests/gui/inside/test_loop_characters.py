"""The loop shows what an answer says as the chat does: characters whose bytes came in several tokens are whole."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QLabel

from app.gui import theme
from app.gui.inside.loop.number_words import number
from app.gui.inside.loop.stage_box import wrapped_end
from app.gui.widgets.runs import breakable, end_of_text
from app.services.inspection import InspectedAnswer
from app.services.loop_example import example
from app.services.loop_words import MOST_TOKENS, last_words
from tests.gui.conftest import Stage
from tests.gui.fitting import problems
from tests.gui.inside.conftest import Inspector, desk, inspector, model, stage
from tests.gui.inside.test_loop import catch_up, looks

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")

HEBREW, FAMILY = "שלום", "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}"


def in_bytes(text: str) -> InspectedAnswer:
    """Return an answer with a token for each byte."""
    pieces = tuple(bytes([byte]) for byte in text.encode())
    ids = tuple(range(len(pieces)))
    return InspectedAnswer(1, ids, tuple(f"<0x{piece[0]:02X}>" for piece in pieces), pieces)


def says(words: str) -> str:
    """Return what the sentence of the answer says after so many last words."""
    said = number("answer", msgspec.structs.replace(example(), last_words=words))
    return said.partition("“")[2].removesuffix("”")


@pytest.mark.parametrize("text", [HEBREW, "中文字", FAMILY, "né"])
def test_characters_of_several_tokens_are_shown_once_they_are_whole(text: str) -> None:
    answer = in_bytes(text)
    for written in range(len(answer) + 1):
        whole = text.encode()[:written].decode("utf-8", "ignore")
        assert last_words(answer, written) == whole
        later = answer.pieces[1:written]
        begun = msgspec.structs.replace(answer, ids=(0,), texts=answer.texts[:1], pieces=answer.pieces[:1])
        assert last_words(begun, written, later=later) == whole, "also with tokens that came since"


def test_a_long_answer_is_cut_between_its_characters() -> None:
    text = "中" * MOST_TOKENS
    for lacks in range(3):
        said = last_words(in_bytes(text), len(text.encode()) - lacks)
        assert set(said) == {"…", "中"}, "neither the rest of a character nor its beginning is a character"
    assert end_of_text(f"a{FAMILY}b", 3) == "b" and end_of_text(f"a{FAMILY}b", 4) == f"{FAMILY}b"
    shown = says(f"a{FAMILY * 60}")
    assert shown.startswith(f"…\u00a0{FAMILY}") and shown.endswith(FAMILY)


def test_a_long_text_without_spaces_is_not_cut_at_its_only_one() -> None:
    assert says("中" * 95 + " OK 中文").count("中") > 80
    assert says("word " * 40).startswith("…\u00a0word "), "words are whole"


def test_text_that_runs_right_to_left_turns_nothing_round(stage: Stage) -> None:
    assert says(HEBREW) == f"\u2068{HEBREW}\u2069" and says("abc") == "abc"
    metrics = QFontMetrics(theme.font(theme.SMALL_PX))
    lines = wrapped_end(" ".join([HEBREW] * 30), metrics, 128, 2)
    assert len(lines) == 2 and all(line[0] == "\u2068" and line[-1] == "\u2069" for line in lines)


def test_a_run_without_spaces_takes_no_room_from_the_explanation(inspector: Inspector) -> None:
    inspector.answers()
    part = looks(inspector)
    shown = example()
    part.sheet.show_stage("answer", msgspec.structs.replace(shown, last_words="a word"))
    catch_up(part)
    what = inspector.stage.find_as(QLabel, "loop_explanation")
    width = what.width()
    for words in ("https://example.org/" + "a" * 90, "=" * 90, FAMILY * 40, "<0xD7><0xA6>" * 8):
        values = msgspec.structs.replace(shown, last_words=words)
        part.sheet.show_stage("answer", values)
        part.tour.show_number(values)
        inspector.stage.bot.waitUntil(lambda: not problems(what) and not problems(part.sheet.number))
        assert what.width() == width
        assert part.sheet.number.minimumSizeHint().width() < part.sheet.width() // 4
        assert part.sheet.number.accessibleName() == number("answer", values), "it is heard as it stands"


def test_words_stay_as_they_are() -> None:
    assert breakable("Eichhörnchenschwanz  and\na tail") == "Eichhörnchenschwanz  and\na tail"
    parts = breakable(FAMILY * 20).split("\u200b")
    assert len(parts) > 2 and all(part.startswith(FAMILY[0]) and part.endswith(FAMILY[-1]) for part in parts)
