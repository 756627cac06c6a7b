"""The whole application in a process of its own: the real window offscreen, led by one JSON line a request.

`python -m tests.bench.window_start tests.bench.window_process [MODEL]` with `TOKENLIGHT_HOME` set; all sections are
open, as at a first start.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
from PySide6.QtCore import QEvent, QObject, QSocketNotifier, Qt, QTimer
from PySide6.QtWidgets import QWidget

from app.engine.client import EngineClient
from app.gui.main_window import MainWindow
from app.services.program import Program
from app.services.wishes import Wish

LOOK_MS = 100
TICK_MS = 4
Answer = dict[str, Any]


WATCHED = {"inside/loop": "loop_answer", "inside/time": "timeline"}
"""By page and part, the name of a widget that is painted anew while an answer is written."""


class Paints(QObject):
    """Counts how often one widget is painted."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self._widget: QWidget | None = None

    def look_at(self, widget: QWidget | None) -> None:
        """Count from nothing, at another widget."""
        if self._widget is not None:
            self._widget.removeEventFilter(self)
        self.count, self._widget = 0, widget
        if widget is not None:
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802  Qt's name
        """Note a painting and let it happen."""
        self.count += event.type() == QEvent.Type.Paint and watched is self._widget
        return False


class Heart(QObject):
    """A precise timer that notes how late each of its ticks comes."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.late_ms: list[float] = []
        self._due_ns = 0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._tick)

    def start(self) -> None:
        """Begin to beat."""
        self.late_ms.clear()
        self._due_ns = time.perf_counter_ns() + TICK_MS * 1_000_000
        self._timer.start()

    def stop(self) -> None:
        """Rest; a tick that is overdue counts: what holds it up is what is looked for."""
        if self._timer.isActive() and time.perf_counter_ns() > self._due_ns:
            self._tick()
        self._timer.stop()

    def _tick(self) -> None:
        now = time.perf_counter_ns()
        self.late_ms.append(max(now - self._due_ns, 0) / 1e6)
        self._due_ns = now + TICK_MS * 1_000_000


class FirstPaint(QObject):
    """Notes when the window was painted for the first time and the event loop is free again."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.at_ns = 0
        self._window = window
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802  Qt's name
        """Wait for the paint, then for the loop."""
        if event.type() == QEvent.Type.Paint:
            self._window.removeEventFilter(self)
            QTimer.singleShot(0, self._note)
        return super().eventFilter(watched, event)

    def _note(self) -> None:
        self.at_ns = time.perf_counter_ns()


