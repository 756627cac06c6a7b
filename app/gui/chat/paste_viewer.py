"""A plain view of a long text, which breaks lines that would freeze a text field over its layout."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QFontDatabase, QGuiApplication, QTextCursor
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.widgets.labels import label
from app.gui.widgets.wrapped_text import keep_line_starts
from app.services.units import count

SHOWN_LINE = 1_000
"""Longer lines are shown in parts of so many characters."""
LINES_AT_ONCE, CHARACTERS_AT_ONCE = 500, 20_000
"""So much is laid out in one step."""
SIZE = QSize(760, 560)


class PasteViewer(QDialog):
    """Shows one text; what is copied as a whole is the text as it is."""

    def __init__(
        self, text: str, parent: QWidget, *, title: str = "", shown: str | None = None, facts: str = ""
    ) -> None:
        """`shown` is the text as it is to be seen, where that is not as it is; `facts` stand beside its length."""
        super().__init__(parent)
        title = title or self.tr("Pasted text")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.resize(SIZE.boundedTo(parent.window().size()))
        whole = text if shown is None else shown
        shown = in_short_lines(whole)
        view = QPlainTextEdit()
        view.setObjectName("pasted_view")
        view.setAccessibleName(title)
        view.setProperty("look", "field")
        view.setReadOnly(True)
        keep_line_starts(view)
        view.setUndoRedoEnabled(False)
        view.setTabChangesFocus(True)
        view.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        view.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._view = view
        self._rest = _parts(shown)
        self._filling = QTimer(self)
        self._filling.timeout.connect(self._fill)
        self._filling.start(0)
        self._fill()
        told = [self.tr("{characters} characters").format(characters=count(len(text))), *([facts] if facts else [])]
        if shown is not whole:
            told.append(self.tr("long lines are shown in parts"))
        copy = QPushButton(self.tr("Copy all"))
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(text))
        close = QPushButton(self.tr("Close"))
        close.setDefault(True)
        close.clicked.connect(self.close)
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        row.addWidget(label(" · ".join(told), look="muted", pixels=theme.SMALL_PX), 1)
        row.addWidget(copy)
        row.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_L, theme.SPACE_L, theme.SPACE_L)
        layout.setSpacing(theme.SPACE_M)
        layout.addWidget(view, 1)
        layout.addLayout(row)

    def _fill(self) -> None:
        """Add a part of the text; a large one comes in many steps, so that the window goes on."""
        part = next(self._rest, None)
        if part is None:
            self._filling.stop()
            return
        cursor = QTextCursor(self._view.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(part)


def _parts(text: str) -> Iterator[str]:
    """Return a text in parts of at most so many lines and characters."""
    lines, start = text.split("\n"), 0
    while start < len(lines):
        end, characters = start, 0
        while end < len(lines) and end - start < LINES_AT_ONCE and characters < CHARACTERS_AT_ONCE:
            characters += len(lines[end])
            end += 1
        part = "\n".join(lines[start:end])
        yield part if end == len(lines) else part + "\n"
        start = end


def in_short_lines(text: str) -> str:
    """Return a text whose longer lines are broken; the same text where there is none."""
    lines = text.split("\n")
    if all(len(line) <= SHOWN_LINE for line in lines):
        return text
    return "\n".join(
        line[start : start + SHOWN_LINE] for line in lines for start in range(0, max(len(line), 1), SHOWN_LINE)
    )
