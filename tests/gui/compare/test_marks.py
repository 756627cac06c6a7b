"""What is marked in the lanes: painted over the characters that are meant, with letters, and never over others."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit

from app.gui.compare.lane_mark import BADGE_PX
from app.gui.compare.marks import Marks, TokenMark
from app.services.lane_analysis import TextSpan
from tests.gui.compare.conftest import desk, model, stage
from tests.gui.compare.insight import InsightStage, insight

__all__ = ["desk", "insight", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def chooses(insight: InsightStage, name: str, data: object) -> None:
    box = insight.stage.find_as(QComboBox, name)
    box.setCurrentIndex(box.findData(data))


def test_the_first_differing_token_is_marked_in_both_texts_with_the_lanes_letter(insight: InsightStage) -> None:
    insight.asked().ran("a", "c")
    baseline = insight.known().baseline
    lane = 1 - baseline
    found = insight.divergence(lane)
    assert insight.overlay(lane).marks == Marks(found.in_lane.start, (TokenMark(found.in_lane, (lane,)),))
    assert insight.overlay(baseline).marks.tokens == (TokenMark(found.in_baseline, (lane,)),)
    for index in (lane, baseline):
        mark = insight.overlay(index).marks.tokens[0]
        place = insight.overlay(index).place_of(mark.span)
        assert insight.lane_colour(lane) in insight.colours(index, place.adjusted(-1, 0, 1, 3))
        gutter = QRect(0, place.center().y() - BADGE_PX // 2, BADGE_PX, BADGE_PX)
        assert insight.lane_colour(lane) in insight.colours(index, gutter), "its letter stands in the gutter"


def test_another_comparison_begins_in_the_plain_view(insight: InsightStage) -> None:
    insight.asked().ran("a", "c")
    chooses(insight, "differences_box", "words")
    insight.stage.clicks("compare_branches_tab")
    assert not insight.is_there("compare_lanes")
    insight.stage.clicks("compare_again_button")
    insight.stage.settle()
    assert insight.is_there("compare_lanes") and insight.is_there("differences_box")
    assert insight.stage.find_as(QComboBox, "differences_box").currentData() == "tokens"
    assert not insight.is_there("first_lane_box")


def test_the_mark_lies_over_the_characters_of_the_token(insight: InsightStage) -> None:
    insight.asked().ran("a", "c")
    lane = 1 - insight.known().baseline
    found, view = insight.divergence(lane), insight.text(lane)
    place = insight.overlay(lane).place_of(insight.overlay(lane).marks.tokens[0].span)
    first = view._place_at(place.topLeft() + place.center() - place.topLeft()).offset
    token = view.turns.blocks[0].turn.text[found.in_lane.start : found.in_lane.end]
    assert abs(view.turns.blocks[0].text.index(token.strip(), found.in_lane.start) - first) <= len(token)


def test_markdown_before_the_token_moves_no_mark(insight: InsightStage) -> None:
    insight.asked().begun("a", "b").planned()
    insight.writes(0, "Some **bold** and `code` then *sea* here")
    insight.ends()
    insight.known()
    text, view = "Some **bold** and `code` then *sea* here", insight.text(0)
    start = text.index("sea")
    insight.overlay(0).show_marks(Marks(start, (TokenMark(TextSpan(start, start + 3), (1,)),)))
    place = insight.overlay(0).place_of(insight.overlay(0).marks.tokens[0].span)
    offset = view._place_at(place.center()).offset
    assert view.turns.blocks[0].text[offset - 2 : offset + 3].strip() in ("sea", "sea h", "n sea", "sea he", "sea")


def test_where_it_is_not_certain_only_the_line_is_marked(insight: InsightStage) -> None:
    insight.asked().begun("a", "b").planned()
    text = "See [link](http://link.org) now"
    insight.writes(0, text)
    insight.ends()
    insight.known()
    start = text.index("link")
    insight.overlay(0).show_marks(Marks(start, (TokenMark(TextSpan(start, start + 4), (1,)),)))
    placed = insight.overlay(0)._place(TextSpan(start, start + 4))
    assert placed.rects == () and not placed.is_certain and placed.line.height() > 0


def test_the_shared_beginning_is_dimmed(insight: InsightStage) -> None:
    insight.asked().ran("a", "b")
    lane = 1 - insight.known().baseline
    mark = insight.overlay(lane).marks.tokens[0]
    place = insight.overlay(lane).place_of(mark.span)
    before = QRect(insight.text(lane).places.turn(0).left(), place.top(), 30, place.height())
    if place.left() < before.right():
        before.moveTop(place.top() - place.height())
    ink = insight.stage.themes.current.colour("text").name()
    assert ink not in insight.colours(lane, before)
    chooses(insight, "differences_box", "off")
    assert ink in insight.colours(lane, before)
    assert insight.overlay(lane).marks == Marks()


def test_two_cells_of_a_grid_are_brought_together_for_their_words_and_go_back(insight: InsightStage) -> None:
    insight.asked().opened()
    insight.stage.clicks("start_grid")
    insight.stage.find_as(QLineEdit, "grid_columns_values").setText("0.4, 1.2")
    insight.stage.find_as(QLineEdit, "grid_rows_values").setText("0.5, 0.8, 1")
    insight.ran_as_set_up()
    columns = insight.page.run_view.columns
    whole = [each.geometry() for each in columns]
    chooses(insight, "differences_box", "words")
    insight.known()
    chooses(insight, "second_lane_box", 0)
    insight.known()
    pair = insight.differences.bar.pair
    assert pair is not None and pair[0] > pair[1]
    shown = [columns[lane] for lane in pair]
    assert not any(each.isHidden() for each in shown) and sum(not each.isHidden() for each in columns) == 2
    assert shown[0].y() == shown[1].y() and shown[0].geometry().right() < shown[1].x()
    chooses(insight, "differences_box", "tokens")
    insight.known()
    assert [each.geometry() for each in columns] == whole and not any(each.isHidden() for each in columns)


def test_words_of_two_lanes_are_marked_in_both(insight: InsightStage) -> None:
    insight.asked().ran("a", "b", "c")
    chooses(insight, "differences_box", "words")
    insight.known()
    chooses(insight, "first_lane_box", 0)
    insight.known()
    chooses(insight, "second_lane_box", 2)
    insight.known()
    words = insight.desk.program.comparison_analysis.words
    assert words is not None and (words.first, words.second) == (0, 2)
    changed = [span for span in words.spans if span.kind != "equal"]
    assert changed and insight.overlay(1).marks == Marks()
    texts = [insight.known().lanes[lane].text for lane in (0, 2)]
    marked = [
        [text[span.start : span.end] for span in insight.overlay(lane).marks.words]
        for lane, text in zip((0, 2), texts, strict=True)
    ]
    assert marked[0] == [t for span in changed if (t := texts[0][span.first_start : span.first_end])]
    assert marked[1] == [t for span in changed if (t := texts[1][span.second_start : span.second_end])]


def test_pointing_at_a_mark_shows_the_card_and_leaving_it_takes_the_card_away(insight: InsightStage) -> None:
    insight.asked().ran("a", "c")
    lane = 1 - insight.known().baseline
    mark = insight.overlay(lane).marks.tokens[0]
    insight.points(lane, insight.overlay(lane).place_of(mark.span))
    card = insight.differences.card
    assert card.shown == insight.divergence(lane)
    insight.points(lane, QRect(60, insight.text(lane).viewport().height() - 6, 2, 2))
    insight.stage.bot.waitUntil(lambda: not card.isVisible(), timeout=60_000)


def test_the_line_in_the_header_shows_the_card_to_the_keyboard_and_escape_leads_back(insight: InsightStage) -> None:
    insight.asked().ran("a", "c")
    lane = 1 - insight.known().baseline
    found, link = insight.divergence(lane), insight.link(lane)
    link.setFocus()
    QTest.keyClick(link, Qt.Key.Key_Space)
    card = insight.differences.card
    assert card.shown == found and card.hasFocus()
    said = card.accessibleDescription()
    assert found.reason.english() in said
    assert found.baseline_token is not None and found.lane_token is not None
    assert insight.reads("divergence_reason") == found.reason.english()
    assert tuple(
        row.token for row in card.picture.rows if row.token in (found.baseline_token.token, found.lane_token.token)
    )
    QTest.keyClick(card, Qt.Key.Key_Escape)
    assert not card.isVisible() and link.hasFocus()


def test_the_baseline_pages_through_all_lanes_that_leave_it_at_one_token(insight: InsightStage) -> None:
    insight.asked().ran("a", "b", "c", "d", "e")
    analysis = insight.known()
    insight.link(analysis.baseline).click()
    card, mark = insight.differences.card, insight.overlay(analysis.baseline).marks.tokens[0]
    seen = []
    for _number in mark.lanes:
        assert card.shown is not None
        seen.append(card.shown.lane)
        QTest.keyClick(card, Qt.Key.Key_Right)
    assert tuple(seen) == mark.lanes


def baseline_with_lines(insight: InsightStage) -> tuple[int, list[list[int]]]:
    """Return the baseline and which lanes leave it in each of its lines, of which the first has several marks."""
    insight.stage.window.resize(1900, 900)
    insight.asked().ran("a", "c", "e")
    baseline = insight.known().baseline
    overlay = insight.overlay(baseline)
    lines: dict[int, list[int]] = {}
    for mark in overlay.marks.tokens:
        lines.setdefault(overlay.place_of(mark.span).top(), []).extend(mark.lanes)
    assert len(overlay.marks.tokens) > 1 and len(next(iter(lines.values()))) > 1
    return baseline, list(lines.values())


def paged(insight: InsightStage) -> list[int]:
    """Return the lanes of the card, page by page."""
    card, seen = insight.differences.card, list[int]()
    while card.shown is not None and card.shown.lane not in seen:
        seen.append(card.shown.lane)
        QTest.keyClick(card, Qt.Key.Key_Right)
    return seen


def test_a_letter_in_the_gutter_shows_all_lanes_that_part_in_its_line(insight: InsightStage) -> None:
    baseline, lines = baseline_with_lines(insight)
    overlay = insight.overlay(baseline)
    assert [list(mark.lanes) for mark in overlay.badges] == lines
    line = overlay.place_of(overlay.marks.tokens[0].span)
    insight.points(baseline, QRect(2, line.top(), 8, line.height()))
    assert paged(insight) == lines[0]
    insight.points(baseline, overlay.place_of(overlay.marks.tokens[1].span))
    assert paged(insight) == list(overlay.marks.tokens[1].lanes), "a token has a card of its own"


def test_who_asks_in_the_header_of_the_baseline_sees_all_lanes_of_the_line(insight: InsightStage) -> None:
    baseline, lines = baseline_with_lines(insight)
    insight.link(baseline).click()
    assert paged(insight) == lines[0]


def test_the_line_in_the_header_comes_behind_the_header_in_the_order_of_the_keyboard(insight: InsightStage) -> None:
    insight.asked().ran("a", "c")
    for letter in "ab":
        after = insight.stage.find(f"more_lane_{letter}").nextInFocusChain()
        while after is not None and not after.focusPolicy() & Qt.FocusPolicy.TabFocus:
            after = after.nextInFocusChain()
        assert after is not None
        assert after.objectName() == f"lane_divergence_{letter}"


def test_the_card_names_the_lane_and_keeps_the_quotes_of_a_long_token(insight: InsightStage) -> None:
    insight.asked().ran("a", "c")
    lane = 1 - insight.known().baseline
    found = insight.divergence(lane)
    token = found.lane_token
    assert token is not None
    long = msgspec.structs.replace(token, text=" phenomenologically speaking, and more")
    card = insight.differences.card
    found = msgspec.structs.replace(found, lane_token=long)
    card.show_found((found,), insight.known().baseline, QRect(300, 300, 20, 20), takes_focus=False)
    insight.stage.settle()
    taken = insight.stage.find_as(QLabel, f"taken_by_{'ab'[lane]}")
    shown = taken.text()
    assert "…”" in shown and shown.startswith(f"{'AB'[lane]} takes “")
    assert QFontMetrics(taken.font()).horizontalAdvance(shown) <= taken.width()
    assert taken.toolTip().endswith("speaking,␣and␣more”")
    other = insight.stage.find_as(QLabel, f"taken_by_{'ab'[1 - lane]}")
    assert other.text().endswith("”") and "…" not in other.text() and other.toolTip() == ""
    assert taken.accessibleName() == taken.toolTip()


def test_another_baseline_moves_the_marks(insight: InsightStage) -> None:
    insight.asked().ran("a", "c")
    baseline = insight.known().baseline
    insight.stage.clicks(f"pin_lane_{'ab'[1 - baseline]}")
    insight.known()
    moved = insight.divergence(baseline)
    assert insight.overlay(baseline).marks.tokens == (TokenMark(moved.in_lane, (baseline,)),)
    assert insight.overlay(1 - baseline).marks.tokens == (TokenMark(moved.in_baseline, (baseline,)),)
    assert "Others leave at" in insight.link(1 - baseline).words  # type: ignore[attr-defined]


def test_a_mark_follows_the_direction_of_its_text_and_not_of_the_window(insight: InsightStage) -> None:
    insight.asked().begun("a", "b").planned()
    right_to_left = "\u05d4\u05e9\u05de\u05d9\u05d9\u05dd \u05db\u05d7\u05d5\u05dc\u05d9\u05dd"
    text = f"All is well\n\n{right_to_left}"
    insight.writes(0, text)
    insight.ends()
    insight.known()
    overlay, second = insight.overlay(0), text.rindex(" ") + 1
    for start, is_turned in ((text.index("well"), False), (second, True)):
        span = TextSpan(start, start + 3)
        overlay.show_marks(Marks(start, (TokenMark(span, (1,)),)))
        place = overlay.place_of(overlay.marks.tokens[0].span)
        edge = place.right() + 1 if is_turned else place.left()
        caret = QRect(edge - 3, place.top() + 4, 6, 6)
        other = QRect((place.left() if is_turned else place.right() + 1) - 3, place.top() + 4, 6, 6)
        assert insight.lane_colour(1) in insight.colours(0, caret)
        assert insight.lane_colour(1) not in insight.colours(0, other)
