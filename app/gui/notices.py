"""The bar that says in words what went wrong, with one thing to do about it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.labels import label
from app.gui.widgets.words import render
from app.services.notices import Notices, Remedy


class NoticeBar(QWidget):
    """Shows the latest notice until it is dismissed."""

    remedy_wanted = Signal(str)
    """Somebody chose what to do: a `Remedy`."""
    details_wanted = Signal(str, list)
    """Somebody wants to read the lines of the log: the sentence and the lines."""

    def __init__(self, notices: Notices, themes: theme.Themes, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice_bar")
        self._notices = notices
        self._themes = themes
        self._icons = icons
        self._picture = QLabel()
        self._text = label(name="notice_text")
        self._text.setWordWrap(True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._remedy = QPushButton(self._words("open_model"))
        self._remedy.setObjectName("notice_action")
        self._details = QPushButton(self.tr("Details"))
        self._details.setObjectName("notice_details")
        close = IconButton(icons, "close", self.tr("Dismiss"), object_name="notice_close")
        self._frame = QFrame()
        around = QVBoxLayout(self)
        around.setContentsMargins(theme.SPACE_L, theme.SPACE_S, theme.SPACE_L, theme.SPACE_S)
        around.addWidget(self._frame)
        layout = QHBoxLayout(self._frame)
        layout.setContentsMargins(theme.SPACE_M, theme.SPACE_S, theme.SPACE_S, theme.SPACE_S)
        layout.setSpacing(theme.SPACE_M)
        layout.addWidget(self._picture)
        layout.addWidget(self._text, 1)
        for button in (self._details, self._remedy, close):
            layout.addWidget(button)
        self._remedy.clicked.connect(self._choose)
        self._details.clicked.connect(self._tell_details)
        close.clicked.connect(notices.dismiss)
        self._disconnect = notices.changed.connect(self._show)
        themes.changed.connect(self._show)
        self._show()

    def disconnect_services(self) -> None:
        """Listen to the notices no longer."""
        self._disconnect()

    def _show(self) -> None:
        notice = self._notices.latest
        self.setVisible(notice is not None)
        if notice is None:
            return
        text = " ".join(render(sentence) for sentence in (notice.sentence, *notice.more))
        self._text.setText(text)
        self.setAccessibleName(text)
        self._remedy.setVisible(notice.remedy is not None)
        if notice.remedy is not None:
            self._remedy.setText(self._words(notice.remedy))
        self._details.setVisible(bool(notice.details))
        if self._frame.property("look") != notice.level:
            self._frame.setProperty("look", notice.level)
            self.style().unpolish(self._frame)
            self.style().polish(self._frame)
        colour = self._themes.current.colour("danger" if notice.level == "error" else "accent")
        self._picture.setPixmap(self._icons.icon(notice.level, colour).pixmap(20, 20))

    def _words(self, remedy: Remedy) -> str:
        words: dict[Remedy, str] = {
            "undo_delete": self.tr("Undo"),
            "restart_engine": self.tr("Restart the engine"),
            "open_model": self.tr("Open a model…"),
            "choose_template": self.tr("Choose a template…"),
            "load_options": self.tr("Load options…"),
        }
        return words[remedy]

    def _choose(self) -> None:
        notice = self._notices.latest
        if notice is not None and notice.remedy is not None:
            self.remedy_wanted.emit(notice.remedy)

    def _tell_details(self) -> None:
        notice = self._notices.latest
        if notice is not None:
            self.details_wanted.emit(render(notice.sentence), list(notice.details))
