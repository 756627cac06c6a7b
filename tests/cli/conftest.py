from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.cli.arguments import read_arguments
from app.cli.run import run
from app.cli.short import write_short
from app.cli.terminal import Terminal
from app.core.commands import Command, Generate, ListDevices, Load
from app.core.devices import Device, LibraryFacts
from app.core.events import DevicesListed
from tests.desk import Desk
from tests.ggufs import write_tiny_llama
from tests.hub.loopback_hub import LoopbackHub


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_llama(tmp_path_factory.mktemp("models") / "tiny.F16.gguf")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    made = Desk(tmp_path / "home", monkeypatch)
    yield made
    made.program.stop()


class CommandLine:
    """Runs a command in this process on an engine that answers as the test says."""

    def __init__(self, desk: Desk, capture: pytest.CaptureFixture[str]) -> None:
        self.desk = desk
        self._capture = capture
        self.out = self.err = ""
        self.answer: Callable[[], None] = lambda: desk.answer("Hello", " there")
        desk.engine.on_command = self._react

    def run(self, *words: str) -> int:
        """Run and return the exit code; what was printed is in `out` and `err`."""
        arguments = read_arguments(list(words))
        code = run(arguments, list(words), lambda: self.desk.program)
        self.out, self.err = self._capture.readouterr()
        return code

    def run_short(self, *words: str) -> int:
        """Run what needs no program."""
        code = write_short(read_arguments(list(words)), Terminal())
        self.out, self.err = self._capture.readouterr()
        return code

    def lines(self) -> list[Any]:
        """Return the JSON values that were printed."""
        return [json.loads(line) for line in self.out.splitlines()]

    def _react(self, command: Command) -> None:
        if isinstance(command, Load):
            self.desk.engine.progress(50)
            self.desk.engine.loaded()
        elif isinstance(command, Generate):
            self.answer()


@pytest.fixture
def line(desk: Desk, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(desk, capsys)


@pytest.fixture
def listed(line: CommandLine) -> None:
    """Let the engine tell of a machine with a GPU of 24 GiB."""
    gib = 1 << 30
    devices = (
        Device("CPU", "a processor", "cpu", "CPU", 64 * gib, None),
        Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 24 * gib, 23 * gib),
    )

    def hear(command: Command) -> None:
        if isinstance(command, ListDevices):
            line.desk.engine.say(DevicesListed(command.request, LibraryFacts("0", "", False, (), ()), devices))

    line.desk.engine.on_command = hear


@pytest.fixture
def feed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[bytes], None]]:
    """Return a function that puts bytes on standard input."""
    files = []

    def put(content: bytes) -> None:
        path = tmp_path / "input"
        path.write_bytes(content)
        files.append(path.open(encoding="utf-8"))
        monkeypatch.setattr(sys, "stdin", files[-1])

    yield put
    for file in files:
        file.close()


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LoopbackHub]:
    names = ("tiny-F16.gguf", "tiny-Q8_0.gguf")
    files = {
        name: write_tiny_llama(tmp_path / name, layers=2 + number).read_bytes() for number, name in enumerate(names)
    }
    for name in ("http_proxy", "HTTP_PROXY", "TOKENLIGHT_OFFLINE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    with LoopbackHub(files) as made:
        monkeypatch.setenv("HF_ENDPOINT", made.endpoint)
        yield made
