"""The line above the text: the button that reads attention with its cost, how far that is, and the example."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.gui.inside.attention.words import cost_hint, read_words, token_words
from app.gui.inside.pass_row import PassRow, cost_words
from app.gui.widgets.words import render, set_hint
from app.services.attention import Attention
from app.services.inspecting import Inspecting

_LONGEST_TOKEN = 18


class AttentionAsking(QWidget):
    """Follows the service; shows one state at a time."""

    keyboard_left = Signal()
    """The button that had the keyboard goes, and no other one stands in its place."""

    def __init__(self, attention: Attention, inspecting: Inspecting) -> None:
        super().__init__()
        self._inspecting = inspecting
        self._attention = attention
        self._row = row = PassRow("attention", self.tr("How many tokens were read"))
        self.ask, self.progress, self.cancel, self.said = row.ask, row.progress, row.cancel, row.said
        self.ask.setProperty("look", "primary")
        row.keyboard_left.connect(self.keyboard_left)
        self.example = QPushButton(self.tr("Try an example"))
        self.example.setObjectName("attention_example")
        self.back = QPushButton(self.tr("Back to the answer"))
        self.back.setObjectName("attention_back")
        row.addWidget(self.example)
        row.addWidget(self.back)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(row)
        self.ask.clicked.connect(lambda _checked=False: attention.begin())
        self.cancel.clicked.connect(lambda _checked=False: attention.cancel())
        self.example.clicked.connect(lambda _checked=False: attention.show_example())
        self.back.clicked.connect(lambda _checked=False: attention.leave_example())

    def show_known(self) -> None:
        """Show what can be done, what goes on, or why neither."""
        attention = self._attention
        text, token, progress = attention.text, attention.token, attention.progress
        is_known, is_open = attention.rows is not None, progress is not None
        refusal = attention.hindrance if not is_known and not is_open else None
        named = token_words(text, token, _LONGEST_TOKEN) if text is not None and token is not None else ""
        words = self.tr("Read what {token} looked at").format(token=named) if named else self.tr("Read attention")
        self.ask.setText(words.replace("&", "&&"))
        self.ask.setAccessibleName(words)
        if refusal is None:
            self.ask.setEnabled(True)
        self._row.show_state(progress, asks=not is_known)
        if refusal is not None and self.ask.hasFocus():
            self.keyboard_left.emit()
        self.ask.setEnabled(refusal is None)
        cost = attention.cost
        set_hint(self.ask, cost_hint(cost) if cost is not None else "")
        if progress is not None:
            said = read_words(attention.progress_of(), progress)
        elif is_known:
            said = self.tr("What this token looked at is shown below. Click another token to read that of it.")
        elif (problem := refusal or attention.problem) is not None:
            said = render(problem)
        else:
            said = cost_words(cost)
        self.said.setText(f"{self._whose()} {said}" if attention.shows_example else said)
        set_hint(self.said, cost_hint(cost) if cost is not None and not is_open and not is_known else "")
        self._show_example()

    def _show_example(self) -> None:
        why = self._attention.example_hindrance
        shows = self._attention.shows_example
        has_answer = self._inspecting.turn is not None
        self.back.setText(self.tr("Back to the answer") if has_answer else self.tr("Close the example"))
        if (self.back.hasFocus() and not shows) or (self.example.hasFocus() and (shows or why is not None)):
            self.keyboard_left.emit()
        self.back.setVisible(shows)
        self.example.setVisible(not shows)
        self.example.setEnabled(why is None)
        hint = self.tr("“The developer restarted the server because it had crashed.” Which tokens does “it” look at?")
        set_hint(self.example, render(why) if why is not None else hint)

    def _whose(self) -> str:
        """Say that it is the example, which the head of the page knows nothing of."""
        if self._inspecting.turn is None:
            return self.tr("This is the example.")
        return self.tr("This is the example, not the answer above.")
