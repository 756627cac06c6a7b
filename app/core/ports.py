"""What services need from the outside, as Protocols; `bootstrap` alone knows who implements them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from app.core.commands import Command
from app.core.events import Event

EventSink = Callable[[Event], None]
"""Where producers put events; safe to call from any thread."""


class EnginePort(Protocol):
    """The engine process as services see it: commands go in, events come out of the sink."""

    def send(self, command: Command) -> None:
        """Send a command and return at once; a stopped engine is started first."""

    def new_request(self) -> int:
        """Return a request number that no earlier request had."""

    def unload(self) -> None:
        """End the engine process in an orderly way; `Unloaded` follows."""

    def close(self) -> None:
        """End the engine process for good and wait for it, with force after two seconds."""

    @property
    def running(self) -> bool:
        """Whether an engine process is there."""
