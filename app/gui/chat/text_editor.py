"""The field for a text that is changed: Ctrl+Enter uses it, Esc leaves it, Tab goes on, and the keys are said."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, Signal
from PySide6.QtGui import QKeyEvent, QTextOption

from app.gui import theme
from app.gui.chat.file_field import FileField
from app.gui.chat.writing_keys import key_named, wanted_by
from app.gui.widgets.direction import follow_direction
from app.gui.widgets.wrapped_text import keep_line_starts


class TextEditor(FileField):
    """The words, in the size that they are read in."""

    used = Signal()
    """Somebody is done."""
    left = Signal()
    """Somebody puts the words away."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setProperty("look", "field")
        self.setTabChangesFocus(True)
        self.setFont(theme.reading_font(theme.READING_PX))
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        follow_direction(self)
        keep_line_starts(self)

    def event(self, event: QEvent) -> bool:
        """Keep its keys from the window, where Esc stops an answer."""
        is_key = event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent)
        if is_key and isinstance(event, QKeyEvent) and wanted_by(event, "editor") is not None:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tell of the keys that are done with it; all others write."""
        match wanted_by(event, "editor"):
            case "use":
                self.used.emit()
            case "leave":
                self.left.emit()
            case _:
                super().keyPressEvent(event)


def hint_for(verb: str, *, is_short: bool = False) -> str:
    """Return in one line what the keys do; `verb` is what the button says that uses the text."""
    said = QCoreApplication.translate(
        "TextEditor", "{leave}: leave, keep the text · {use}: {verb} · {line}: new line"
    )
    if is_short:
        said = QCoreApplication.translate("TextEditor", "{leave}: leave, keep the text · {use}: {verb}")
    line, use, leave = (key_named("editor", does) for does in ("new_line", "use", "leave"))
    return said.format(line=line, use=use, verb=verb, leave=leave)
