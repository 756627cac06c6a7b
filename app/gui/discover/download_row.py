"""The button that downloads a model, what became of that, and what can be done with it once it is here."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from app.core.download import DownloadWanted, refusal_of
from app.core.model import FoundModel
from app.gui import theme
from app.gui.discover.words import time_left
from app.gui.widgets.buttons import text_button
from app.gui.widgets.flow import Flow
from app.gui.widgets.labels import label
from app.gui.widgets.words import render
from app.services.downloads import DownloadRow, Downloads, Standing
from app.services.units import byte_size

_WORDS_PX = 176
"""So much room the words have beside the buttons, or more."""


class DownloadButtons(QWidget):
    """Is about one model at a time."""

    downloads_wanted = Signal()
    """Somebody wants to see the downloads."""
    load_wanted = Signal(str)
    """Somebody wants to chat with what is here: its file."""

    def __init__(self, downloads: Downloads, name: str) -> None:
        """`name` begins the names of what is in it."""
        super().__init__()
        self._downloads = downloads
        self._wanted: DownloadWanted | None = None
        self._words = ""
        self._problem = self._note = ""
        self._is_offered = False
        self.button = text_button(self.tr("Download"), f"{name}_download_button")
        self.button.setProperty("look", "primary")
        self.load = text_button(self.tr("Load and chat"), f"{name}_load_button")
        self.load.setProperty("look", "primary")
        self.to_downloads = text_button(self.tr("Show downloads"), f"{name}_downloads_button")
        self.state = label(look="muted", pixels=theme.SMALL_PX, name=f"{name}_download_state")
        self.state.setWordWrap(True)
        self.state.setMinimumWidth(1)
        self._row, self._buttons = QBoxLayout(QBoxLayout.Direction.LeftToRight, self), Flow()
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(theme.SPACE_S)
        for button in (self.button, self.load, self.to_downloads):
            self._buttons.addWidget(button)
        self._row.addLayout(self._buttons)
        self._row.addWidget(self.state, 1)
        self.setMinimumHeight(self.button.sizeHint().height())  # beside words that wrap, layouts squeeze a button
        self.button.clicked.connect(lambda _checked=False: self.download())
        self.load.clicked.connect(lambda _checked=False: self._load())
        self.to_downloads.clicked.connect(lambda _checked=False: self.downloads_wanted.emit())
        self._disconnect = downloads.changed.connect(self.show_state)
        self.show_state()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self._disconnect()

    def show_model(
        self, wanted: DownloadWanted | None, name: str, problem: str = "", *, note: str = "", is_offered: bool = True
    ) -> None:
        """Be about a model, which people call `name`.

        `problem` says why it cannot be had, if it cannot, `note` what else is to be known. Nothing is offered where there is nothing that could be chosen.
        """
        refusal = refusal_of(wanted.repository, (file.path for file in wanted.files)) if wanted is not None else None
        problem = problem or (render(refusal) if refusal is not None else "")
        self._wanted, self._problem, self._note, self._is_offered = wanted, problem, note, is_offered
        if wanted is not None:
            self._words = self.tr("Download {name} ({size})").format(name=name, size=byte_size(wanted.size))
        self.show_state()

    def download(self) -> None:
        """Have it downloaded, where that can be."""
        if self._wanted is not None and self.button.isEnabled() and self._is_offered:
            self._downloads.add(self._wanted)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Have the words below the buttons where there is no room for them beside."""
        super().resizeEvent(event)
        self._arrange()

    def show_state(self) -> None:
        """Show what became of it."""
        standing = self._standing()
        buttons = (self.button, self.load, self.to_downloads)
        before = next((button for button in buttons if button.hasFocus()), None)
        self.button.setEnabled(self._wanted is not None and not self._problem and standing.is_free)
        self.button.setVisible(self._is_offered and standing.is_free)
        self.load.setVisible(bool(standing.path))
        self.to_downloads.setVisible(standing.row is not None)
        if before is not None and before.isHidden():  # it would be passed on to whatever comes next
            next((button for button in buttons if not button.isHidden()), before).setFocus()
        if self._wanted is not None:
            row = standing.row
            is_again = row is not None and row.state == "failed" and not standing.is_other
            self.button.setText(self.tr("Try again") if is_again else self._words)
            self.button.setAccessibleName(
                self.tr("Try again: {words}").format(words=self._words) if is_again else self._words
            )
        said = self._said(standing)
        self.state.setText(said)
        self.state.setVisible(bool(said))
        self._arrange()

    def _arrange(self) -> None:
        self._buttons.invalidate()
        needed = self._buttons.sizeHint().width() + theme.SPACE_S + theme.scaled(_WORDS_PX)
        below, beside = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._row.setDirection(below if self.width() < needed else beside)

    def _standing(self) -> Standing:
        return self._downloads.standing(self._wanted) if self._wanted is not None else Standing()

    def _load(self) -> None:
        path = self._standing().path
        if path:
            self.load_wanted.emit(path)

    def _said(self, standing: Standing) -> str:
        row, found, is_other = standing.row, standing.found, standing.is_other
        if found is not None:
            return self._said_of_found(found, is_other=is_other)
        if row is None:
            return self._problem or self._note
        if row.state == "done":
            return self._said_of_whole(row, is_other=is_other)
        if row.state == "failed":
            failed = self.tr("The download of another version of it has failed.")
            return _with_problem(failed if is_other else self.tr("Its download has failed."), row)
        words = self.tr("It is among the downloads: {percent} % are here.")
        if is_other:
            words = self.tr("Another version of the same file is among the downloads: {percent} % are here.")
        here = words.format(percent=int(row.share * 100))
        return _with_problem(" ".join(filter(None, (here, self._said_of_standstill(row)))), row)

    def _said_of_standstill(self, row: DownloadRow) -> str:
        """Return why nothing comes now and what becomes of that, or how long it still takes; empty where that is not known."""
        if row.state == "retrying" and row.again_in_s is not None:
            return self.tr("It tries again in {seconds} s.").format(seconds=max(1, round(row.again_in_s)))
        if row.state == "waiting":
            return self.tr("It waits for its turn.")
        if row.state == "paused" and not row.is_held:
            return self.tr("It is paused: go on with it under “Show downloads”.")
        if row.state == "running" and row.bytes_per_s == 0:
            return self.tr("It waits for the server.")
        return "" if row.seconds_left is None else time_left(row.seconds_left)

    def _said_of_found(self, found: FoundModel, *, is_other: bool) -> str:
        if is_other:
            return self.tr(
                "Another version of it is on this machine under the same name: to download this one, rename or delete"
                " that one first."
            )
        if found.is_read and found.problem is not None:
            return self.tr("It is on this machine, but there is no chat with it.")
        return self.tr("It is on this machine.")

    def _said_of_whole(self, row: DownloadRow, *, is_other: bool) -> str:
        if row.is_away:
            return self._problem or self.tr("It was downloaded, and deleted or moved since.")
        if row.unusable is not None:
            return self.tr("It is downloaded, but there is no chat with it.")
        return self.tr("Another version of it is downloaded.") if is_other else self.tr("It is downloaded.")


def _with_problem(said: str, row: DownloadRow) -> str:
    return said if row.problem is None else f"{said} {render(row.problem)}"
