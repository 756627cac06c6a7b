"""The part “Attention”: which earlier tokens the selected one looked at, in each layer and head and on average."""

from __future__ import annotations

import math

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.inside.attention.asking import AttentionAsking
from app.gui.inside.attention.choice import LayerChoice
from app.gui.inside.attention.flow import AttentionFlow
from app.gui.inside.attention.grid import Cell, GridArea, HeadGrid
from app.gui.inside.attention.seeker import HeadSeeker
from app.gui.inside.attention.strongest import MOST, StrongestTokens
from app.gui.inside.attention.words import (
    lack_words,
    lacking_words,
    note_words,
    read_words,
    share_words,
    sink_words,
    token_words,
)
from app.gui.inside.empty_page import lay_out_empty
from app.gui.inside.open_pass import OpenPass
from app.gui.inside.page import InsidePart
from app.gui.inside.token_legend import TokenLegend
from app.gui.widgets.labels import label
from app.gui.widgets.words import render
from app.services.attention import Attention
from app.services.attention_rows import AttentionRows
from app.services.attention_text import AttentionText
from app.services.inspecting import Inspecting
from app.services.inspection import InspectedAnswer

_CARD_PX = 340
_GRID_PX = 216
_LONGEST_TITLE = 24


class AttentionPart(InsidePart):
    """Shows what the service knows; a token that is clicked here is looked at on the whole page where it is the answer's."""

    is_whole = True

    def __init__(self, attention: Attention, inspecting: Inspecting, themes: theme.Themes) -> None:
        super().__init__()
        self.setObjectName("inside_attention")
        self.setAccessibleName(self.tr("What a token looked at"))
        self._attention = attention
        self._inspecting = inspecting
        self._layer: int | None = None
        self._head: int | None = None
        self._looked: int | None = None
        self._shown: tuple[AttentionText | None, AttentionRows | None, int | None] = (None, None, None)
        self.asking = AttentionAsking(attention, inspecting)
        self.flow = AttentionFlow(themes)
        self.title = label(pixels=theme.HEADING_PX, bold=True, name="attention_title")
        self.title.setWordWrap(True)
        self.choice = LayerChoice()
        self.pointed = label(name="attention_token")
        self.pointed.setWordWrap(True)
        self.strongest = StrongestTokens(themes)
        self.seeker = HeadSeeker()
        self.why = label(look="muted", name="attention_why")
        self.why.setWordWrap(True)
        self.grid = HeadGrid(themes)
        self._grid_area = GridArea(self.grid)
        self._grid_words = label(
            self.tr(
                "A cell for each layer (left to right) and head (top row: their average), with a bar as high as the largest "
                "share it gave to one token. The bar stands left where that was the first token, right where it was the "
                "token itself, just left of that where it was the token before, and in the middle for any other."
            ),
            look="muted",
            pixels=theme.SMALL_PX,
            name="attention_grid_words",
        )
        self.legend = TokenLegend(themes, signs=False)
        self.legend.setObjectName("attention_legend")
        self.legend.show_colouring("attention")
        self.empty_words = label(look="muted", pixels=theme.READING_PX, name="attention_empty")
        self.empty_example = QPushButton(self.tr("Try an example"))
        self.empty_example.setObjectName("attention_empty_example")
        self.other = OpenPass("attention_other", self.tr("How many tokens were read"), self.empty_example)
        self.other.cancelled.connect(attention.cancel)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty())
        self._pages.addWidget(self._full())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._pages)
        self.flow.looked_at.connect(self.look_at)
        self.flow.selected.connect(self._select)
        self.strongest.looked_at.connect(self.look_at)
        self.asking.keyboard_left.connect(self.flow.setFocus)
        self.choice.chosen.connect(self._choose)
        self.seeker.chosen.connect(self._choose)
        self.grid.chosen.connect(self._choose_cell)
        self.empty_example.clicked.connect(lambda _checked=False: attention.show_example())
        self._disconnect = [each.connect(self.show_known) for each in (attention.changed, inspecting.opened)]

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        for disconnect in self._disconnect:
            disconnect()

    def showEvent(self, event: QShowEvent) -> None:
        """Show what became known meanwhile."""
        super().showEvent(event)
        self.show_known()

    def leave(self) -> None:
        """Show all layers again."""
        self._choose(None, None)
        self.look_at(None)

    def look_at(self, token: int | None) -> None:
        """Look at a token that the selected one may have looked at."""
        self._looked = token
        self.flow.show_token(token)
        self.strongest.show_token(token)
        self.seeker.seek(token)
        self._show_pointed()

    def show_known(self) -> None:
        """Show what there is to know, or what to do first; nothing is worked out while nobody sees it."""
        if not self.isVisible():
            return
        attention = self._attention
        text, rows = attention.text, attention.rows
        self._show_page(text)
        self.asking.show_known()
        if rows is not None:
            self._keep_choice(rows)
        if (text, rows, attention.token) != self._shown:
            if _prompt_of(text) != _prompt_of(self._shown[0]):
                self._looked = self._layer = self._head = None  # another text begins with all layers averaged
            is_new = rows is not None and rows is not self._shown[1]
            self._shown = text, rows, attention.token
            self._show_rows()
            if is_new:
                self._bring_in_sight()
        self._show_pointed()

    def _show_page(self, text: AttentionText | None) -> None:
        """Show what there is, or what to do first; the keyboard of what goes is with the text that comes."""
        was_full = self._pages.currentIndex() == 1
        is_full = text is not None or (was_full and self._attention.shows_example)
        had_keyboard = self.empty_example.hasFocus()
        self._pages.setCurrentIndex(1 if is_full else 0)
        if not is_full:
            self._show_empty()
        elif had_keyboard:
            self.flow.setFocus()

    def _show_empty(self) -> None:
        problem = self._attention.problem or self._attention.hindrance
        self.empty_words.setText(render(problem) if problem is not None else "")
        progress = self._attention.progress
        self.other.show_state(
            progress, read_words(self._attention.progress_of(), progress) if progress is not None else ""
        )
        can_try = self._attention.example_hindrance is None
        if self.empty_example.hasFocus() and not can_try:
            self.setFocus()
        self.empty_example.setEnabled(can_try)

    def _keep_choice(self, rows: AttentionRows) -> None:
        """Keep the layer and the head where the rows have them."""
        if self._layer is not None and self._layer >= len(rows.layers):
            self._layer = self._head = None
        if self._layer is not None and self._head is not None and self._head >= rows.layers[self._layer].rows - 1:
            self._head = None

    def _show_rows(self) -> None:
        """Show the row of the layer and head that are chosen."""
        text, rows, query = self._shown
        row = rows.row(self._layer, self._head) if rows is not None else None
        self.flow.show_answer(_columns(text, tuple(row) if row is not None else ()) if text is not None else None)
        self.flow.colour_by("attention" if row is not None else "none")
        self.flow.show_query(query)
        self.flow.say(self._said if text is not None else None)
        self.flow.show_token(self._looked)
        self.strongest.show_token(self._looked)
        self.choice.show_choice(rows, self._layer, self._head)
        self.strongest.show_found(text, rows.most(MOST, self._layer, self._head) if rows is not None else ())
        self.strongest.setVisible(row is not None)
        self.seeker.show_rows(text, rows, query)
        self.choice.setVisible(rows is not None)
        self.legend.setVisible(row is not None)
        self.grid.show_rows(text, rows)
        self.grid.show_choice(self._layer, self._head)
        self._grid_area.setVisible(rows is not None and not rows.is_empty)
        self._grid_words.setVisible(rows is not None and not rows.is_empty)
        named = token_words(text, query, _LONGEST_TITLE) if text is not None and query is not None else ""
        self.title.setText(self.tr("What {token} looked at").format(token=named) if named else self.tr("Attention"))
        self.why.setText(self._why(rows, row))
        self.why.setVisible(bool(self.why.text()))
        self._show_pointed()

    def _why(self, rows: AttentionRows | None, row: object) -> str:
        """Return what is missing, and why."""
        if rows is None:
            return self.tr("Not read yet.") if self._shown[2] is not None else ""
        if row is None:
            missing = lack_words(rows, self._layer) if self._layer is not None else ""
            return f"– {missing}" if missing else lacking_words(rows)
        shares = rows.row(self._layer, self._head)
        said = [lacking_words(rows), sink_words(math.fsum(shares)) if shares is not None else ""]
        return " ".join(filter(None, said))

    def _show_pointed(self) -> None:
        text, rows, _ = self._shown
        if self._looked is not None and text is not None:
            self.pointed.setText(self._said(self._looked))
        elif rows is not None:
            self.pointed.setText(self.tr("Point at a token, or go there with the arrow keys, to see its share."))
        elif (hindrance := self._attention.hindrance) is not None:
            self.pointed.setText(render(hindrance))
        else:
            self.pointed.setText(self.tr("Click a token, or go to one with the arrow keys and press Enter."))

    def _said(self, token: int) -> str:
        text, rows, query = self._shown
        if text is None or token >= len(text.ids):
            return ""
        row = rows.row(self._layer, self._head) if rows is not None else None
        return share_words(text, token, query, row[token] if row is not None and token < len(row) else None)

    def _select(self, token: int) -> None:
        """Select a token; one of the answer is the one that the whole page looks at."""
        text = self._attention.text
        self._attention.select(token)
        if text is not None and not self._attention.shows_example and token >= text.prompt:
            self._inspecting.look_at(token - text.prompt)

    def _choose_cell(self, cell: Cell) -> None:
        self._choose(*cell)
        place = self.grid.place_of(cell).center().toPoint()
        self._grid_area.ensureVisible(place.x(), place.y(), theme.SPACE_L, theme.SPACE_L)

    def _choose(self, layer: int | None, head: int | None) -> None:
        if (layer, head) != (self._layer, self._head):
            self._layer, self._head = layer, head
            self._show_rows()
            self._bring_in_sight()

    def _bring_in_sight(self) -> None:
        """Have what was looked at most in sight in the text, where nothing else is looked at."""
        if self._looked is None and self.strongest.found:
            self.flow.reveal(self.strongest.found[0][0])

    def _empty(self) -> QWidget:
        made = QWidget()
        self.empty_example.setProperty("look", "primary")
        lay_out_empty(made, self.empty_words, self.empty_example, self.other)
        return made

    def _full(self) -> QWidget:
        made = QWidget()
        column = QVBoxLayout(made)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self.asking)
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_L)
        row.addLayout(self._pictures(), 1)
        row.addWidget(self._card())
        column.addLayout(row, 1)
        note = label(note_words(), look="muted", pixels=theme.SMALL_PX, name="attention_note")
        note.setWordWrap(True)
        column.addWidget(note)
        return made

    def _pictures(self) -> QVBoxLayout:
        """Lay the text over the grid."""
        self._grid_words.setWordWrap(True)
        self._grid_area.setFixedHeight(theme.scaled(_GRID_PX))
        column = QVBoxLayout()
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self.flow, 1)
        for widget in (self.legend, self._grid_words, self._grid_area):
            column.addWidget(widget)
        return column

    def _card(self) -> QWidget:
        card = QFrame()
        card.setProperty("look", "card")
        card.setFixedWidth(theme.scaled(_CARD_PX))
        column = QVBoxLayout(card)
        column.setContentsMargins(theme.SPACE_M, theme.SPACE_M, theme.SPACE_M, theme.SPACE_M)
        column.setSpacing(theme.SPACE_S)
        for widget in (self.title, self.choice, self.strongest, self.seeker, self.pointed, self.why):
            column.addWidget(widget)
        column.addStretch(1)
        return card


def _prompt_of(text: AttentionText | None) -> tuple[int, ...]:
    """Return what makes a text the same one, though its answer grows."""
    return text.ids[: text.prompt] if text is not None else ()


def _columns(text: AttentionText, shares: tuple[float, ...]) -> InspectedAnswer:
    """Return a text as the columns of an answer, to be shown like one: its shares stand where probabilities would."""
    size = len(text.ids)
    unknown: tuple[None, ...] = (None,) * size
    return InspectedAnswer(
        message=hash(_prompt_of(text)),
        ids=text.ids,
        texts=text.texts,
        log_probabilities=unknown,
        after=(*shares, *unknown[len(shares) :]),
        ranks=unknown,
        entropies=unknown,
        gaps_ms=unknown,
        flags=(0,) * size,
    )
