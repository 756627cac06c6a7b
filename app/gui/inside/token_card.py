"""The token that is looked at: what it is, how likely it was, how it came, and what could have come in its place.

Knows no service: whoever owns it says what to show, and hears with which token somebody wants to go on.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.core.words import Sentence
from app.gui import theme
from app.gui.icons import Icons
from app.gui.inside.alternatives import Alternatives
from app.gui.inside.token_sentences import came_by, figures_of, part_words
from app.gui.widgets.labels import label
from app.gui.widgets.token_words import quoted
from app.gui.widgets.words import render, set_hint
from app.services.inspection import InspectedAnswer, TokenInsight
from app.services.units import UNKNOWN, count

_WIDTH_PX = 372


class TokenCard(QFrame):
    """Figures above, the list of alternatives below; nothing but a hint while no token is looked at."""

    wanted = Signal(int)
    """Somebody wants the answer to go on by this token in place of the one that is looked at."""

    def __init__(self, themes: theme.Themes, icons: Icons) -> None:
        super().__init__()
        self.setObjectName("token_card")
        self.setAccessibleName(self.tr("The token that is looked at"))
        self.setProperty("look", "card")
        self.setFixedWidth(theme.scaled(_WIDTH_PX))
        self._values: dict[str, QLabel] = {}
        self._insight: TokenInsight | None = None
        self._answer: InspectedAnswer | None = None
        self._token: int | None = None
        self._refusal: Sentence | None = None
        self.title = label(pixels=theme.HEADING_PX, bold=True, name="token_title")
        self.title.setWordWrap(True)
        self.place = label(look="muted", pixels=theme.SMALL_PX, name="token_place")
        self.place.setWordWrap(True)
        self.alternatives = Alternatives(themes, icons)
        self.why_none = label(look="muted", name="alternatives_hint")
        self.why_none.setWordWrap(True)
        self.go_on = QPushButton()
        self.go_on.setObjectName("go_on_from_token")
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty())
        self._pages.addWidget(self._full())
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.SPACE_M, theme.SPACE_M, theme.SPACE_M, theme.SPACE_M)
        column.addWidget(self._pages)
        self.alternatives.wanted.connect(self._want)
        self.alternatives.chosen_changed.connect(self._show_button)
        self.go_on.clicked.connect(lambda _checked=False: self._want_chosen())
        self._show_button()

    def show_token(self, answer: InspectedAnswer | None, token: int | None, insight: TokenInsight | None) -> None:
        """Show a token of an answer, with what could have come in its place once that is known."""
        is_known = answer is not None and token is not None and token < len(answer)
        self._answer, self._token = answer, token if is_known else None
        self._pages.setCurrentIndex(1 if is_known else 0)
        if answer is None or token is None or not is_known:
            self._insight = None
            self.alternatives.show_insight(None)
            return
        self.title.setText(quoted(answer.texts[token], answer.ids[token]))
        words = self.tr("Token {number} of {count}")
        place = words.format(number=count(token + 1), count=count(len(answer)))
        self.place.setText(" · ".join(filter(None, (place, part_words(answer, token)))))
        said = {**figures_of(answer, token), "id": str(answer.ids[token]), "bytes": _bytes_of(answer, token)}
        said["came"] = came_by(answer, token)
        for name, value in said.items():
            self._values[name].setText(value)
        if insight is None or insight.index != token:
            return  # what is there stays until the next is known: nothing jumps
        if insight != self._insight:
            self._insight = insight
            self.alternatives.show_insight(insight)
        self._say_why_none(answer, token)

    def show_refusal(self, refusal: Sentence | None) -> None:
        """Say why nothing can go on from here now; None where it can."""
        self._refusal = refusal
        self._show_button()

    def _want_chosen(self) -> None:
        if (chosen := self.alternatives.chosen) is not None:
            self._want(chosen.token)

    def _want(self, token: int) -> None:
        if self._refusal is None:
            self.wanted.emit(token)

    def _show_button(self) -> None:
        chosen = self.alternatives.chosen
        if chosen is None:
            self.go_on.setText(self.tr("Go on from here by another token"))
        else:
            self.go_on.setText(
                self.tr("Go on from here by {token}").format(token=_short(quoted(chosen.text, chosen.token)))
            )
        self.go_on.setAccessibleName(self.go_on.text())
        self.go_on.setEnabled(chosen is not None and self._refusal is None)
        hint = self.tr("Cut the answer here, put this token in, and let the model go on from it: as another version.")
        set_hint(self.go_on, render(self._refusal) if self._refusal is not None else hint)

    def _say_why_none(self, answer: InspectedAnswer, token: int) -> None:
        has_some = bool(self.alternatives.rows.rows)
        said = ""
        if answer.log_probabilities[token] is None:
            said = self.tr(
                "Nothing was recorded of this token. Choose “All likely candidates” under “Save for each token” in the "
                "preferences: then answers that follow can be looked into."
            )
        elif not answer.has_alternatives:
            said = self.tr(
                "Only the chosen token was recorded. Choose “All likely candidates” under “Save for each token” in the "
                "preferences to see what else could have come."
            )
        self.why_none.setText(said)
        self.why_none.setVisible(bool(said))
        self.alternatives.setVisible(has_some)
        self.go_on.setVisible(has_some)

    def _empty(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        hint = label(self.tr("Point at a token to look at it. A click keeps it, the arrow keys go on from there."))
        hint.setObjectName("token_hint")
        hint.setProperty("look", "muted")
        hint.setWordWrap(True)
        column.addWidget(hint)
        column.addStretch(1)
        return page

    def _full(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self.title)
        column.addWidget(self.place)
        column.addLayout(self._figures())
        column.addLayout(self._head())
        column.addWidget(self.alternatives, 1)
        column.addWidget(self.why_none)
        column.addWidget(self.go_on)
        column.addStretch(0)
        return page

    def _figures(self) -> QGridLayout:
        """Return the figures in two columns of pairs, what takes a line below them."""
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.SPACE_M)
        grid.setVerticalSpacing(theme.SPACE_XS)
        pairs = (
            ("id", self.tr("Id")),
            ("rank", self.tr("Rank")),
            ("probability", self.tr("Probability")),
            ("log", self.tr("Log-probability")),
            ("after", self.tr("After the chain")),
            ("entropy", self.tr("Entropy")),
            ("time", self.tr("Time")),
        )
        for place, (name, words) in enumerate(pairs):
            row, column = divmod(place, 2)
            self._add(grid, (row, 2 * column), name, words)
        for place, (name, words) in enumerate((("bytes", self.tr("Bytes")), ("came", self.tr("Came"))), 4):
            self._add(grid, (place, 0), name, words, wide=True)
        grid.setColumnStretch(1, 1)
        grid.setColumnStretch(3, 1)
        return grid

    def _add(self, grid: QGridLayout, where: tuple[int, int], name: str, words: str, *, wide: bool = False) -> None:
        row, column = where
        grid.addWidget(label(words, look="muted", pixels=theme.SMALL_PX), row, column, Qt.AlignmentFlag.AlignTop)
        value = self._values[name] = label(UNKNOWN, name=f"token_{name}_value")
        value.setWordWrap(wide)
        value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        grid.addWidget(value, row, column + 1, 1, 3 if wide else 1)

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addWidget(label(self.tr("What could have come here"), bold=True))
        row.addStretch(1)
        row.addWidget(label(self.tr("raw"), look="muted", pixels=theme.SMALL_PX))
        row.addSpacing(theme.SPACE_M)
        row.addWidget(label(self.tr("after the chain"), look="muted", pixels=theme.SMALL_PX))
        return row


def _bytes_of(answer: InspectedAnswer, token: int) -> str:
    piece = answer.pieces[token]
    if piece is None:
        return UNKNOWN
    return " ".join(f"{byte:02X}" for byte in piece[:_MOST_BYTES]) + (" …" if len(piece) > _MOST_BYTES else "")


def _short(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…”"


_MOST_BYTES, _MOST_CHARACTERS = 32, 24
