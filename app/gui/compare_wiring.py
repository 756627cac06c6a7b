"""Joins the page Compare to the window: how people come to it, what it compares, and how they go back to the chat."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import structs
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.core.devices import MAIN_MEMORY
from app.core.words import Sentence, translate
from app.gui.chat.composer import Written
from app.gui.compare.compared_links import ComparedLinks
from app.gui.icons import Icons
from app.gui.main_window import MainWindow
from app.gui.widgets.words import hint_of, render
from app.services.lanes_there import settings_of
from app.services.program import Program
from app.services.turns import Turn

if TYPE_CHECKING:
    from app.gui.compare.page import ComparePage


class CompareWiring(QObject):
    """Makes the page when somebody wants it."""

    def __init__(
        self,
        program: Program,
        window: MainWindow,
        make_page: Callable[[], ComparePage],
        open_what_if: Callable[[Turn], None],
    ) -> None:
        super().__init__(window)
        self._program = program
        self._window = window
        self._make_page = make_page
        self._open_what_if = open_what_if
        self._page: ComparePage | None = None
        chat_page = window.parts.chat_page
        self._links = ComparedLinks(chat_page.transcript, program.chat, program.comparing, Icons(program.resources))
        self._links.wanted.connect(self._open)
        chat_page.turn_actions.more_entries += [self._add_to, self._add_what_if]
        window.page_wanted.connect(self._go)
        actions = window.actions_by_name
        actions["compare_action"].triggered.connect(lambda _checked=False: self.compare())
        actions["chat_page_action"].triggered.connect(lambda _checked=False: self.show_chat())
        actions["write_action"].triggered.connect(lambda _checked=False: self.show_chat())
        self._disconnect = [
            program.comparing.opened.connect(self._show_opened),
            program.chat.opened.connect(self._leave),
            program.chat.busy_changed.connect(self._show_refusal),
            program.chat.rebranched.connect(lambda _first: self._offer()),
        ]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """While lanes are set up the machine is looked at: its memory says how many run at once."""
        if event.type() in (QEvent.Type.Show, QEvent.Type.Hide):
            self._program.machine.watch(event.type() == QEvent.Type.Show, "compare")
        return super().eventFilter(watched, event)

    @property
    def is_shown(self) -> bool:
        """Whether people are on the page."""
        return self._window.page == "compare"

    def close(self) -> None:
        """Listen to the services no longer."""
        self._links.disconnect_services()
        if self._page is not None:
            self._page.disconnect_services()
            self._page.setup_view.removeEventFilter(self)
            self._program.machine.watch(False, "compare")
        for disconnect in self._disconnect:
            disconnect()

    def stop(self) -> bool:
        """End the comparison that runs, if people look at the page; return whether that was meant."""
        meant = self.is_shown and self._program.comparing.running is not None
        if meant:
            self._program.comparing.stop()
        return meant

    def compare(self, turn: Turn | None = None) -> None:
        """Go to the page; where a message is given, set up a comparison of its question."""
        page = self._shown_page()
        if turn is not None:
            self._program.comparing.close()
            question = self._question_of(turn)
            present = settings_of(turn) if turn.role == "assistant" else self._program.sampling.values
            page.set_up(question, present)
        elif not page.shows_lanes:
            self._offer()
        self._window.show_page("compare")
        if not page.shows_lanes:
            page.setup_view.take_focus()

    def show_chat(self) -> None:
        """Go back to the chat, where something can be written."""
        self._window.show_page("chat")
        self._window.parts.chat_page.composer.draft.setFocus()

    def _shown_page(self) -> ComparePage:
        if self._page is None:
            self._page = page = self._make_page()
            self._window.add_page("compare", page)
            page.begun.connect(self._take_begun)
            page.closed.connect(self.show_chat)
            page.run_view.kept.connect(self.show_chat)
            page.run_view.copied.connect(self._window.parts.chat_page.copied)
            page.run_view.settings_wanted.connect(self._use_settings)
            page.run_view.link_clicked.connect(self._window.parts.chat_page.transcript.link_clicked)
            page.setup_view.prompt.written.connect(self._take_written)
            self._program.lane_outlook.free_on_gpus = self._free_on_gpus
            self._disconnect.append(page.setup_view.follow_outlook(self._program.lane_outlook))
            page.setup_view.installEventFilter(self)
        return self._page

    def _use_settings(self, lane: int) -> None:
        """Let the chat have the settings of a lane, but its own seed, limit and stop strings."""
        run = self._program.comparing.shown
        found = next((each for each in run.lanes if each.index == lane), None) if run is not None else None
        if found is None:
            return
        kept = ("seed", "max_tokens", "stop")
        self._program.sampling.change(**{k: v for k, v in structs.asdict(found.settings).items() if k not in kept})
        said = translate("Compare", "The chat has the settings of lane {letter} now.", letter=found.letter)
        if self._page is not None and self._page.differences is not None:
            self._page.differences.bar.say(render(said))

    def _free_on_gpus(self) -> dict[str, int | None]:
        """Return what is free on each GPU that the model lies on, by the latest sample of the machine."""
        machine = self._program.machine
        uses = self._program.memory.uses(machine.memory, machine.gpus)
        return {use.device: use.free for use in uses if use.device != MAIN_MEMORY}

    def _go(self, name: str) -> None:
        if name == "compare":
            self.compare()
        elif name == "chat":
            self.show_chat()

    def _open(self, comparison: int) -> None:
        self._shown_page()
        if self._program.comparing.open(comparison):
            self._window.show_page("compare")

    def _show_opened(self) -> None:
        if self._program.comparing.shown is not None:
            self._shown_page()
            self._window.show_page("compare")
        else:
            self._offer()

    def _leave(self) -> None:
        """Another chat is shown: what can be compared is something else."""
        if self.is_shown:
            self._window.show_page("chat")
        self._offer()

    def _offer(self) -> None:
        """Offer the question that is at hand, or the last one, and what is written."""
        if self._page is None:
            return
        chat_page = self._window.parts.chat_page
        written, at_hand = chat_page.composer.written, chat_page.transcript.at_hand
        turns = self._program.chat.turns
        turn = at_hand if at_hand is not None else turns[-1] if turns else None
        question = self._question_of(turn) if turn is not None else None
        self._page.setup_view.offer(question, written.message, can_write=not written.pasted)

    def _show_refusal(self) -> None:
        if self._page is not None:
            self._page.setup_view.show_refusal()

    def _question_of(self, turn: Turn) -> Turn | None:
        """Return the question that a message is, or that it answers."""
        if turn.role == "user":
            return turn
        return self._program.chat.shown.known.get(turn.parent) if turn.parent is not None else None

    def _take_written(self, text: str) -> None:
        """Let the draft of the chat be what is written on the page: it is kept like any draft."""
        self._window.parts.chat_page.composer.write(Written(text))

    def _take_begun(self, is_new: bool) -> None:
        if is_new:
            self._window.parts.chat_page.composer.take_text()

    def _add_to(self, menu: QMenu, turn: Turn) -> None:
        """Offer to compare the question of a message, or say why that cannot be done now."""
        question = self._question_of(turn)
        if question is None:
            return
        refusal = self._program.comparing.refusal(question)
        action = menu.addAction(self.tr("Compare settings…"))
        action.setObjectName("compare_settings_action")
        hint = self.tr("Answer this prompt in several lanes, each with settings of its own, side by side.")
        _explain(menu, action, hint, refusal)
        action.triggered.connect(lambda _checked=False: self.compare(turn))

    def _add_what_if(self, menu: QMenu, turn: Turn) -> None:
        """Offer to look at an answer under other settings, or say why that cannot be done."""
        if turn.role != "assistant":
            return
        action = menu.addAction(self.tr("What if…"))
        action.setObjectName("answer_what_if_action")
        hint = self.tr("See what other settings would have made of this answer, without writing it anew.")
        _explain(menu, action, hint, self._program.answer_what_if.hindrance(turn))
        action.triggered.connect(lambda _checked=False: self._open_what_if(turn))


def _explain(menu: QMenu, action: QAction, hint: str, refusal: Sentence | None) -> None:
    """Say on hover what an entry does, or why it does nothing now."""
    action.setEnabled(refusal is None)
    words = render(refusal) if refusal is not None else hint
    menu.setToolTipsVisible(True)
    action.setToolTip(hint_of(words))
    action.setStatusTip(words)
