"""The menu of presets of whole chats: what can be done with each, and with the chat that is shown."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QWidget

from app.core.chat_preset import ChatPreset
from app.gui.chat.preset_words import parts_in_words
from app.gui.widgets.fit_badge import FitLook, FitMarks
from app.gui.widgets.words import hint_of, isolated
from app.services.preset_use import PresetUse

LONGEST_SHOWN = 40
"""Characters of a name in an entry that holds more than the name."""


class PresetMenu(QMenu):
    """Made anew whenever it opens; tells what is wanted, and does itself what concerns the list alone."""

    used = Signal(str)
    """This preset is to be used in the chat that is shown."""
    begun = Signal(str)
    """A new chat is to begin with this preset."""
    update_wanted = Signal(str)
    """This preset is to hold what the chat that is shown is made of."""
    rename_wanted = Signal(str)
    """This preset is to be called otherwise."""
    save_wanted = Signal()
    """The chat that is shown is to become a preset."""

    def __init__(self, use: PresetUse, look: FitLook, parent: QWidget) -> None:
        super().__init__(parent)
        self._marks = FitMarks(self, look)
        self._presets = use.presets
        self.setObjectName("chat_presets_menu")
        self.setToolTipsVisible(True)
        self.aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        self._marks.clear()
        self.clear()
        for menu in self.findChildren(QMenu, options=Qt.FindChildOption.FindDirectChildrenOnly):
            menu.deleteLater()  # `clear` leaves them
        for name, preset in self._presets.all.items():
            self._add(name, preset)
        if not self._presets.all:
            empty = self.addAction(self.tr("No chat presets yet"))
            empty.setEnabled(False)
        self.addSeparator()
        save = self.addAction(self.tr("Save this chat as a chat preset…"), self.save_wanted.emit)
        save.setObjectName("save_chat_preset_action")
        lost = self._presets.lost
        if lost is not None:
            restore = self.addAction(
                self.tr("Bring back “{name}”").format(name=isolated(_shown(lost))), self._presets.restore
            )
            restore.setObjectName("restore_chat_preset_action")
        self._marks.want()

    def _add(self, name: str, preset: ChatPreset) -> None:
        starts, shown = self._presets.start == name, _shown(name)
        menu = self.addMenu(self.tr("{name} · for new chats").format(name=isolated(shown)) if starts else shown)
        menu.setObjectName("chat_preset_menu")
        hint = "\n".join(parts_in_words(preset))
        menu.menuAction().setToolTip(hint_of(hint))
        if preset.model is not None:
            self._marks.add(menu.menuAction(), preset.model.path, hint)
        entries = (
            ("use_chat_preset_action", self.tr("Use in this chat"), lambda: self.used.emit(name)),
            ("begin_chat_preset_action", self.tr("New chat with it"), lambda: self.begun.emit(name)),
            ("update_chat_preset_action", self.tr("Update from this chat…"), lambda: self.update_wanted.emit(name)),
            ("rename_chat_preset_action", self.tr("Rename…"), lambda: self.rename_wanted.emit(name)),
            ("delete_chat_preset_action", self.tr("Delete"), lambda: self._presets.delete(name)),
        )
        for object_name, words, slot in entries:
            menu.addAction(words, slot).setObjectName(object_name)
        start = menu.addAction(self.tr("New chats start with it"))
        start.setObjectName("start_chat_preset_action")
        start.setCheckable(True)
        start.setChecked(starts)
        start.triggered.connect(lambda on: self._presets.start_with(name if on else None))
        menu.insertAction(menu.actions()[2], start)
        menu.insertSeparator(start)


def _shown(name: str) -> str:
    short = name if len(name) <= LONGEST_SHOWN else f"{name[:LONGEST_SHOWN]}…"
    return short.replace("&", "&&")
