"""The lists of the comparison: a choice costs what it changes, however long the list is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTreeWidgetItem
from pytestqt.qtbot import QtBot

from app.gui.planner.comparison.choice_list import ChoiceList, Group, Item

GROUPS = tuple(
    Group(f"group {group}", tuple(Item(f"{group}/{number}", f"{number}") for number in range(20)))
    for group in range(10)
)


@pytest.fixture
def choices(qtbot: QtBot) -> ChoiceList:
    made = ChoiceList("list", "Models", "Search")
    qtbot.addWidget(made)
    made.show_groups(GROUPS, ["0/1"])
    return made


def test_a_choice_touches_what_it_changes_and_no_other_row(
    choices: ChoiceList, monkeypatch: pytest.MonkeyPatch
) -> None:
    touched: list[str] = []

    def counted(was: Callable[..., object]) -> Callable[..., object]:
        def count(item: QTreeWidgetItem, *values: object) -> object:
            touched.append(item.text(0))
            return was(item, *values)

        return count

    for name in ("data", "checkState", "setCheckState", "setHidden"):
        monkeypatch.setattr(QTreeWidgetItem, name, counted(getattr(QTreeWidgetItem, name)))
    choices.show_groups(GROUPS, ["0/1", "9/3"])
    assert choices.chosen == ("0/1", "9/3") and set(touched) == {"3"}
    touched.clear()
    choices.show_groups(GROUPS, ["0/1", "9/3"])
    assert choices.chosen == ("0/1", "9/3") and touched == []
    assert choices.heading.text() == "Models · 2"


def test_a_tick_on_a_group_is_one_on_each_of_it_and_what_is_gone_is_not_chosen(
    choices: ChoiceList, qtbot: QtBot
) -> None:
    top = choices.tree.topLevelItem(3)
    assert top is not None
    with qtbot.waitSignal(choices.chosen_changed):
        top.setCheckState(0, Qt.CheckState.Checked)
    assert len(choices.chosen) == 21 and choices.chosen[:2] == ("0/1", "3/0")
    top.setCheckState(0, Qt.CheckState.Unchecked)
    assert choices.chosen == ("0/1",)
    choices.show_groups(GROUPS[1:], ["0/1", "1/1"])
    assert choices.chosen == ("1/1",) and choices.heading.text() == "Models · 1"


def test_what_is_said_beside_an_item_is_no_tick_of_somebody(choices: ChoiceList) -> None:
    choices.say("0/1", "fits", "On this machine: it fits.")
    assert not choices._told.isActive()
    item = choices.tree.topLevelItem(0).child(1)  # type: ignore[union-attr]
    assert item is not None and item.data(0, Qt.ItemDataRole.AccessibleTextRole) == "1, fits"
    assert "it fits" in item.toolTip(0)


def test_a_search_without_a_result_says_so_until_there_is_one(choices: ChoiceList) -> None:
    choices.line.setText("no such thing")
    assert choices.nothing.isVisibleTo(choices) and not choices.tree.isVisibleTo(choices)
    assert choices.line.accessibleDescription() == choices.nothing.text()
    choices.show_groups(GROUPS[1:], ["1/1"])
    assert choices.nothing.isVisibleTo(choices), "other items change nothing of that"
    choices.line.setText("group 3")
    assert not choices.nothing.isVisibleTo(choices) and choices.tree.isVisibleTo(choices)
    choices.show_groups((), ())
    choices.line.setText("")
    assert not choices.nothing.isVisibleTo(choices), "nothing was searched"


def in_view(choices: ChoiceList, key: str) -> bool:
    item = choices._by_key[key]
    return choices.tree.viewport().rect().intersects(choices.tree.visualItemRect(item))


@pytest.mark.qt_log_ignore("^This plugin does not support")  # the offscreen platform says this of every window
def test_what_is_named_just_now_comes_into_view_and_stays_there(choices: ChoiceList) -> None:
    choices.show()
    new = Group("named", (Item("new", "new"),))
    choices.show_groups((*GROUPS, new), ["0/1", "new"])
    assert in_view(choices, "new") and not in_view(choices, "0/1")
    read = Group("read", (Item("new", "new"), Item("estimate", "estimate")))
    choices.show_groups((*GROUPS, read), ["0/1", "new"])
    assert in_view(choices, "new"), "more is known of it"
    choices.tree.verticalScrollBar().setValue(0)
    choices.show_groups((*GROUPS, read, Group("found", (Item("found", "found"),))), ["0/1", "new"])
    assert in_view(choices, "0/1") and not in_view(choices, "new"), "what nobody named moves nothing"
