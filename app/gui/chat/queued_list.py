"""The questions that wait above the composer, each as one row that can be taken back into it.

Never taller than a few rows: the others unfold, and scroll.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QPoint, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QToolButton, QVBoxLayout, QWidget

from app.core.attached_files import as_markdown, in_words
from app.gui import theme
from app.gui.chat.row_area import RowArea
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.labels import ElidedLabel
from app.services.queue import Queued
from app.services.units import count

ROW_PX = 36
MOST_ROWS = 3
MOST_UNFOLDED_ROWS = 5
"""So many are seen at once when all are there; the rest is scrolled to."""
PREVIEW_CHARACTERS = 120
_WITHDRAWS = QKeySequence("Del")


def queue_keys() -> list[tuple[str, tuple[QKeySequence, ...]]]:
    """Return what keys do with a question that waits: in words, and the keys."""
    return [(QCoreApplication.translate("QueuedList", "Do not send it"), (_WITHDRAWS,))]


class QueuedList(QWidget):
    """What waits, the next one first; not there when nothing does."""

    withdrawn = Signal(int)
    """Somebody wants a question (its number) not to be sent."""
    taken_back = Signal(int)
    """Somebody wants a question (its number) back in the composer."""
    copied = Signal(str)
    """Somebody wants the text of a question on the clipboard."""
    keyboard_left = Signal()
    """The button that had the keyboard is gone with its question."""
    send_wanted = Signal()
    """Somebody wants to send the first one now."""

    def __init__(self, icons: Icons) -> None:
        super().__init__()
        self.setObjectName("queued_list")
        self.setAccessibleName(self.tr("Questions that wait"))
        self._icons = icons
        self._rows: list[QFrame] = []
        self._numbers: list[int] = []
        """Of the questions in the rows."""
        self._queued: tuple[Queued, ...] = ()
        self._first_words = "{text}"
        self._can_send = False
        self._area = RowArea()
        self._column = self._area.column
        self._fold = QToolButton()
        self._fold.setObjectName("queued_fold_button")
        self._fold.setProperty("look", "quiet")
        self._fold.setCheckable(True)
        self._fold.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._fold.toggled.connect(self._show_rows)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._area)
        layout.addWidget(self._fold, 0, Qt.AlignmentFlag.AlignLeft)
        self.hide()

    def show_queue(self, queued: tuple[Queued, ...], *, can_send: bool, is_behind_draft: bool = False) -> None:
        """Show what waits and when it is sent; where no answer is written the first one can be sent at once."""
        self._queued, self._can_send = queued, can_send
        self._first_words = self.tr("Next: {text}")
        if can_send:
            before, after = self.tr("Before your next question: {text}"), self.tr("After your next question: {text}")
            self._first_words = after if is_behind_draft else before
        if len(queued) <= MOST_ROWS:
            self._fold.setChecked(False)
        self._show_rows()

    def _show_rows(self) -> None:
        """Show as many as there is room for, or all of them."""
        held, more = self._held(), len(self._queued) - MOST_ROWS
        is_folded = not self._fold.isChecked()
        there = self._queued[:MOST_ROWS] if is_folded else self._queued
        for row in self._rows:
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._rows = [self._row(each, n) for n, each in enumerate(there)]
        self._numbers = [each.number for each in there]
        for row in self._rows:
            self._column.addWidget(row)
            row.show()
        waits = self.tr("1 more waits · Show all") if more == 1 else self.tr("{count} more wait · Show all")
        self._fold.setText(waits.format(count=count(more)) if is_folded else self.tr("Show fewer"))
        self._fold.setAccessibleName(self._fold.text())
        if more <= 0 and self._fold.hasFocus():
            self.keyboard_left.emit()
        self._fold.setVisible(more > 0)
        seen = min(len(there), MOST_ROWS if is_folded else MOST_UNFOLDED_ROWS)
        self._area.setFixedHeight(seen * (ROW_PX + theme.SPACE_XS))
        self.setVisible(bool(there))
        if held is not None:
            self._give(*held)

    def _held(self) -> tuple[int, str] | None:
        """Return the question whose button has the keyboard, and which button that is."""
        focus: QWidget | None = self.window().focusWidget()
        if focus is None:
            return None
        found = (n for n, row in zip(self._numbers, self._rows, strict=True) if row.isAncestorOf(focus))
        number = next(found, None)
        return None if number is None else (number, focus.objectName())

    def _give(self, number: int, name: str) -> None:
        """Give the keyboard back to the same button, or away where that is gone: none may get it by chance."""
        row = self._rows[self._numbers.index(number)] if number in self._numbers else None
        button = row.findChild(QWidget, name) if row is not None else None
        if button is not None:
            button.setFocus()
        else:
            self.keyboard_left.emit()

    def _row(self, queued: Queued, before: int) -> QFrame:
        can_send = self._can_send and not before
        row = QFrame()
        row.setObjectName("queued_row")
        row.setProperty("look", "chip")
        row.setFixedHeight(ROW_PX)
        preview = ElidedLabel(theme.SMALL_PX)
        preview.setObjectName("queued_text")
        words = " ".join(in_words(queued.text)[:PREVIEW_CHARACTERS].split())
        said = self.tr("Then: {text}") if before else self._first_words
        preview.set_text(said.format(text=words))
        row.setAccessibleName(said.format(text=words))
        back = IconButton(self._icons, "edit", self.tr("Take it back and edit it"), object_name="queued_edit_button")
        back.clicked.connect(lambda: self.taken_back.emit(queued.number))
        row.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        row.customContextMenuRequested.connect(
            lambda place: self._open_menu(queued, row.mapToGlobal(place), can_send=can_send)
        )
        layout = QHBoxLayout(row)
        layout.setContentsMargins(theme.SPACE_M, 0, theme.SPACE_XS, 0)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(preview, 1)
        if can_send:
            send = IconButton(self._icons, "send", self.tr("Send it now"), object_name="queued_send_button")
            send.clicked.connect(self.send_wanted)
            layout.addWidget(send)
        layout.addWidget(back)
        layout.addWidget(self._withdraw_button(row, queued.number))
        return row

    def _withdraw_button(self, row: QFrame, number: int) -> IconButton:
        """Return what withdraws a question, as the Delete key does anywhere in its row."""
        name = self.tr("Do not send it (Delete)")
        button = IconButton(self._icons, "close", name, object_name="queued_withdraw_button")
        button.clicked.connect(lambda: self.withdrawn.emit(number))
        keys = QShortcut(_WITHDRAWS, row)
        keys.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        keys.activated.connect(lambda: self.withdrawn.emit(number))
        return button

    def _open_menu(self, queued: Queued, place: QPoint, *, can_send: bool) -> None:
        menu = QMenu(self)
        menu.setObjectName("queued_menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if can_send:
            menu.addAction(self.tr("Send it now")).triggered.connect(self.send_wanted)
        back = menu.addAction(self.tr("Take it back and edit it"))
        back.triggered.connect(lambda _checked=False: self.taken_back.emit(queued.number))
        withdraw = menu.addAction(self.tr("Do not send it"))
        withdraw.triggered.connect(lambda _checked=False: self.withdrawn.emit(queued.number))
        menu.addAction(self.tr("Copy")).triggered.connect(
            lambda _checked=False: self.copied.emit(as_markdown(queued.text))
        )
        menu.popup(place)
