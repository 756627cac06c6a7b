"""The whole application in a process of its own, led through long chats.

`python -m tests.bench.window_start tests.bench.long_window_process --fake-engine [SCRIPT]` with `TOKENLIGHT_HOME` set.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import cast

import psutil
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QRect, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget
from shiboken6 import isValid

from app.engine.client import EngineClient
from app.gui.inside.token_flow import TokenFlow
from app.gui.live.hardware import HardwareRows
from app.gui.live.memory import MemoryRows
from app.gui.main_window import MainWindow
from app.services.program import Program
from app.services.turns import Turn
from tests.bench.window_process import Led

STILL_MS = 1_500
"""So long nothing may change before the window counts as still."""
IDLE_MS, IDLE_S = 400, 0.04
"""Whoever uses less processor time than that in so long is at rest."""
ID_BYTES = 4


class Painted(QObject):
    """Tells once when a widget was painted and the event loop is free again."""

    def __init__(self, widget: QWidget, is_so: Callable[[], bool], done: Callable[[int], None]) -> None:
        """`is_so` tells whether what is painted is what is waited for; `done` gets the moment."""
        super().__init__(widget)
        self._widget = widget
        self._is_so = is_so
        self._done = done
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802  Qt's name
        """Wait for the paint, then for the loop."""
        if event.type() == QEvent.Type.Paint and self._is_so():
            self._widget.removeEventFilter(self)
            QTimer.singleShot(0, self._note)
        return super().eventFilter(watched, event)

    def _note(self) -> None:
        self._done(time.perf_counter_ns())
        self.deleteLater()


class Changes(QObject):
    """Notes when something in a window looks different than before, until nothing has for a while."""

    def __init__(self, window: QWidget, done: Callable[[list[tuple[int, str]]], None]) -> None:
        """`done` gets the moments, and what was painted."""
        super().__init__(window)
        self._window = window
        self._done = done
        self._image = window.grab().toImage()
        self._painted: list[tuple[int, str, QRect]] = []
        self._found: list[tuple[int, str]] = []
        self._looks = False
        self._still = QTimer(self)
        self._still.setSingleShot(True)
        self._still.setInterval(STILL_MS)
        self._still.timeout.connect(self._end)
        self._still.start()
        # The machine's own meters go on whatever is written: other programs move them.
        meters = [*window.findChildren(MemoryRows), *window.findChildren(HardwareRows)]
        of_meters = {each for meter in meters for each in (meter, *meter.findChildren(QWidget))}
        self._watched = [each for each in (window, *window.findChildren(QWidget)) if each not in of_meters]
        for widget in self._watched:
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802  Qt's name
        """Note what is painted, and look at it once the event loop is free."""
        if event.type() == QEvent.Type.Paint and isinstance(watched, QWidget) and not self._looks:
            rect = cast(QPaintEvent, event).rect()
            rect.translate(watched.mapTo(self._window, QPoint()))
            if not self._painted:
                QTimer.singleShot(0, self._look)
            self._painted.append((time.perf_counter_ns(), _name_of(watched), rect))
        return super().eventFilter(watched, event)

    def _look(self) -> None:
        """Keep of what was painted what looks different."""
        painted, self._painted = self._painted, []
        whole = QRect()
        for _, _, rect in painted:
            whole = whole.united(rect)
        whole &= self._window.rect()
        self._looks = True
        now = self._window.grab(whole).toImage()
        self._looks = False
        for at_ns, name, rect in painted:
            seen = rect & whole
            if now.copy(seen.translated(-whole.topLeft())) != self._image.copy(seen):
                self._found.append((at_ns, name))
                self._still.start()
        painter = QPainter(self._image)
        painter.drawImage(whole.topLeft(), now)
        painter.end()

    def _end(self) -> None:
        for widget in filter(isValid, self._watched):
            widget.removeEventFilter(self)
        self._done(self._found)


def _has_record(flow: TokenFlow) -> bool:
    return flow.answer is not None and flow.answer.recorded > 0


def _name_of(widget: QWidget) -> str:
    """Return what a widget is called; a viewport by what scrolls it."""
    outer = widget.parentWidget()
    named = outer if outer is not None and widget.objectName() == "qt_scrollarea_viewport" else widget
    return named.objectName() or named.accessibleName() or type(named).__name__


class LongLed(Led):
    """Does what the parent asks with long chats."""

    def __init__(self, window: MainWindow, program: Program) -> None:
        super().__init__(window, program)
        self._page = window.parts.chat_page
        self._from, self._to = 0, 0
        self._marks: list[tuple[int, float, float, float]] = []
        """Tokens so far, the moment, and the processor time of the process and of this thread, in s."""
        self._stops_at: int | None = None
        self._pressed_ns = 0
        program.chat.text_added.connect(self._take_text)

    def open(self, chat: int) -> None:
        """Open a conversation that is not in memory; tell how long it took until its end was painted."""
        view, program = self._page.transcript, self.program

        def tell(at_ns: int) -> None:
            self.heart.stop()
            turns = len(program.chat.turns)
            ms = (at_ns - began_ns) / 1e6
            self.tell({"ms": ms, "late_ms": self.heart.late_ms, "turns": turns, "at_end": view.is_at_end})

        Painted(view.viewport(), lambda: program.chat.conversation_id == chat, tell)
        self.heart.start()
        began_ns = time.perf_counter_ns()
        program.conversations.open(chat)

    def inspect(self) -> None:
        """Open the page Inside by its button, at the tokens of the answer; tell how long it took until they and their
        record were painted."""

        def tell(at_ns: int) -> None:
            self.heart.stop()
            answer = flow.answer if flow is not None else None
            assert answer is not None
            ms = (at_ns - began_ns) / 1e6
            self.tell({"ms": ms, "late_ms": self.heart.late_ms, "tokens": len(answer), "recorded": answer.recorded})

        button = self.window.findChild(QAbstractButton, "inside_button")
        assert isinstance(button, QAbstractButton)
        self.heart.start()
        began_ns = time.perf_counter_ns()
        button.click()
        tab = self.window.findChild(QAbstractButton, "inside_answer_tab")
        assert isinstance(tab, QAbstractButton)
        tab.click()
        flow = self.window.findChild(TokenFlow, "token_inspector")
        assert isinstance(flow, TokenFlow)
        answered = partial(_has_record, flow)
        Painted(flow.viewport(), answered, tell)

    def leave(self) -> None:
        """Go back to the chat and forget what was looked at, so that it is read and laid out anew."""
        self.window.show_page("chat")
        flow = self.window.findChild(TokenFlow, "token_inspector")
        assert isinstance(flow, TokenFlow)
        flow.show_answer(None)
        QTimer.singleShot(0, lambda: self.tell({}))

    def new(self) -> None:
        """Show a new, empty conversation."""
        self.program.conversations.new()
        QTimer.singleShot(0, lambda: self.tell({}))

    def rest(self, ms: int) -> None:
        """Do nothing for a while."""
        QTimer.singleShot(ms, lambda: self.tell({}))

    def idle(self) -> None:
        """Answer when neither this process nor the engine's does anything: all is painted, counted and kept."""
        used = self._used_s()
        QTimer.singleShot(IDLE_MS, lambda: self.tell({}) if self._used_s() - used < IDLE_S else self.idle())

    def _used_s(self) -> float:
        client = self.program.engine
        processes = [self._process]
        if isinstance(client, EngineClient) and client.process_id is not None:
            processes.append(psutil.Process(client.process_id))
        times = [each.cpu_times() for each in processes]
        return float(sum(each.user + each.system for each in times))

    def press(self, key: str) -> None:
        """Press a key in the composer; tell how long it took until it was painted."""
        draft = self._page.composer.draft
        wanted = draft.toPlainText() + key

        def tell(at_ns: int) -> None:
            self.tell({"ms": (at_ns - began_ns) / 1e6})

        Painted(draft.viewport(), lambda: draft.toPlainText() == wanted, tell)
        began_ns = time.perf_counter_ns()
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            pressed = QKeyEvent(kind, 0, Qt.KeyboardModifier.NoModifier, key)
            QCoreApplication.postEvent(draft, pressed)

    def stream(self, text: str, first: int, last: int) -> None:
        """Send a question, or have the last answer written again; tell what its tokens cost from one to another."""
        self._from, self._to = first, last
        self._marks.clear()
        chat = self.program.chat
        self.heart.start()
        if not text:
            chat.answer_again()
        else:
            chat.send(text)
        self._when(lambda: not chat.busy, self._streamed)

    def stop_at(self, text: str, tokens: int) -> None:
        """Send a question and press Stop after so many tokens; tell what looked different when after that."""
        QApplication.setCursorFlashTime(0)
        self._stops_at = tokens
        self.program.chat.send(text)

    def _take_text(self, turn: Turn, _text: str) -> None:
        tokens = len(turn.ids) // ID_BYTES
        if self._stops_at is not None and tokens >= self._stops_at:
            self._stops_at = None
            Changes(self.window, self._still)
            QTimer.singleShot(0, self._press_stop)
        began, ended = len(self._marks) > 0, len(self._marks) > 1
        if tokens >= (self._to if began else self._from) and not ended:
            self._marks.append((tokens, time.perf_counter(), time.process_time(), time.thread_time()))
            if not began:
                self.heart.start()

    def _press_stop(self) -> None:
        button = self.window.findChild(QAbstractButton, "stop_button")
        assert isinstance(button, QAbstractButton)
        self._pressed_ns = time.perf_counter_ns()
        button.click()

    def _still(self, found: list[tuple[int, str]]) -> None:
        chat = self.program.chat
        changes = [((at_ns - self._pressed_ns) / 1e6, name) for at_ns, name in found if at_ns > self._pressed_ns]
        self.tell({"changes": changes, "busy": chat.busy, "tokens": len(chat.turns[-1].ids) // ID_BYTES})

    def _streamed(self) -> dict[str, object]:
        self.heart.stop()
        turn = self.program.chat.turns[-1]
        if len(self._marks) < 2 or turn.finished is None:
            return {"tokens": 0}
        (first, began, cpu, thread), (last, over, cpu_end, thread_end) = self._marks
        return {
            "tokens": last - first,
            "cpu_s": cpu_end - cpu,
            "thread_s": thread_end - thread,
            "rate": (last - first) / (over - began),
            "written": len(turn.ids) // ID_BYTES,
            "late_ms": self.heart.late_ms,
        }


LEADER = LongLed
