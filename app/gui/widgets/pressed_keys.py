"""Which of a list's own keys was pressed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

T = TypeVar("T")


def meant_by(event: QKeyEvent, keys: Mapping[T, tuple[str, ...]]) -> T | None:
    """Return what a key does, of what these keys do; Enter on the number pad is Enter."""
    without_pad = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    pressed = QKeySequence(event.key() | without_pad.value)
    return next((does for does, each in keys.items() if any(pressed == QKeySequence(key) for key in each)), None)
