"""One download as a card: its name, a bar, figures in words, why it does not go on, and what can be done about it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout

from app.core.download import DownloadAction
from app.gui import theme
from app.gui.discover.words import shown, time_left
from app.gui.widgets.labels import in_parts, label
from app.gui.widgets.words import render, set_hint
from app.services.downloads import DownloadRow
from app.services.units import byte_size

_STEPS = 1000
_ACTIONS: tuple[DownloadAction, ...] = ("first", "pause", "resume", "again", "cancel", "dismiss")


class DownloadCard(QFrame):
    """Changes what it says in place; the buttons that can do nothing now are away."""

    wanted = Signal(str, str)
    """Somebody pressed a button: the download's key and the action."""

    page_wanted = Signal(str)
    """Somebody wants to see where it is from: the repository. Terms are accepted there."""
    token_wanted = Signal()
    """Somebody wants to give another access token, or none."""
    load_wanted = Signal(str)
    """Somebody wants to chat with what is here: its file."""

    def __init__(self, row: DownloadRow) -> None:
        super().__init__()
        self.setObjectName("download_card")
        self.setProperty("look", "card")
        self._row = row
        self.title = label(bold=True, name="download_name")
        self.title.setMinimumWidth(1)
        self.title.setWordWrap(True)
        self.bar = QProgressBar()
        self.bar.setObjectName("download_bar")
        self.bar.setRange(0, _STEPS)
        self.bar.setTextVisible(False)
        self.figures = label(look="muted", pixels=theme.SMALL_PX, name="download_figures")
        self.problem = label(look="problem", pixels=theme.SMALL_PX, name="download_problem")
        for text in (self.figures, self.problem):
            text.setWordWrap(True)
            text.setMinimumWidth(1)
        self.load = QPushButton(self.tr("Load and chat"))
        self.load.setObjectName("download_load_button")
        self.load.clicked.connect(lambda _checked=False: self.load_wanted.emit(self._row.path))
        self.page = QPushButton(self.tr("Show its page"))
        self.page.setObjectName("download_page_button")
        self.page.clicked.connect(lambda _checked=False: self.page_wanted.emit(self._row.wanted.repository))
        self.token = QPushButton(self.tr("Access token…"))
        self.token.setObjectName("download_token_button")
        self.token.clicked.connect(lambda _checked=False: self.token_wanted.emit())
        self.buttons: dict[DownloadAction, QPushButton] = {}
        self._lay_out()
        self.show_row(row)

    def show_row(self, row: DownloadRow) -> None:
        """Show how far it is now."""
        self._row = row
        name = shown(row.wanted.name)
        self.title.setText(name)
        set_hint(
            self.title, f"{shown(row.wanted.repository)}\n{row.path}" if row.path else shown(row.wanted.repository)
        )
        self.bar.setValue(int(row.share * _STEPS))
        self.bar.setAccessibleName(self.tr("How much of {name} is here").format(name=name))
        self.bar.setVisible(row.state != "done")
        self.figures.setText(in_parts(self._figures(row)))
        is_told = row.state in ("failed", "retrying", "paused")
        problem = row.problem if is_told else row.unusable if not row.is_away else None
        words = render(problem) if problem is not None else ""
        self.problem.setText(words)
        self.problem.setVisible(bool(words))
        self._show_buttons(row, name)

    def take_keyboard(self) -> None:
        """Have the keyboard on the first button that can do something."""
        seen = next((button for button in (self.load, *self.buttons.values()) if not button.isHidden()), None)
        if seen is not None:
            seen.setFocus()

    def _show_buttons(self, row: DownloadRow, name: str) -> None:
        all_of_them = (self.load, self.page, self.token, *self.buttons.values())
        before = next((each for each in all_of_them if each.hasFocus()), None)
        self.load.setVisible(row.state == "done" and bool(row.path) and row.unusable is None and not row.is_away)
        self.load.setAccessibleName(self.tr("Load and chat: {name}").format(name=name))
        self.page.setVisible(row.state == "failed")
        self.page.setAccessibleName(self.tr("Show the page of {name}").format(name=name))
        self.token.setVisible(row.state == "failed" and row.wants_token)
        self.token.setAccessibleName(self.tr("Give or forget an access token, for {name}").format(name=name))
        for action, button in self.buttons.items():
            button.setVisible(action in row.actions)
            words = self._words(action)
            if action == "resume":
                words = self.tr("Try again") if row.state in ("failed", "retrying") else words
                button.setText(words)
            button.setAccessibleName(self.tr("{action}: {name}").format(action=words, name=name))
        if before is not None and before.isHidden():
            self.take_keyboard()

    def _figures(self, row: DownloadRow) -> list[str]:
        size = byte_size(row.total)
        here = self.tr("{done} of {size}").format(done=byte_size(row.done), size=size)
        match row.state:
            case "waiting":
                return [here, self.tr("waits for its turn")]
            case "running" if row.bytes_per_s is None:
                return [here, self.tr("begins")]
            case "running" if row.bytes_per_s == 0:
                return [here, self.tr("waits for the server")]
            case "running":
                speed = self.tr("{size}/s").format(size=byte_size(int(row.bytes_per_s or 0)))
                left = [time_left(row.seconds_left)] if row.seconds_left is not None else []
                return [here, speed, *left]
            case "retrying" if row.again_in_s is not None:
                return [here, self.tr("tries again in {seconds} s").format(seconds=max(1, round(row.again_in_s)))]
            case "retrying":
                return [here, self.tr("tries again by itself")]
            case "checking":
                return [size, self.tr("is compared with the hub's checksum")]
            case "paused" if row.is_held:
                return [here, self.tr("waits to be online")]
            case "paused":
                return [here, self.tr("paused")]
            case "failed":
                return [here, self.tr("stopped")]
            case _ if row.is_away:
                return [size, self.tr("downloaded, and deleted or moved since")]
            case _ if row.unusable is not None:
                return [size, self.tr("downloaded, but there is no chat with it")]
            case _:
                return [size, self.tr("downloaded: it is among your models")]

    def _words(self, action: DownloadAction) -> str:
        match action:
            case "first":
                return self.tr("Download first")
            case "pause":
                return self.tr("Pause")
            case "resume":
                return self.tr("Resume")
            case "again":
                return self.tr("Download again")
            case "cancel":
                return self.tr("Cancel")
            case _:
                return self.tr("Remove from the list")

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self.load)
        row.addWidget(self.page)
        row.addWidget(self.token)
        for action in _ACTIONS:
            button = QPushButton(self._words(action))
            button.setObjectName(f"download_{action}_button")
            button.clicked.connect(lambda _checked=False, action=action: self.wanted.emit(self._row.key, action))
            self.buttons[action] = button
            row.addWidget(button)
        hint = self.tr("Deletes what has come of it")
        set_hint(self.buttons["cancel"], hint)
        head = QHBoxLayout()
        head.setSpacing(theme.SPACE_S)
        head.addWidget(self.title, 1)
        head.addLayout(row)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.SPACE_M, theme.SPACE_M, theme.SPACE_M, theme.SPACE_M)
        column.setSpacing(theme.SPACE_S)
        column.addLayout(head)
        column.addWidget(self.bar)
        column.addWidget(self.figures)
        column.addWidget(self.problem)
