"""Where the system prompt of a chat is written, with what it costs, and where presets of whole chats are used.

What is typed and not saved stays with its chat: Esc loses nothing, and changes nothing that the model is told either.
"""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPaintEvent, QShowEvent, QTextCursor, QTextOption
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QToolButton, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.chat.preset_dialog import NameDialog, PresetDialog
from app.gui.chat.preset_menu import PresetMenu
from app.gui.chat.prompt_words import cost_words
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.direction import follow_direction
from app.gui.widgets.fit_badge import FitLook
from app.gui.widgets.labels import label
from app.gui.widgets.tall_dialog import TallDialog
from app.gui.widgets.words import render, set_hint
from app.gui.widgets.wrapped_text import keep_line_starts
from app.services.preset_use import PresetUse
from app.services.prompt_cost import PromptCosts
from app.services.system_prompt import SystemPrompt, too_long

WIDTH_PX = 620
TEXT_LINES = 10
COST_LINES = 2
LINE_PX = 28
"""Of the line with the tokens: as high as something that is pressed has to be."""
QUICK_LINE = 20_000
"""Characters of a line that is laid out before anybody notices; a longer one can be kept, though not be saved."""
SETTLED_MS = 120
"""After so long without a key the text is kept and counted."""


class SystemPromptDialog(TallDialog):
    """One editor; it opens with what was typed and not saved, if there is any."""

    def __init__(
        self,
        prompt: SystemPrompt,
        costs: PromptCosts,
        use: PresetUse,
        look: FitLook,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("system_prompt_dialog")
        self.setWindowTitle(self.tr("System prompt"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(theme.scaled(WIDTH_PX))
        self._prompt = prompt
        self._costs = costs
        self._use = use
        self._refused = ""
        """Why the text cannot be saved, or why what was pasted is not in it."""
        self._edit = _Text()
        self._tokens = label(look="muted", pixels=theme.SMALL_PX, name="system_prompt_tokens")
        self._cost = label(look="muted", pixels=theme.SMALL_PX, name="system_prompt_cost")
        self._problem = label(look="problem", pixels=theme.SMALL_PX, name="system_prompt_problem")
        self._problem.hide()
        for said in (self._cost, self._problem):
            said.setWordWrap(True)
            said.setAlignment(Qt.AlignmentFlag.AlignTop)
            said.setMinimumHeight(COST_LINES * said.fontMetrics().lineSpacing())  # what is below stays where it is
        self._settled = QTimer(self)
        self._settled.setSingleShot(True)
        self._settled.setInterval(SETTLED_MS)
        self._settled.timeout.connect(self._tell)
        self._back = QToolButton()
        self._back.setObjectName("system_prompt_back")
        self._back.setProperty("look", "outlined")
        self._back.setText(self.tr("Discard changes"))
        set_hint(self._back, self.tr("Back to the text that is saved; Ctrl+Z brings back what you typed"))
        self._back.setFont(theme.font(theme.SMALL_PX))
        self._back.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        policy = self._back.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._back.setSizePolicy(policy)
        self._back.setFixedHeight(theme.scaled(LINE_PX))
        self._save = _button(self.tr("Save"), "system_prompt_save")
        self._save.setProperty("look", "primary")
        set_hint(self._save, self.tr("Save (Ctrl+Enter): it holds from the next answer on"))
        self._cancel = _button(self.tr("Close"), "system_prompt_cancel")
        set_hint(self._cancel, self.tr("Close (Esc): what you typed stays here until you save it"))
        self.hold(self._contents(), self._buttons(look))
        draft = prompt.draft
        text = prompt.text if draft is None else draft
        self._edit.begin(text, goes_on=draft is not None)
        self._connect()
        self._show()
        if too_long(text) is None:
            self._costs.watch(text)
        self._show_cost()
        self._edit.setFocus()

    def done(self, result: int) -> None:
        """Keep what is typed, listen no longer, and close."""
        if self._settled.isActive():
            self._tell()
        self._settled.stop()
        self._costs.watch(None)
        for disconnect in self._disconnect:
            disconnect()
        super().done(result)

    def _contents(self) -> QWidget:
        contents = QWidget()
        column = QVBoxLayout(contents)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(label(self.tr("System prompt"), pixels=theme.HEADING_PX, bold=True))
        column.addWidget(_hint(self.tr("What the model is told before the first message of this chat.")))
        column.addWidget(self._edit)
        row = QHBoxLayout()
        row.addWidget(self._tokens, 1)
        row.addWidget(self._back)
        column.addLayout(row)
        column.addWidget(self._problem)
        column.addWidget(self._cost)
        return contents

    def _buttons(self, look: FitLook) -> QHBoxLayout:
        presets = IconButton(
            look.icons, "list", self.tr("Chat presets"), object_name="chat_presets_button", look="outlined"
        )
        presets.setText(presets.accessibleName())
        presets.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        presets.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        set_hint(presets, self.tr("Presets of whole chats: a system prompt, sampling settings and a model together."))
        self._menu = PresetMenu(self._use, look, presets)
        presets.setMenu(self._menu)
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        row.addWidget(presets)
        row.addStretch(1)
        row.addWidget(self._cancel)
        row.addWidget(self._save)
        return row

    def _connect(self) -> None:
        self._edit.textChanged.connect(self._take_edit)
        self._edit.used.connect(self._take)
        self._edit.refused.connect(self._refuse)
        self._back.clicked.connect(self._go_back)
        self._save.clicked.connect(self._take)
        self._cancel.clicked.connect(self.reject)
        self._menu.used.connect(self._use_preset)
        self._menu.begun.connect(self._begin_with)
        self._menu.save_wanted.connect(self._save_preset)
        self._menu.update_wanted.connect(self._save_preset)
        self._menu.rename_wanted.connect(lambda name: NameDialog(self._use.presets, name, self).open())
        self._disconnect = [self._costs.changed.connect(self._show_cost), self._prompt.changed.connect(self._show)]

    def _take_edit(self) -> None:
        self._settled.start()
        self._show()

    def _tell(self) -> None:
        """Keep what is typed; what is too long to be saved is counted no more, and kept all the same."""
        text = self._edit.whole
        self._prompt.write(text)
        if too_long(text) is None:
            self._costs.watch(text)

    def _take(self) -> None:
        if self._save.isEnabled():
            self._settled.stop()
            self._prompt.save(self._edit.whole)
            self.accept()

    def _go_back(self) -> None:
        """Show the saved text again; the editor's own undo brings back what was typed."""
        self._edit.fill()
        cursor = self._edit.textCursor()
        cursor.select(cursor.SelectionType.Document)
        cursor.insertText(self._prompt.text)
        self._edit.setFocus()

    def _use_preset(self, name: str) -> None:
        self._use.use(name)
        self.accept()

    def _begin_with(self, name: str) -> None:
        self.done(self.DialogCode.Accepted)  # what is typed belongs to the chat that is left
        self._use.begin(name)

    def _save_preset(self, name: str | None = None) -> None:
        """Ask what of the chat becomes a new preset, or what the one of this name holds from now on."""
        PresetDialog(self._use.presets, self._use.current(self._edit.whole), self, updated=name).open()

    def _refuse(self, text: str) -> None:
        """Say why a text was not inserted, until something is typed."""
        problem = too_long(text)
        self._refused = render(problem) if problem is not None else ""
        self._show_cost()

    def _show(self) -> None:
        text = self._edit.whole
        problem, is_other = too_long(text), text != self._prompt.text
        self._refused = render(problem) if problem is not None else ""
        self._show_cost()
        self._save.setEnabled(is_other and problem is None)
        if not is_other and self._back.hasFocus():
            self._edit.setFocus()
        self._back.setVisible(is_other)

    def _show_cost(self) -> None:
        words = cost_words(self._costs.cost)
        self._tokens.setText(words.tokens)
        is_unknown = self._costs.cost.cells is None
        set_hint(self._tokens, self.tr("They are counted once a model is loaded.") if is_unknown else "")
        problem = self._refused or (words.cost if words.alarm else "")
        self._problem.setText(problem)
        self._cost.setText(words.cost or "\u00a0")  # a label without text has another height
        self._problem.setVisible(bool(problem))
        self._cost.setVisible(not problem)


class _Text(QPlainTextEdit):
    """The text: Ctrl+Enter saves it, and what is too long to be laid out at every key is not inserted."""

    used = Signal()
    """Somebody is done."""
    refused = Signal(str)
    """This text was not inserted."""

    def __init__(self) -> None:
        super().__init__()
        self._goes_on = False
        """Whether somebody goes on with what was begun: then its end is shown first."""
        self._awaited: str | None = None
        """What is still to be put in: laying out a line of half a megabyte holds the window, so that is seen first."""
        self.setObjectName("system_prompt_text")
        self.setAccessibleName(self.tr("System prompt"))
        self.setAccessibleDescription(self.tr("Ctrl+Enter saves, Esc closes and keeps what is typed."))
        self.setPlaceholderText(self.tr("Such as: You are a patient teacher. Answer in short sentences."))
        self.setProperty("look", "field")
        self.setTabChangesFocus(True)
        self.setFont(theme.reading_font(theme.READING_PX))
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        follow_direction(self)
        keep_line_starts(self)
        self.setFixedHeight(self.fontMetrics().lineSpacing() * TEXT_LINES + theme.SPACE_XL)

    @property
    def whole(self) -> str:
        """What is written, all of it."""
        return self.toPlainText() if self._awaited is None else self._awaited

    def begin(self, text: str, *, goes_on: bool) -> None:
        """Begin with a text; one with a very long line comes once the field is seen, in the width that it will have."""
        self._goes_on = goes_on
        if all(len(line) <= QUICK_LINE for line in text.split("\n")):
            self.setPlainText(text)
            return
        self._awaited = text
        self.setReadOnly(True)
        self.setPlaceholderText("")
        # A bar that comes later would have the lines made once more.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)

    def fill(self) -> None:
        """Put in what is awaited."""
        if self._awaited is None:
            return
        text, self._awaited = self._awaited, None
        self.setReadOnly(False)
        with QSignalBlocker(self):  # nobody wrote it
            self.setPlainText(text)
        self._show_end()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Put in what is awaited once the empty field is on the screen."""
        super().paintEvent(event)
        if self._awaited is not None:
            QTimer.singleShot(0, self, self.fill)

    def showEvent(self, event: QShowEvent) -> None:
        """Show whole lines, and of a long text that is saved the beginning; else people write on at the end."""
        super().showEvent(event)
        around = self.height() - self.viewport().height() + round(2 * self.document().documentMargin())
        self.setFixedHeight(self.fontMetrics().lineSpacing() * TEXT_LINES + around)
        self._show_end()

    def _show_end(self) -> None:
        if self._goes_on or not self.verticalScrollBar().maximum():
            self.moveCursor(QTextCursor.MoveOperation.End)
            self.ensureCursorVisible()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tell that somebody is done; all other keys write."""
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.used.emit()
        else:
            super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Take text alone."""
        return source.hasText() and not source.hasUrls()

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert plain text, unless it is too long."""
        text = source.text()
        if too_long(text) is not None:
            self.refused.emit(text)
        else:
            self.insertPlainText(text)


def _hint(text: str) -> QLabel:
    made = label(text, look="muted", pixels=theme.SMALL_PX)
    made.setWordWrap(True)
    return made


def _button(words: str, name: str) -> QPushButton:
    button = QPushButton(words)
    button.setObjectName(name)
    button.setAutoDefault(False)
    return button
