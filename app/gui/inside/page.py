"""The page Inside: one answer as its tokens, what is known of the token that is looked at, and what is built on that.

Others find their places here. `lower_part` is below the tokens, for the laboratory of samplers. `prompt_part.tools` is
the row over the tokens of the prompt. `add_part` gives the page another part, which is made when it is first shown. Which
answer and which token is looked at, and what is known of both, the service tells (`inspecting`).
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.inside.answer_part import AnswerPart
from app.gui.inside.head import InsideHead
from app.gui.inside.laboratory_view import LaboratoryView
from app.gui.inside.next_choice import NextChoice
from app.gui.inside.prompt_part import PromptPart
from app.gui.inside.writing_bar import WritingBar
from app.gui.widgets.labels import label
from app.services.inspecting import Inspecting
from app.services.laboratory import Laboratory
from app.services.other_token import OtherToken
from app.services.prompt_scores import PromptScores
from app.services.step_mode import StepMode
from app.services.turns import Turn

_LEAST_WIDTH_PX, _LEAST_HEIGHT_PX = 620, 244
_LOW_PX = 780
"""In less height the cards of the laboratory leave out what can be read elsewhere."""
_LOWER_PX = 560
"""In less height it is folded until somebody unfolds it."""


class InsidePart(QWidget):
    """One more part of the page, which fills it below its head."""

    chat_wanted = Signal()
    """Somebody wants to go to the chat."""
    part_wanted = Signal(str)
    """Somebody wants to see another part."""
    remedy_wanted = Signal(object)
    """Somebody wants the change that a diagnosis offers, a `Remedy`."""
    view_wanted = Signal(QWidget)
    """Somebody has to see this widget of it, where the page is higher than the window."""

    is_whole = False
    """Whether it has a height of its own, and the page scrolls where the window is lower."""

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""

    def leave(self) -> None:
        """Let go of what is kept, as Esc does."""

    def minimumSizeHint(self) -> QSize:
        """Need nothing while another part is shown: their layout asks all of them."""
        return QSize() if self.isHidden() else super().minimumSizeHint()

    def heightForWidth(self, width: int) -> int:
        """Need no height, likewise."""
        return -1 if self.isHidden() else super().heightForWidth(width)


class _Parts(QStackedWidget):
    """The parts, one at a time; they take what height there is, and ask for no more than they need."""

    def sizeHint(self) -> QSize:
        """Ask for the least height: what stands below is to be seen with it."""
        return QSize(super().sizeHint().width(), self.minimumHeight())

    def minimumSizeHint(self) -> QSize:
        """Need no more than the part that is shown: another one may be higher."""
        part = self.currentWidget()
        return part.minimumSizeHint() if part is not None else super().minimumSizeHint()

    def hasHeightForWidth(self) -> bool:
        """Have no height that lines would need, as they scroll; but that of a part that is shown whole."""
        part = self.currentWidget()
        return isinstance(part, InsidePart) and part.is_whole


class InsidePage(QScrollArea):
    """Shows what the service looks at; scrolls where the window is smaller than it."""

    chat_wanted = Signal()
    """Somebody wants to go to the chat."""
    remedy_wanted = Signal(object)
    """Somebody wants the change that a diagnosis offers, a `Remedy`."""
    preferences_wanted = Signal()
    """Somebody wants to choose what is recorded."""
    stop_wanted = Signal()
    """Somebody wants the answer that is written to end."""

    def __init__(
        self,
        inspecting: Inspecting,
        other: OtherToken,
        scores: PromptScores,
        themes: theme.Themes,
        icons: Icons,
    ) -> None:
        super().__init__()
        self.setObjectName("inside_page")
        self.setAccessibleName(self.tr("Inside the answer"))
        self.inspecting = inspecting
        self.head = InsideHead(inspecting)
        self.prompt_part = PromptPart(inspecting, scores, themes)
        self.answer_part = AnswerPart(inspecting, other, themes, icons)
        self.lower_part = QVBoxLayout()
        """What stands below the tokens."""
        self._laboratory: LaboratoryView | None = None
        self._unfinished: LaboratoryView | None = None
        """The laboratory while its cards are made."""
        self._is_folded = {"prompt": True}
        """By the part that is shown: no token of a prompt was sampled, so the prompt has the room."""
        self._writing: WritingBar | None = None
        self._choice: NextChoice | None = None
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(0)
        self.told = label(look="muted", name="inside_told")
        self.told.setWordWrap(True)
        self.told.hide()
        self._shown: Turn | None = None
        """The answer that the page was opened with last."""
        self._branch: Turn | None = None
        """The version that was told of."""
        self._parts = _Parts()
        self._parts.addWidget(self.answer_part)
        self._parts.addWidget(self.prompt_part)
        self._made: dict[str, QWidget] = {"answer": self.answer_part, "prompt": self.prompt_part}
        self._makers: dict[str, Callable[[], InsidePart]] = {}
        self._name = "answer"
        self._fill()
        self.head.part_wanted.connect(self.show_part)
        self.prompt_part.colours_changed.connect(self.head.offer_prompt_colours)
        for part in (self.answer_part, self.prompt_part):
            self.head.colouring_wanted.connect(part.colour_by)
        self.answer_part.branched.connect(self._tell_branched)
        self.answer_part.preferences_wanted.connect(self.preferences_wanted)
        for place in (self.head, self.answer_part, self.prompt_part):
            place.chat_wanted.connect(self.chat_wanted)
        self.show_part("answer")
        self._disconnect = [inspecting.opened.connect(self._show_opened)]

    def show_laboratory(self, laboratory: Laboratory, themes: theme.Themes, icons: Icons) -> None:
        """Show below the tokens what each stage of the sampler does to the one that is looked at.

        Its many cards are made once the tokens are there, one after another: nobody waits for them to read those.
        """

        def add() -> None:
            if self._unfinished is None:
                self._unfinished = LaboratoryView(laboratory, themes, icons, self.widget())
            if self._unfinished.row.make_next():
                self._later.start()
                return
            self._laboratory, self._unfinished = self._unfinished, None
            self._laboratory.row.set_low(self._is_low)
            self._laboratory.folded.connect(self._fold)
            self.lower_part.addWidget(self._laboratory)
            self._show_laboratory()

        self._later.timeout.connect(add)
        self.answer_part.flow.pinned_changed.connect(laboratory.focus.pin)

    def show_writing(self, step_mode: StepMode) -> None:
        """Have buttons in the head that stop the answer and step through it, while it is written."""
        self._writing = WritingBar(self.inspecting, step_mode)
        self._writing.stop_wanted.connect(self.stop_wanted)
        self._writing.keyboard_left.connect(self.answer_part.take_focus)
        self.head.add_writing_bar(self._writing)

    def show_choice(self, choice: NextChoice) -> None:
        """Have the next token chosen beside the tokens while the answer waits and none of them is looked at."""
        self._choice = choice
        self.answer_part.card.put_below_hint(choice)

    def add_part(self, name: str, make: Callable[[], InsidePart]) -> None:
        """Have another part, with its tab in the head; it is made when it is first shown."""
        self._makers[name] = make
        self.head.offer_part(name)

    def has_part(self, name: str) -> bool:
        """Return whether there is such a part, made or not."""
        return name in self._made or name in self._makers

    @property
    def part(self) -> str:
        """The part that is shown, “answer” and “prompt” among them."""
        return self._name

    def show_part(self, name: str) -> None:
        """Show the tokens of the answer, those of the prompt, or another part."""
        if name not in self._made:
            part = self._made[name] = self._makers[name]()
            part.chat_wanted.connect(self.chat_wanted)
            part.part_wanted.connect(self.show_part)
            part.remedy_wanted.connect(self.remedy_wanted)
            part.view_wanted.connect(self._bring_in_sight)
            self._parts.addWidget(part)
        self._name = name
        self._parts.setCurrentWidget(self._made[name])
        self._parts.updateGeometry()
        self._show_laboratory()
        self.head.show_part(name)

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self._later.stop()
        self.inspecting.watch(False)
        for part in (self.head, *self._made.values()):
            if isinstance(part, (InsideHead, AnswerPart, PromptPart, InsidePart)):
                part.disconnect_services()
        for late in (self._laboratory, self._unfinished, self._writing, self._choice):
            if late is not None:
                late.disconnect_services()
        for disconnect in self._disconnect:
            disconnect()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let go of the token that is kept with Esc, wherever on the page the keyboard is."""
        if event.key() == Qt.Key.Key_Escape:
            part = self._parts.currentWidget()
            if isinstance(part, InsidePart):
                part.leave()
            else:
                self.answer_part.flow.free()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Begin to look."""
        super().showEvent(event)
        QTimer.singleShot(0, self, self._show_laboratory)
        self.inspecting.watch(True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Let the cards be lower where the page is."""
        super().resizeEvent(event)
        if self._laboratory is not None:
            self._laboratory.row.set_low(self._is_low)
            QTimer.singleShot(0, self, self._show_laboratory)  # heights come and go while the window is laid out

    def paintEvent(self, event: QPaintEvent) -> None:
        """Have what is missing made behind the first picture of the page."""
        super().paintEvent(event)
        if self._laboratory is None and self._has_laboratory:
            self._later.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Look no longer."""
        super().hideEvent(event)
        self._later.stop()
        self.inspecting.watch(False)

    @property
    def _is_low(self) -> bool:
        return self.height() < theme.scaled(_LOW_PX)

    @property
    def _has_laboratory(self) -> bool:
        """Whether the tokens are shown that the laboratory is about."""
        return self._name in ("answer", "prompt")

    def _show_laboratory(self) -> None:
        if self._laboratory is not None:
            is_lower = self.height() < theme.scaled(_LOWER_PX)
            self._laboratory.fold(self._is_folded.get(self._name, is_lower))
            self._laboratory.setVisible(self._has_laboratory)

    def _fold(self, folded: bool) -> None:
        self._is_folded[self._name] = folded
        self._show_laboratory()

    def _bring_in_sight(self, widget: QWidget) -> None:
        """Scroll to a widget; one that does not stand on this page stays where it is."""
        contents: QWidget | None = self.widget()
        if contents is not None and contents.isAncestorOf(widget):
            self.ensureWidgetVisible(widget, 0, theme.SPACE_S)

    def _tell_branched(self) -> None:
        self._branch = self.inspecting.turn
        self.told.setText(
            self.tr(
                "A new version of the answer goes on from the token that you chose. The earlier one is there in the chat: "
                "step to it with ‹ › under the answer."
            )
        )
        self.told.show()

    def _show_opened(self) -> None:
        """Show another answer from its top; what was told of an earlier one is over."""
        turn = self.inspecting.turn
        if turn is not self._shown and not self.answer_part.is_branching:
            for bar in (self.verticalScrollBar(), self.horizontalScrollBar()):
                bar.setValue(0)
        self._shown = turn
        if self.told.isVisible() and turn is not self._branch:
            self.told.hide()

    def _fill(self) -> None:
        contents = QWidget()
        contents.setMinimumWidth(theme.scaled(_LEAST_WIDTH_PX))
        self._parts.setMinimumHeight(theme.scaled(_LEAST_HEIGHT_PX))
        column = QVBoxLayout(contents)
        column.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_L)
        column.setSpacing(theme.SPACE_M)
        column.addWidget(self.head)
        column.addWidget(self.told)
        column.addWidget(self._parts, 1)
        column.addLayout(self.lower_part)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidgetResizable(True)
        self.setWidget(contents)
