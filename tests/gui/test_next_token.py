from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QElapsedTimer, QEvent, QModelIndex, QObject, QRect, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.core.commands import Watch
from app.gui import theme
from app.gui.next_token.candidate_row import _columns
from app.gui.next_token.candidates import LEAST_ROWS, MOST_ROWS, ROW_PX
from app.gui.next_token.panel import REPAINT_MS
from app.gui.widgets.token_text import Face
from app.gui.widgets.token_words import visible
from tests.gui.looker import SIZE, WIDTH_PX, Looker, looking
from tests.made_up_steps import loaded, row_of, step_of

RAW_AT, AFTER_AT = 9, 16
"""Heights in a row at which its two bars are."""


def colours_in(picture: QImage, place: QRect) -> set[str]:
    return {
        picture.pixelColor(x, y).name()
        for x in range(place.left(), place.right())
        for y in range(place.top(), place.bottom())
    }


def columns_of(picture: QImage, colour: str, y: int) -> list[int]:
    """Return where a line of the picture has a colour, from the left; what marks the drawn token aside."""
    return [x for x in range(20, picture.width()) if picture.pixelColor(x, y).name() == colour]


class Paintings(QObject):
    """Counts how often a widget is painted."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802  Qt's name
        self.count += event.type() is QEvent.Type.Paint
        return False


@pytest.fixture
def looker(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[Looker]:
    yield from looking(qtbot, qapp, tmp_path)


def test_without_a_step_there_is_a_dash_and_the_reason(looker: Looker) -> None:
    assert looker.reads("candidates_left") == "–"
    assert looker.reads("candidates_reason") == "Send a message to see which tokens the model weighs."
    assert not looker.chart.isVisible()
    looker.steps()
    assert looker.chart.isVisible()
    assert looker.reads("candidates_left") == "3,000 of 3,000 left"


def test_rows_say_what_they_show_with_visible_white_space(looker: Looker) -> None:
    looker.steps()
    names = looker.lines(Qt.ItemDataRole.DisplayRole)
    assert names[:4] == ["Because", "␣the", "↵↵", "<0xE6><0x97>"]
    assert names[5:8] == ["<|end|>", "⇥", "(no text)"]
    lines = looker.lines()
    assert len(lines) == MOST_ROWS
    assert lines[0].startswith("“Because”: ") and "\u00a0% raw, " in lines[0]
    assert lines[0].endswith("\u00a0% after the chain")
    assert [place for place, line in enumerate(lines) if line.endswith("this one was drawn")] == [1]


def test_cut_tokens_name_their_stage(looker: Looker) -> None:
    looker.desk.sampling.change(top_k=5, top_p=0.7)
    looker.steps()
    lines = looker.lines()
    assert lines[4].endswith("cut by top-p")
    assert all(line.endswith("cut by top-k") for line in lines[5:])
    looker.desk.sampling.change(temperature=0.0, top_k=0)
    assert looker.lines()[1].endswith("cut by temp. 0, this one was drawn")
    assert looker.reads("candidates_left") == "1 of 3,000 left"


def test_a_moved_slider_changes_the_picture_at_once_and_asks_nobody(looker: Looker) -> None:
    looker.steps()
    before, commands = looker.picture(), len(looker.desk.sent)
    looker.desk.sampling.change(temperature=0.3)
    assert looker.picture() != before
    looker.desk.sampling.change(temperature=1.0)
    assert looker.picture() == before
    looker.desk.sampling.change(min_p=0.2)
    assert looker.reads("candidates_left") != "3,000 of 3,000 left"
    assert len(looker.desk.sent) == commands


def test_of_steps_that_come_fast_four_a_second_are_painted_and_the_last(looker: Looker) -> None:
    painted = Paintings(looker.chart.viewport())
    time = QElapsedTimer()
    time.start()
    looker.steps()
    request = 5
    while time.elapsed() < 4 * REPAINT_MS or request < 50:
        request += 1
        looker.row = row_of(SIZE, request)
        looker.steps(request, whole=False)
        looker.bot.wait(5)
    assert 3 <= painted.count <= time.elapsed() / REPAINT_MS + 2
    looker.quiet()
    drawn = (-looker.row).argsort()[:3].tolist()
    assert [row.token for row in looker.chart.rows.rows][:3] == drawn


def test_the_end_of_an_answer_is_no_word_of_it(looker: Looker) -> None:
    named = looker.texts.index(b"<|end|>")
    event = loaded(2, "a.gguf", SIZE)
    event = msgspec.structs.replace(event, model=msgspec.structs.replace(event.model, end_tokens=(named,)))
    looker.desk.load(event)
    looker.steps(drawn=5)
    names, lines = looker.lines(Qt.ItemDataRole.DisplayRole), looker.lines()
    assert names[5] == "end of answer" and "<|end|>" not in names
    assert lines[5].startswith("end of answer (<|end|>): ") and lines[5].endswith("this one was drawn")
    hint = looker.lines(Qt.ItemDataRole.ToolTipRole)[5]
    assert "end of answer" in hint and "|end|" in hint
    columns = _columns(looker.chart.viewport().width())
    face = Face(theme.font(theme.SMALL_PX - 1))
    assert face.fitting(names[5], columns.text_end - columns.text) == names[5]


def test_an_idle_section_has_no_timer(looker: Looker) -> None:
    looker.steps()
    looker.desk.sampling.change(top_k=3)
    looker.quiet()


def test_a_row_paints_its_bars_as_long_as_they_are(looker: Looker) -> None:
    looker.desk.sampling.change(top_k=1)
    looker.steps()
    picture = looker.picture()
    full = columns_of(picture, looker.colour("stage_sampling"), AFTER_AT)
    raw = columns_of(picture, looker.colour("stage_logits"), RAW_AT)
    likeliest = looker.desk.view.rows[0]
    assert len(full) > 50 and full[0] == raw[0]
    assert len(raw) / len(full) == pytest.approx(likeliest.raw, abs=0.05)
    assert columns_of(picture, looker.colour("stage_sampling"), AFTER_AT + 3 * ROW_PX) == []


def test_text_bars_and_figures_stand_apart(looker: Looker) -> None:
    looker.desk.sampling.change(top_k=1)
    looker.steps(drawn=12)
    picture = looker.picture()
    bars = columns_of(picture, looker.colour("stage_sampling"), AFTER_AT)
    empty = picture.pixelColor(bars[0] - 3, 1)
    for left in (bars[0] - 6, bars[-1] + 2):
        assert colours_in(picture, QRect(left, 0, 4, 5 * ROW_PX)) == {empty.name()}


def test_keys_walk_over_the_rows_and_show_where_they_are(looker: Looker, qtbot: QtBot) -> None:
    looker.steps()
    chart = looker.panel.chart
    chart.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(chart.hasFocus, timeout=60_000)
    QTest.keyClick(chart, Qt.Key.Key_Down)
    QTest.keyClick(chart, Qt.Key.Key_Down)
    place = chart.currentIndex().row()
    assert place > 0
    accent = QColor(looker.themes.current.colours["accent"]).name()
    row = QRect(0, place * ROW_PX, 40, ROW_PX)
    assert accent in colours_in(looker.picture(), row)
    looker.desk.sampling.change(top_k=2)
    assert chart.currentIndex().row() == place
    QTest.keyClick(chart, Qt.Key.Key_End)
    assert chart.currentIndex().row() == MOST_ROWS - 1
    assert chart.verticalScrollBar().value() == chart.verticalScrollBar().maximum() > 0


def test_another_theme_paints_other_colours(looker: Looker) -> None:
    looker.steps()
    light = looker.picture()
    looker.themes.choose("dark")
    assert looker.picture() != light
    assert columns_of(looker.picture(), looker.colour("stage_sampling"), AFTER_AT)


def test_a_drawn_token_that_is_not_among_the_first_rows_stays_in_sight_with_its_rank(looker: Looker) -> None:
    looker.panel.resize(WIDTH_PX, 10)
    chart = looker.panel.chart
    looker.steps(drawn=1)
    assert chart.pinned is None
    looker.steps(6, drawn=LEAST_ROWS)
    looker.quiet()
    assert chart.pinned is not None and chart.pinned.rank == LEAST_ROWS + 1
    assert chart.viewport().height() == (LEAST_ROWS - 1) * ROW_PX
    below = QRect(0, (LEAST_ROWS - 1) * ROW_PX, 12, ROW_PX)
    assert looker.colour("stage_sampling") in colours_in(looker.picture(), below)
    looker.panel.resize(WIDTH_PX, 300)
    assert chart.pinned is None
    looker.steps(7, drawn=300)
    looker.quiet()
    assert chart.pinned is not None and chart.pinned.rank == 301
    assert looker.lines()[-1].endswith("rank 301, this one was drawn")
    looker.desk.sampling.change(top_k=5)
    assert "cut by top-k, rank 301" in looker.lines()[-1]


def test_a_drawn_token_of_which_nothing_is_known_yet_is_shown_all_the_same(looker: Looker) -> None:
    looker.steps(whole=False, drawn=2000)
    unlikely = int((-looker.row).argsort()[2000])
    said = f"“t{unlikely}” was drawn; its figures are known once the answer has ended"
    assert looker.lines()[-1] == said
    assert looker.panel.chart.pinned is not None and looker.panel.chart.pinned.rank is None
    looker.desk.session.answer_told.emit(step_of(looker.row, 5, 0))
    looker.quiet()
    assert looker.lines()[-1].endswith("rank 2,001, this one was drawn")


def test_at_least_six_rows_are_there_and_more_where_there_is_height(looker: Looker) -> None:
    looker.steps()
    looker.panel.resize(WIDTH_PX, 10)
    assert looker.panel.minimumSizeHint().height() >= LEAST_ROWS * ROW_PX
    assert looker.chart.height() >= LEAST_ROWS * ROW_PX
    looker.panel.resize(WIDTH_PX, 2000)
    assert looker.chart.height() == MOST_ROWS * ROW_PX
    assert looker.panel.minimumSizeHint().width() <= WIDTH_PX


@pytest.mark.parametrize("height", [250, 271, 333])
def test_only_whole_rows_are_shown_and_no_bar_beside_them(looker: Looker, height: int) -> None:
    looker.steps()
    looker.panel.resize(WIDTH_PX, height)
    chart = looker.panel.chart
    assert chart.viewport().height() == chart.height() // ROW_PX * ROW_PX
    assert chart.height() - chart.viewport().height() < ROW_PX
    for key in (Qt.Key.Key_Down, Qt.Key.Key_End):
        QTest.keyClick(chart, key)
    last = chart.visualRect(chart.rows.index(MOST_ROWS - 1))
    assert last.bottom() < chart.viewport().height()
    assert last.top() % ROW_PX == 0
    chart.verticalScrollBar().setValue(1)
    assert chart.visualRect(chart.rows.index(1)).top() == 0
    assert not chart.verticalScrollBar().isVisible()
    assert chart.viewport().width() == chart.width()


def test_it_looks_only_while_it_is_on_the_screen(looker: Looker) -> None:
    def watches() -> list[bool]:
        return [command.on for command in looker.desk.sent if isinstance(command, Watch)]

    assert watches()[-1] is True
    looker.panel.hide()
    assert watches()[-1] is False
    looker.steps()
    looker.desk.sampling.change(top_k=3)
    assert looker.panel.chart.rows.rowCount(QModelIndex()) == 0
    looker.panel.show()
    assert watches()[-1] is True
    looker.steps(6)
    assert looker.reads("candidates_left") == "3 of 3,000 left"


def test_what_is_not_exact_says_why(looker: Looker) -> None:
    looker.desk.sampling.change(typical_p=0.5)
    looker.steps(whole=False)
    assert looker.reads("candidates_left").startswith("about ")
    left = looker.panel.findChild(QWidget, "candidates_left")
    assert left is not None and "exact once the answer has ended" in left.toolTip()
    looker.desk.session.answer_told.emit(step_of(looker.row, 5, 0))
    looker.bot.waitUntil(lambda: not looker.reads("candidates_left").startswith("about"), timeout=60_000)
    assert left.toolTip() == ""


@pytest.mark.parametrize(
    ("text", "seen"),
    [(" a b", "␣a␣b"), ("\r\n", "\\u000d↵"), ("\u202eabc", "\\u202eabc"), ("\x00", "\\u0000"), ("日本", "日本")],
)
def test_what_cannot_be_seen_is_made_visible(text: str, seen: str) -> None:
    assert visible(text) == seen
