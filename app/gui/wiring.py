"""Every connection between the parts of the window and the services, on one page."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication

from app.core.words import translate
from app.gui.attach_wiring import AttachWiring
from app.gui.chat.glyphs import Glyphs
from app.gui.chat.reproductions import Reproductions
from app.gui.compare_wiring import CompareWiring
from app.gui.dialogs import Dialogs
from app.gui.edit_wiring import EditWiring
from app.gui.icons import Icons
from app.gui.main_window import MainWindow
from app.gui.on_demand import OnDemand
from app.gui.other_pages import Joined, other_pages
from app.gui.theme import Themes
from app.services.models import is_very_small
from app.services.notices import DELETIONS, Notice
from app.services.program import Program
from app.services.turns import Turn
from app.services.wishes import Wish


class Wiring(QObject):
    """Joins a window to a program; holds the few steps that need both."""

    def __init__(self, program: Program, window: MainWindow, themes: Themes) -> None:
        super().__init__()
        self._program = program
        self._window = window
        self._themes = themes
        self._dialogs = Dialogs(window)
        self._on_demand = OnDemand(program, window, themes)
        page, icons = window.parts.chat_page, Icons(program.resources)
        self._reproductions = Reproductions(page.transcript, program.chat, program.reproducing, icons)
        self._compare = CompareWiring(program, window, self._on_demand.compare_page, self._on_demand.open_what_if)
        written = (AttachWiring(program, window, self._dialogs), EditWiring(program, window))
        self._pages: tuple[Joined, ...] = (self._compare, *written, *other_pages(program, window, self._on_demand))
        self._offered: Notice | None = None
        """What could be undone last."""
        self._connect_window()
        self._connect_actions()
        self._disconnect = [
            program.session.changed.connect(self._show_model),
            program.prompt_count.changed.connect(self._show_count),
            program.chat.busy_changed.connect(self._show_busy),
            program.comparing.busy_changed.connect(self._show_busy),
            program.chat.opened.connect(self._show_opened),
            program.chat.rebranched.connect(lambda _first: self._show_busy()),
            program.conversations.changed.connect(self._show_opening),
            program.notices.changed.connect(self._show_undo),
            program.summoned.connect(self._come_forward),
            program.system_prompt.changed.connect(program.prompt_count.look_again),
            program.chat_presets.changed.connect(self._show_presets),
        ]
        self._show_opening()
        self._show_model()
        self._show_busy()
        self._show_theme()
        self._show_undo()
        self._show_presets()

    def close(self) -> None:
        """Part window and services: no service calls a widget after this."""
        self._on_demand.close()
        window = self._window
        for part in window.parts:
            part.disconnect_services()
        self._reproductions.disconnect_services()
        for page in self._pages:
            page.close()
        for disconnect in self._disconnect:
            disconnect()
        self._program.load_options.end()
        self._program.settings.change(
            window=window.saved_geometry(),
            panel_shown=window.panes.wanted("right"),
            panel_pinned=window.panes.pinned,
            history_shown=window.panes.wanted("left"),
        )

    def _connect_window(self) -> None:
        window, program, parts = self._window, self._program, self._window.parts
        page, settings = parts.chat_page, program.settings
        window.closing.connect(self.close)
        window.model_dropped.connect(self._use)
        window.new_chat_button.clicked.connect(program.preset_use.new_chat)
        parts.history.new_wanted.connect(program.preset_use.new_chat)
        parts.history.begin_wanted.connect(program.preset_use.begin)
        parts.system_prompt.wanted.connect(self._on_demand.open_system_prompt)
        window.theme_button.clicked.connect(self._themes.toggle)
        window.history_button.clicked.connect(lambda: window.panes.toggle("left"))
        window.panel_button.clicked.connect(lambda: window.panes.toggle("right"))
        window.preferences_button.clicked.connect(self._on_demand.open_preferences)
        parts.model_bar.open_wanted.connect(self._choose_model)
        parts.model_bar.options_wanted.connect(self._on_demand.choose_options)
        page.composer.pause.clicked.connect(program.step_mode.toggle)
        parts.next_token.taken.connect(program.step_mode.choose)
        page.larger_context_wanted.connect(lambda: self._choose_context(program.prompt_count.count.larger_context))
        page.dropping_wanted.connect(self._drop_oldest)
        page.composer.larger_context_offered.connect(
            lambda offered: parts.notice_bar.leave_to_others("larger_context", offered)
        )
        page.draft_settled.connect(program.prompt_count.set_draft)
        page.draft_settled.connect(lambda message, _pasted: program.answers.note_draft(message))
        program.prompt_count.set_draft("")
        parts.notice_bar.remedy_wanted.connect(self._remedy)
        parts.notice_bar.float_over(window.panes)
        parts.notice_bar.keyboard_left.connect(page.composer.draft.setFocus)
        parts.notice_bar.details_wanted.connect(self._dialogs.show_details)
        page.welcome.open_wanted.connect(self._choose_model)
        page.copied.connect(lambda text: QGuiApplication.clipboard().setText(text))
        page.turn_actions.settings_wanted.connect(self._use_settings)
        page.turn_actions.more_entries.append(self._reproductions.add_to)
        self._reproductions.larger_context_wanted.connect(self._choose_context)
        page.composer.draft.nothing_to_undo.connect(window.actions_by_name["undo_delete_action"].trigger)
        page.transcript.first_text_painted.connect(self._note_first_text)
        page.transcript.link_clicked.connect(lambda address: QDesktopServices.openUrl(QUrl(address)))
        page.transcript.lexers.use(lambda work: program.jobs.submit("colours of code", work))
        page.transcript.formulas.use(lambda work: program.jobs.submit("formulas", work))
        Glyphs(page.transcript, lambda work: program.jobs.submit("fonts", work), program.notices.post)
        parts.sampling.when_full_chosen.connect(self._choose_policy)
        parts.sampling.show_when_full(settings.values.when_full)
        self._themes.changed.connect(self._show_theme)
        self._on_demand.preferences_changed.connect(self._use_motion)
        self._on_demand.preferences_changed.connect(self._use_unfolding)
        self._on_demand.preferences_changed.connect(program.system_prompt.look_again)
        self._on_demand.preferences_changed.connect(program.prompt_count.look_again)
        window.use_geometry(settings.values.window)
        window.panes.want("left", settings.values.history_shown)
        window.panes.want("right", settings.values.panel_shown)
        window.panes.pin(settings.values.panel_pinned)
        window.sections.arrange(settings.values.sections, settings.values.folded)
        window.sections.arranged.connect(self._keep_sections)
        self._use_motion()
        self._use_unfolding()

    def _connect_actions(self) -> None:
        window, program, page = self._window, self._program, self._window.parts.chat_page
        for name, slot in {
            "new_chat_action": program.preset_use.new_chat,
            "system_prompt_action": self._on_demand.open_system_prompt,
            "open_model_action": self._choose_model,
            "go_on_action": program.chat.go_on,
            "answer_again_action": program.chat.answer_again,
            "copy_answer_action": page.copy_answer,
            "stop_action": self._stop,
            "pause_action": program.step_mode.toggle,
            "one_token_action": program.step_mode.step,
            "step_bar_action": window.parts.step_bar.toggle,
            "rename_action": self._rename,
            "delete_chat_action": lambda: program.conversations.delete(program.conversations.open_id),
            "undo_delete_action": self._undo,
            "larger_text_action": lambda: self._themes.step_text_size(1),
            "smaller_text_action": lambda: self._themes.step_text_size(-1),
            "normal_text_action": lambda: self._themes.step_text_size(0),
            "print_action": self._on_demand.choose_printer,
            "save_pdf_action": self._on_demand.choose_pdf,
            "trash_action": self._on_demand.open_trash,
            "write_action": page.composer.draft.setFocus,
            "previous_message_action": lambda: page.transcript.take_next(-1),
            "next_message_action": lambda: page.transcript.take_next(1),
            "theme_action": self._themes.toggle,
            "history_action": lambda: window.panes.toggle("left"),
            "panel_action": lambda: window.panes.toggle("right"),
            "preferences_action": self._on_demand.open_preferences,
            "keyboard_action": self._on_demand.open_keyboard,
            "quit_action": window.close,
        }.items():
            window.actions_by_name[name].triggered.connect(lambda _checked=False, slot=slot: slot())
        for choice, action in window.actions_by_name.themes.items():
            action.triggered.connect(lambda _checked=False, choice=choice: self._themes.choose(choice))

    def _stop(self) -> None:
        """End what people look at: all lanes on their page, else the answer."""
        if not self._compare.stop():
            self._window.parts.chat_page.stop()

    def _rename(self) -> None:
        if not self._window.panes.shows("left"):
            self._window.panes.toggle("left")
        self._window.parts.history.rename()

    def _use(self, path: Path) -> None:
        self._program.notices.dismiss()
        self._program.session.use(Wish(path))

    def _choose_model(self) -> None:
        loaded = self._program.session.model
        folder = Path(loaded.path).parent if loaded is not None else self._program.models.folder
        self._dialogs.choose_model(folder, Icons(self._program.resources), self._use)

    def _remedy(self, remedy: str) -> None:
        match remedy:
            case "restart_engine":
                self._program.notices.dismiss()
                self._program.session.restart()
            case "open_model":
                self._choose_model()
            case "larger_context":
                self._choose_context(latest.context if (latest := self._program.notices.latest) else None)
            case "load_options":
                self._choose_refused()
            case "load_again":
                self._program.session.restart()
            case "undo_delete" | "undo_branch" | "undo_withdraw" | "undo_folder":
                self._undo()
            case "show_sent":
                self._program.queue.show_sent()
            case "undo_system_prompt":
                self._program.system_prompt.undo()
            case "undo_preset":
                self._program.preset_use.undo()
            case "restore_preset":
                self._program.chat_presets.restore()
            case "choose_template":
                bar = self._window.parts.notice_bar
                place = bar.mapToGlobal(bar.rect().bottomLeft())
                self._dialogs.choose_name(self._program.templates.names(), place, self._choose_template)

    def _undo(self) -> None:
        """Bring back what was deleted or withdrawn last: a branch, a question that waited, a folder, or a chat."""
        latest = self._program.notices.latest
        if latest is not None and latest.remedy == "undo_branch":
            self._program.branches.undo_delete()
        elif latest is not None and latest.remedy == "undo_withdraw":
            self._program.queue.undo_withdraw()
        elif latest is not None and latest.remedy == "undo_folder":
            self._program.chat_folders.undo_delete()
        else:
            self._program.conversations.undo_delete()

    def _choose_policy(self, policy: str) -> None:
        self._program.settings.change(when_full=policy)
        self._program.prompt_count.look_again()

    def _drop_oldest(self) -> None:
        self._choose_policy("drop_oldest")
        self._window.parts.sampling.show_when_full("drop_oldest")

    def _keep_sections(self) -> None:
        """Keep order and folds; what is folded inside of a section is that section's own."""
        sections, settings = self._window.sections, self._program.settings
        inside = (name for name in settings.values.folded if name not in sections.foldable)
        settings.change(sections=sections.order, folded=(*sections.folded, *inside))

    def _choose_template(self, name: str) -> None:
        model = self._program.session.ref
        if model is not None:
            self._program.templates.choose(model, name)
            self._program.notices.dismiss()

    def _use_unfolding(self) -> None:
        turns = self._window.parts.chat_page.transcript.turns
        turns.unfolds_thinking = self._program.settings.values.unfold_thinking

    def _use_motion(self) -> None:
        self._window.panes.moves = not self._program.settings.values.reduce_motion

    def _come_forward(self, model: str) -> None:
        self._window.come_forward()
        if model:
            self._use(Path(model))

    def _note_first_text(self, turn: Turn, now_ns: int) -> None:
        ttft_ms = self._program.live.first_text_painted(turn, now_ns)
        if ttft_ms is not None:
            self._program.chat.note_ttft(turn, ttft_ms)

    def _use_settings(self, settings: dict[str, object]) -> None:
        """Go on with the settings of an answer; where these hold already nothing else would show that it was heard."""
        before = self._program.sampling.values
        self._program.sampling.change(**settings)
        if self._program.sampling.values == before:
            sentence = translate("TurnActions", "These settings are in force already.")
            self._program.notices.post(Notice(sentence, level="hint", brief=True))

    def _choose_refused(self) -> None:
        refused = self._program.session.refused
        if refused is not None:
            self._program.notices.dismiss()
            self._on_demand.choose_options(refused.path, refused.changes)

    def _choose_context(self, context: int | None) -> None:
        """Open the options of the loaded model with a context, or with what is remembered."""
        loaded = self._program.session.model
        if loaded is not None:
            self._on_demand.choose_options(Path(loaded.path), {"context": context} if context is not None else None)

    def _show_count(self) -> None:
        counted = self._program.prompt_count
        if self._program.answers.tells_too_long and (known := counted.count).prompt is not None and known.message:
            self._program.answers.note_draft(known.message, fits=True)
        self._window.parts.chat_page.follow_count(lambda: counted.count)

    def _show_model(self) -> None:
        session = self._program.session
        percent = session.percent if session.phase in ("starting", "loading") else None
        small = session.model is not None and is_very_small(session.model.parameters)
        self._window.parts.chat_page.welcome.show_model(session.name, small=small, percent=percent)

    def _show_opening(self) -> None:
        self._window.parts.chat_page.wait_for_chats(self._program.conversations.is_opening)
        is_listed = self._window.parts.history.can_rename
        for name in ("rename_action", "delete_chat_action"):
            self._window.actions_by_name[name].setEnabled(is_listed)

    def _show_opened(self) -> None:
        if self._window.panes.drawer == "left":
            self._window.panes.close_drawer()
        self._show_busy()

    def _show_undo(self) -> None:
        latest = self._program.notices.latest
        offers = latest is not None and latest.remedy in DELETIONS
        composer = self._window.parts.chat_page.composer
        composer.undoes_elsewhere = offers and (composer.undoes_elsewhere or latest != self._offered)
        if offers:
            self._offered = latest
        self._window.actions_by_name["undo_delete_action"].setEnabled(offers)

    def _show_presets(self) -> None:
        self._window.parts.history.show_presets(tuple(self._program.chat_presets.all))

    def _show_busy(self) -> None:
        chat = self._program.chat
        for name in ("print_action", "save_pdf_action"):
            self._window.actions_by_name[name].setEnabled(bool(chat.turns))
        self._window.actions_by_name["copy_answer_action"].setEnabled(self._window.parts.chat_page.can_copy_answer)
        self._window.actions_by_name["stop_action"].setEnabled(
            chat.busy or self._program.comparing.running is not None
        )
        self._window.actions_by_name["go_on_action"].setEnabled(chat.can_go_on)
        self._window.actions_by_name["answer_again_action"].setEnabled(chat.can_answer_again)

    def _show_theme(self) -> None:
        self._window.actions_by_name.show_theme(self._themes.choice)
        self._window.theme_button.set_icon("sun" if self._themes.current.is_dark else "moon")
