"""What can be done from menus and by keyboard, as one table."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

translate = QCoreApplication.translate


class _Entry(NamedTuple):
    name: str
    text: str
    keys: str
    starts_group: bool = False
    in_chat: bool = False
    """Its keys hold in the chat alone: elsewhere they mean something else."""


def _table() -> list[_Entry]:
    return [
        _Entry("new_chat_action", translate("Actions", "&New chat"), "Ctrl+N"),
        _Entry("open_model_action", translate("Actions", "&Open a model…"), "Ctrl+O"),
        _Entry("go_on_action", translate("Actions", "Cont&inue the answer"), "Ctrl+Shift+R", True),
        _Entry("answer_again_action", translate("Actions", "Answer &again"), "Ctrl+R"),
        _Entry("copy_answer_action", translate("Actions", "&Copy the answer"), "Ctrl+Shift+C"),
        _Entry("stop_action", translate("Actions", "&Stop the answer"), "Esc"),
        _Entry("rename_action", translate("Actions", "&Rename the chat"), "F2", True),
        _Entry("delete_chat_action", translate("Actions", "&Delete the chat"), ""),
        _Entry("undo_delete_action", translate("Actions", "&Undo the deletion"), "Ctrl+Z"),
        _Entry("trash_action", translate("Actions", "Trash…"), ""),
        _Entry("system_prompt_action", translate("Actions", "System prompt and chat presets…"), "Ctrl+Shift+E"),
        _Entry("write_action", translate("Actions", "&Write a message"), "Ctrl+L"),
        _Entry("previous_message_action", translate("Actions", "Previous message"), "Alt+Up", in_chat=True),
        _Entry("next_message_action", translate("Actions", "Next message"), "Alt+Down", in_chat=True),
        _Entry("theme_action", translate("Actions", "Light or dark &theme"), "Ctrl+Shift+L", True),
        _Entry("contrast_theme_action", translate("Actions", "&High contrast"), ""),
        _Entry("system_theme_action", translate("Actions", "Theme of the s&ystem"), ""),
        _Entry("larger_text_action", translate("Actions", "Lar&ger text"), "Ctrl++; Ctrl+=", True),
        _Entry("smaller_text_action", translate("Actions", "S&maller text"), "Ctrl+-"),
        _Entry("normal_text_action", translate("Actions", "Normal text si&ze"), "Ctrl+0"),
        _Entry("history_action", translate("Actions", "Chats on the &left"), "F8", True),
        _Entry("panel_action", translate("Actions", "Side &panel"), "F9"),
        _Entry("print_action", translate("Actions", "Print…"), "Ctrl+P", True),
        _Entry("save_pdf_action", translate("Actions", "Sa&ve as PDF…"), ""),
        _Entry("preferences_action", translate("Actions", "Pre&ferences…"), "Ctrl+,", True),
        _Entry("keyboard_action", translate("Actions", "&Keyboard…"), "F1"),
        _Entry("quit_action", translate("Actions", "&Quit"), "Ctrl+Q", True),
    ]


class Actions:
    """The actions of a window by name."""

    def __init__(self, window: QWidget, chat: QWidget) -> None:
        """`chat` is the part of the window that some keys hold in."""
        self._actions: dict[str, QAction] = {}
        self.in_order: list[QAction] = []
        """For a menu, with separators between groups."""
        for entry in _table():
            if entry.starts_group:
                line = QAction(window)
                line.setSeparator(True)
                self.in_order.append(line)
            action = QAction(entry.text, window)
            action.setObjectName(entry.name)
            if entry.keys:
                action.setShortcuts(QKeySequence.listFromString(entry.keys))
            if entry.in_chat:
                action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            (chat if entry.in_chat else window).addAction(action)
            self._actions[entry.name] = action
            self.in_order.append(action)

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]
