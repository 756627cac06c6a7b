"""A drop-down list with a line to search in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.gui.widgets.search_box import SearchBox, SearchPopup

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")  # the offscreen platform, of every popup


@pytest.fixture
def box(qtbot: QtBot) -> Iterator[SearchBox]:
    made = SearchBox("Search GPUs", "No GPU is called so.")
    made.setObjectName("box")
    qtbot.addWidget(made)
    made.addItem("This machine", "here")
    made.insertSeparator(1)
    for name in ("RTX 4070 · 12.0 GiB", "RTX 4070 Ti · 12.0 GiB", "A100 80 GB SXM · 80.0 GiB"):
        made.addItem(name, name[:8])
        made.setItemData(made.count() - 1, f"NVIDIA GeForce {name}", Qt.ItemDataRole.StatusTipRole)
    made.show()
    yield made
    made.hidePopup()


def opened(box: SearchBox) -> SearchPopup:
    box.showPopup()
    assert box.popup is not None
    return box.popup


def shown(popup: SearchPopup) -> list[str]:
    return [str(popup.shown.index(row, 0).data() or "") for row in range(popup.shown.rowCount())]


def test_words_in_any_order_narrow_the_list_and_enter_takes_what_is_left(box: SearchBox, qtbot: QtBot) -> None:
    popup = opened(box)
    assert len(shown(popup)) == 5 and popup.list.currentIndex().data() == "This machine"
    QTest.keyClicks(popup.line, "sxm a100")
    assert shown(popup) == ["A100 80 GB SXM · 80.0 GiB"]
    with qtbot.waitSignal(box.activated):
        QTest.keyClick(popup.line, Qt.Key.Key_Return)
    assert box.currentText().startswith("A100") and not popup.isVisible()


def test_arrows_move_in_what_was_found_and_the_makers_name_is_searched_too(box: SearchBox) -> None:
    popup = opened(box)
    QTest.keyClicks(popup.line, "geforce 4070")
    assert len(shown(popup)) == 2
    QTest.keyClick(popup.line, Qt.Key.Key_Down)
    QTest.keyClick(popup.line, Qt.Key.Key_Return)
    assert box.currentData() == "RTX 4070" and box.currentIndex() == 3


def test_nothing_found_takes_nothing_and_escape_leaves_the_choice(box: SearchBox) -> None:
    popup = opened(box)
    QTest.keyClicks(popup.line, "voodoo")
    QTest.keyClick(popup.line, Qt.Key.Key_Return)
    assert popup.isVisible() and box.currentIndex() == 0
    QTest.keyClick(popup.line, Qt.Key.Key_Escape)
    assert not popup.isVisible() and box.currentIndex() == 0
    assert len(shown(opened(box))) == 5, "opened again, everything is there"


def test_a_search_without_a_result_says_so_until_there_is_one(box: SearchBox) -> None:
    popup = opened(box)
    size = popup.size()
    assert not popup.nothing.isVisible()
    popup.line.setText("xyz")
    assert popup.nothing.isVisible() and not popup.list.isVisible() and popup.size() == size
    assert popup.nothing.text() == popup.line.accessibleDescription() == "No GPU is called so."
    popup.line.setText("")
    assert not popup.nothing.isVisible() and popup.list.isVisible() and popup.line.accessibleDescription() == ""
