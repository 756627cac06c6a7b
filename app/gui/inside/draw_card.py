"""The last card of the sampler laboratory: what is left lies on a bar, and a random number falls on one of it."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QVBoxLayout

from app.core.sampler_cards import DrawCard
from app.gui import theme
from app.gui.inside.card_parts import explanation_label, title_label
from app.gui.inside.card_words import DRAW, draw_fact, stage_title, survivors, unseen
from app.gui.inside.draw_picture import DrawPicture, unsure_stretches
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.words import set_hint

WIDTH_PX = 292
_SEEN = 0.005
"""A stretch of the bar that is shorter cannot be seen."""


class DrawCardView(QFrame):
    """Shows the draw; it is always the last."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self.setObjectName("lab_draw_card")
        self.setProperty("look", "card")
        self.setFixedWidth(theme.scaled(WIDTH_PX))
        title = title_label(DRAW)
        title.setObjectName("lab_draw_title")
        self.what = explanation_label(DRAW)
        self.figure = FixedText(pixels=theme.FIGURE_PX, bold=True, muted=False, name="lab_draw_left")
        self.picture = DrawPicture(themes)
        self.picture.setObjectName("lab_draw_picture")
        self._fact = FixedText(name="lab_draw_fact", muted=False)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.SPACE_M, theme.SPACE_S, theme.SPACE_M, theme.SPACE_S)
        column.setSpacing(theme.SPACE_XS)
        for widget in (title, self.what, self.figure):
            column.addWidget(widget)
        column.addWidget(self.picture, 1)
        column.addWidget(self._fact)

    def show_card(
        self, card: DrawCard | None, texts: dict[int, str], taken: int | None, chosen: int | None = None
    ) -> None:
        """Show the draw of a step; `taken` is the token that its answer has, `chosen` one that somebody chose for it."""
        self.picture.show_card(card, texts, chosen)
        if card is None:
            self.figure.set_text("")
            self._fact.set_text("")
            set_hint(self._fact, "")
            self._name(self.tr("{title}: no token to show yet").format(title=stage_title(DRAW)))
            return
        left = survivors(card.left, is_exact=card.left_is_exact)
        is_one = card.left == 1 and card.left_is_exact
        said = self.tr("1 token is left") if is_one else self.tr("{count} tokens are left").format(count=left)
        words, rest = draw_fact(card, texts, taken, chosen), unseen(card.unseen)
        self.figure.set_text(said)
        self._fact.set_text(words)
        more = [rest] if rest else []
        if any(end - begin > _SEEN for begin, end in unsure_stretches(card)):
            more.append(self.tr("What is hatched may be of one token or of another"))
        set_hint(self._fact, ". ".join((words, *more, "")).strip() if more else words)
        self._name(self.tr("{title}: {left}; {fact}").format(title=stage_title(DRAW), left=said, fact=words))

    def _name(self, said: str) -> None:
        """Have the card and its picture say the same to people who cannot see it."""
        for widget in (self, self.picture):
            widget.setAccessibleName(said)
