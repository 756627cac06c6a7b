"""A program whose engine is the real loop in this process, one event at a time, so that its cells can be looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from app.core.cache_shape import attention_shape
from app.core.commands import Command, Compare, Generate, Load
from app.core.events import Event, Loaded
from app.core.model import LoadOptions
from app.engine.cache_classes import parse_classes
from app.engine.comparing import Comparing
from app.engine.control import Control
from app.engine.kv_cache import KVCache
from app.engine.llama import LogCapture, api
from app.engine.llama_model import LlamaBackend
from app.engine.loop import Answer
from app.engine.opening import checked_headers
from app.services.kv_map import KVMap
from tests.desk import Desk


class KVDesk:
    """Asks as people do; `looks` is called behind every event that the program took in."""

    def __init__(
        self,
        home: Path,
        patch: pytest.MonkeyPatch,
        path: Path,
        options: int | LoadOptions,
        log: LogCapture,
    ) -> None:
        """`options` may be the cells alone."""
        if isinstance(options, int):
            options = LoadOptions(context=options, threads=2)
        self.backend = LlamaBackend(str(path), options, log, lambda percent: True)
        self.classes = parse_classes(log.lines())
        self.cache = KVCache(self.backend)
        self.desk = Desk(home, patch)
        self.program = self.desk.program
        self.looks: Callable[[Event], None] = lambda event: None
        self._asked: list[Generate | Compare] = []
        self.desk.engine.on_command = self._take
        self.program.conversations.start()
        self.desk.begin_load(path)
        self.desk.settle()

    @property
    def kv_map(self) -> KVMap:
        return self.program.views.kv_map

    def close(self) -> None:
        self.program.stop()
        self.backend.close()

    def run(self) -> None:
        """Let the engine do what it was asked for."""
        self.desk.settle()
        while self._asked:
            command = self._asked.pop(0)
            for event in self._events(command):
                self.desk.engine.say(event)
                self.desk.settle()
                self.looks(event)

    def positions(self, sequence: int = 0) -> tuple[int, int]:
        """Return the first and the last position that llama.cpp has of a sequence; -1 where there is none."""
        memory = self.backend._context.memory
        return (
            int(api.llama_memory_seq_pos_min(memory, sequence)),
            int(api.llama_memory_seq_pos_max(memory, sequence)),
        )

    def shown_ids(self) -> list[int | None]:
        """Return the tokens of the chat's sequence as the map shows them."""
        return [
            self.kv_map.token(stretch, place).token
            for stretch in self.kv_map.held.stretches
            if stretch.lane is None
            for place in range(stretch.start, stretch.end)
        ]

    def _take(self, command: Command) -> None:
        if isinstance(command, Load):
            shape = attention_shape(checked_headers(Path(command.path))[0])
            info = msgspec.structs.replace(self.backend.info, cache_classes=self.classes, attention=shape)
            self.desk.engine.say(Loaded(command.request, info))
        elif isinstance(command, (Generate, Compare)):
            self._asked.append(command)

    def _events(self, command: Generate | Compare) -> Iterator[Event]:
        control = Control(command.request)
        if isinstance(command, Compare):
            yield from Comparing(self.backend, self.cache, command, control).run()
        else:
            yield from Answer(self.backend, self.cache, command, control).run(lambda: False)
