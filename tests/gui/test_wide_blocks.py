from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QEventLoop, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QImage, QTextLayout, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.gui import theme
from app.gui.chat.column_widths import LEAST_PX, column_widths
from app.gui.chat.leaf import Spot
from app.gui.chat.rich_text import RichText
from app.gui.chat.sideways import Sideways
from app.gui.chat.table_view import TableView
from app.gui.chat.transcript import Transcript
from app.gui.chat.turn_list import KEPT_BLOCKS
from app.gui.markdown.document import Document
from app.gui.markdown.values import Align, Table
from app.services.turns import Turn
from tests.gui.transcripts import copied_whole, grow, marked_text, on_screen, spots, themes, transcript

__all__ = ["themes", "transcript"]

GUARD_MS = 60_000
LINE = "value = " + " + ".join(f"part_{number}" for number in range(40))
CODE = f"```python\nshort = 1\n{LINE}\nshort = 2\n```\n"
COLUMNS = 200
TABLE = "\n".join(
    (
        "|" + "|".join(f"column {number}" for number in range(COLUMNS)) + "|",
        "|" + "---|" * COLUMNS,
        *("|" + "|".join(f"r{row} c{number}" for number in range(COLUMNS)) + "|" for row in range(3)),
    )
)

WIDE_TABLE = "|" + "a|" * 60 + "\n|" + "---|" * 60 + "\n|" + "words|" * 60 + "\n"


def wait(is_so: Callable[[], bool]) -> None:
    waits, look = QEventLoop(), QTimer()
    look.timeout.connect(lambda: waits.quit() if is_so() else None)
    look.start()
    QTimer.singleShot(GUARD_MS, waits, waits.quit)
    waits.exec()


def at_rest(transcript: Transcript) -> QImage:
    """Return what the screen shows once the colours of code are there too."""
    on_screen(transcript)
    blocks = transcript.turns.blocks
    wait(lambda: not transcript._again.isActive() and not any(block.is_unfinished for block in blocks))
    return on_screen(transcript)


def bar_of(transcript: Transcript) -> Spot:
    wait(lambda: bool(spots(transcript, "scroll")))  # a long answer is read bit by bit
    (found,) = spots(transcript, "scroll")
    return found


def sideways_of(transcript: Transcript) -> Sideways:
    found = bar_of(transcript).sideways
    assert found is not None
    return found


