"""What people can do with one message: by the buttons under it, by its menu, and by keyboard."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.core.attached_files import unframed
from app.core.sampling import SamplingSettings
from app.gui.chat import footer
from app.gui.chat.transcript import Transcript
from app.gui.chat.transcript_keys import key_of
from app.gui.chat.turn_bars import TurnBars
from app.gui.chat.turn_editor import TurnEditor
from app.gui.chat.turn_wish import Wish
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
        self.more_entries: list[Callable[[QMenu, Turn], None]] = []
        """What else adds entries to the menu of a message."""
        self.bars = TurnBars(transcript, chat, branches, icons)
        self.editor = TurnEditor(icons, transcript.viewport())
        self.bars.wanted.connect(self._do)
        self.editor.used.connect(branches.edit)
        self.editor.changed.connect(self._place_editor)
        self.editor.closed.connect(self._place_editor)
        self._begun: dict[int, str] = {}
        """By message: how another answer was to begin, while none does."""
        self._roomy: int | None = None
        """The turn (its number) that is as high as the editor over it."""
        transcript.moved.connect(self._place_editor)
        transcript.turn_wanted.connect(self._do_by_key)
        transcript.turn_menu_opens.connect(self.add_to)
        transcript.version_of = branches.version

    def copy(self, turn: Turn, *, plain: bool = False) -> None:
        """Ask for a message's text on the clipboard."""
        self.copied.emit(self._plain_text_of(turn) if plain else turn.markdown)
        bar = self.bars.bar_of(turn)
        if bar is not None:
            bar.tick()

    def _plain_text_of(self, turn: Turn) -> str:
        index = self._transcript.turns.index_of(turn.number)
        if turn.role == "user" or index is None:
            return unframed(turn.said)
        return self._transcript.turns.blocks[index].text

    def edit(self, turn: Turn) -> None:
        """Let people change a message's words in its place."""
        self.editor.edit(turn)
        index = self._transcript.turns.index_of(turn.number)
        if index is not None:
            self._transcript.show_whole(index)

    def keep_words(self, turn: Turn, words: str) -> None:
        """Offer words again with which another version of an answer was to begin; what was written since is kept."""
        self._begun.setdefault(turn.message, words)

    def add_to(self, menu: QMenu, turn: Turn) -> None:
        """Add what can be done with a turn to a menu."""
        is_user, busy = turn.role == "user", self._chat.busy

        def add(words: str, slot: Callable[[], object], *, enabled: bool = True) -> QAction:
            action = menu.addAction(words)
            action.setEnabled(enabled)
            action.triggered.connect(lambda _checked=False: slot())
            return action

        def add_wish(words: str, wish: Wish) -> None:
            action = add(words, lambda: self._do(turn, wish), enabled=self._can(turn, wish))
            is_free = (
                wish not in ("copy", "copy_plain") or not self._transcript.has_selection
            )  # else the key copies what is selected
            if (key := key_of(wish)) is not None and is_free:
                # Only shown: the transcript listens to the keys itself.
                action.setShortcut(key)
                action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)

        if self._branches.version(turn).of > 1:
            add_wish(self.tr("Earlier version"), "earlier")
            add_wish(self.tr("Later version"), "later")
            menu.addSeparator()
        add_wish(self.tr("Copy the question") if is_user else self.tr("Copy the answer"), "copy")
        plain = self.tr("Copy the question as plain text") if is_user else self.tr("Copy the answer as plain text")
        add_wish(plain, "copy_plain")
        menu.addSeparator()
        add_wish(self.tr("Edit and ask again…") if is_user else self.tr("Edit the answer…"), "edit")
        if not is_user:
            add_wish(self.tr("Answer again"), "again")
            add(self.tr("Answer again, beginning with…"), lambda: self._ask_beginning(turn), enabled=not busy)
            menu.addSeparator()
            has_settings = bool(footer.details(turn))
            add(self.tr("Settings of this answer"), lambda: self._show_settings(turn), enabled=has_settings)
            add(self.tr("Use these settings again"), lambda: self._use_settings(turn), enabled=has_settings)
            menu.addSeparator()
        for add_more in self.more_entries:
            add_more(menu, turn)
        menu.addSeparator()
        add(self.tr("Begin a new chat from here"), lambda: self._branches.fork(turn))
        menu.addSeparator()
        add_wish(self.tr("Delete from here on"), "delete")

    def _can(self, turn: Turn, wish: str) -> bool:
        """Return whether something can be done with a turn now."""
        is_user, is_open = turn.role == "user", turn.state in ("waiting", "writing")
        number, of = self._branches.version(turn)
        match wish:
            case "earlier":
                return number > 1
            case "later":
                return number < of
            case "edit":
                return not is_open and not (is_user and self._chat.busy)
            case "again":
                return not is_user and not self._chat.busy
            case "copy" | "copy_plain":
                return bool(turn.text) and not is_open
        return True

    def _do_by_key(self, turn: Turn, wish: str) -> None:
        if self._can(turn, wish):
            self._do(turn, wish)

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
            case "delete":
                self._branches.delete(turn)
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
        # Loaded when it is first wanted, so that no start waits for it.
        from app.gui.chat.beginning_dialog import BeginningDialog  # noqa: PLC0415

        def use(words: str) -> None:
            if self._branches.answer_again(turn, words):
                self._begun.pop(turn.message, None)
            self._transcript.setFocus()

        dialog = BeginningDialog(self._begun.get(turn.message, ""), self._transcript.window())
        dialog.written.connect(lambda words: self._begun.__setitem__(turn.message, words))
        dialog.used.connect(use)
        dialog.open()

    def _show_settings(self, turn: Turn) -> None:
        # Loaded when it is first wanted, so that no start waits for it.
        from app.gui.chat.settings_dialog import SettingsDialog  # noqa: PLC0415

        dialog = SettingsDialog(turn, self._transcript.window())
        dialog.use_wanted.connect(lambda: self._use_settings(turn))
        dialog.open()

    def _use_settings(self, turn: Turn) -> None:
        used = turn.finished.settings if turn.finished is not None else turn.settings
        settings: SamplingSettings = used[-1].settings
        self.settings_wanted.emit(msgspec.structs.asdict(settings))

    def _place_editor(self) -> None:
        turn, transcript = self.editor.turn, self._transcript
        index = transcript.turns.index_of(turn.number) if turn is not None else None
        if self._roomy is not None and (index is None or turn is None or self._roomy != turn.number):
            number, self._roomy = self._roomy, None
            self._make_room(transcript.turns.index_of(number), 0)
        if turn is None:
            return
        if index is None:
            self.editor.leave()
            return
        self._roomy = turn.number
        view = transcript.viewport().rect()
        self._make_room(index, self.editor.needed(transcript.places.turn(index).width(), view))
        self.editor.put(transcript.places.turn(index), view)

    def _make_room(self, index: int | None, height: int) -> None:
        """Have a turn at least so high that the editor over it covers nothing of the next one."""
        block = self._transcript.turns.blocks[index] if index is not None else None
        if block is not None and block.least_height != height:
            block.least_height = height
            self._transcript.refresh(block.turn)
