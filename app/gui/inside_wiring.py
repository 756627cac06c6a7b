"""Joins the page Inside to the window: how people come to it, and how they go back to the chat."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu

from app.gui.main_window import MainWindow
from app.gui.widgets.words import hint_of
from app.services.program import Program
from app.services.turns import Turn

if TYPE_CHECKING:
    from app.gui.inside.page import InsidePage


class InsideWiring(QObject):
    """Makes the page when somebody wants it."""

    def __init__(self, program: Program, window: MainWindow, make_page: Callable[[], InsidePage]) -> None:
        super().__init__(window)
        self._program = program
        self._window = window
        self._make_page = make_page
        self._page: InsidePage | None = None
        self._has_come = False
        """Whether people came by the way that leads to the whole process first."""
        window.parts.chat_page.turn_actions.more_entries.append(self._add_to)
        window.page_wanted.connect(self._go)
        window.parts.live.timeline_wanted.connect(self.show_time)
        window.actions_by_name["inside_action"].triggered.connect(lambda _checked=False: self.show())
        self._disconnect = [program.chat.opened.connect(self._leave)]

    @property
    def is_shown(self) -> bool:
        """Whether people are on the page."""
        return self._window.page == "inside"

    def close(self) -> None:
        """Listen to the services no longer."""
        if self._page is not None:
            self._page.disconnect_services()
        for disconnect in self._disconnect:
            disconnect()

    def show(self) -> None:
        """Go to the page: to the picture of the whole process at first, later to the part that was left."""
        page = self._made()
        if not self.is_shown:
            if not self._has_come:
                page.show_part("loop")
            self._has_come = True
        self._window.show_page("inside")

    def look_inside(self, turn: Turn) -> None:
        """Go to the page and look at an answer."""
        page = self._made()
        page.show_part("answer")
        self._window.show_page("inside")
        self._program.inspecting.open(turn)
        page.answer_part.take_focus()

    def _made(self) -> InsidePage:
        if self._page is None:
            self._page = self._make_page()
            self._window.add_page("inside", self._page)
            self._page.chat_wanted.connect(lambda: self._window.page_wanted.emit("chat"))
        return self._page

    def show_time(self) -> None:
        """Go to the timeline of the newest answer."""
        page = self._made()
        page.show_part("time")
        self._window.show_page("inside")
        answers = self._program.inspecting.answers
        if answers:
            self._program.inspecting.open(answers[-1])

    def _add_to(self, menu: QMenu, turn: Turn) -> None:
        """Offer to look inside an answer, or say why there is nothing to see."""
        if turn.role != "assistant":
            return
        action = menu.addAction(self.tr("Look inside"))
        action.setObjectName("look_inside_action")
        has_tokens = any(each is turn for each in self._program.inspecting.answers)
        action.setEnabled(has_tokens)
        hint = self.tr("See this answer token by token: how likely each was, and what else could have come.")
        words = hint if has_tokens else self.tr("The model wrote nothing of this answer, so it has no tokens.")
        menu.setToolTipsVisible(True)
        action.setToolTip(hint_of(words))
        action.setStatusTip(words)
        action.triggered.connect(lambda _checked=False: self.look_inside(turn))

    def _go(self, name: str) -> None:
        if name == "inside":
            self.show()

    def _leave(self) -> None:
        """Another chat is shown."""
        if self.is_shown:
            self._window.show_page("chat")
