"""What keys do on a card of the sampler laboratory, for the card and for the list of keys."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

translate = QCoreApplication.translate
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


def stage_keys() -> list[tuple[str, tuple[QKeySequence, ...]]]:
    """Return what keys do: in words, and the keys."""
    table = (
        (translate("StageCardView", "Let the stage run earlier or later"), ("Ctrl+Left", "Ctrl+Right")),
        (translate("StageCardView", "Switch the stage on or off"), ("Space",)),
    )
    return [(words, tuple(map(QKeySequence, keys))) for words, keys in table]


def steps_of(event: QKeyEvent, *, is_turned: bool) -> int:
    """Return by how many places a key moves a stage in the chain, which runs from right to left where it is turned."""
    if not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
        return 0
    return _STEPS.get(Qt.Key(event.key()), 0) * (-1 if is_turned else 1)