def wheel(
    transcript: Transcript, point: QPoint, angle: QPoint, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    view = transcript.viewport()
    event = QWheelEvent(
        QPointF(point),
        QPointF(view.mapToGlobal(point)),
        QPoint(),
        angle,
        Qt.MouseButton.NoButton,
        keys,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view, event)


@pytest.fixture(params=[CODE, TABLE], ids=["code", "table"])
def wide(transcript: Transcript, request: pytest.FixtureRequest) -> Transcript:
    """A transcript with one block that is wider than its column."""
    transcript.add(Turn(1, "assistant", f"Before.\n\n{request.param}\n\nBehind."))
    return transcript


def test_a_wide_block_has_a_bar_and_its_lines_do_not_wrap(transcript: Transcript) -> None:
    transcript.add(Turn(1, "assistant", CODE))
    high = transcript.turns.total
    assert sideways_of(transcript).content > sideways_of(transcript).room > 0
    transcript.show_turns([Turn(2, "assistant", CODE.replace(LINE, "short = 3"))])
    assert spots(transcript, "scroll") == []
    assert transcript.turns.total == high


def test_what_is_copied_of_wide_code_is_the_code_to_the_character(transcript: Transcript) -> None:
    transcript.add(Turn(1, "assistant", CODE))
    sideways_of(transcript).scroll_to(333)
    assert copied_whole(transcript) == f"short = 1\n{LINE}\nshort = 2"


@pytest.mark.parametrize(
    ("angle", "keys"),
    [
        (QPoint(-120, 0), Qt.KeyboardModifier.NoModifier),
        (QPoint(-120, 30), Qt.KeyboardModifier.NoModifier),
        (QPoint(0, -120), Qt.KeyboardModifier.ShiftModifier),
    ],
)
def test_the_wheel_turned_sideways_scrolls_the_block_under_the_mouse(
    wide: Transcript, angle: QPoint, keys: Qt.KeyboardModifier
) -> None:
    bar, before = bar_of(wide), wide.grab().toImage()
    assert bar.area is not None
    assert bar.sideways is not None
    wheel(wide, bar.area.center().toPoint(), angle, keys)
    assert bar.sideways.offset > 0
    assert wide.grab().toImage() != before
    wheel(wide, bar.area.center().toPoint(), angle * -50, keys)
    assert bar.sideways.offset == 0
    wheel(wide, QPoint(40, 40), angle, keys)
    assert bar.sideways.offset == 0


def test_the_wheel_turned_downwards_leaves_a_wide_block_where_it_is(wide: Transcript) -> None:
    bar = bar_of(wide)
    assert bar.area is not None
    wheel(wide, bar.area.center().toPoint(), QPoint(-30, -120))
    assert sideways_of(wide).offset == 0


def test_the_bar_is_dragged_from_one_end_to_the_other(wide: Transcript) -> None:
    bar, view = bar_of(wide), wide.viewport()
    assert bar.sideways is not None
    start = bar.sideways.handle(bar.rect).center().toPoint()
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(view, start + QPoint(20, 0))
    assert 0 < bar.sideways.offset < bar.sideways.most
    QTest.mouseMove(view, start + QPoint(2000, 50))
    assert bar.sideways.offset == bar.sideways.most
    QTest.mouseMove(view, start - QPoint(2000, 0))
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=start)
    assert bar.sideways.offset == 0
    assert marked_text(wide) == ""
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=bar.rect.center().toPoint())
    assert bar.sideways.offset == pytest.approx(bar.sideways.most / 2, rel=0.1)


@pytest.mark.parametrize("block", [CODE, WIDE_TABLE], ids=["code", "table"])
def test_a_block_in_a_short_answer_is_still_scrolled_when_somebody_comes_back(
    transcript: Transcript, block: str
) -> None:
    transcript.show_turns(
        [Turn(1, "assistant", block), *(Turn(number, "user", "More.") for number in range(2, 2 * KEPT_BLOCKS))]
    )
    down = transcript.verticalScrollBar()
    down.setValue(0)
    bar = bar_of(transcript)
    assert bar.area is not None
    wheel(transcript, bar.area.center().toPoint(), QPoint(-120, 0))
    scrolled, picture = sideways_of(transcript).offset, at_rest(transcript)
    assert scrolled > 0
    down.setValue(down.maximum())
    assert spots(transcript, "scroll") == []
    down.setValue(0)
    assert sideways_of(transcript).offset == scrolled
    assert at_rest(transcript) == picture


def test_a_block_that_has_the_keyboard_is_scrolled_with_the_arrows(wide: Transcript, qtbot: QtBot) -> None:
    with qtbot.waitActive(wide):
        wide.activateWindow()
    wide.setFocus()
    sideways = sideways_of(wide)
    QTest.keyClick(wide, Qt.Key.Key_Right)
    assert sideways.offset == 0
    QTest.keyClick(wide, Qt.Key.Key_Tab)
    for _ in range(3):
        QTest.keyClick(wide, Qt.Key.Key_Right)
    QTest.keyClick(wide, Qt.Key.Key_Left)
    assert 0 < sideways.offset < sideways.most
    seen = on_screen(wide)
    QTest.keyClick(wide, Qt.Key.Key_Left)
    assert on_screen(wide) != seen


