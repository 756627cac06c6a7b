"""Whether the program stays off the internet: whoever would open a connection to it asks here first.

The environment decides where it says so, else what people chose in the settings.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from app.core.hub_model import Offline
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.system.settings_file import SettingsFile

VARIABLES = ("TOKENLIGHT_OFFLINE", "HF_HUB_OFFLINE")
_YES = ("1", "true", "yes", "on")


class OfflineSwitch:
    """Asked from any thread, and set by the one that has the settings."""

    def __init__(
        self, environment: Mapping[str, str], settings: SettingsFile | None = None, *, in_window: bool = False
    ) -> None:
        """Without settings the environment alone decides; `in_window` says what people have at hand, for sentences."""
        self._in_window = in_window
        self.changed: Signal[()] = Signal()
        """Somebody has set it; what was being read from the internet has been ended by then."""
        self._environment = environment
        self._settings = settings
        self._lock = threading.Lock()
        self._ends: list[Callable[[], None]] = []

    @property
    def variable(self) -> str:
        """The variable of the environment that decides; empty where none is set."""
        return next((name for name in VARIABLES if self._environment.get(name, "").strip().lower() in _YES), "")

    @property
    def is_on(self) -> bool:
        """Whether no connection to the internet may be opened."""
        return bool(self.variable) or (self._settings is not None and self._settings.values.offline)

    def reason(self) -> Sentence | None:
        """Return why the program is offline and what to do about it; None where it is not."""
        variable = self.variable
        if variable and self._in_window:
            return translate(
                "Hub",
                "Tokenlight is offline because {variable} is set: take it away and start Tokenlight again.",
                variable=variable,
            )
        if variable:
            return translate(
                "Hub",
                "Tokenlight is offline because {variable} is set: name a model on this machine, or take {variable}"
                " away.",
                variable=variable,
            )
        if self.is_on and self._in_window:
            return translate(
                "Hub", "Tokenlight is offline because “Stay offline” is on: turn it off in the preferences."
            )
        if self.is_on:
            return translate(
                "Hub",
                "Tokenlight is offline because “Stay offline” is on: turn it off in the preferences of the window, or"
                " name a model on this machine.",
            )
        return None

    def check(self) -> None:
        """Raise where no connection may be opened."""
        reason = self.reason()
        if reason is not None:
            raise Offline(reason)

    def set(self, on: bool) -> None:
        """Stay offline from now on, also after a restart, or no longer; nothing happens where the environment decides."""
        if self._settings is None or self.variable or on == self.is_on:
            return
        self._settings.change(offline=on)
        if on:
            with self._lock:
                ends = tuple(self._ends)
            for end in ends:
                end()
        self.changed.emit()

    @contextmanager
    def ending(self, end: Callable[[], None]) -> Iterator[None]:
        """Have this called when somebody goes offline meanwhile; `check` says from then on why."""
        with self._lock:
            self._ends.append(end)
        try:
            yield
        finally:
            with self._lock:
                self._ends.remove(end)
