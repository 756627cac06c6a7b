"""What people open now and then; each is loaded when it is first wanted, so that no start waits for it.

Knows nothing of when that is: `wiring` does. Its imports inside of methods are what it is for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDialog

from app.core.diagnosis import Remedy
from app.gui.icons import Icons
from app.gui.main_window import MainWindow
from app.gui.shortcuts import Shortcuts
from app.gui.theme import Themes
from app.gui.widgets.fit_badge import FitLook
from app.services.notices import Notice
from app.services.program import Program
from app.services.turns import Turn

if TYPE_CHECKING:
    from PySide6.QtGui import QKeySequence

    from app.gui.chat.printing import Printing
    from app.gui.chat.text_alone import Background
    from app.gui.compare.page import ComparePage
    from app.gui.compare.what_if_dialog import WhatIfDialog
    from app.gui.discover.page import ModelsPage
    from app.gui.inside.page import InsidePage
    from app.gui.live.diagnosis_card import DiagnosisCard
    from app.gui.planner.page import PlannerPage
    from app.gui.preferences.dialog import PreferencesDialog
    from app.gui.widgets.memory_speed import MemorySpeedRow


class OnDemand(QObject):
    """Opens dialogs over the window, and prints what it shows."""

    preferences_changed = Signal()
    """An option has another value."""

    def __init__(self, program: Program, window: MainWindow, themes: Themes) -> None:
        super().__init__(window)
        self._program = program
        self._window = window
        self.themes = themes
        self._preferences: PreferencesDialog | None = None
        self._what_if: WhatIfDialog | None = None
        self._made_printing: Printing | None = None
        window.parts.sampling.grammar_wanted.connect(self.open_grammar)
        window.parts.live.remedy_wanted.connect(self.make_change)
        window.parts.live.why.made.connect(self._add_measuring)
        self._measuring: MemorySpeedRow | None = None
        self._shortcuts = Shortcuts(window.actions_by_name, program.settings, window, _place_keys)
        if self._shortcuts.problem is not None:
            program.notices.post(Notice(self._shortcuts.problem, level="hint", lasts=True))

    def close(self) -> None:
        """Close what must not outlive the services: every dialog over the window, and those that it opened."""
        if self._made_printing is not None:
            self._made_printing.cancel()
        for dialog in self._window.findChildren(QDialog):
            dialog.close()
        if self._measuring is not None:
            self._measuring.disconnect_services()

    def choose_printer(self) -> None:
        """Ask for a printer, and print the chat that is shown."""
        self._printing().choose_printer(*self._shown_chat())

    def choose_pdf(self) -> None:
        """Ask where the chat that is shown goes as a PDF, and save it there."""
        self._printing().choose_pdf(*self._shown_chat())

    def choose_options(self, path: Path, changes: Mapping[str, object] | None = None) -> None:
        """Open the options that a model is loaded with; `changes` are those that differ from what is remembered."""
        from app.gui.models.load_dialog import LoadOptionsDialog

        self._program.load_options.begin(path, changes)
        LoadOptionsDialog(self._program.load_options, self._fit_look(), self._window).open()

    def make_change(self, remedy: Remedy) -> None:
        """Make the change that a diagnosis offers, or open what it is chosen in."""
        loaded, actions = self._program.session.model, self._window.actions_by_name
        match remedy.kind:
            case "load_options" if loaded is not None:
                self.choose_options(Path(loaded.path), remedy.changes)
            case "load_options" | "choose_model":
                actions["open_model_action"].trigger()
            case "new_chat":
                actions["new_chat_action"].trigger()
            case "top_k":
                self._program.sampling.change(**remedy.changes)

    def _add_measuring(self, card: DiagnosisCard) -> None:
        """Put what the memory gives under the figures that rest on it."""
        from app.gui.widgets.memory_speed import MemorySpeedRow

        self._measuring = MemorySpeedRow(self._program.views.bandwidth)
        card.add(self._measuring)

    def open_trash(self) -> None:
        """Open the list of what was deleted."""
        from app.gui.history.trash_dialog import TrashDialog

        TrashDialog(self._program.trash, self._window).open()

    def open_system_prompt(self) -> None:
        """Open the editor of the system prompt of the chat that is shown."""
        from app.gui.chat.system_prompt_dialog import SystemPromptDialog

        program = self._program
        dialog = SystemPromptDialog(
            program.system_prompt, program.prompt_costs, program.preset_use, self._fit_look(), self._window
        )
        dialog.accepted.connect(self._window.parts.chat_page.composer.draft.setFocus)  # a message comes next
        dialog.open()

    def _fit_look(self) -> FitLook:
        return FitLook(self._program.planner.fits, Icons(self._program.resources), self.themes)

    def open_grammar(self) -> None:
        """Open the editor of what answers have to fit."""
        from app.gui.sampling.grammar_dialog import GrammarDialog

        GrammarDialog(self._program.grammar_editing, self.themes, self._window).open()

    def compare_page(self) -> ComparePage:
        """Make the page Compare."""
        from app.gui.compare.page import ComparePage

        program = self._program
        icons = Icons(program.resources)
        page = ComparePage(program.comparing, program.sampling, self.themes, icons, self._background())
        page.analyse(program.comparison_analysis, program.file_export)
        return page

    def inside_page(self) -> InsidePage:
        """Make the page Inside."""
        from app.gui.inside.making import make_inside_page

        page = make_inside_page(self._program, self.themes)
        page.stop_wanted.connect(self._window.parts.chat_page.stop)
        page.preferences_wanted.connect(self.open_preferences)
        page.remedy_wanted.connect(self.make_change)
        return page

    def planner_page(self) -> PlannerPage:
        """Make the page Planner."""
        from app.gui.planner.comparison.part import ComparisonPart
        from app.gui.planner.page import PlannerPage
        from app.gui.planner.plan_part import PlanPart
        from app.gui.planner.why_slow import WhySlow
        from app.gui.widgets.memory_speed import MemorySpeedRow

        program, page = self._program, PlannerPage()

        def plan() -> PlanPart:
            why = WhySlow(program.live.last, MemorySpeedRow(program.views.bandwidth, "plan_why_memory"))
            return PlanPart(program.planner.planning, program.machine, self._fit_look(), why)

        page.add_part("plan", plan)
        page.remedy_wanted.connect(self.make_change)
        page.add_part("compare", lambda: ComparisonPart(program.planner, program.file_export, self._fit_look()))
        return page

    def models_page(self) -> ModelsPage:
        """Make the page Models."""
        from app.gui.discover.making import make_models_page

        return make_models_page(self._program, self.themes, self._background())

    def open_what_if(self, turn: Turn) -> None:
        """Show an answer under other settings, in the window that does so already if there is one."""
        from app.gui.compare.what_if_dialog import WhatIfDialog

        program = self._program
        if not program.answer_what_if.open(turn):
            return
        if self._what_if is None:
            self._what_if = WhatIfDialog(program.answer_what_if, self.themes, self._background(), self._window)
            self._what_if.finished.connect(self._forget_what_if)
            self._what_if.show()
        self._what_if.raise_()
        self._what_if.activateWindow()

    def open_keyboard(self) -> None:
        """Open the list of the keys that do something in the window, in which those of actions can be changed."""
        from app.gui.key_places import fixed_keys, unlisted_keys
        from app.gui.preferences.keyboard_dialog import KeyboardDialog

        actions, icons = self._window.actions_by_name, Icons(self._program.resources)
        KeyboardDialog(actions, self._shortcuts, fixed_keys(), unlisted_keys(), icons, self._window).open()

    def open_preferences(self) -> None:
        """Open the preferences, or bring those that are open to the front."""
        from app.gui.discover.token_dialog import open_token_dialog
        from app.gui.preferences.dialog import PreferencesDialog

        if self._preferences is None:
            program = self._program
            self._preferences = PreferencesDialog(
                program.settings,
                self.themes,
                program.disk_use,
                program.kept_states,
                program.offline,
                self._window,
            )
            self._preferences.changed.connect(self.preferences_changed)
            opened = self._preferences
            opened.token_wanted.connect(lambda: open_token_dialog(program.hub_token, opened))
            self._preferences.finished.connect(self._forget_preferences)
            self._preferences.show()
        self._preferences.raise_()
        self._preferences.activateWindow()

    def _forget_preferences(self) -> None:
        self._preferences = None

    def _forget_what_if(self) -> None:
        self._what_if = None

    def _background(self) -> Background:
        from app.gui.chat.text_alone import Background

        jobs = self._program.jobs
        return Background(self._window.parts.chat_page.transcript.lexers, lambda work: jobs.submit("formulas", work))

    def _printing(self) -> Printing:
        from app.gui.chat.printing import Printing

        if self._made_printing is None:
            program = self._program
            self._made_printing = Printing(
                self._window, self.themes, Icons(program.resources), program.jobs.submit, program.notices.post
            )
        return self._made_printing

    def _shown_chat(self) -> tuple[str, Sequence[Turn]]:
        chat = self._program.chat
        return chat.shown.head.title, chat.turns


def _place_keys() -> set[QKeySequence]:
    from app.gui.key_places import place_keys

    return place_keys()