def test_somebody_who_selects_at_the_edge_reaches_what_is_out_of_sight(transcript: Transcript, qtbot: QtBot) -> None:
    transcript.add(Turn(1, "assistant", CODE))
    bar, view = bar_of(transcript), transcript.viewport()
    assert bar.area is not None
    assert bar.sideways is not None
    y = int(bar.area.top()) + 62
    start, end = QPoint(int(bar.area.left()) + 14, y), QPoint(int(bar.area.right()) - 2, y)
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(view, end)
    assert bar.sideways.offset > 0
    sideways = bar.sideways
    transcript._select_on.setInterval(1)
    qtbot.waitUntil(lambda: sideways.offset == sideways.most, timeout=60_000)
    qtbot.waitUntil(lambda: not transcript._select_on.isActive(), timeout=60_000)
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=end)
    transcript.copy()
    assert QGuiApplication.clipboard().text() == LINE


def test_a_place_in_scrolled_code_is_the_character_that_is_seen_there(transcript: Transcript) -> None:
    transcript.add(Turn(1, "assistant", CODE))
    bar = bar_of(transcript)
    assert bar.area is not None
    assert bar.sideways is not None
    point = QPoint(int(bar.area.left()) + 150, int(bar.area.top()) + 62)
    before = transcript._place_at(point).offset
    bar.sideways.scroll_to(100)
    assert transcript._place_at(point - QPoint(100, 0)).offset == before


def test_the_lines_above_stay_where_they_are_when_a_long_line_comes(transcript: Transcript) -> None:
    turn = Turn(1, "assistant", "", state="writing")
    transcript.add(turn)
    transcript.resize(700, 900)
    grow(transcript, turn, "Before.\n\n```python\nfirst = 1\nx = ")
    high = transcript.turns.total
    assert spots(transcript, "scroll") == []
    for _ in range(30):
        grow(transcript, turn, "some_name + ")
        painted = on_screen(transcript)
        transcript.viewport().update()
        assert on_screen(transcript) == painted
    assert transcript.turns.total == high
    assert bar_of(transcript).sideways is not None
    sideways_of(transcript).scroll_to(50)
    grow(transcript, turn, "1\nlast = 2\n```\n")
    assert sideways_of(transcript).offset == 50


def test_columns_of_a_wide_table_keep_a_width_that_can_be_read(transcript: Transcript) -> None:
    transcript.add(Turn(1, "assistant", TABLE))
    sideways = sideways_of(transcript)
    assert sideways.content > COLUMNS * 60
    assert min(column_widths([500.0] * 5, 500)) >= LEAST_PX
    assert column_widths([500.0] * 4, 500) == pytest.approx([125.0] * 4)
    sideways.scroll_to(sideways.most)
    bar = bar_of(transcript)
    assert bar.area is not None
    last = transcript._place_at(QPoint(int(bar.area.right()) - 3, int(bar.area.top()) + 10)).offset
    assert transcript.turns.blocks[0].text[:last].endswith(f"column {COLUMNS - 1}")


def test_only_the_cells_that_are_seen_are_laid_out(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    (table,) = Document(TABLE).blocks
    assert isinstance(table, Table)
    laid: list[RichText] = []
    made = RichText._made

    def note(text: RichText, width: float, look: theme.Theme | None, align: Align) -> QTextLayout:
        laid.append(text)
        return made(text, width, look, align)

    monkeypatch.setattr(RichText, "_made", note)
    view = TableView(table)
    view.lay_out(600)
    assert view.height > 4 * 23
    assert laid == []


def test_a_link_that_is_scrolled_out_of_a_table_is_not_clicked_beside_it(transcript: Transcript) -> None:
    cells = " | ".join(f"[link {number}](https://example.org/{number})" for number in range(30))
    transcript.add(Turn(1, "assistant", f"| {' | '.join(['head'] * 30)} |\n{'|---' * 30}|\n| {cells} |\n"))
    bar = bar_of(transcript)
    assert bar.area is not None
    assert bar.sideways is not None
    for offset in (0.0, 500.0):
        bar.sideways.scroll_to(offset)
        links = spots(transcript, "link")
        assert 0 < len(links) < 15
        assert all(bar.area.contains(link.rect) for link in links)
    assert links[0].value != "https://example.org/0"
