"""The cell of a grid whose lane was deleted: it keeps its place, so that every other lane keeps its row and column."""

from __future__ import annotations

import msgspec
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from app.core.comparison import LETTERS
from app.core.sampling import SamplingSettings
from app.gui import theme
from app.gui.compare.lane_mark import LaneMark
from app.gui.compare.lane_words import BETWEEN, cell_name, short_cell_name
from app.gui.widgets.buttons import ICON_PX
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.labels import label
from app.gui.widgets.words import set_hint
from app.services.lanes_run import LanesRun


class DeletedCell(QFrame):
    """Says which lane was there."""

    def __init__(self, run: LanesRun, place: int, themes: theme.Themes) -> None:
        """`place` is the index of the lane, which is where it stood."""
        super().__init__()
        letter = LETTERS[place]
        self.setObjectName(f"deleted_lane_{letter.lower()}")
        self.setProperty("look", "lane")
        name = FixedText(pixels=theme.BASE_PX, bold=True)
        words = self.tr("This lane was deleted.")
        said = label(words, look="muted", pixels=theme.SMALL_PX, name=f"deleted_text_{letter.lower()}")
        said.setWordWrap(True)
        head = QHBoxLayout()
        head.setSpacing(theme.SPACE_S)
        head.addStrut(ICON_PX + theme.SPACE_M)  # as high as with the buttons of the cells beside it
        head.addWidget(LaneMark(place, themes, with_line=False))
        head.addWidget(name, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.SPACE_M + 1, theme.SPACE_XS + 1, theme.SPACE_S + 1, theme.SPACE_XS + 1)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(said)
        column.addStretch(1)
        called = ""
        if (settings := cell_settings(run, place)) is not None:
            called = cell_name(run.comparison.layout, settings)
            name.set_text(called, short_cell_name(run.comparison.layout, settings))
        set_hint(name, called)
        spoken = self.tr("Lane {letter}: deleted").format(letter=letter)
        self.setAccessibleName(BETWEEN.join(part for part in (spoken, called) if part))


def deleted_places(run: LanesRun) -> list[int]:
    """Return the places of a grid at which no lane is any more; lanes side by side have no places to keep."""
    if not run.comparison.layout.columns:
        return []
    there = {lane.index for lane in run.lanes}
    return [place for place in range(len(run.comparison.lanes)) if place not in there]


def cell_settings(run: LanesRun, place: int) -> SamplingSettings | None:
    """Return the two values of a cell, by the lanes above and beside it; None where one of them is not known."""
    layout = run.comparison.layout
    above = next((lane for lane in run.lanes if lane.index % layout.columns == place % layout.columns), None)
    beside = next((lane for lane in run.lanes if lane.index // layout.columns == place // layout.columns), None)
    if above is None or beside is None:
        return None
    value = getattr(beside.settings, layout.row_setting)
    return msgspec.structs.replace(above.settings, **{layout.row_setting: value})
