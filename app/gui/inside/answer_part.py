"""The answer that is looked at: its tokens on the left, the one that is looked at on the right, or what to do first."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.inside.empty_page import lay_out_empty
from app.gui.inside.shades import Colouring
from app.gui.inside.token_card import TokenCard
from app.gui.inside.token_flow import TokenFlow
from app.gui.inside.token_legend import TokenLegend
from app.gui.widgets.labels import label
from app.gui.widgets.words import render
from app.services.inspecting import Inspecting
from app.services.inspection import InspectedAnswer
from app.services.other_token import OtherToken
from app.services.turns import Turn
from app.services.units import count


class AnswerPart(QWidget):
    """Shows what the service knows of the answer."""

    chat_wanted = Signal()
    """Somebody wants to go to the chat."""
    preferences_wanted = Signal()
    """Somebody wants to choose what is recorded."""
    branched = Signal()
    """The answer goes on by another token, as another version."""

    def __init__(self, inspecting: Inspecting, other: OtherToken, themes: theme.Themes, icons: Icons) -> None:
        super().__init__()
        self.setObjectName("inside_answer")
        self._inspecting = inspecting
        self._other = other
        self.is_branching = False
        """Whether the next answer that is opened goes on from the one that is shown."""
        self._forced: int | None = None
        """The token that was chosen for that one, until it is there to be looked at."""
        self.flow = TokenFlow(themes)
        self.legend = TokenLegend(themes)
        self.card = TokenCard(themes, icons)
        self.remark = label(look="muted", name="inside_remark")
        self.remark.setWordWrap(True)
        self.record_button = QPushButton(self.tr("Choose what is recorded…"))
        self.record_button.setObjectName("inside_record_button")
        self._empty_words = label(look="muted", pixels=theme.READING_PX, name="inside_empty")
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty())
        self._pages.addWidget(self._full())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._pages)
        self.flow.looked_at.connect(inspecting.look_at)
        self.card.wanted.connect(self._go_on_from)
        self.record_button.clicked.connect(lambda _checked=False: self.preferences_wanted.emit())
        self._disconnect = [
            inspecting.opened.connect(self._show_opened),
            inspecting.changed.connect(self._show_known),
            inspecting.token_changed.connect(self._show_token),
            other.changed.connect(self._show_refusal),
        ]
        self._show_opened()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        for disconnect in self._disconnect:
            disconnect()

    def showEvent(self, event: QShowEvent) -> None:
        """Show what came meanwhile."""
        super().showEvent(event)
        self._show_known()

    def colour_by(self, colouring: Colouring) -> None:
        """Colour the tokens by something else."""
        self.flow.colour_by(colouring)
        self.legend.show_colouring(colouring)

    def take_focus(self) -> None:
        """Let the keyboard move from token to token."""
        if self._pages.currentIndex() == 1:
            self.flow.setFocus()

    def _go_on_from(self, token: int) -> None:
        turn, place, insight = self._inspecting.turn, self._inspecting.token, self._inspecting.insight
        if turn is None or place is None or insight is None or insight.index != place:
            return
        self.take_focus()  # before what has it is emptied: it would go to wherever the page has to scroll to
        self.is_branching = True
        is_written = self._other.go_on(turn, place, token)
        self.is_branching = False
        if is_written:
            self._forced = place
            self.branched.emit()

    def _look_at_forced(self, answer: InspectedAnswer | None) -> None:
        """Stand on the token that was chosen, once it has come, unless somebody looks elsewhere."""
        place = self._forced
        if place is None or answer is None or len(answer) <= place:
            return
        self._forced = None
        if self._inspecting.token is None:
            self.flow.keep(place)

    def _show_opened(self) -> None:
        turn = self._inspecting.turn
        self._forced = None
        self._pages.setCurrentIndex(0 if turn is None else 1)
        self._empty_words.setText(
            self.tr("There is no answer here yet. Ask something, and look into the answer then.")
        )
        self._show_known()
        self._show_refusal()

    def _show_known(self) -> None:
        answer = self._inspecting.answer
        turn = self._inspecting.turn
        if answer is None and turn is not None and self._shows(turn.message):
            self._remark(self.flow.answer)
            return  # it is read once more; what is there stays meanwhile
        if turn is not None and turn.state == "writing" and not self.isVisible():
            return  # laying out what nobody sees would slow down who writes it
        self.flow.show_answer(answer)
        self._show_token(self._inspecting.token)
        self._remark(answer)
        self._look_at_forced(answer)

    def _shows(self, message: int) -> bool:
        return self.flow.answer is not None and self.flow.answer.message == message

    def _show_token(self, token: int | None) -> None:
        self.flow.show_token(token)
        inspecting = self._inspecting
        self.card.show_token(inspecting.answer, token, inspecting.insight, inspecting.problems.insight)
        self._show_refusal()

    def _show_refusal(self) -> None:
        turn, token, other = self._inspecting.turn, self._inspecting.token, self._other
        if turn is None:
            self.card.show_refusal(None)
        else:
            self.card.show_refusal(other.refusal(turn), other.caution, other.forbidden(turn, token))

    def _remark(self, answer: InspectedAnswer | None) -> None:
        """Say what is not known of the answer, and how it would be."""
        said, turn, problem = "", self._inspecting.turn, self._inspecting.problems.answer
        is_over = turn is not None and turn.state in ("done", "interrupted")
        if problem is not None:
            said = render(problem)
        elif answer is not None and len(answer) and is_over:
            lacks = len(answer) - answer.recorded
            if answer.is_damaged:
                said = self.tr("The record of this answer is damaged: of {lacks} of {count} tokens nothing is known.")
                lacks = sum(value is None for value in answer.log_probabilities)
                said = said.format(lacks=count(lacks), count=count(len(answer)))
            elif not answer.recorded:
                said = self.tr(
                    "Nothing was recorded of this answer, so its tokens have no figures. Answers are recorded where “Save "
                    "for each token” says so."
                )
            elif not answer.has_alternatives:
                said = self.tr("Only the chosen tokens of this answer were recorded, not what else could have come.")
            elif lacks:
                said = self.tr("{lacks} of {count} tokens were not recorded.")
                if lacks == 1:
                    said = self.tr("1 of {count} tokens was not recorded.")
                said = said.format(lacks=count(lacks), count=count(len(answer)))
        blank = self._why_blank(turn) if turn is not None and problem is None else ""
        said = blank or said
        self.remark.setText(said)
        self.remark.setVisible(bool(said))
        has_some = answer is not None and (answer.has_alternatives or answer.is_damaged)
        self.record_button.setVisible(bool(said) and problem is None and not blank and not has_some)

    def _why_blank(self, turn: Turn) -> str:
        """Return why an answer has no token to show; nothing where it has one."""
        if turn.ids:
            return ""
        if turn.state in ("done", "interrupted"):
            if turn.text:
                return self.tr("The tokens of this answer were not kept, its text alone: go to the chat to read it.")
            return self.tr("This answer ended before its first token.")
        if turn.is_held:
            return self.tr("No token is there yet: the first one waits for you. Press One token, or let it run on.")
        return self.tr(
            "No token is there yet: the first one is drawn once the prompt is read. Loop shows how far it is."
        )

    def _empty(self) -> QWidget:
        page = QWidget()
        button = QPushButton(self.tr("Go to the chat"))
        button.setObjectName("inside_chat_button")
        button.clicked.connect(lambda _checked=False: self.chat_wanted.emit())
        lay_out_empty(page, self._empty_words, button)
        return page

    def _full(self) -> QWidget:
        page = QWidget()
        row = QHBoxLayout(page)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_L)
        left = QVBoxLayout()
        left.setSpacing(theme.SPACE_S)
        left.addWidget(self._record_row())
        left.addWidget(self.flow, 1)
        left.addWidget(self.legend)
        row.addLayout(left, 1)
        row.addWidget(self.card)
        return page

    def _record_row(self) -> QWidget:
        """Return the line that says what is not known, with its button."""
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.remark, 1)
        row.addWidget(self.record_button)
        return holder
