"""A list of what can be ticked, in groups that fold, with a line to search in. Knows nothing of what is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPoint, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QSizePolicy,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.gui import theme
from app.gui.planner.comparison.tick_delegate import TickDelegate
from app.gui.widgets.clear_line import ClearLine
from app.gui.widgets.labels import label, wrapped
from app.gui.widgets.words import hint_of

HEIGHT_PX = 164
KEY_ROLE = int(Qt.ItemDataRole.UserRole)
GROUP_ROLE = KEY_ROLE + 1
_CHECKED, _UNCHECKED = Qt.CheckState.Checked, Qt.CheckState.Unchecked


class Item(NamedTuple):
    """What can be ticked."""

    key: object
    words: str
    hint: str = ""


class Group(NamedTuple):
    """Items under a heading; a tick there ticks all of them."""

    title: str
    items: tuple[Item, ...]
    key: object = None
    """What is meant where somebody wants to do something with the heading; None is nothing."""


class ChoiceList(QWidget):
    """Heading, search line and list."""

    chosen_changed = Signal()
    """Somebody ticked something, or took a tick away."""
    unfolded_changed = Signal()
    """Other items can be seen."""
    menu_wanted = Signal(object, QPoint)
    """Somebody wants to do something with an item, or with a group: its key, and where on the screen."""

    removal_wanted = Signal(object)
    """Somebody pressed Delete on an item: its key."""

    def __init__(self, name: str, title: str, search: str) -> None:
        super().__init__()
        self._groups: tuple[Group, ...] = ()
        self._by_key: dict[object, QTreeWidgetItem] = {}
        """From top to bottom: a choice touches what it changes alone, as there may be hundreds."""
        self._ticked: set[object] = set()
        self._title = title
        self._told = QTimer(self)
        """A tick on a group is one on each of its items: told at once."""
        self._told.setSingleShot(True)
        self._told.setInterval(0)
        self._told.timeout.connect(self.chosen_changed)
        self.heading = label(title, bold=True, name=f"{name}_heading")
        self.buttons = QHBoxLayout()
        """Right of the heading."""
        self.line = ClearLine()
        self.line.setObjectName(f"{name}_search")
        self.line.setProperty("look", "field")
        self.line.setPlaceholderText(search)
        self.line.setAccessibleName(search)
        self.line.textChanged.connect(self._filter)
        self.tree = QTreeWidget()
        self.tree.setObjectName(name)
        self.tree.setProperty("look", "choices")
        self.tree.setAccessibleName(title)
        self.ticks = TickDelegate(self.tree)
        self.tree.setItemDelegate(self.ticks)
        for folded in (self.tree.itemExpanded, self.tree.itemCollapsed):
            folded.connect(lambda _item: self.unfolded_changed.emit())
        self.tree.setHeaderHidden(True)
        self.tree.setFrameShape(QFrame.Shape.NoFrame)
        self.tree.setTabKeyNavigation(False)
        self.tree.setUniformRowHeights(True)
        self.tree.setIndentation(theme.SPACE_L)
        self.tree.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.tree.customContextMenuRequested.connect(self._want_menu)
        self.tree.itemChanged.connect(self._note)
        delete = QShortcut(QKeySequence(QKeySequence.StandardKey.Delete), self.tree)
        delete.setContext(Qt.ShortcutContext.WidgetShortcut)
        delete.activated.connect(self._want_removal)
        self.tree.setFixedHeight(theme.scaled(HEIGHT_PX))
        self.tree.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.nothing = wrapped(label(look="muted", pixels=theme.SMALL_PX, name=f"{name}_nothing"))
        self.nothing.setText(self.tr("Nothing is called so: type less of it, or add it with the plus above."))
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.nothing.setFixedHeight(theme.scaled(HEIGHT_PX))
        self.nothing.hide()
        self._lay_out()

    @property
    def chosen(self) -> tuple[object, ...]:
        """Keys of what is ticked, from top to bottom."""
        return tuple(key for key in self._by_key if key in self._ticked)

    @property
    def unfolded(self) -> tuple[object, ...]:
        """Keys of the items whose group is unfolded."""
        tops = [top for top in self._tops() if top.isExpanded()]
        return tuple(item.data(0, KEY_ROLE) for top in tops for item in _children(top))

    def say(self, key: object, beside: str, hint: str) -> None:
        """Have an item say more: to those who hear, and on hover."""
        item = self._by_key.get(key)
        if item is None:
            return
        with QSignalBlocker(self.tree):  # not a tick of somebody's
            item.setData(0, Qt.ItemDataRole.AccessibleTextRole, f"{item.text(0)}, {beside}")
            item.setToolTip(0, hint_of(hint))

    def show_groups(self, groups: Sequence[Group], chosen: Sequence[object]) -> None:
        """Offer other items, or tick others; what is unfolded stays so, and what is ticked can be seen at first.

        What is new and ticked comes into view; else the list stays where it was.
        """
        wanted, before, is_other = set(chosen), set(self._by_key), tuple(groups) != self._groups
        scrolled = self.tree.verticalScrollBar().value()
        with QSignalBlocker(self.tree):
            if is_other:
                self._fill(tuple(groups), wanted)
            for key in (self._ticked ^ wanted) & self._by_key.keys():
                self._by_key[key].setCheckState(0, _CHECKED if key in wanted else _UNCHECKED)
        self._ticked = wanted & self._by_key.keys()
        self._say_count()
        if is_other and before:
            self._show_again(scrolled, [key for key in self._by_key if key in wanted and key not in before])

    def _show_again(self, scrolled: int, new: Sequence[object]) -> None:
        """Stay where it was, but for an item that is new and ticked: somebody has just named it."""
        self.tree.doItemsLayout()
        self.tree.verticalScrollBar().setValue(scrolled)
        for key in new[:1]:
            item = self._by_key[key]
            self.tree.scrollToItem(item)
            self.tree.scrollToItem(item.parent() or item)

    def _fill(self, groups: tuple[Group, ...], wanted: set[object]) -> None:
        was_open = {top.text(0): top.isExpanded() for top in self._tops()}
        current = self.tree.currentItem()
        at = current.data(0, KEY_ROLE) if current is not None else None
        self._groups = groups
        self.tree.clear()
        self._by_key, self._ticked = {}, set()
        for group in groups:
            top = QTreeWidgetItem(self.tree, [group.title])
            top.setFlags(top.flags() | Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsAutoTristate)
            top.setToolTip(0, hint_of(group.title))
            top.setData(0, GROUP_ROLE, group.key)
            for each in group.items:
                item = QTreeWidgetItem(top, [each.words])
                item.setData(0, KEY_ROLE, each.key)
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemNeverHasChildren)
                item.setCheckState(0, _UNCHECKED)
                item.setToolTip(0, hint_of(each.hint or each.words))
                self._by_key[each.key] = item
                if at is not None and each.key == at:
                    self.tree.setCurrentItem(item)
            top.setExpanded(was_open.get(group.title, any(each.key in wanted for each in group.items)))
        self._filter(self.line.text())

    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        for top in self._tops():
            shown = 0
            for item in _children(top):
                said = f"{top.text(0)} {item.text(0)}".casefold()
                is_meant = all(word in said for word in words)
                item.setHidden(not is_meant)
                shown += is_meant
            top.setHidden(shown == 0)
            if words and shown:
                top.setExpanded(True)
        is_empty = bool(words) and all(top.isHidden() for top in self._tops())
        self.tree.setHidden(is_empty)
        self.nothing.setVisible(is_empty)
        self.line.setAccessibleDescription(self.nothing.text() if is_empty else "")

    def _tops(self) -> list[QTreeWidgetItem]:
        found = [self.tree.topLevelItem(row) for row in range(self.tree.topLevelItemCount())]
        return [top for top in found if top is not None]

    def _note(self, item: QTreeWidgetItem) -> None:
        if item.childCount() and item.checkState(0) is Qt.CheckState.PartiallyChecked:
            return
        if not item.childCount():
            key = item.data(0, KEY_ROLE)
            (self._ticked.add if item.checkState(0) is _CHECKED else self._ticked.discard)(key)
        self._say_count()
        self._told.start()

    def _say_count(self) -> None:
        self.heading.setText(self.tr("{title} · {count}").format(title=self._title, count=len(self._ticked)))

    def _want_menu(self, place: QPoint) -> None:
        item = self.tree.itemAt(place)
        key = None if item is None else _key_of(item)
        if key is not None:
            self.menu_wanted.emit(key, self.tree.viewport().mapToGlobal(place))

    def _want_removal(self) -> None:
        item = self.tree.currentItem()
        key = None if item is None else _key_of(item)
        if key is not None:
            self.removal_wanted.emit(key)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(theme.SPACE_S)
        head.addWidget(self.heading)
        head.addStretch(1)
        head.addLayout(self.buttons)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_XS)
        column.addLayout(head)
        column.addWidget(self.line)
        column.addWidget(self.tree, 1)
        column.addWidget(self.nothing)


def _key_of(item: QTreeWidgetItem) -> object:
    return item.data(0, KEY_ROLE) or item.data(0, GROUP_ROLE)


def _children(top: QTreeWidgetItem) -> list[QTreeWidgetItem]:
    found = [top.child(place) for place in range(top.childCount())]
    return [item for item in found if item is not None]
