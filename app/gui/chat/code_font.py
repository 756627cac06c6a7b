"""The platform's fixed font in the sizes that the transcript uses."""

from __future__ import annotations

from functools import cache

from PySide6.QtGui import QFont, QFontDatabase

BLOCK_PX = 13
INLINE_SHARE = 0.9
"""Size of code inside a line, as a share of the text around it: fixed fonts look larger."""


@cache
def code_font(pixels: int) -> QFont:
    """Return the fixed font in a size."""
    made = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    made.setPixelSize(pixels)
    made.setStyleHint(QFont.StyleHint.Monospace)
    return made
