"""The line above the conversation that says what its system prompt is, and opens it.

Shows what the service says; where it is written is the dialog's.
"""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.words import set_hint
from app.services.system_prompt import SystemPrompt

SHOWN_CHARACTERS, HINT_CHARACTERS = 400, 600
"""Of a long text so many at its beginning are shown, and told on hover."""
LEAST_PX = 120
ICON_PX = 16


class SystemPromptLine(QFrame):
    """One quiet button where the text of the conversation begins, and the line that the text goes under."""

    wanted = Signal()
    """Somebody wants to read or write the system prompt."""

    def __init__(self, prompt: SystemPrompt, themes: theme.Themes, icons: Icons) -> None:
        super().__init__()
        self.setProperty("look", "above_text")
        self._prompt = prompt
        self._button = _WordsButton(icons, "system_prompt", self.tr("System prompt"))
        self._button.setObjectName("system_prompt_button")
        self._button.clicked.connect(self.wanted)
        self._middle = QWidget()
        self._row = row = QHBoxLayout(self._middle)
        row.setContentsMargins(theme.SPACE_L, theme.SPACE_XS, theme.SPACE_L, theme.SPACE_XS)
        row.addWidget(self._button)
        row.addStretch(1)
        around = QHBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addStretch(1)
        around.addWidget(self._middle, 1000)
        around.addStretch(1)
        self._use_text_size()
        themes.text_size_changed.connect(self._use_text_size)
        self._disconnect = prompt.changed.connect(self._show)
        self._show()

    def disconnect_services(self) -> None:
        """Listen to the service no longer."""
        self._disconnect()

    def _use_text_size(self) -> None:
        self._middle.setMaximumWidth(int(theme.reading_width()) + 2 * theme.SPACE_XL)

    def _show(self) -> None:
        text, draft = self._prompt.text, self._prompt.draft
        words = self.tr("Add a system prompt")
        hint = self.tr("What the model is told before the first message")
        if text:
            words = self.tr("System prompt: {text}").format(text=first_words(text))
            hint = text if len(text) <= HINT_CHARACTERS else f"{text[:HINT_CHARACTERS]}…"
        if draft is not None:
            words = self.tr("System prompt, changes not saved: {text}").format(text=first_words(draft or text))
        self._button.show_words(words)
        self._row.activate()  # all words that fit are there in the same picture
        set_hint(self._button, hint, "" if text else "system_prompt_action")
        self._button.setAccessibleDescription(hint)


class _WordsButton(IconButton):
    """A button with words that end in … where they do not fit."""

    def __init__(self, icons: Icons, icon: str, name: str) -> None:
        self._words = ""
        super().__init__(icons, icon, name, look="quiet")
        self.setIconSize(QSize(ICON_PX, ICON_PX))
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setFont(theme.font(theme.SMALL_PX))
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def show_words(self, words: str) -> None:
        """Show other words, which are also what it is called."""
        self._words = words
        self.setAccessibleName(words)
        self._elide()
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Ask for the room that all of the words need."""
        return QSize(self._around_px() + self._width_of(self._words), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Take less where there is less."""
        return QSize(min(LEAST_PX, self.sizeHint().width()), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many words as fit now."""
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        room = max(self.width(), LEAST_PX) - self._around_px()
        shown = self.fontMetrics().elidedText(self._words, Qt.TextElideMode.ElideRight, room)
        if shown.replace("&", "&&") != self.text():
            self.setText(shown.replace("&", "&&"))

    def _around_px(self) -> int:
        """Return what icon and frame take beside the words."""
        return super().sizeHint().width() - self._width_of(self.text().replace("&&", "&"))

    def _width_of(self, words: str) -> int:
        return self.fontMetrics().horizontalAdvance(words)


def first_words(text: str) -> str:
    """Return the beginning of a text on one line."""
    return " ".join(text[:SHOWN_CHARACTERS].split())
