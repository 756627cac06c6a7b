"""Which prompt the lanes answer: a question of the chat, or a new one that is written here."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QToolButton, QVBoxLayout

from app.core.attached_files import unframed
from app.gui import theme
from app.gui.chat.system_prompt_line import first_words
from app.gui.chat.text_editor import TextEditor
from app.gui.widgets.labels import label
from app.gui.widgets.paragraph import Paragraph
from app.gui.widgets.words import set_hint
from app.services.turns import Turn

HINT_CHARACTERS = 600
EDITOR_LINES, QUESTION_LINES = 3, 2


class PromptChoice(QFrame):
    """A card with the prompt; what is written in it is the draft of the chat."""

    changed = Signal()
    """It is another prompt."""
    written = Signal(str)
    """Somebody wrote this as a new question."""

    used = Signal()
    """Somebody is done with the new question and wants the lanes."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("look", "card")
        self.question: Turn | None = None
        """The question of the chat that can be compared."""
        self._can_write = True
        self._draft = ""
        self._this = _choice("compare_this_question", self.tr("Question of the chat"))
        self._new = _choice("compare_new_question", self.tr("New question"))
        set_hint(self._new, self.tr("Asked behind what is shown of the chat"))
        group = QButtonGroup(self)
        for button in (self._this, self._new):
            group.addButton(button)
        self._shown = Paragraph(lines=QUESTION_LINES, pixels=theme.READING_PX, name="compare_question_text")
        self._editor = TextEditor("compare_question_editor")
        self._editor.setAccessibleName(self.tr("New question"))
        self._editor.setPlaceholderText(self.tr("Write a question: all lanes answer it."))
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_XS)
        row.addWidget(label(self.tr("Prompt"), bold=True))
        row.addStretch(1)
        row.addWidget(self._this)
        row.addWidget(self._new)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        column.setSpacing(theme.SPACE_S)
        column.addLayout(row)
        column.addWidget(self._shown)
        column.addWidget(self._editor)
        self.use_text_size()
        self._this.toggled.connect(self._show)
        self._new.clicked.connect(self._editor.setFocus)
        self._editor.used.connect(self.used)
        self._editor.textChanged.connect(self._take_text)

    @property
    def chosen(self) -> Turn | None:
        """The question of the chat; None where a new one is meant."""
        return self.question if self._this.isChecked() else None

    @property
    def text(self) -> str:
        """What is written as a new question."""
        return self._editor.toPlainText() if self._can_write else self._draft

    def offer(self, question: Turn | None, draft: str, *, can_write: bool) -> None:
        """Offer a question of the chat and what is written there; without `can_write` that can only be read here."""
        self.question, self._can_write, self._draft = question, can_write, draft
        shown = draft if can_write else unframed(draft)
        with QSignalBlocker(self._editor):
            if shown != self._editor.toPlainText():
                self._editor.setPlainText(shown)
        self._editor.setReadOnly(not can_write)
        for button in (self._this, self._new):
            button.setVisible(question is not None)
        is_this = question is not None and not draft.strip()
        with QSignalBlocker(self._this):
            self._this.setChecked(is_this)
            self._new.setChecked(not is_this)
        self._show()

    def choose_question(self) -> None:
        """Take the question of the chat, whatever is written."""
        if self.question is not None:
            self._this.setChecked(True)
            self._show()

    def focus(self) -> None:
        """Give the keyboard to what is written here."""
        self._editor.setFocus()

    def use_text_size(self) -> None:
        """Show the new question in the size of reading text."""
        self._editor.setFont(theme.reading_font(theme.READING_PX))
        line = theme.reading_px(theme.READING_LINE_PX)
        self._editor.setFixedHeight(EDITOR_LINES * line + theme.SPACE_L)

    def _show(self) -> None:
        chosen = self.chosen
        self._shown.setVisible(chosen is not None)
        self._editor.setVisible(chosen is None)
        if chosen is not None:
            self._shown.set_text(first_words(chosen.words))
            set_hint(self._shown, unframed(chosen.text)[:HINT_CHARACTERS])
        elif not self._can_write:
            set_hint(self._editor, self.tr("It has pasted texts: change it where it is written, in the chat."))
        self.changed.emit()

    def _take_text(self) -> None:
        if self._can_write:
            self.written.emit(self._editor.toPlainText())
        self.changed.emit()


def _choice(name: str, words: str) -> QToolButton:
    button = QToolButton()
    button.setObjectName(name)
    button.setProperty("look", "quiet")
    button.setText(words)
    button.setAccessibleName(words)
    button.setCheckable(True)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return button
