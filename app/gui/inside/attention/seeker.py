"""Which layer and head looked most at one token, in a sentence, with a button that shows that head."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.inside.attention.words import seeker_words
from app.gui.widgets.labels import label
from app.services.attention_rows import AttentionRows
from app.services.attention_text import AttentionText, asked_of_example


class HeadSeeker(QWidget):
    """Keeps the token that was pointed at last: the pointer leaves it on its way to the button."""

    chosen = Signal(object, object)
    """Somebody wants to see a layer and a head, counted from 0; as head None is the average."""

    def __init__(self) -> None:
        super().__init__()
        self._text: AttentionText | None = None
        self._rows: AttentionRows | None = None
        self._query: int | None = None
        self._token: int | None = None
        self.said = label(name="attention_seeker_words")
        self.said.setWordWrap(True)
        self.show_head = QPushButton()
        self.show_head.setObjectName("attention_seeker")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_XS)
        column.addWidget(self.said)
        column.addWidget(self.show_head)
        self.show_head.clicked.connect(lambda _checked=False: self._go())
        self.hide()

    def show_rows(self, text: AttentionText | None, rows: AttentionRows | None, query: int | None) -> None:
        """Look in other rows; what was pointed at in others is let go of."""
        if (text, rows, query) != (self._text, self._rows, self._query):
            self._text, self._rows, self._query, self._token = text, rows, query, None
        self._show()

    def seek(self, token: int | None) -> None:
        """Say which head looked most at this token."""
        if token is not None and self._query is not None and token <= self._query:
            self._token = token
            self._show()

    @property
    def token(self) -> int | None:
        """The token that is said of: the one pointed at, else what one would ask of the text."""
        if self._token is not None or self._text is None or self._rows is None:
            return self._token
        return asked_of_example(self._text) if self._text.is_example else _strongest_other(self._rows)

    def _show(self) -> None:
        token, text, rows = self.token, self._text, self._rows
        found = rows.most_at(token) if rows is not None and token is not None else None
        self.setVisible(found is not None and text is not None)
        if found is None or text is None or token is None:
            return
        words, way = seeker_words(text, token, found)
        self.said.setText(words)
        self.show_head.setText(way)

    def _go(self) -> None:
        token = self.token
        found = self._rows.most_at(token) if self._rows is not None and token is not None else None
        if found is not None:
            self.chosen.emit(found.layer, found.head)


def _strongest_other(rows: AttentionRows) -> int | None:
    """Return what was looked at most on average but for the first token and the token itself."""
    return next((token for token, _share in rows.most(3) if 0 < token < rows.tokens - 1), None)
