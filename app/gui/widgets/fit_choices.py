"""Drop-down lists of models with a badge beside each: whether it fits, worked out while the list is open."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter

from app.gui import theme
from app.gui.widgets.boxes import ChoiceBox
from app.gui.widgets.choices import ChoiceDelegate
from app.gui.widgets.fit_badge import FitLook, fit_hint, fit_word, fit_words, paint_fit
from app.gui.widgets.words import hint_of
from app.services.fit_badges import Elsewhere, Estimate, Wanted
from app.services.planning_values import PlanChoice

Of = Callable[[object], str | Estimate | None]
"""What a badge is wanted of, by the data of a choice; None has no badge."""
_Wants = Callable[[object], Wanted | None]
_Index = QModelIndex | QPersistentModelIndex
_ICON_PX = 16


class FitChoices(QObject):
    """Gives a box its badges; what is chosen is no business of it."""

    def __init__(self, box: ChoiceBox, look: FitLook, of: Of) -> None:
        super().__init__(box)
        self._box, self._look, self._of = box, look, of
        self._is_open = False
        self._gpu = self._gpu_name = ""
        self._planned: PlanChoice | None = None
        box.setItemDelegate(_FitDelegate(box, look, self._wants))
        box.opened.connect(self._want)
        box.closed.connect(self._rest)
        self._disconnect = look.fits.changed.connect(self._show)

    def disconnect_services(self) -> None:
        """Listen to the service no longer."""
        self._rest()
        self._disconnect()

    def use_plan(self, gpu: str, name: str, planned: PlanChoice) -> None:
        """Judge for this GPU and this configuration from now on; an empty id is this machine."""
        if (gpu, name, planned) != (self._gpu, self._gpu_name, self._planned):
            self._gpu, self._gpu_name, self._planned = gpu, name, planned
            if self._is_open:
                self._want()

    def _wants(self, data: object) -> Wanted | None:
        wanted = self._of(data)
        return wanted if wanted is None or self._planned is None else Elsewhere(wanted, self._gpu, self._planned)

    def _want(self) -> None:
        self._is_open = True
        wanted = [self._wants(self._box.itemData(row)) for row in range(self._box.count())]
        self._look.fits.want(self, [each for each in wanted if each is not None])
        self._show()

    def _rest(self) -> None:
        self._is_open = False
        self._look.fits.rest(self)

    def _show(self) -> None:
        """Say it to those who hear, too, and why on hover; a closed list wants nothing of what others look at."""
        if not self._is_open:
            return
        for row in range(self._box.count()):
            wanted = self._wants(self._box.itemData(row))
            if wanted is not None:
                fit, text = self._look.fits.get(wanted), self._box.itemText(row)
                said = f"{text}, {fit_word(fit)}"
                self._box.setItemData(row, said, Qt.ItemDataRole.AccessibleTextRole)
                self._box.setItemData(
                    row, hint_of(f"{text}\n{fit_hint(fit, self._gpu_name)}"), Qt.ItemDataRole.ToolTipRole
                )
        self._box.view().viewport().update()


class _FitDelegate(ChoiceDelegate):
    """Leaves room for the longest of the words: nothing moves when they come."""

    def __init__(self, box: ChoiceBox, look: FitLook, wants: _Wants) -> None:
        super().__init__(box)
        self._look, self._wants = look, wants

    def beside_px(self, index: _Index, font: QFont) -> int:
        """Return the room of a badge."""
        if self._wanted(index) is None:
            return 0
        figures = QFontMetrics(font)
        return _ICON_PX + theme.SPACE_XL + max(figures.horizontalAdvance(word) for word in fit_words())

    def paint_beside(self, painter: QPainter, place: QRect, index: _Index, *, is_marked: bool) -> None:
        """Paint the badge."""
        wanted = self._wanted(index)
        fit = self._look.fits.get(wanted) if wanted is not None else None
        marked = painter.pen().color() if is_marked else None
        paint_fit(painter, place.adjusted(theme.SPACE_L, 0, 0, 0), fit, self._look, marked)

    def _wanted(self, index: _Index) -> Wanted | None:
        return self._wants(index.data(Qt.ItemDataRole.UserRole))
