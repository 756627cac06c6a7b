"""What can be done from menus and by keyboard, as one table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from app.gui.widgets.words import tell_keys

translate = QCoreApplication.translate
ESCAPE = QKeySequence("Esc")
_MNEMONIC = re.compile("&(.)")


def words_alone(action: QAction) -> str:
    """Return the words of an action as they stand outside of a menu."""
    return without_mnemonic(action.text()).rstrip("…")


def without_mnemonic(words: str) -> str:
    """Return words of a menu without the sign before the letter that chooses them there."""
    return _MNEMONIC.sub(r"\1", words)


def shown_keys(keys: Iterable[QKeySequence]) -> str:
    """Return keys as this system writes them; any of them does it."""
    return ", ".join(key.toString(QKeySequence.SequenceFormat.NativeText) for key in keys)


class _Entry(NamedTuple):
    name: str
    text: str
    keys: str = ""
    menu: str = ""
    """The menu inside of the main one that it stands in."""
    starts_group: bool = False
    in_chat: bool = False
    """Its keys hold in the chat alone: elsewhere they mean something else."""
    theme: str = ""
    """The theme that it is the choice of: that in force carries a tick."""


def menu_titles() -> dict[str, str]:
    """Return what the menus inside of the main one are called, and inside of which menu each one is ("view/theme")."""
    return {
        "chat": translate("Actions", "&Chat"),
        "chat/arrange": translate("Actions", "&Arrange"),
        "chat/export": translate("Actions", "Print, e&xport and import"),
        "answer": translate("Actions", "&Answer"),
        "view": translate("Actions", "&View"),
        "view/theme": translate("Actions", "&Theme"),
        "view/text": translate("Actions", "Te&xt size"),
    }


def _table() -> list[_Entry]:
    return [
        _Entry("new_chat_action", translate("Actions", "&New chat"), "Ctrl+N"),
        _Entry("open_model_action", translate("Actions", "&Open a model…"), "Ctrl+O"),
        _Entry("inspect_file_action", translate("Actions", "&Inspect a model file…"), "Ctrl+Shift+O"),
        _Entry("search_action", translate("Actions", "&Search all chats"), "Ctrl+Shift+F"),
        *_chat(),
        *_answer(),
        *_view(),
        _Entry("preferences_action", translate("Actions", "Pre&ferences…"), "Ctrl+,", starts_group=True),
        _Entry("palette_action", translate("Actions", "Command &palette…"), "Ctrl+K"),
        _Entry("keyboard_action", translate("Actions", "&Keyboard…"), "F1"),
        _Entry("quit_action", translate("Actions", "&Quit"), "Ctrl+Q", starts_group=True),
    ]


def _chat() -> list[_Entry]:
    system_prompt = translate("Actions", "System prompt and chat presets…")
    return [
        _Entry("write_action", translate("Actions", "&Write a message"), "Ctrl+L", "chat"),
        _Entry("attach_action", translate("Actions", "Attac&h files…"), "Ctrl+Shift+A", "chat"),
        _Entry("previous_message_action", translate("Actions", "Previous message"), "Alt+Up", "chat", in_chat=True),
        _Entry("next_message_action", translate("Actions", "Next message"), "Alt+Down", "chat", in_chat=True),
        _Entry("system_prompt_action", system_prompt, "Ctrl+Shift+E", "chat"),
        _Entry("rename_action", translate("Actions", "&Rename the chat"), "F2", "chat", starts_group=True),
        _Entry("pin_action", translate("Actions", "P&in the chat, or unpin it"), "Ctrl+Shift+B", "chat/arrange"),
        _Entry("move_action", translate("Actions", "&Move the chat to a folder…"), "", "chat/arrange"),
        _Entry("new_folder_action", translate("Actions", "New &folder"), "", "chat/arrange"),
        _Entry("delete_chat_action", translate("Actions", "&Delete the chat"), "", "chat"),
        _Entry("undo_delete_action", translate("Actions", "&Undo the deletion"), "Ctrl+Z", "chat"),
        _Entry("trash_action", translate("Actions", "&Trash…"), "", "chat"),
        _Entry("print_action", translate("Actions", "&Print…"), "Ctrl+P", "chat/export"),
        _Entry("save_pdf_action", translate("Actions", "Sa&ve as PDF…"), "", "chat/export"),
        _Entry(
            "export_chat_action",
            translate("Actions", "&Export the conversation…"),
            "",
            "chat/export",
            starts_group=True,
        ),
        _Entry("export_all_action", translate("Actions", "Export &all conversations…"), "", "chat/export"),
        _Entry("import_chats_action", translate("Actions", "&Import conversations…"), "", "chat/export"),
    ]


def _answer() -> list[_Entry]:
    return [
        _Entry("go_on_action", translate("Actions", "Cont&inue the answer"), "Ctrl+Shift+R", "answer"),
        _Entry("answer_again_action", translate("Actions", "Answer &again"), "Ctrl+R", "answer"),
        _Entry("compare_action", translate("Actions", "Co&mpare settings…"), "Ctrl+Shift+K", "answer"),
        _Entry("inside_action", translate("Actions", "&Look inside"), "Ctrl+Shift+I", "answer"),
        _Entry("copy_answer_action", translate("Actions", "&Copy the answer"), "Alt+C", "answer"),
        _Entry("pause_action", translate("Actions", "&Pause, or run on"), "F6", "answer", starts_group=True),
        _Entry("one_token_action", translate("Actions", "Write &one token"), "F7", "answer"),
        _Entry("step_bar_action", translate("Actions", "S&teps and speed"), "Shift+F6", "answer"),
        _Entry("stop_action", translate("Actions", "&Stop the answer"), "Esc", "answer"),
    ]


def _view() -> list[_Entry]:
    theme, text = "view/theme", "view/text"
    toggle = translate("Actions", "Light or dark &theme")
    return [
        _Entry("chat_page_action", translate("Actions", "C&hat"), "Ctrl+Shift+H", "view"),
        _Entry("planner_action", translate("Actions", "Pla&nner"), "Ctrl+Shift+P", "view"),
        _Entry("models_action", translate("Actions", "&Models"), "Ctrl+Shift+M", "view"),
        _Entry("history_action", translate("Actions", "Chats on the &left"), "F8", "view"),
        _Entry("panel_action", translate("Actions", "Side &panel"), "F9", "view"),
        _Entry("find_action", translate("Actions", "Fin&d"), "Ctrl+F", "view", starts_group=True),
        _Entry("find_next_action", translate("Actions", "Next match"), "F3", "view"),
        _Entry("find_previous_action", translate("Actions", "Previous match"), "Shift+F3", "view"),
        _Entry("light_theme_action", translate("Actions", "&Light"), "", theme, theme="light"),
        _Entry("dark_theme_action", translate("Actions", "&Dark"), "", theme, theme="dark"),
        _Entry("contrast_theme_action", translate("Actions", "&High contrast"), "", theme, theme="contrast"),
        _Entry("system_theme_action", translate("Actions", "Theme of the s&ystem"), "", theme, theme="system"),
        _Entry("theme_action", toggle, "Ctrl+Shift+L", theme, starts_group=True),
        _Entry("larger_text_action", translate("Actions", "Lar&ger text"), "Ctrl++; Ctrl+=", text),
        _Entry("smaller_text_action", translate("Actions", "S&maller text"), "Ctrl+-", text),
        _Entry("normal_text_action", translate("Actions", "Normal text si&ze"), "Ctrl+0", text),
    ]


class Actions:
    """The actions of a window by name."""

    def __init__(self, window: QWidget, chat: QWidget) -> None:
        """`chat` is the part of the window that some keys hold in."""
        self._actions: dict[str, QAction] = {}
        self.in_order: list[QAction] = []
        """All of them, as the menus have them."""
        self.themes: dict[str, QAction] = {}
        """Those that choose a theme, by its name."""
        self._usual: dict[str, tuple[QKeySequence, ...]] = {}
        self._keys: dict[str, tuple[QKeySequence, ...]] = {}
        self._leaves_escape = False
        for entry in _table():
            action = QAction(entry.text, window)
            action.setObjectName(entry.name)
            self._usual[entry.name] = tuple(QKeySequence.listFromString(entry.keys) if entry.keys else ())
            if entry.in_chat:
                action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            if entry.theme:
                action.setCheckable(True)
                self.themes[entry.theme] = action
            (chat if entry.in_chat else window).addAction(action)
            self._actions[entry.name] = action
            self.in_order.append(action)
        self.use_keys(self._usual)

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    @property
    def usual_keys(self) -> dict[str, tuple[QKeySequence, ...]]:
        """The keys of each that hold unless people chose others."""
        return dict(self._usual)

    @property
    def keys(self) -> dict[str, tuple[QKeySequence, ...]]:
        """The keys of each that hold now, those included that are left to a page for a while."""
        return dict(self._keys)

    def use_keys(self, keys: Mapping[str, Sequence[QKeySequence]]) -> None:
        """Have these keys for the actions of these names from now on."""
        for name, chosen in keys.items():
            self._keys[name] = tuple(chosen)
            self._set_keys(name)

    def leave_escape(self, leaves: bool) -> None:
        """Leave Esc to the page that is shown, or take it again for the action that has it."""
        self._leaves_escape = leaves
        for name, keys in self._keys.items():
            if ESCAPE in keys:
                self._set_keys(name)

    def tell_keys(self, parent: QWidget) -> None:
        """Tell the keys that hold now in the hints of a widget and of all inside of it."""
        tell_keys(parent, {name: shown_keys(keys) for name, keys in self._keys.items()})

    def _set_keys(self, name: str) -> None:
        keys = self._keys[name]
        self._actions[name].setShortcuts([key for key in keys if not (self._leaves_escape and key == ESCAPE)])

    def fill(self, menu: QMenu) -> None:
        """Put them all into a menu that is short: what belongs together stands in a menu inside of it."""
        menus = {"": menu}
        titles = menu_titles()
        for entry in _table():
            for path in _paths(entry.menu):
                if path not in menus:
                    outer = menus[path.rpartition("/")[0]]
                    if len(menus) == 1:
                        outer.addSeparator()
                    menus[path] = outer.addMenu(titles[path])
                    menus[path].setObjectName(f"{path.rpartition('/')[2]}_menu")
            if entry.starts_group:
                menus[entry.menu].addSeparator()
            menus[entry.menu].addAction(self._actions[entry.name])

    def show_theme(self, choice: str) -> None:
        """Tick the theme that was chosen."""
        for name, action in self.themes.items():
            action.setChecked(name == choice)


def _paths(menu: str) -> list[str]:
    """Return a menu and those that it is inside of, the outer ones first."""
    parts = menu.split("/") if menu else []
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]
