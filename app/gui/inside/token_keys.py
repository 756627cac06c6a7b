"""Where keys lead among the tokens of an answer, and what they do in words. Knows no widget."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QKeySequence

from app.gui.inside.token_layout import TokenLayout

translate = QCoreApplication.translate

_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
_ROWS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -1, Qt.Key.Key_PageDown: 1}


def token_keys() -> list[tuple[str, tuple[QKeySequence, ...]]]:
    """Return what keys do among tokens: in words, and the keys."""
    table = (
        (translate("TokenFlow", "Look at the token before or after"), ("Left", "Right")),
        (translate("TokenFlow", "Look at a token in the row above or below"), ("Up", "Down")),
        (translate("TokenFlow", "Go on by a page"), ("PgUp", "PgDown")),
        (translate("TokenFlow", "Look at the first or the last token"), ("Home", "End")),
        (translate("TokenFlow", "Let the token follow the pointer again"), ("Esc",)),
        (translate("TokenFlow", "In the list beside: go on from here with that token"), ("Return", "Enter")),
        (translate("TokenFlow", "In Attention: select the token that is looked at"), ("Return", "Enter")),
    )
    return [(words, tuple(map(QKeySequence, keys))) for words, keys in table]


def moved(layout: TokenLayout, count: int, current: int | None, key: Qt.Key, page: int) -> int | None:
    """Return where a key leads to from a token of so many, `page` rows at once; None for a key that leads nowhere.

    Only as much has to be laid out as `rows_wanted` says.
    """
    last = count - 1
    if key in (Qt.Key.Key_Home, Qt.Key.Key_End):
        return 0 if key == Qt.Key.Key_Home else last
    if current is None:
        return 0 if key in _STEPS or key in _ROWS else None
    if key in _STEPS:
        return min(max(current + _STEPS[key], 0), last)
    if key not in _ROWS:
        return None
    rows = _rows(key, page)
    row = layout.row_of(current) + rows
    if not 0 <= row < layout.rows:
        return 0 if rows < 0 else last
    return layout.nearest(row, layout.middle_of(current))


def rows_wanted(key: Qt.Key, page: int) -> int | None:
    """Return how many rows behind a token have to be laid out before a key can lead from it; None where none need be."""
    return max(_rows(key, page), 0) if key in _ROWS else None


def _rows(key: Qt.Key, page: int) -> int:
    return _ROWS[key] * (page if key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown) else 1)
