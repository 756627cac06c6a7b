"""What people can do with one message: by the buttons under it, by its menu, and by keyboard."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtWidgets import QInputDialog, QMenu, QMessageBox

from app.core.sampling import SamplingSettings
from app.gui.chat import footer
from app.gui.chat.transcript import Transcript
from app.gui.chat.turn_bars import TurnBars
from app.gui.chat.turn_editor import TurnEditor
from app.gui.icons import Icons
from app.services.branches import Branches
from app.services.chat import Chat
from app.services.turns import Turn


class TurnActions(QObject):
    """Joins the turns of a transcript to what can be done with them."""

    copied = Signal(str)
    """Somebody wants a text on the clipboard."""
    settings_wanted = Signal(object)
    """Somebody wants to go on with these sampling settings."""

    def __init__(self, transcript: Transcript, chat: Chat, branches: Branches, icons: Icons) -> None:
        super().__init__(transcript)
        self._transcript = transcript
        self._chat = chat
        self._branches = branches
        self.bars = TurnBars(transcript, chat, branches, icons)
        self.editor = TurnEditor(transcript.viewport())
        self.bars.wanted.connect(self._do)
        self.editor.used.connect(branches.edit)
        transcript.moved.connect(self._place_editor)

    def copy(self, turn: Turn, *, plain: bool = False) -> None:
        """Ask for a message's text on the clipboard."""
        index = self._transcript.turns.index_of(turn.number)
        text = self._transcript.turns.blocks[index].text if plain and index is not None else turn.said
        self.copied.emit(text)
        bar = self.bars.bar_of(turn)
        if bar is not None:
            bar.tick()

    def edit(self, turn: Turn) -> None:
        """Let people change a message's words in its place."""
        self.editor.edit(turn)
        self._place_editor()

    def add_to(self, menu: QMenu, turn: Turn) -> None:
        """Add what can be done with a turn to a menu."""
        is_user, is_open = turn.role == "user", turn.state in ("waiting", "writing")
        busy, version = self._chat.busy, self._branches.version(turn)

        def add(words: str, slot: Callable[[], object], *, enabled: bool = True) -> None:
            action = menu.addAction(words)
            action.setEnabled(enabled)
            action.triggered.connect(lambda _checked=False: slot())

        if version.of > 1:
            add(self.tr("Earlier version"), lambda: self._do(turn, "earlier"), enabled=version.number > 1)
            add(self.tr("Later version"), lambda: self._do(turn, "later"), enabled=version.number < version.of)
        edit = self.tr("Edit and ask again…") if is_user else self.tr("Edit the answer…")
        add(edit, lambda: self.edit(turn), enabled=not is_open and not (is_user and busy))
        if not is_user:
            add(self.tr("Answer again"), lambda: self._do(turn, "again"), enabled=not busy)
            add(self.tr("Answer again, beginning with…"), lambda: self._ask_beginning(turn), enabled=not busy)
            has_settings = bool(footer.details(turn))
            add(self.tr("Settings of this answer"), lambda: self._show_settings(turn), enabled=has_settings)
            add(self.tr("Use these settings again"), lambda: self._use_settings(turn), enabled=has_settings)
        add(self.tr("Begin a new chat from here"), lambda: self._branches.fork(turn))
        add(self.tr("Delete from here on"), lambda: self._branches.delete(turn))

    def _do(self, turn: Turn, wish: str) -> None:
        match wish:
            case "earlier" | "later":
                self._branches.step(turn, -1 if wish == "earlier" else 1)
            case "go_on":
                self._chat.go_on()
            case "again":
                self._branches.answer_again(turn)
            case "edit":
                self.edit(turn)
            case "copy" | "copy_plain":
                self.copy(turn, plain=wish == "copy_plain")
            case "more":
                self._open_menu(turn)

    def _open_menu(self, turn: Turn) -> None:
        bar = self.bars.bar_of(turn)
        if bar is None:
            return
        menu = QMenu(bar)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.add_to(menu, turn)
        menu.popup(bar.more_button.mapToGlobal(QPoint(0, bar.more_button.height())))

    def _ask_beginning(self, turn: Turn) -> None:
        dialog = QInputDialog(self._transcript.window())
        dialog.setObjectName("beginning_dialog")
        dialog.setWindowTitle(self.tr("Answer again"))
        dialog.setLabelText(self.tr("The answer begins with:"))
        dialog.setOption(QInputDialog.InputDialogOption.UsePlainTextEditForTextInput)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.textValueSelected.connect(lambda words: self._branches.answer_again(turn, words))
        dialog.open()

    def _show_settings(self, turn: Turn) -> None:
        box = QMessageBox(self._transcript.window())
        box.setObjectName("answer_settings")
        box.setWindowTitle(self.tr("Settings of this answer"))
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(footer.details(turn))
        box.setStandardButtons(QMessageBox.StandardButton.Close)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    def _use_settings(self, turn: Turn) -> None:
        used = turn.finished.settings if turn.finished is not None else turn.settings
        settings: SamplingSettings = used[-1].settings
        self.settings_wanted.emit(msgspec.structs.asdict(settings))

    def _place_editor(self) -> None:
        turn = self.editor.turn
        if turn is None:
            return
        index = self._transcript.turns.index_of(turn.number)
        if index is None:
            self.editor.leave()
        else:
            self.editor.put(self._transcript.places.turn(index), self._transcript.viewport().rect())
