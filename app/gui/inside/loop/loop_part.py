"""The part “Loop” of the page Inside: the whole process in one picture, and below it what the chosen stage is."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout

from app.gui import theme
from app.gui.icons import Icons
from app.gui.inside.loop.loop_map import LoopMap
from app.gui.inside.loop.place_row import PlaceRow
from app.gui.inside.loop.stage_sheet import StageSheet
from app.gui.inside.page import InsidePart
from app.services.inspecting import Inspecting
from app.services.loop_picture import LoopPicture

PAINT_MS = 100
"""The picture is painted anew so often at most."""


class LoopPart(InsidePart):
    """Follows the service while it is seen."""

    def __init__(
        self,
        picture: LoopPicture,
        inspecting: Inspecting,
        themes: theme.Themes,
        icons: Icons,
        has_part: Callable[[str], bool],
    ) -> None:
        super().__init__()
        self.setObjectName("loop_view")
        self.setAccessibleName(self.tr("The loop that an answer comes out of"))
        self._picture = picture
        self._inspecting = inspecting
        self._is_behind = False
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(PAINT_MS)
        self._rest.timeout.connect(self._catch_up)
        self.place = PlaceRow(icons)
        self.map = LoopMap(themes, icons)
        self.sheet = StageSheet(themes, icons, has_part)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(theme.SPACE_M)
        self.column.addWidget(self.place)
        self.column.addWidget(self.map)
        self.column.addWidget(self.sheet)
        self.column.addStretch(1)
        self.place.token_wanted.connect(picture.look_at)
        self.map.chosen.connect(lambda _stage: self._show())
        self.sheet.part_wanted.connect(self.part_wanted)
        self._disconnect = picture.changed.connect(self._take_change)
        self._show()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self._rest.stop()
        self._picture.watch(False)
        self._disconnect()

    def leave(self) -> None:
        """Follow the newest token again."""
        self._picture.look_at(None)

    def showEvent(self, event: QShowEvent) -> None:
        """Begin to look."""
        super().showEvent(event)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self._picture.watch(True)
        self._show()

    def hideEvent(self, event: QHideEvent) -> None:
        """Look no longer, and leave the height of the page to the part that is shown."""
        super().hideEvent(event)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored)
        self._rest.stop()
        self._is_behind = False
        self._picture.watch(False)

    def _take_change(self) -> None:
        if self._rest.isActive():
            self._is_behind = True
        else:
            self._show()
            self._rest.start()

    def _catch_up(self) -> None:
        if self._is_behind:
            self._is_behind = False
            self._show()
            self._rest.start()

    def _show(self) -> None:
        values = self._picture.values
        self.map.show_values(values)
        self.sheet.show_stage(self.map.stage, values)
        self.place.show_values(values, self._picture.token, is_chosen=self._inspecting.token is not None)
