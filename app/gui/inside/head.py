"""The head of the page Inside: which answer is looked at, another one to choose, and what its tokens are coloured by."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.inside.shades import COLOURINGS, name_of
from app.gui.widgets.boxes import ChoiceBox
from app.gui.widgets.labels import ElidedLabel
from app.gui.widgets.page_tabs import PageTabs
from app.gui.widgets.words import set_hint
from app.services.inspecting import Inspecting
from app.services.turns import Turn
from app.services.units import count

_QUESTION_CHARACTERS = 48
_LEAST_ABOUT_PX, _LEAST_COLOURING_PX = 96, 80


class InsideHead(QWidget):
    """Follows the service; says what somebody chooses."""

    part_wanted = Signal(str)
    """Somebody wants to see a part of the page: its name."""
    colouring_wanted = Signal(str)
    """Somebody wants tokens to be coloured by something else."""
    chat_wanted = Signal()
    """Somebody wants to read the answer in the chat."""

    def __init__(self, inspecting: Inspecting) -> None:
        super().__init__()
        self._inspecting = inspecting
        self._turns: list[Turn] = []
        self._prompt_has_colours = False
        self._part = "answer"
        self._offered: list[str] = []
        self.tabs = PageTabs(())
        for part in ("answer", "prompt"):
            self.offer_part(part)
        self.tabs.wanted.connect(self.part_wanted)
        self.about = ElidedLabel()
        self.about.setObjectName("inside_about")
        self.about.setMinimumWidth(theme.scaled(_LEAST_ABOUT_PX))
        self.choice = ChoiceBox()
        self.choice.setObjectName("inside_answer_box")
        self.choice.setAccessibleName(self.tr("Which answer is looked at"))
        self.choice.setMinimumWidth(theme.scaled(96))
        self.choice.setMaximumWidth(theme.scaled(240))
        self.choice.activated.connect(self._choose)
        self.colouring = ChoiceBox()
        self.colouring.setObjectName("inside_colouring_box")
        self.colouring.setMinimumWidth(theme.scaled(_LEAST_COLOURING_PX))
        self.colouring.setAccessibleName(self.tr("What tokens are coloured by"))
        for each in COLOURINGS:
            self.colouring.addItem(name_of(each), each)
        self.colouring.activated.connect(lambda row: self.colouring_wanted.emit(self.colouring.itemData(row)))
        self.to_chat = QPushButton(self.tr("Read it in the chat"))
        self.to_chat.setObjectName("inside_to_chat")
        set_hint(self.to_chat, self.tr("Go back to the conversation, where this answer stands"))
        self.to_chat.clicked.connect(lambda _checked=False: self.chat_wanted.emit())
        self._of_answer = QWidget()
        self._row = QHBoxLayout(self._of_answer)
        self._lay_out()
        self._disconnect = [inspecting.opened.connect(self.show_answer), inspecting.changed.connect(self.show_answer)]
        self.show_answer()

    def offer_part(self, name: str) -> None:
        """Have a tab for a part of the page, in its place among the others."""
        words = self._parts_in_order()
        before = [
            each for each in words if each in self._offered and list(words).index(each) < list(words).index(name)
        ]
        self._offered.append(name)
        self.tabs.add_page(name, f"inside_{name}_tab", *words[name], at=len(before))

    def _parts_in_order(self) -> dict[str, tuple[str, str]]:
        """Return what each part of the page is called, and what is said of it."""
        return {
            "loop": (self.tr("Loop"), self.tr("How an answer comes about, from the prompt to the last token")),
            "answer": (self.tr("Answer"), self.tr("The tokens that the model wrote")),
            "prompt": (self.tr("Prompt"), self.tr("The tokens that the model was given")),
            "cache": (self.tr("KV cache"), self.tr("What is in the cells of the cache, and whose it is")),
            "attention": (self.tr("Attention"), self.tr("Which earlier tokens the model looked at")),
            "time": (self.tr("Time"), self.tr("Where the time of the answer went")),
        }

    def _lay_out(self) -> None:
        """Put the tabs into one row, and what belongs to the answer into another."""
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(theme.SPACE_S)
        for row in (above := QHBoxLayout(), self._row):
            row.setSpacing(theme.SPACE_S)
        self._row.setContentsMargins(0, 0, 0, 0)
        rows.addLayout(above)
        rows.addWidget(self._of_answer)
        above.addWidget(self.tabs)
        above.addStretch(1)
        above.addWidget(self.to_chat)
        self._row.addWidget(self.about, 1)
        for widget in (self.colouring, self.choice):  # what only some parts have stands where nothing is moved by it
            self._row.addWidget(widget)
        self._keep_height(self.choice, self.colouring, self.to_chat)

    def _keep_height(self, *widgets: QWidget) -> None:
        """Have the row as high as it ever is: the parts below do not move when another one is shown."""
        for each in widgets:
            each.ensurePolished()
        heights = (each.sizeHint().height() for each in widgets)
        self._of_answer.setMinimumHeight(max(self._of_answer.minimumHeight(), *heights))

    def add_writing_bar(self, bar: QWidget) -> None:
        """Show what can be done while the answer is written, beside which answer it is."""
        self._row.insertWidget(self._row.indexOf(self.choice), bar)
        self._keep_height(bar, self.choice)

    def event(self, event: QEvent) -> bool:
        """Do without the way to the chat, which the window has too, where the buttons need its room."""
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self._show_way()
        return super().event(event)

    def _show_way(self) -> None:
        needed = sum(each.minimumSizeHint().width() + theme.SPACE_S for each in (self.tabs, self.to_chat))
        self.to_chat.setVisible(self._inspecting.turn is not None and self.width() >= needed)

    def disconnect_services(self) -> None:
        """Listen to the service no longer."""
        for disconnect in self._disconnect:
            disconnect()

    def show_part(self, name: str) -> None:
        """Mark what is shown; the tokens of the prompt are coloured once they have scores."""
        self._part = name
        self.tabs.show_page(name)
        self.show_answer()

    def show_answer(self) -> None:
        """Say which answer is looked at, and which others there are."""
        turns, turn = list(self._inspecting.answers), self._inspecting.turn
        if [id(each) for each in turns] != [id(each) for each in self._turns]:
            self._turns = turns
            self.choice.clear()
            for number, each in enumerate(turns, 1):
                self.choice.addItem(f"{number}. {self._question_of(each)}")
        at = next((row for row, each in enumerate(turns) if each is turn), -1)
        self.choice.setCurrentIndex(at)
        self._of_answer.setVisible(turn is not None)
        self._show_way()
        self.choice.setVisible(turn is not None and len(turns) > 1)
        self._show_colouring()
        self.about.set_text(self._about(turn))

    def offer_prompt_colours(self, on: bool) -> None:
        """Say whether there is something to colour the prompt's tokens by."""
        self._prompt_has_colours = on
        self._show_colouring()

    def _show_colouring(self) -> None:
        is_coloured = self._part == "answer" or (self._part == "prompt" and self._prompt_has_colours)
        self.colouring.setVisible(self._inspecting.turn is not None and is_coloured)

    def _about(self, turn: Turn | None) -> str:
        if turn is None:
            return ""
        tokens = len(turn.ids) // 4
        words = self.tr("answer of 1 token") if tokens == 1 else self.tr("answer of {count} tokens")
        said = words.format(count=count(tokens))
        if turn.state in ("waiting", "writing"):
            said = self.tr("answer that is being written")  # how much of it there is, the parts say
            if turn.is_held:
                said = self.tr("answer that waits for you")
            elif turn.state == "waiting":
                said = self.tr("answer that is not begun yet")
        question = f"“{self._question_of(turn)}”" if len(self._turns) < 2 else ""  # the box beside it says it
        parts = [question, said, turn.author]
        return " · ".join(part for part in parts if part)

    def _question_of(self, turn: Turn) -> str:
        question = self._inspecting.question_of(turn)
        text = " ".join((question.words if question is not None else "").split())
        return text if len(text) <= _QUESTION_CHARACTERS else f"{text[:_QUESTION_CHARACTERS]}…"

    def _choose(self, row: int) -> None:
        if 0 <= row < len(self._turns):
            self._inspecting.open(self._turns[row])
