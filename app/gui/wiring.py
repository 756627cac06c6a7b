"""Every connection between the parts of the window and the services, on one page."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from app.core.words import translate
from app.gui.dialogs import Dialogs
from app.gui.main_window import MainWindow
from app.gui.theme import Themes
from app.services.notices import Notice
from app.services.program import Program
from app.services.wishes import Wish


class Wiring(QObject):
    """Joins a window to a program; holds the few steps that need both."""

    def __init__(self, program: Program, window: MainWindow, themes: Themes) -> None:
        super().__init__()
        self._program = program
        self._window = window
        self._themes = themes
        self._dialogs = Dialogs(window)
        self._connect_window()
        self._connect_actions()
        self._disconnect = [
            program.session.changed.connect(self._show_model),
            program.chat.busy_changed.connect(self._show_busy),
            program.chat.cleared.connect(self._show_busy),
        ]
        self._show_model()
        self._show_busy()
        self._show_theme()

    def close(self) -> None:
        """Part window and services: no service calls a widget after this."""
        window = self._window
        parts = (window.chat_page, window.model_bar, window.notice_bar, window.live, window.sampling)
        for part in parts:
            part.disconnect_services()
        for disconnect in self._disconnect:
            disconnect()
        self._program.settings.change(window=window.saved_geometry(), panel_shown=window.panel_shown)

    def _connect_window(self) -> None:
        window, program, page = self._window, self._program, self._window.chat_page
        window.closing.connect(self.close)
        window.model_dropped.connect(self._use)
        window.model_bar.open_wanted.connect(self._choose_model)
        window.notice_bar.remedy_wanted.connect(self._remedy)
        window.notice_bar.details_wanted.connect(self._dialogs.show_details)
        window.new_chat_button.clicked.connect(program.chat.clear)
        window.theme_button.clicked.connect(self._themes.toggle)
        window.panel_button.clicked.connect(self._toggle_panel)
        page.welcome.open_wanted.connect(self._choose_model)
        page.copied.connect(_copy)
        page.composer.draft.too_long.connect(self._tell_too_long)
        page.transcript.first_text_painted.connect(self._note_first_text)
        window.sampling.when_full_chosen.connect(lambda policy: program.settings.change(when_full=policy))
        window.sampling.show_when_full(program.settings.values.when_full)
        self._themes.changed.connect(self._show_theme)
        window.use_geometry(program.settings.values.window)
        window.show_panel(program.settings.values.panel_shown)

    def _connect_actions(self) -> None:
        window, program, page = self._window, self._program, self._window.chat_page
        for name, slot in {
            "new_chat_action": program.chat.clear,
            "open_model_action": self._choose_model,
            "go_on_action": program.chat.go_on,
            "answer_again_action": program.chat.answer_again,
            "copy_answer_action": page.copy_answer,
            "stop_action": program.chat.stop,
            "write_action": page.composer.draft.setFocus,
            "theme_action": self._themes.toggle,
            "system_theme_action": self._follow_system_theme,
            "panel_action": self._toggle_panel,
            "quit_action": window.close,
        }.items():
            window.actions_by_name[name].triggered.connect(lambda _checked=False, slot=slot: slot())

    def _use(self, path: Path) -> None:
        self._program.notices.dismiss()
        self._program.session.use(Wish(path))

    def _choose_model(self) -> None:
        loaded, folders = self._program.session.model, self._program.models.folders
        folder = next((folder for folder in folders if os.path.isdir(folder)), folders[0])  # noqa: PTH112
        self._dialogs.choose_model(Path(loaded.path).parent if loaded is not None else folder, self._use)

    def _remedy(self, remedy: str) -> None:
        match remedy:
            case "restart_engine":
                self._program.notices.dismiss()
                self._program.session.restart()
            case "open_model":
                self._choose_model()
            case "load_anyway":
                self._program.notices.dismiss()
                self._program.session.load_anyway()
            case "choose_template":
                bar = self._window.notice_bar
                place = bar.mapToGlobal(bar.rect().bottomLeft())
                self._dialogs.choose_name(self._program.templates.names(), place, self._choose_template)

    def _choose_template(self, name: str) -> None:
        identity = self._program.session.identity
        if identity is not None:
            self._program.templates.choose(identity, name)
            self._program.notices.dismiss()

    def _toggle_panel(self) -> None:
        self._window.show_panel(not self._window.panel_shown)

    def _follow_system_theme(self) -> None:
        self._themes.choose("system")

    def _note_first_text(self, now_ns: int) -> None:
        self._program.live.first_text_painted(now_ns)
        self._program.chat.note_ttft(self._program.live.figures.ttft_ms)

    def _tell_too_long(self, characters: int) -> None:
        sentence = translate(
            "Composer",
            "This text has {characters:,} characters, too many for one message: paste a part of it.",
            characters=characters,
        )
        self._program.notices.post(Notice(sentence, level="hint"))

    def _show_model(self) -> None:
        session = self._program.session
        self._window.chat_page.welcome.show_model(session.name)

    def _show_busy(self) -> None:
        chat = self._program.chat
        self._window.actions_by_name["stop_action"].setEnabled(chat.busy)
        self._window.actions_by_name["go_on_action"].setEnabled(chat.can_go_on)
        self._window.actions_by_name["answer_again_action"].setEnabled(chat.can_answer_again)

    def _show_theme(self) -> None:
        is_dark = self._themes.current.name == "dark"
        self._window.theme_button.set_icon("sun" if is_dark else "moon")


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
