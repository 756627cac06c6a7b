"""What is listed of keys: where they hold, what they do, and which they are."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

from PySide6.QtGui import QKeySequence

from app.gui.actions import shown_keys


class Keys(NamedTuple):
    """What is done, and the keys that do it; any of them."""

    words: str
    keys: tuple[QKeySequence, ...]

    @property
    def shown(self) -> str:
        """The keys as this system writes them."""
        return shown_keys(self.keys)


class KeysOf(Enum):
    """Where keys hold, in the order in which they are listed; those of the window can be changed."""

    WINDOW = auto()
    COMPARISON = auto()
    MESSAGE = auto()
    COMPOSER = auto()
    EDITOR = auto()
    QUEUE = auto()
    CHATS = auto()
    MODELS = auto()
    SECTION = auto()
    CANDIDATE = auto()
    TOKEN = auto()
    STAGE = auto()
    CHART = auto()
