"""The prompt of the answer that is looked at, token by token: chips with their ids, and what each belongs to.

Others put what they know of these tokens into the row `tools` above them, and colour `chips`.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.inside.empty_page import lay_out_empty
from app.gui.inside.prompt_chips import PromptChips, ground_of_kind, outline
from app.gui.inside.prompt_surprise import PromptSurprise
from app.gui.inside.prompt_words import counts_of, kind_words, score_words, sentence_of
from app.gui.inside.shades import Colouring, Steps
from app.gui.inside.token_legend import TokenLegend
from app.gui.widgets.labels import label
from app.services.inspecting import Inspecting
from app.services.inspection import InspectedAnswer, InspectedPrompt, TokenKind
from app.services.prompt_scores import PromptScores
from app.services.scored_prompt import columns_of


class PromptPart(QWidget):
    """Shows the prompt of the answer that the service looks at."""

    colours_changed = Signal(bool)
    """There is something to colour the tokens by, or no longer."""

    chat_wanted = Signal()
    """Somebody wants to go to the chat."""

    def __init__(self, inspecting: Inspecting, scores: PromptScores, themes: theme.Themes) -> None:
        super().__init__()
        self.setObjectName("inside_prompt")
        self.setAccessibleName(self.tr("Tokens of the prompt"))
        self._inspecting = inspecting
        self._scores = scores
        self._colouring: Colouring = "probability"
        self._scored: InspectedAnswer | None = None
        """The prompt with its scores, as the chips show it."""
        self.tools = QHBoxLayout()
        """What stands above the tokens, from left to right."""
        self.about = label(look="muted", name="prompt_about")
        self.about.setWordWrap(True)
        self.chips = PromptChips(themes)
        self.said = label(name="prompt_token")
        self.said.setWordWrap(True)
        self.legend = _KindLegend(themes)
        self.ramp = TokenLegend(themes, signs=False)
        self.ramp.setObjectName("prompt_ramp")
        self.ramp.hide()
        self.surprise = PromptSurprise(scores, inspecting)
        self._empty = self._made_empty()
        self.tools.addWidget(self.surprise)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addLayout(self.tools)
        column.addWidget(self.about)
        column.addWidget(self.chips, 1)
        column.addWidget(self._empty, 1)
        column.addWidget(self.said)
        column.addWidget(self.legend)
        column.addWidget(self.ramp)
        self.surprise.token_wanted.connect(self._go_to)
        self.chips.token_changed.connect(lambda _token: self._show_token())
        self._disconnect = [
            inspecting.opened.connect(self._show),
            inspecting.changed.connect(self._show),
            scores.changed.connect(self._take_scores),
        ]
        self._show()

    def _made_empty(self) -> QWidget:
        """Return what is shown where there is no answer."""
        page = QWidget()
        words = self.tr("There is no answer here yet, so there is no prompt to look at. Ask something in the chat.")
        button = QPushButton(self.tr("Go to the chat"))
        button.setObjectName("prompt_chat_button")
        button.clicked.connect(lambda _checked=False: self.chat_wanted.emit())
        lay_out_empty(page, label(words, look="muted", pixels=theme.READING_PX, name="prompt_empty"), button)
        return page

    def colour_by(self, colouring: Colouring) -> None:
        """Colour the tokens by something else, once they have scores."""
        self._colouring = colouring
        self._colour()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self.surprise.disconnect_services()
        for disconnect in self._disconnect:
            disconnect()

    def _show(self) -> None:
        prompt, turn = self._inspecting.prompt, self._inspecting.turn
        if prompt is None and turn is not None and self._shows(turn.message):
            return  # it is read once more
        self.chips.show_prompt(prompt)
        self._scored = None
        for widget in (self.chips, self.legend):
            widget.setVisible(prompt is not None)
        self._empty.setVisible(turn is None)
        self.about.setVisible(turn is not None)
        self.legend.show_kinds(prompt)
        self.about.setText(self._about(prompt))
        self._take_scores()
        self._colour()

    def _take_scores(self) -> None:
        """Colour the chips once there is something to colour them by; what is read for another prompt can be cancelled."""
        self.surprise.setVisible(self._inspecting.turn is not None or self._scores.progress is not None)
        prompt, scores = self.chips.prompt, self._scores.scores
        if self._scored is None and prompt is not None and scores is not None and prompt == self._inspecting.prompt:
            self._scored = columns_of(prompt, scores)
            self._colour()

    def _colour(self) -> None:
        scored = self._scored
        colouring: Colouring = "none" if scored is None else self._colouring
        self.chips.colour(() if scored is None else Steps(colouring, scored), colouring)
        self.legend.show_grounds(colouring == "none")
        self.ramp.show_colouring(colouring)
        self.ramp.setVisible(colouring != "none")
        self.colours_changed.emit(scored is not None)
        self.chips.add_words(None if scored is None else lambda token: score_words(scored, token))
        self._show_token()

    def _go_to(self, token: int) -> None:
        self.chips.look_at(token)
        self.chips.setFocus()

    def _shows(self, message: int) -> bool:
        return self.chips.prompt is not None and self.chips.prompt.message == message

    def _about(self, prompt: InspectedPrompt | None) -> str:
        if prompt is not None:
            return counts_of(prompt)
        if self._inspecting.turn is None or self._inspecting.answer is None:
            return ""
        return self.tr("The prompt of this answer was not kept.")

    def _show_token(self) -> None:
        prompt, token = self.chips.prompt, self.chips.current
        hint = self.tr("Click a token, or go through them with the arrow keys.")
        if prompt is not None and token is not None:
            more = score_words(self._scored, token) if self._scored is not None else ""
            self.said.setText(sentence_of(prompt, token) + more)
        else:
            self.said.setText(hint)
        self.said.setVisible(prompt is not None)


_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft


class _KindLegend(QWidget):
    """What outlines and grounds of chips stand for, for those that are there."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self.setObjectName("prompt_legend")
        self.setFont(theme.font(theme.SMALL_PX))
        self._themes = themes
        self._kinds: tuple[TokenKind, ...] = ()
        self.has_grounds = True
        """Whether what chips stand on is explained: it is not where that tells something else."""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        themes.changed.connect(self.update)

    def show_kinds(self, prompt: InspectedPrompt | None) -> None:
        """Explain what there is in a prompt."""
        self._kinds = tuple(dict.fromkeys(prompt.kinds)) if prompt is not None else ()
        self.setAccessibleName(" · ".join(map(kind_words, self._kinds)))
        self.update()

    def show_grounds(self, on: bool) -> None:
        """Explain what chips stand on, or only the lines around them."""
        self.has_grounds = on
        self.update()

    def sizeHint(self) -> QSize:
        """Ask for one line."""
        return QSize(theme.scaled(400), theme.scaled(22))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint a small chip and a word for each."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        look, metrics = self._themes.current, QFontMetrics(self.font())
        left, middle = 1.0, self.height() / 2
        for kind in self._kinds:
            painter.setBrush(ground_of_kind(look, kind) if self.has_grounds else look.colour("surface"))
            painter.setPen(outline(look, kind))
            painter.drawRoundedRect(QRectF(left, middle - 7, 22, 14), 4, 4)
            left += 28
            painter.setPen(look.colour("muted"))
            words = kind_words(kind)
            painter.drawText(QRectF(left, 0, 400, self.height()), _LEFT, words)
            left += metrics.horizontalAdvance(words) + theme.SPACE_L
        painter.end()
