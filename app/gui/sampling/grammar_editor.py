"""The field in which a grammar is written: the fixed font, line numbers, and a mark where something is wrong."""

from __future__ import annotations

import re

from PySide6.QtCore import QMimeData, QRect, Qt, Signal
from PySide6.QtGui import QFontDatabase, QKeyEvent, QPainter, QPaintEvent, QResizeEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from app.core.grammar import LONGEST_GRAMMAR, Place
from app.gui import theme
from app.gui.theme import Themes

TEXT_LINES = 14
_MARKED = re.compile(r'"(?:[^"\\]|\\.)*"|[\w-]+')
"""A text in quotation marks or a word is marked as a whole, else one character."""


class GrammarEditor(QPlainTextEdit):
    """Ctrl+Enter uses what is written; Tab goes on."""

    used = Signal()
    """Somebody is done."""
    refused = Signal()
    """What was pasted is longer than a grammar may be, and was not inserted."""

    def __init__(self, themes: Themes) -> None:
        super().__init__()
        self._themes = themes
        self._wrong: Place | None = None
        self.setObjectName("grammar_text")
        self.setAccessibleName(self.tr("Grammar"))
        self.setProperty("look", "field")
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPixelSize(theme.scaled(theme.BASE_PX))
        self.setFont(font)
        self._numbers = _LineNumbers(self, themes)
        self._numbers.setFont(font)
        self.setFixedHeight(self.fontMetrics().lineSpacing() * TEXT_LINES + theme.SPACE_XL)
        self.updateRequest.connect(self._follow)
        self.blockCountChanged.connect(self._make_room)
        self._make_room()

    @property
    def place(self) -> Place:
        """Where the caret is."""
        cursor = self.textCursor()
        before = cursor.block().text().encode("utf-16-le")[: 2 * cursor.positionInBlock()]
        return Place(cursor.blockNumber() + 1, len(before.decode("utf-16-le", "replace")) + 1)

    def mark(self, place: Place | None) -> None:
        """Mark what is wrong from a place on; None marks nothing."""
        self._wrong = place
        self._numbers.update()
        if place is None:
            self.setExtraSelections([])
            return
        cursor = self._cursor_at(place)
        block = cursor.block()
        if cursor.atBlockEnd() and cursor.positionInBlock():  # nothing stands there: what comes before
            cursor.movePosition(cursor.MoveOperation.PreviousCharacter)
        rest = block.text()[place.column - 1 :]
        found = _MARKED.match(rest)
        move, count = cursor.MoveOperation.NextCharacter, len(found[0]) if found is not None else 1
        cursor.movePosition(move, cursor.MoveMode.KeepAnchor, count)
        looks = QTextCharFormat()
        looks.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        looks.setUnderlineColor(self._themes.current.colour("danger"))
        looks.setBackground(self._themes.current.colour("danger_surface"))
        mark = QTextEdit.ExtraSelection()
        mark.cursor, mark.format = cursor, looks
        self.setExtraSelections([mark])

    def go_to(self, place: Place) -> None:
        """Put the caret where something is wrong."""
        self.setTextCursor(self._cursor_at(place))
        self.setFocus()

    def replace_all(self, text: str) -> None:
        """Write another text over all; Ctrl+Z brings back what was there."""
        cursor = self.textCursor()
        cursor.select(cursor.SelectionType.Document)
        cursor.insertText(text)
        self.moveCursor(cursor.MoveOperation.Start)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tell that somebody is done; all other keys write."""
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.used.emit()
        else:
            super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Take text alone."""
        return source.hasText() and not source.hasUrls()

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert plain text, unless it is too long."""
        text = source.text()
        if self.document().characterCount() + len(text) > LONGEST_GRAMMAR:
            self.refused.emit()
        else:
            self.insertPlainText(text)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the numbers beside the lines."""
        super().resizeEvent(event)
        inner = self.contentsRect()
        self._numbers.setGeometry(QRect(inner.left(), inner.top(), self._numbers.wanted_width, inner.height()))

    def paint_numbers(self, painter: QPainter, seen: QRect) -> None:
        """Paint the numbers of the lines that are seen; that of a wrong line is bold, in the colour of what is wrong."""
        block, offset = self.firstVisibleBlock(), self.contentOffset()
        while block.isValid():
            place = self.blockBoundingGeometry(block).translated(offset)
            if place.top() > seen.bottom():
                return
            number = block.blockNumber() + 1
            is_wrong = self._wrong is not None and self._wrong.line == number
            font = self.font()
            font.setBold(is_wrong)
            painter.setFont(font)
            painter.setPen(self._themes.current.colour("danger" if is_wrong else "muted"))
            line = self.fontMetrics().lineSpacing()  # the last block is higher by the margin of the document
            room = QRect(0, round(place.top()), self._numbers.width() - theme.SPACE_S, line)
            painter.drawText(room, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(number))
            block = block.next()

    def _cursor_at(self, place: Place) -> QTextCursor:
        cursor = self.textCursor()
        block = self.document().findBlockByNumber(min(place.line, self.blockCount()) - 1)
        units = len(block.text()[: place.column - 1].encode("utf-16-le")) // 2
        cursor.setPosition(block.position() + min(units, block.length() - 1))
        return cursor

    def _make_room(self) -> None:
        self.setViewportMargins(self._numbers.wanted_width, 0, 0, 0)

    def _follow(self, seen: QRect, scrolled: int) -> None:
        if scrolled:
            self._numbers.scroll(0, scrolled)
        else:
            self._numbers.update(0, seen.y(), self._numbers.width(), seen.height())


class _LineNumbers(QWidget):
    """The column beside the text."""

    def __init__(self, editor: GrammarEditor, themes: Themes) -> None:
        super().__init__(editor)
        self._editor = editor
        self._themes = themes

    @property
    def wanted_width(self) -> int:
        """As wide as the largest number, and one digit more, so that it seldom moves."""
        digits = max(len(str(self._editor.blockCount())), 2) + 1
        return self.fontMetrics().horizontalAdvance("0") * digits + theme.SPACE_S

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the numbers."""
        painter = QPainter(self)
        painter.fillRect(event.rect(), self._themes.current.colour("window"))
        self._editor.paint_numbers(painter, event.rect())
        painter.end()
