"""Patterns by which lines are told apart where there are several, before any colour."""

from __future__ import annotations

SOLID = (1.0,)
PATTERNS: tuple[tuple[float, ...], ...] = (
    SOLID,
    (5, 2),
    (1, 1.5),
    (5, 1.5, 1, 1.5),
    (8, 3),
    (2.5, 2.5),
    (5, 1.5, 1, 1.5, 1, 1.5),
    (1, 3.5),
)
"""Dashes and gaps in widths of the line; the first one has one line without gaps."""
