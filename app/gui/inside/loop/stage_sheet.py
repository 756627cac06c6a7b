"""What a stage of the loop is, in plain words, the number that it is about, and the way to the part that shows more."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout

from app.gui import theme
from app.gui.icons import Icons
from app.gui.inside.loop.memory_words import explained_by_kind
from app.gui.inside.loop.number_words import number
from app.gui.inside.loop.row_button import RowButton
from app.gui.inside.loop.stage_words import LOOKS, explanation, more, title
from app.gui.widgets.labels import label
from app.gui.widgets.runs import breakable
from app.gui.widgets.words import set_hint
from app.services.loop_values import STAGES, LoopValues, StageName

_ICON_PX = 20


class StageSheet(QFrame):
    """Shows the stage that somebody chose."""

    part_wanted = Signal(str)
    """Somebody wants to see another part of the page."""
    row_wanted = Signal()
    """Somebody wants to see the numbers of the token."""
    lit_wanted = Signal()
    """Somebody wants the stage explained that is lit, and not keep this one."""

    def __init__(self, themes: theme.Themes, icons: Icons, has_part: Callable[[str], bool]) -> None:
        super().__init__()
        self.setObjectName("loop_sheet")
        self.setProperty("look", "card")
        self._themes = themes
        self._icons = icons
        self._has_part = has_part
        self._stage: StageName = STAGES[0]
        self._icon = QLabel()
        self._title = label(pixels=theme.HEADING_PX, bold=True, name="loop_title")
        self._what = label(pixels=theme.READING_PX, name="loop_explanation")
        self.number = label(pixels=theme.FIGURE_PX, bold=True, name="loop_number")
        for each in (self._what, self.number):
            each.setWordWrap(True)
            each.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeading)
        self._more = QPushButton()
        self._more.setObjectName("loop_more")
        self._more.clicked.connect(lambda _checked=False: self._go())
        self.read = RowButton("loop_read_row")
        self.read.clicked.connect(lambda _checked=False: self.row_wanted.emit())
        self.follow = QPushButton(self.tr("Kept · follow the steps again"))
        self.follow.setObjectName("loop_follow")
        set_hint(
            self.follow, self.tr("You chose this stage, so it stays while you step. Go back to the one that is lit.")
        )
        self.follow.clicked.connect(lambda _checked=False: self.lit_wanted.emit())
        self.follow.hide()
        head = QHBoxLayout()
        head.setSpacing(theme.SPACE_S)
        head.addWidget(self._icon)
        head.addWidget(self._title)
        head.addStretch(1)
        head.addWidget(self.follow)
        head.addWidget(self.read)
        head.addWidget(self._more)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.SPACE_M, theme.SPACE_S, theme.SPACE_M, theme.SPACE_M)
        column.setSpacing(theme.SPACE_S)
        column.addLayout(head)
        words = QHBoxLayout()
        words.setSpacing(theme.SPACE_XL)
        words.addWidget(self._what, 3)
        words.addWidget(self.number, 2)
        column.addLayout(words)
        themes.changed.connect(self._draw)

    def show_stage(self, stage: StageName, values: LoopValues, *, is_kept: bool = False) -> None:
        """Explain a stage with the number that it has now; `is_kept` while another is lit, step by step."""
        self.follow.setVisible(is_kept)
        words = number(stage, values)
        self.number.setText(breakable(words))
        self.number.setAccessibleName(words)  # without the places where a line may break
        self.read.show_values(values if stage == "embedding" else None)
        self._what.setText(explained_by_kind(stage, values.model) or explanation(stage))
        if stage == self._stage and self._title.text():
            return
        self._stage = stage
        self._title.setText(title(stage))
        way = more(stage)
        self._more.setText(way[1] if way is not None else "")
        self._more.setVisible(way is not None and self._has_part(way[0]))
        self._draw()

    def _go(self) -> None:
        way = more(self._stage)
        if way is not None:
            self.part_wanted.emit(way[0])

    def _draw(self) -> None:
        look = LOOKS[self._stage]
        colour = self._themes.current.colour(look.colour)
        ratio = self.devicePixelRatioF()
        pixmap = self._icons.pixmap(look.icon, round(_ICON_PX * ratio), colour)
        pixmap.setDevicePixelRatio(ratio)
        self._icon.setPixmap(pixmap)