class Led(QObject):
    """Does what the parent asks, and answers when it is done."""

    def __init__(self, window: MainWindow, program: Program) -> None:
        super().__init__(window)
        self.window = window
        self.program = program
        self.heart = Heart(self)
        self._paints = Paints()
        self._paint = FirstPaint(window)
        self._process = psutil.Process()
        self._is_so: Callable[[], object] = dict
        self._answer: Callable[[], Answer] = dict
        self._look = QTimer(self)
        self._look.setInterval(LOOK_MS)
        self._look.timeout.connect(self._look_again)
        self._began: tuple[float, int] | None = None
        self._watched = False
        program.chat.text_added.connect(self._first_text)
        self._notifier = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._read)

    def painted(self) -> None:
        """Tell when the window was there."""
        self._when(lambda: self._paint.at_ns, lambda: {"at_ns": self._paint.at_ns})

    def load(self, model: str, threads: int, cells: int) -> None:
        """Load a model with so many threads, and wait until it is ready and nothing else goes on."""
        session = self.program.session
        session.use(Wish(Path(model), {"threads": threads, "context": cells}))
        self._when(
            lambda: session.phase == "ready" and session.model is not None and session.model.threads == threads,
            self._loaded,
        )

    def _loaded(self) -> Answer:
        client, window = self.program.engine, self.window
        shown = [window.parts.live, window.parts.sampling, window.parts.next_token]
        return {
            "engine": client.process_id if isinstance(client, EngineClient) else None,
            "size": (window.width(), window.height()),
            "all_open": all(part.isVisible() for part in shown),
        }

    def begin(self, system: str, text: str, tokens: int, seed: int) -> None:
        """Send a question in a new chat; the answer has at most so many tokens."""
        program = self.program
        program.settings.change(system_prompt=system)
        program.conversations.new()
        program.sampling.change(max_tokens=tokens, seed=seed)
        self._began = None
        program.chat.send(text)
        self.tell({})

    def ask(self, system: str, text: str, tokens: int, seed: int, *, watch: bool = False, page: str = "chat") -> None:
        """Send a question in a new chat and wait for the end, with a page in sight.

        `watch` lets the heart beat from the first text on; “inside/time” is a page and its part.
        """
        self._watched = watch
        program = self.program
        program.settings.change(system_prompt=system)
        program.conversations.new()
        program.sampling.change(max_tokens=tokens, seed=seed)
        self._began = None
        program.settings.change(loop_tour_seen=True)
        program.chat.send(text)
        name, _, part = page.partition("/")
        self.window.page_wanted.emit(name)
        if part:
            self._show_part(part)
        widget = self.window.findChild(QWidget, WATCHED[page]) if part else None
        self._paints.look_at(widget if widget is not None and widget.isVisible() else None)
        self._when(lambda: not program.chat.busy, self._ended)

    def _show_part(self, part: str) -> None:
        from app.gui.inside.page import InsidePage  # noqa: PLC0415  the start that is measured does without it

        page = self.window.findChild(InsidePage, "inside_page")
        assert page is not None
        page.show_part(part)

    def more(self, text: str, tokens: int) -> None:
        """Send a question in the chat that is shown and wait for the end."""
        program = self.program
        program.sampling.change(max_tokens=tokens, seed=1)
        program.chat.send(text)
        self._when(lambda: not program.chat.busy, dict)

    def settled(self) -> None:
        """Answer when the store has done everything so far."""
        done: list[int] = []
        request = self.program.engine.new_request()
        disconnect = self.program.disk_use.changed.connect(lambda: done.append(request))
        self.program.disk_use.refresh()

        def answer() -> Answer:
            disconnect()
            return {}

        self._when(lambda: done, answer)

    def state(self) -> None:
        """Tell what goes on."""
        turns = self.program.chat.turns
        self.tell(
            {"phase": self.program.session.phase, "turn": turns[-1].state if turns else "", "turns": len(turns)}
        )

    def memory(self) -> None:
        """Tell the resident memory of this process."""
        self.tell({"bytes": self._process.memory_info().rss})

    def close(self) -> None:
        """Close the window."""
        self.tell({"at_ns": time.perf_counter_ns()})
        self.window.close()

    def _first_text(self, *_: object) -> None:
        if self._began is None:
            self._began = (self._cpu(), time.perf_counter_ns())
            if self._watched:
                self.heart.start()

    def _ended(self) -> Answer:
        self.heart.stop()
        turn = self.program.chat.turns[-1]
        finished = turn.finished
        if finished is None or self._began is None:
            return {"steps": 0}
        cpu, began_ns = self._began
        metrics = finished.metrics
        rate = metrics.decode_tokens_per_s or 0.0
        steps = metrics.sampled_tokens - 1
        return {
            "steps": steps,
            "ns": steps / rate * 1e9 if rate else 1,
            "cpu_s": self._cpu() - cpu,
            "wall_s": (time.perf_counter_ns() - began_ns) / 1e9,
            "extra_ms": (turn.ttft_ms or 0.0) - (metrics.ttft_ms or 0.0),
            "late_ms": self.heart.late_ms,
            "paints": self._paints.count,
        }

    def _cpu(self) -> float:
        times = self._process.cpu_times()
        return float(times.user + times.system)

    def _when(self, is_so: Callable[[], object], answer: Callable[[], Answer]) -> None:
        self._is_so, self._answer = is_so, answer
        self._look.start()
        self._look_again()

    def _look_again(self) -> None:
        if self._is_so():
            self._look.stop()
            self.tell(self._answer())

    def tell(self, answer: Answer) -> None:
        """Answer the request."""
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()

    def _read(self) -> None:
        line = sys.stdin.readline()
        if not line:
            self._notifier.setEnabled(False)
            self.window.close()
            return
        request = json.loads(line)
        getattr(self, request.pop("do"))(**request)


LEADER = Led
