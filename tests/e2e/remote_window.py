"""The window as a process of its own that a test leads: what a person would do goes in, what a person sees comes out.

Run as a program it is the child: the real window, which reads one JSON line a step from standard input and answers
with one JSON line. Imported it is the parent's side.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil

ROOT = Path(__file__).resolve().parents[2]
GUARD_SECONDS = 120.0
LOOK_MS = 20


class RemoteWindow:
    """Starts the window in a home folder and leads it."""

    def __init__(self, home: Path, *words: str, **environment: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.remote_window", *words],
            cwd=ROOT,
            env={**os.environ, "TOKENLIGHT_HOME": str(home), "QT_QPA_PLATFORM": "offscreen", **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        self._guard = threading.Timer(GUARD_SECONDS, self._process.kill)
        self._guard.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._guard.cancel()
        self._guard.join()
        self._process.kill()
        self._process.communicate()

    @property
    def engine(self) -> psutil.Process:
        """The engine process of the window."""
        children = psutil.Process(self._process.pid).children(recursive=True)
        pid = self.ask("program.engine.process_id")
        return next(child for child in children if child.pid == pid)

    def ask(self, expression: str) -> Any:
        """Return what an expression over `program`, `window` and `find` is worth in the window's process."""
        return self._step({"ask": expression})

    def until(self, expression: str) -> Any:
        """Wait until an expression is true there, and return its value."""
        return self._step({"until": expression})

    def sends(self, text: str) -> None:
        """Type a message and press Enter."""
        self._step({"type": text})

    def clicks(self, name: str) -> None:
        """Click what carries a name."""
        self._step({"click": name})

    def triggers(self, action: str) -> None:
        """Choose an entry of a menu."""
        self._step({"trigger": action})

    def turns(self) -> list[tuple[str, str, str]]:
        """Return role, text and state of every turn that is shown."""
        found = self.ask("[[turn.role, turn.text, turn.state] for turn in program.chat.turns]")
        return [(role, text, state) for role, text, state in found]

    def close(self) -> tuple[int, str]:
        """Close the window as its close button does; return the exit code and what was said on standard error."""
        self._send({"close": True})
        _, errors = self._process.communicate(timeout=GUARD_SECONDS)
        return self._process.returncode, errors

    def kill(self) -> None:
        """Kill the window's process at once, as a power cut does."""
        self._process.kill()
        self._process.wait(GUARD_SECONDS)

    def _step(self, step: dict[str, Any]) -> Any:
        self._send(step)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"the window ended: {self._process.communicate()[1]}"
        return json.loads(line)

    def _send(self, step: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(step) + "\n")
        self._process.stdin.flush()


def _lead(window: Any, program: Any) -> Callable[[], None]:
    """Return what reads one step and does it, in the child."""
    from PySide6.QtCore import Qt, QTimer  # noqa: PLC0415  the parent's side needs no Qt
    from PySide6.QtTest import QTest  # noqa: PLC0415
    from PySide6.QtWidgets import QWidget  # noqa: PLC0415

    def find(name: str) -> QWidget:
        found = window.findChild(QWidget, name)
        assert isinstance(found, QWidget), name
        return found

    def sees(name: str) -> bool:
        return any(each.isVisible() for each in window.findChildren(QWidget, name))

    def value(expression: str) -> Any:
        return eval(expression, {"program": program, "window": window, "find": find, "sees": sees})

    def tell(what: object) -> None:
        sys.stdout.write(json.dumps(what) + "\n")
        sys.stdout.flush()

    def wait_for(expression: str) -> None:
        if found := value(expression):
            tell(found)
        else:
            QTimer.singleShot(LOOK_MS, lambda: wait_for(expression))

    def step() -> None:
        line = sys.stdin.readline()
        if not line:
            window.close()
            return
        match json.loads(line):
            case {"ask": expression}:
                tell(value(expression))
            case {"until": expression}:
                wait_for(expression)
            case {"type": text}:
                QTest.keyClicks(find("composer"), text)
                QTest.keyClick(find("composer"), Qt.Key.Key_Return)
                tell(True)
            case {"click": name}:
                QTest.mouseClick(find(name), Qt.MouseButton.LeftButton)
                tell(True)
            case {"trigger": action}:
                window.actions_by_name[action].trigger()
                tell(True)
            case _:
                window.close()

    return step


def _have_only(catalogue: Path) -> None:
    """Recommend out of another catalogue, and find no models but those of the home folder."""
    import app.bootstrap as bootstrap  # noqa: PLC0415
    from app.system.resources import Resources  # noqa: PLC0415

    bootstrap.__dict__["checkout_models"] = tuple
    setattr(Resources, "catalogue", lambda _self: catalogue.read_text())  # noqa: B010  mypy knows the class


def _run() -> int:
    """Be the child."""
    from PySide6.QtCore import QSocketNotifier  # noqa: PLC0415

    import app.gui.application as application  # noqa: PLC0415
    from app.__main__ import main  # noqa: PLC0415

    if catalogue := os.environ.get("CATALOGUE_OF_THE_TEST"):
        _have_only(Path(catalogue))
    make = application.make_window

    def make_and_lead(program: Any, themes: Any, icons: Any = None) -> Any:
        window = make(program, themes, icons)
        notifier = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read, window)
        notifier.activated.connect(_lead(window, program))
        return window

    application.make_window = make_and_lead
    sys.argv = ["tokenlight", *sys.argv[1:]]
    return main()


if __name__ == "__main__":
    sys.exit(_run())
