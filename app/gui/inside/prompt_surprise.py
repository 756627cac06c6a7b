"""How surprising the prompt was to the model: a button to ask, how far that is, what came of it, or why it cannot be.

Colours nothing itself: whoever shows the tokens takes the scores from the service, and hears which token is wanted.
"""

from __future__ import annotations

import math

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.inside.pass_row import PassRow, progress_words
from app.gui.inside.token_sentences import in_nats, nat_hint
from app.gui.widgets.labels import in_parts, label
from app.gui.widgets.token_words import quoted
from app.gui.widgets.words import render, set_hint
from app.services.inspecting import Inspecting
from app.services.prompt_scores import PromptScores
from app.services.scored_prompt import ScoredPrompt
from app.services.units import UNKNOWN, count

MOST_SURPRISING = 5
_LONGEST_TOKEN = 18


class PromptSurprise(QWidget):
    """Follows the service; shows one state at a time."""

    token_wanted = Signal(int)
    """Somebody wants to look at a token of the prompt, counted from 0."""

    def __init__(self, scores: PromptScores, inspecting: Inspecting) -> None:
        super().__init__()
        self.setObjectName("prompt_surprise")
        self.setAccessibleName(self.tr("How surprising the prompt was"))
        self._scores = scores
        self._inspecting = inspecting
        self._shown: ScoredPrompt | None = None
        self._first_most: QPushButton | None = None
        """The button of the most surprising token."""
        self._row = row = PassRow("score", self.tr("How much of the prompt was read"))
        self.ask, self.progress, self.cancel, self.said = row.ask, row.progress, row.cancel, row.said
        self.ask.setText(self.tr("How surprising?"))
        set_hint(
            self.ask,
            self.tr(
                "Read the prompt once more and tell how likely each of its tokens was behind those before it. The chat's "
                "cache stays as it is."
            ),
        )
        self.said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._most = _FittingRow()
        self._fill()
        self.ask.clicked.connect(lambda _checked=False: scores.begin())
        self.cancel.clicked.connect(lambda _checked=False: scores.cancel())
        self._disconnect = scores.changed.connect(self.show_known)
        self.show_known()

    def disconnect_services(self) -> None:
        """Listen to the service no longer."""
        self._disconnect()

    def show_known(self) -> None:
        """Show what there is to know, or to do."""
        scores, progress = self._scores.scores, self._scores.progress
        refusal = self._scores.hindrance if scores is None and progress is None else None
        is_open = progress is not None
        self._explain(scores if not is_open else None)
        self._show_most(scores if not is_open else None)
        self.ask.setEnabled(refusal is None)
        self._row.show_state(progress, asks=scores is None, comes=self._first_most)
        if progress is not None and self._scores.is_of_another:
            words = self.tr("{done} of {total} tokens of another prompt")
            self.said.setText(words.format(done=count(progress[0]), total=count(progress[1])))
        elif progress is not None:
            self.said.setText(self._words_under_way(*progress))
        elif scores is not None:
            self.said.setText(_summary(self.tr("Mean surprise"), self.tr("perplexity"), scores))
        else:
            problem = refusal or self._scores.problem
            self.said.setText(render(problem) if problem is not None else "")

    def _words_under_way(self, done: int, total: int) -> str:
        if not done:
            return self.tr("Begins to read the prompt")
        return progress_words(done, total)

    def _explain(self, scores: ScoredPrompt | None) -> None:
        hint = self.tr(
            "Surprise is −ln p in nats: 0 for a token that was certain. Perplexity is e to its mean, as if the model had "
            "had to choose among so many tokens. Quantised models round: single tokens may differ by a few tenths from "
            "one way of reading to another, the mean hardly does."
        )
        set_hint(self.said, f"{hint} {nat_hint()}" if scores is not None else "")

    def _show_most(self, scores: ScoredPrompt | None) -> None:
        """Name the most surprising tokens, each a button that leads to it."""
        if scores is self._shown:
            return
        self._shown = scores
        prompt, buttons = self._inspecting.prompt, []
        if scores is not None and prompt is not None:
            most = scores.most_surprising(MOST_SURPRISING)
            buttons = [self._button(scores, token, prompt.texts[token], prompt.ids[token]) for token in most]
        self._first_most = buttons[0] if buttons else None
        self._most.show_buttons(buttons)
        self._most.setVisible(bool(buttons))

    def _button(self, scores: ScoredPrompt, token: int, text: str | None, number: int) -> QPushButton:
        score = scores.of(token)
        surprise = -score.log_probability if score is not None else math.nan
        said = quoted(text, number)
        shown = quoted(text, number, _LONGEST_TOKEN)
        button = QPushButton(f"{shown} {surprise:.1f}".replace("&", "&&"))
        button.setObjectName(f"surprising_{token}")
        button.setFont(theme.font(theme.SMALL_PX))
        button.setAccessibleName(
            self.tr("Token {number}: {token}, surprise {nats} nats").format(
                number=count(token + 1), token=said, nats=f"{surprise:.1f}"
            )
        )
        set_hint(button, self.tr("Look at this token"))
        button.clicked.connect(lambda _checked=False: self.token_wanted.emit(token))
        return button

    def _fill(self) -> None:
        self._most.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_XS)
        column.addLayout(self._row)
        column.addWidget(self._most)


class _FittingRow(QWidget):
    """Buttons in a line, as many as there is room for: the page need not be wider for them."""

    def __init__(self) -> None:
        super().__init__()
        self._title = label(self.tr("Most surprising, in nats:"), look="muted", pixels=theme.SMALL_PX)
        set_hint(self._title, nat_hint())
        self._buttons: list[QPushButton] = []
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(theme.SPACE_XS)
        self._row.addWidget(self._title)
        self._row.addStretch(1)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_buttons(self, buttons: list[QPushButton]) -> None:
        """Show others."""
        for gone in self._buttons:
            gone.hide()
            gone.deleteLater()
        self._buttons = buttons
        for place, button in enumerate(buttons, 1):
            self._row.insertWidget(place, button)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many as fit."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        left = self.width() - self._title.sizeHint().width()
        for button in self._buttons:
            left -= button.sizeHint().width() + theme.SPACE_XS
            button.setVisible(left >= 0 or button is self._buttons[0])


def _summary(mean_words: str, perplexity_words: str, scores: ScoredPrompt) -> str:
    """Return mean surprise and perplexity."""
    mean, perplexity = scores.mean_surprise, scores.perplexity
    shown = UNKNOWN if mean is None or not math.isfinite(mean) else in_nats(mean)
    among = UNKNOWN if perplexity is None or not math.isfinite(perplexity) else f"{perplexity:,.3g}"
    if perplexity is not None and 1000 <= perplexity < math.inf:
        among = f"{perplexity:,.0f}"
    return in_parts((f"{mean_words} {shown}", f"{perplexity_words} {among}"))
