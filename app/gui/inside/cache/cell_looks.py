"""How the parts of the KV cache look: a step of the stage's hue each, and a pattern, so that nobody needs the colour."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, QRect, Qt
from PySide6.QtGui import QBrush, QColor, QPainter

from app.gui import theme
from app.gui.widgets.gauge import lightness_step
from app.gui.widgets.part_steps import PART_STEPS
from app.gui.widgets.part_words import part_words
from app.services.cache_parts import PartName
from app.services.kv_cells import Owner

translate = QCoreApplication.translate
_PATTERNS: dict[PartName, Qt.BrushStyle] = {
    "template": Qt.BrushStyle.Dense6Pattern,
    "system": Qt.BrushStyle.HorPattern,
    "history": Qt.BrushStyle.NoBrush,
    "thinking": Qt.BrushStyle.VerPattern,
    "files": Qt.BrushStyle.CrossPattern,
    "prompt": Qt.BrushStyle.FDiagPattern,
    "answer": Qt.BrushStyle.BDiagPattern,
    "lanes": Qt.BrushStyle.DiagCrossPattern,
}


class CellLook(NamedTuple):
    """What cells of one part are painted with: first the ground, then the pattern."""

    ground: QColor
    pattern: QBrush


def cell_looks(look: theme.Theme, *, are_small: bool = False) -> dict[Owner, CellLook]:
    """Return the look of each part in a theme; the grounds are those of the gauge beside the chat.

    Patterns are fainter where cells are small: they are noise there, in which no part is told from another.
    """
    hue, text, surface = (look.colour(token) for token in ("stage_kv", "text", "surface"))
    made: dict[Owner, CellLook] = {}
    for part, number in PART_STEPS.items():
        ground = lightness_step(hue, number, text, surface)
        lines = QColor(surface if theme.contrast(ground, surface) > theme.contrast(ground, text) else text)
        lines.setAlphaF(0.25 if are_small else 0.55)
        made[part] = CellLook(ground, QBrush(lines, _PATTERNS[part]))
    made["empty"] = CellLook(surface, QBrush(look.colour("border_strong"), Qt.BrushStyle.Dense6Pattern))
    return made


def free_look(look: theme.Theme) -> CellLook:
    """Return the look of cells that hold nothing."""
    return CellLook(look.colour("border"), QBrush(Qt.BrushStyle.NoBrush))


def next_look(look: theme.Theme) -> CellLook:
    """Return the look of cells that the next turn will fill."""
    return CellLook(look.colour("surface"), QBrush(look.colour("stage_tokens"), Qt.BrushStyle.BDiagPattern))


def copy_look(look: theme.Theme) -> CellLook:
    """Return what lies over cells that hold a copy."""
    return CellLook(QColor(0, 0, 0, 0), QBrush(look.colour("surface"), Qt.BrushStyle.Dense5Pattern))


def strike(painter: QPainter, cells: QRect, look: theme.Theme) -> None:
    """Strike neighbouring cells through: they are given back. The line is seen on every ground."""
    thick = max(cells.height() // 7, 1)
    middle = cells.center().y() - thick // 2
    painter.fillRect(cells.left(), middle - 1, cells.width(), thick + 2, look.colour("surface"))
    painter.fillRect(cells.left(), middle, cells.width(), thick, look.colour("text"))


def owner_words(owner: Owner) -> str:
    """Return what a part is called."""
    return translate("KvMap", "empty ends of blocks") if owner == "empty" else part_words(owner)
