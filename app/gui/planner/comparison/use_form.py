"""What is to be done with the models, and what people need of them; shows values and says which somebody changes."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QGridLayout, QPushButton, QVBoxLayout, QWidget

from app.core.model import MOST_PLANNED_CONTEXT
from app.core.store_events import UseMeasured
from app.gui import theme
from app.gui.planner.comparison.words import use_line
from app.gui.widgets.boxes import NumberBox
from app.gui.widgets.labels import label
from app.gui.widgets.tick_box import TickBox
from app.gui.widgets.words import set_hint
from app.services.plan_values import Chosen, Wanted

MOST_USERS, MOST_S, MOST_RATE = 256, 3600.0, 100_000.0
BOX_PX = 92


class UseForm(QWidget):
    """Context, conversations, prompt; first token and speed that are needed."""

    changed = Signal()
    """Somebody changed a value."""
    chat_use_wanted = Signal()
    """Somebody wants what their chats use."""

    def __init__(self) -> None:
        super().__init__()
        tr = self.tr
        self._wants_room = False
        """What somebody wants where no speed takes it along."""
        self._is_typed = False
        self.context = NumberBox(1, MOST_PLANNED_CONTEXT, whole=True, step=1024)
        self.users = NumberBox(1, MOST_USERS, whole=True)
        self.prompt = NumberBox(1, MOST_PLANNED_CONTEXT, whole=True, step=256)
        self.first_token = NumberBox(0, MOST_S, whole=False, words={0.0: tr("any")}, step=0.5)
        self.speed = NumberBox(0, MOST_RATE, whole=False, words={0.0: tr("any")}, step=5)
        self.chat_use = label("", look="muted", pixels=theme.SMALL_PX, name="plan_chat_use")
        self.chat_use.setWordWrap(True)
        self.take_use = QPushButton(tr("Use what my chats use"))
        self.take_use.setObjectName("plan_take_use")
        self.heading = label(tr("What you need"), bold=True)
        self.room = TickBox(tr("This context, for all at once"))
        self.room.setObjectName("plan_need_room")
        set_hint(
            self.room,
            tr(
                "Whether there has to be room for it. A first token or a speed that you need is always for this context."
            ),
        )
        self.split = TickBox(tr("Layers may lie in main memory"))
        self.split.setObjectName("plan_may_split")
        set_hint(self.split, tr("Counts a model too that lies only partly on the GPU; it is slower then."))
        self._lay_out()
        self.take_use.clicked.connect(self.chat_use_wanted)
        self.split.toggled.connect(lambda _on: self.changed.emit())
        self.room.toggled.connect(self._want_room)
        for box in (self.context, self.users):
            box.valueChanged.connect(lambda _value: self._note_room())
            box.lineEdit().textEdited.connect(lambda _text: self._note_typed())
            box.editingFinished.connect(self._end_typing)
        for box in (self.context, self.users, self.prompt, self.first_token, self.speed):
            box.valueChanged.connect(lambda _value: self.changed.emit())

    def show_use(self, chosen: Chosen) -> None:
        """Show what is chosen."""
        wanted = chosen.wanted
        for box, value in (
            (self.context, chosen.context),
            (self.users, chosen.users),
            (self.prompt, chosen.prompt),
            (self.first_token, wanted.first_token_s or 0.0),
            (self.speed, wanted.tokens_per_s or 0.0),
        ):
            with QSignalBlocker(box):
                box.setValue(value)
        self._wants_room = wanted.room
        with QSignalBlocker(self.split), QSignalBlocker(self.room):
            self.split.setChecked(wanted.may_split)
            self.room.setChecked(not wanted.is_nothing)
        self.room.setEnabled(not wanted.has_pace)

    def show_chat_use(self, use: UseMeasured | None) -> None:
        """Show what people's chats use."""
        self.chat_use.setText(use_line(use))
        self.take_use.setEnabled(use is not None and use.context is not None)

    @property
    def wanted(self) -> Wanted:
        """What is needed."""
        pace = self.first_token.value() or None, self.speed.value() or None
        return Wanted(*pace, self.split.isChecked(), self._wants_room)

    @property
    def use(self) -> tuple[int, int, int]:
        """Context, conversations at once, prompt."""
        return round(self.context.value()), round(self.users.value()), round(self.prompt.value())

    def _want_room(self, on: bool) -> None:
        self._wants_room = on
        self.changed.emit()

    def _note_room(self) -> None:
        """Take what somebody sets as what they need."""
        self._is_typed, self._wants_room = False, True

    def _note_typed(self) -> None:
        self._is_typed = True

    def _end_typing(self) -> None:
        """Take what was typed as a need also where it is what stood there before."""
        if self._is_typed:
            self._note_room()
            self.changed.emit()

    def _lay_out(self) -> None:
        tr = self.tr
        use = (
            (tr("Context"), self.context, tr("Tokens of each conversation: prompt and answer."), "plan_use_context"),
            (tr("Requests at once"), self.users, tr("Conversations that are written at once."), "plan_use_users"),
            (tr("Prompt"), self.prompt, tr("Tokens that are read before the first one comes."), "plan_use_prompt"),
        )
        first = tr("Seconds until the first token, for the last of those who ask at the same moment.")
        needs = (
            (tr("First token within s"), self.first_token, first, "plan_need_first_token"),
            (
                tr("tok/s each, at least"),
                self.speed,
                tr("Tokens per second of each conversation."),
                "plan_need_speed",
            ),
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(label(tr("Use"), bold=True))
        column.addLayout(_rows(use))
        column.addWidget(self.chat_use)
        column.addWidget(self.take_use)
        column.addSpacing(theme.SPACE_S)
        column.addWidget(self.heading)
        column.addWidget(self.room)
        column.addLayout(_rows(needs))
        column.addWidget(self.split)


def _rows(boxes: Iterable[tuple[str, NumberBox, str, str]]) -> QGridLayout:
    """Return boxes below each other, each behind its caption: what it is called, the box, its hint, its name."""
    grid = QGridLayout()
    grid.setHorizontalSpacing(theme.SPACE_S)
    grid.setVerticalSpacing(theme.SPACE_S)
    grid.setColumnStretch(0, 1)
    for row, (title, box, hint, name) in enumerate(boxes):
        box.setObjectName(name)
        box.setAccessibleName(title)
        box.setFixedWidth(theme.scaled(BOX_PX))
        set_hint(box, hint)
        caption = label(title)
        caption.setBuddy(box)
        set_hint(caption, hint)
        grid.addWidget(caption, row, 0)
        grid.addWidget(box, row, 1)
    return grid
