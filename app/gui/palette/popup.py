"""The palette over the window: a line to type in, what fits below it, and at the foot what cannot be chosen, and why.

Says what was chosen and does none of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QHideEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.palette.entries import Entry, found
from app.gui.palette.rows import ROW_PX, PaletteDelegate, PaletteModel, Role
from app.gui.widgets.clear_line import ClearLine
from app.gui.widgets.fit_badge import fit_hint
from app.gui.widgets.labels import ElidedLabel
from app.services.fit_badges import FitBadges

WIDTH_PX, ROWS = 620, 10
_STEPS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class PalettePopup(QWidget):
    """Is there until something is chosen, Esc is pressed, or somebody clicks beside it; the focus is back then."""

    chosen = Signal(object)
    """Somebody wants this `Entry`, which can be chosen."""

    def __init__(
        self, entries: Sequence[Entry], recent: Sequence[str], fits: FitBadges, icons: Icons, window: QWidget
    ) -> None:
        super().__init__(window, Qt.WindowType.Popup)
        self._entries = entries
        self._recent = recent
        self._fits = fits
        self.setObjectName("palette")
        self.setAccessibleName(self.tr("Command palette"))
        self.setProperty("look", "popup")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.line = ClearLine()
        self.line.setObjectName("palette_line")
        self.line.setProperty("look", "field")
        self.line.setPlaceholderText(self.tr("Search actions, chats and models"))
        self.line.setAccessibleName(self.line.placeholderText())
        self._model = PaletteModel(fits, self)
        self.list = QListView()
        self.list.setObjectName("palette_list")
        self.list.setAccessibleName(self.tr("What fits"))
        self.list.setProperty("look", "choices")
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setUniformItemSizes(True)
        self.list.setItemDelegate(PaletteDelegate(icons, self.list))
        self.list.setModel(self._model)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFixedHeight(theme.scaled(ROW_PX) * ROWS)  # nothing jumps while somebody types
        self._foot = ElidedLabel(theme.SMALL_PX)
        self._foot.setObjectName("palette_foot")
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.SPACE_S, theme.SPACE_S, theme.SPACE_S, theme.SPACE_S)
        column.setSpacing(theme.SPACE_S)
        for widget in (self.line, self.list, self._foot):
            column.addWidget(widget)
        self.line.textChanged.connect(self._show)
        self.line.installEventFilter(self)
        self.list.clicked.connect(self._choose)
        self.list.selectionModel().currentChanged.connect(lambda now, _before: self._tell(now))
        self._disconnect = fits.changed.connect(self._show_fits)
        self._show()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody wants to know any more which models fit."""
        self._disconnect()
        self._fits.rest(self)
        super().hideEvent(event)

    def open_over(self, window: QWidget) -> None:
        """Show it in the upper middle of a window."""
        room = window.width() - 2 * theme.SPACE_XL
        self.setFixedWidth(min(theme.scaled(WIDTH_PX), room))
        self.adjustSize()
        top = max(theme.SPACE_XL, (window.height() - self.height()) // 4)
        self.move(window.mapToGlobal(QPoint((window.width() - self.width()) // 2, top)))
        self.show()
        self.line.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Go through the rows, choose one or leave, while the line keeps the keyboard."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() in _STEPS:
                self._step(Qt.Key(event.key()))
                return True
            if event.key() in _ENTER:
                self._choose(self.list.currentIndex())
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.close()
                return True
        return super().eventFilter(watched, event)

    def _step(self, key: Qt.Key) -> None:
        """Mark another row; from the ends it goes on at the other one."""
        count, row = self._model.rowCount(), self.list.currentIndex().row()
        if not count:
            return
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            row = (row + (1 if key == Qt.Key.Key_Down else -1)) % count
        else:
            row = min(max(row + (ROWS - 1 if key == Qt.Key.Key_PageDown else 1 - ROWS), 0), count - 1)
        self.list.setCurrentIndex(self._model.index(row))

    def _show(self) -> None:
        self._model.show_found(found(self._entries, self.line.text(), self._recent))
        self.list.setCurrentIndex(self._model.index(0))
        self.list.scrollToTop()
        shown = (self._model.index(row).data(Role.FOUND).entry for row in range(self._model.rowCount()))
        self._fits.want(self, [entry.id for entry in shown if entry.kind == "model" and not entry.why_not])
        if not self._model.rowCount():
            self._say(self.tr("Nothing fits: type other words, or fewer letters."))

    def _tell(self, index: QModelIndex) -> None:
        """Say why the marked row cannot be chosen, or how it is; who listens hears the row."""
        if index.isValid():
            row = index.data(Role.FOUND)
            self._show_foot(row.entry)
            self._announce(self._model.in_words(row))

    def _show_foot(self, entry: Entry) -> None:
        """Say why the marked row cannot be chosen, whether its model fits and why, or how it is chosen."""
        fit = self._fits.get(entry.id) if entry.kind == "model" else None
        reason = fit_hint(fit) if fit is not None else self.tr("Enter chooses, Esc leaves")
        self._foot.set_text(entry.why_not or reason)

    def _show_fits(self) -> None:
        self.list.viewport().update()
        marked = self.list.currentIndex()
        if marked.isValid():
            self._show_foot(marked.data(Role.FOUND).entry)

    def _choose(self, index: QModelIndex) -> None:
        entry = index.data(Role.FOUND).entry if index.isValid() else None
        if entry is not None and entry.why_not:
            self._say(entry.why_not)
        elif entry is not None:
            self.close()
            self.chosen.emit(entry)

    def _say(self, words: str) -> None:
        self._foot.set_text(words)
        self._announce(words)

    def _announce(self, words: str) -> None:
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.line, words))
