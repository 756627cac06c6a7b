"""A repository with thousands of files: a few hundred rows, a search for the others, and nothing that grows with its square."""

from __future__ import annotations

import sys
from types import FrameType
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QTreeWidget

from app.core.hub_model import HubFile
from app.core.hub_page import HubPage, HubQuantisation
from app.core.hub_search import HubRepository
from app.core.words import translate
from app.gui.discover.quantisation_list import MOST_ROWS, QuantisationList
from app.services.fit_verdict import Fit
from app.services.recommended_files import FileChoice, JudgedFile
from tests.gui.conftest import Stage
from tests.gui.discover.looking import opens, searches, table
from tests.hub.loopback_hub import LoopbackHub

if TYPE_CHECKING:
    from _typeshed import TraceFunction

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
MANY = 20_000


def quantisation(number: int, *, is_projector: bool = False) -> HubQuantisation:
    file = HubFile(f"set-{number:05}/model-Q4_K_M.gguf", 1000 + number)
    return HubQuantisation("Q4_K_M", (file,), 4.5, is_projector)


def holds(stage: Stage, *quantisations: HubQuantisation) -> QuantisationList:
    """Show a repository of that many."""
    searches(stage)
    opens(stage)
    found = stage.desk.program.discovering
    found.page = HubPage(HubRepository("org/many", parameters=10**9), quantisations)
    found.paged.emit()
    return stage.find_as(QuantisationList)


def names(tree: QTreeWidget) -> list[str]:
    items = [tree.topLevelItem(row) for row in range(tree.topLevelItemCount())]
    return [item.text(0) for item in items if item is not None]


def test_of_many_files_some_are_shown_and_all_can_be_searched(discover: Stage) -> None:
    tree = holds(discover, *map(quantisation, range(MANY)))
    assert len(names(tree)) == MOST_ROWS + 1
    assert names(tree)[-1] == "… and 19,800 more: search for a part of the name"
    assert discover.sees("discover_quantisations_line")
    tree.setCurrentIndex(tree.model().index(7, 0))
    tree.narrow("set-0000")
    assert tree.current == quantisation(7), "what is chosen stays so while it is found"
    tree.narrow("")
    QTest.keyClicks(discover.find("discover_quantisations_line"), "19999")
    assert names(tree) == ["Q4_K_M · set-19999/model-Q4_K_M.gguf"]
    assert tree.current.path.startswith("set-19999")
    QTest.keyClicks(discover.find("discover_quantisations_line"), "x")
    assert names(tree) == ["None of its files is called so."]
    assert not tree.selectedItems()
    assert not discover.sees("discover_download_button")
    opens(discover, 1)
    opens(discover, 0)
    assert len(table(discover)) == 4, "the words went with it"
    assert not discover.sees("discover_quantisations_line")


def test_the_recommended_one_is_shown_wherever_it_stands(discover: Stage) -> None:
    tree = holds(discover, *map(quantisation, range(400)))
    fit = Fit("fits", translate("Test", "It fits."))
    tree.show_choice(FileChoice((JudgedFile(quantisation(300).path, fit, None),), quantisation(300).path))
    assert names(tree)[0].startswith("Q4_K_M · set-00300") and names(tree)[0].endswith("recommended")
    assert tree.current == quantisation(300) and len(names(tree)) == MOST_ROWS + 1


def test_the_work_of_a_list_is_a_few_steps_for_each_file(discover: Stage) -> None:
    """Counted in lines of Python: looking at all files for each name would be hundreds."""
    searches(discover)
    opens(discover)
    tree, lines = discover.find_as(QuantisationList), 0

    def note(_frame: FrameType, event: str, _argument: object) -> TraceFunction:
        nonlocal lines
        lines += event == "line"
        return note

    many = tuple(map(quantisation, range(4000)))
    before = sys.gettrace()
    sys.settrace(note)
    try:
        tree.show_quantisations(many)
    finally:
        sys.settrace(before)
    assert lines < 30 * len(many)


def test_the_width_of_a_column_is_looked_for_once_for_all_rows(discover: Stage) -> None:
    """Each word of each row would measure a thousand rows: seconds for a list of two hundred."""

    class Counting(QStyledItemDelegate):
        sizes = 0

        def sizeHint(  # noqa: N802  the name is of Qt
            self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
        ) -> QSize:
            Counting.sizes += 1
            return super().sizeHint(option, index)

    searches(discover)
    opens(discover)
    tree = discover.find_as(QuantisationList)
    before, counting = tree.itemDelegate(), Counting(tree)
    tree.setItemDelegate(counting)
    try:
        tree.show_quantisations(tuple(map(quantisation, range(MOST_ROWS))))
    finally:
        tree.setItemDelegate(before)
    assert 0 < Counting.sizes < 60 * MOST_ROWS


def test_ten_files_are_seen_at_once_and_many_leave_what_is_recommended_in_sight(
    discover: Stage, hub: LoopbackHub
) -> None:
    kinds = ("Q2_K", "Q3_K_S", "Q3_K_M", "Q4_0", "Q4_K_S", "Q4_K_M", "Q5_K_M", "Q6_K", "Q8_0")
    hub.files |= {f"tiny-{kind}.gguf": b"x" * 100 for kind in kinds}
    searches(discover)
    opens(discover)
    tree = discover.find_as(QTreeWidget, "discover_quantisations")
    rows = [item for row in range(tree.topLevelItemCount()) if (item := tree.topLevelItem(row)) is not None]
    assert len(rows) >= 10
    room = tree.viewport().rect()
    assert all(room.contains(tree.visualItemRect(each).center()) for each in rows)
    assert tree.height() <= tree.maximumHeight() < discover.window.height()
    tree.setCurrentItem(rows[-1])
    discover.window.resize(1100, 560)
    discover.settle()
    assert tree.viewport().rect().contains(tree.visualItemRect(rows[-1]).center())
