"""The line above the text: the button that reads attention with its cost, how far that is, and the example."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.inside.attention.words import cost_hint, cost_words, token_words
from app.gui.widgets.labels import label
from app.gui.widgets.words import render, set_hint
from app.services.attention import Attention
from app.services.inspecting import Inspecting
from app.services.units import count

_PROGRESS_PX = 180
_LONGEST_TOKEN = 18


class AttentionAsking(QWidget):
    """Follows the service; shows one state at a time."""

    keyboard_left = Signal()
    """The button that had the keyboard goes, because what it asked for is there."""

    def __init__(self, attention: Attention, inspecting: Inspecting) -> None:
        super().__init__()
        self._inspecting = inspecting
        self._attention = attention
        self.ask = QPushButton()
        self.ask.setObjectName("attention_button")
        self.ask.setProperty("look", "primary")
        self.progress = QProgressBar()
        self.progress.setObjectName("attention_progress")
        self.progress.setAccessibleName(self.tr("How many tokens were read"))
        self.progress.setTextVisible(False)
        self.progress.setFixedWidth(theme.scaled(_PROGRESS_PX))
        self.cancel = QPushButton(self.tr("Cancel"))
        self.cancel.setObjectName("attention_cancel")
        self.said = label(look="muted", name="attention_told")
        self.said.setWordWrap(True)
        self.example = QPushButton(self.tr("Try an example"))
        self.example.setObjectName("attention_example")
        self.back = QPushButton(self.tr("Back to the answer"))
        self.back.setObjectName("attention_back")
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        for widget in (self.ask, self.progress, self.cancel):
            row.addWidget(widget)
        row.addWidget(self.said, 1)
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
        self.ask.setEnabled(refusal is None)
        self._show_buttons(is_open=is_open, asks=not is_open and not is_known)
        cost = attention.cost
        set_hint(self.ask, cost_hint(cost) if cost is not None else "")
        if progress is not None:
            self.progress.setRange(0, progress[1])
            self.progress.setValue(progress[0])
            said = self.tr("{done} of {total} tokens").format(done=count(progress[0]), total=count(progress[1]))
        elif is_known:
            said = self.tr("Read. Select another token to read what that one looked at.")
        elif (problem := refusal or attention.problem) is not None:
            said = render(problem)
        else:
            said = cost_words(cost) if cost is not None else ""
        self.said.setText(said)
        set_hint(self.said, cost_hint(cost) if cost is not None and not is_open and not is_known else "")
        self._show_example()

    def _show_example(self) -> None:
        why = self._attention.example_hindrance
        shows = self._attention.shows_example
        self.back.setVisible(shows and self._inspecting.turn is not None)
        self.example.setVisible(not shows)
        self.example.setEnabled(why is None)
        hint = self.tr("“The developer restarted the server because it had crashed.” Which tokens does “it” look at?")
        set_hint(self.example, render(why) if why is not None else hint)

    def _show_buttons(self, *, is_open: bool, asks: bool) -> None:
        """Let the keyboard go on from a button that goes to the one that comes."""
        for widget, is_seen in ((self.ask, asks), (self.progress, is_open), (self.cancel, is_open)):
            if is_seen:
                widget.show()
        if self.ask.hasFocus() and is_open:
            self.cancel.setFocus()
        elif self.cancel.hasFocus() and asks:
            self.ask.setFocus()
        elif (self.cancel.hasFocus() or self.ask.hasFocus()) and not is_open and not asks:
            self.keyboard_left.emit()
        for widget, is_seen in ((self.ask, asks), (self.progress, is_open), (self.cancel, is_open)):
            if not is_seen:
                widget.hide()
