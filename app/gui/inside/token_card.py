"""The token that is looked at: what it is, how likely it was, how it came, and what could have come in its place.

Knows no service: whoever owns it says what to show, and hears with which token somebody wants to go on.
"""

from __future__ import annotations

from typing import TypeGuard

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.core.words import Sentence
from app.gui import theme
from app.gui.icons import Icons
from app.gui.inside.alternatives import Alternatives
from app.gui.inside.token_sentences import came_by, figure_hint, figures_of, part_words
from app.gui.widgets.labels import label
from app.gui.widgets.token_words import quoted
from app.gui.widgets.words import render, set_hint
from app.services.inspection import InspectedAnswer, TokenInsight
from app.services.units import UNKNOWN, count

_WIDTH_PX, _HEIGHT_PX, _LEAST_HEIGHT_PX = 386, 504, 244
_LEAST_LIST_PX = 92


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
        self._caution: Sentence | None = None
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

    def hasHeightForWidth(self) -> bool:
        """Be as high as there is room, whatever is said: what stands beside and below must not move with the pointer."""
        return False

    def sizeHint(self) -> QSize:
        """Ask for all figures and some rows."""
        return QSize(self.minimumWidth(), theme.scaled(_HEIGHT_PX))

    def minimumSizeHint(self) -> QSize:
        """Need the same whatever is known, so that nothing jumps: what has no room scrolls."""
        return QSize(self.minimumWidth(), theme.scaled(_LEAST_HEIGHT_PX))

    def show_token(
        self,
        answer: InspectedAnswer | None,
        token: int | None,
        insight: TokenInsight | None,
        problem: Sentence | None = None,
    ) -> None:
        """Show a token of an answer, with what could have come in its place once that is known, or why it is not."""
        is_known = answer is not None and token is not None and token < len(answer)
        self._answer, self._token = answer, token if is_known else None
        self._pages.setCurrentIndex(1 if is_known else 0)
        if answer is None or token is None or not is_known:
            self._insight = None
            self.alternatives.show_insight(None)
            return
        whole = quoted(answer.texts[token], answer.ids[token])
        self.title.setText(quoted(answer.texts[token], answer.ids[token], _MOST_IN_TITLE))
        set_hint(self.title, whole if whole != self.title.text() else "")
        words = self.tr("Token {number} of {count}")
        place = words.format(number=count(token + 1), count=count(len(answer)))
        self.place.setText(" · ".join(filter(None, (place, part_words(answer, token)))))
        said = {**figures_of(answer, token), "id": str(answer.ids[token]), "bytes": _bytes_of(answer, token)}
        said["came"] = came_by(answer, token)
        for name, value in said.items():
            self._values[name].setText(value)
        if not _is_of(insight, answer, token):
            # What is there stays to be seen until the next is known: nothing jumps, and nothing of it can be chosen.
            self._insight = None
            self.alternatives.choose_none()
            if problem is not None:
                self.alternatives.show_insight(None)
                self._say_why_none(render(problem))
            self._show_button()
            return
        if insight != self._insight:
            self._insight = insight
            self.alternatives.show_insight(insight)
        self._say_why_none(self._why_none(answer, token))
        self._show_button()

    def show_refusal(
        self, refusal: Sentence | None, caution: Sentence | None = None, forbidden: frozenset[int] = frozenset()
    ) -> None:
        """Say why nothing can go on from here now, None where it can, and what may become of it.

        `forbidden` are tokens that cannot come here.
        """
        self._refusal, self._caution = refusal, caution
        self.alternatives.forbid(forbidden)
        if self._answer is not None and self._token is not None and self._insight is not None:
            self._say_why_none(self._why_none(self._answer, self._token))
        self._show_button()

    def put_below_hint(self, widget: QWidget) -> None:
        """Show something while no token is looked at."""
        self._free.insertWidget(1, widget, 1)

    def _want_chosen(self) -> None:
        if (chosen := self.alternatives.chosen) is not None:
            self._want(chosen.token)

    def _want(self, token: int) -> None:
        if self._can_go_on_by(token):
            self.wanted.emit(token)

    def _can_go_on_by(self, token: int) -> bool:
        return self._refusal is None and self._insight is not None and token not in self.alternatives.forbidden

    def _show_button(self) -> None:
        chosen = self.alternatives.chosen
        said = self.tr("Go on from here with another token")
        if chosen is not None:
            words = self.tr("Go on from here with {token}")
            said = words.format(token=quoted(chosen.text, chosen.token, _MOST_CHARACTERS))
        self.go_on.setText(said.replace("&", "&&"))
        self.go_on.setAccessibleName(said)
        self.go_on.setEnabled(chosen is not None and self._can_go_on_by(chosen.token))
        set_hint(self.go_on, self._hint_of_button())

    def _hint_of_button(self) -> str:
        chosen = self.alternatives.chosen
        if self._refusal is not None:
            return render(self._refusal)
        if chosen is not None and chosen.token in self.alternatives.forbidden:
            return self.tr(
                "The grammar that is set for this chat does not allow this token here: choose another one."
            )
        hint = self.tr("Cut the answer here, put this token in, and let the model go on from it: as another version.")
        return f"{hint}\n{render(self._caution)}" if self._caution is not None else hint

    def _why_none(self, answer: InspectedAnswer, token: int) -> str:
        if answer.log_probabilities[token] is None and answer.is_pending(token):
            return self.tr("Nothing is recorded of this token yet: records come a few tokens at once.")
        if answer.log_probabilities[token] is None and answer.is_damaged:
            return self.tr("What was recorded of this token cannot be read: the record of the answer is damaged.")
        if answer.log_probabilities[token] is None:
            return self.tr(
                "Nothing was recorded of this token. Choose “All likely candidates” under “Save for each token” in the "
                "preferences: then answers that follow can be looked into."
            )
        if not answer.has_alternatives:
            return self.tr(
                "Only the chosen token was recorded. Choose “All likely candidates” under “Save for each token” in the "
                "preferences to see what else could have come."
            )
        return self.tr("The grammar of this chat may forbid some of these.") if self._caution is not None else ""

    def _say_why_none(self, said: str) -> None:
        has_some = bool(self.alternatives.rows.rows)
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
        column.addStretch(0)
        self._free = column
        return page

    def _full(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self.title)
        column.addWidget(self.place)
        column.addWidget(self._known(), 1)
        column.addWidget(self.go_on)
        return page

    def _known(self) -> QScrollArea:
        """Return the figures and the list, which scroll where the card is low: nothing is squeezed."""
        contents = QWidget()
        contents.setAutoFillBackground(False)
        column = QVBoxLayout(contents)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addLayout(self._figures())
        column.addLayout(self._head())
        column.addWidget(self.alternatives, 1)
        column.addWidget(self.why_none)
        column.addLayout(self._more_figures())
        column.addStretch(0)
        self.alternatives.setMinimumHeight(theme.scaled(_LEAST_LIST_PX))
        area = QScrollArea()
        area.setObjectName("token_known")
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidgetResizable(True)
        area.setWidget(contents)
        for each in (area.viewport(), contents):
            each.setAutoFillBackground(False)
        return area

    def _figures(self) -> QGridLayout:
        """Return the figures in two columns of pairs."""
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
        )
        for place, (name, words) in enumerate(pairs):
            row, column = divmod(place, 2)
            self._add(grid, (row, 2 * column), name, words)
        grid.setColumnStretch(1, 1)
        grid.setColumnStretch(3, 1)
        return grid

    def _more_figures(self) -> QGridLayout:
        """Return what takes a line each, below the list, which is to be seen first where the card is low."""
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.SPACE_M)
        grid.setVerticalSpacing(theme.SPACE_XS)
        more = (("came", self.tr("Came")), ("time", self.tr("Time")), ("bytes", self.tr("Bytes")))
        for place, (name, words) in enumerate(more):
            self._add(grid, (place, 0), name, words, wide=True)
        grid.setColumnStretch(1, 1)
        return grid

    def _add(self, grid: QGridLayout, where: tuple[int, int], name: str, words: str, *, wide: bool = False) -> None:
        row, column = where
        title = label(words, look="muted", pixels=theme.SMALL_PX)
        grid.addWidget(title, row, column, Qt.AlignmentFlag.AlignTop)
        value = self._values[name] = label(UNKNOWN, name=f"token_{name}_value")
        for each in (title, value):
            set_hint(each, figure_hint(name))
        value.setWordWrap(wide)
        value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        grid.addWidget(value, row, column + 1, 1, 3 if wide else 1)

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addWidget(label(self.tr("What could have come here"), bold=True))
        row.addStretch(1)
        raw, after = (
            label(words, look="muted", pixels=theme.SMALL_PX)
            for words in (self.tr("raw"), self.tr("after the chain"))
        )
        for each, name in ((raw, "probability"), (after, "after")):
            set_hint(each, figure_hint(name))
        row.addWidget(raw)
        row.addSpacing(theme.SPACE_M)
        row.addWidget(after)
        return row


def _bytes_of(answer: InspectedAnswer, token: int) -> str:
    piece = answer.pieces[token]
    if piece is None:
        return UNKNOWN
    return " ".join(f"{byte:02X}" for byte in piece[:_MOST_BYTES]) + (" …" if len(piece) > _MOST_BYTES else "")


def _is_of(insight: TokenInsight | None, answer: InspectedAnswer, token: int) -> TypeGuard[TokenInsight]:
    return insight is not None and (insight.message, insight.index) == (answer.message, token)


_MOST_BYTES, _MOST_CHARACTERS, _MOST_IN_TITLE = 32, 24, 56
