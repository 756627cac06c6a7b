"""Whether each model in the list of the comparison fits on this machine, estimates as well; of groups that are unfolded."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect
from PySide6.QtGui import QPainter

from app.gui.planner.comparison.choice_list import KEY_ROLE, ChoiceList
from app.gui.widgets.fit_badge import FitLook, fit_hint, fit_word, paint_fit
from app.services.fit_badges import Estimate, Wanted
from app.services.hub_models import is_hub_path, named
from app.services.plan_values import AS_IT_IS, ModelChoice


class ModelBadges:
    """Follows the service as long as somebody looks."""

    def __init__(self, models: ChoiceList, look: FitLook) -> None:
        self._models, self._look = models, look
        self._wanted: tuple[ModelChoice, ...] = ()
        models.ticks.badge = self._paint
        models.unfolded_changed.connect(self.want)
        self._disconnect = look.fits.changed.connect(self._show)

    def want(self) -> None:
        """Have worked out what can be seen."""
        if not self._models.isVisible():
            return
        wanted = tuple(key for key in self._models.unfolded if isinstance(key, ModelChoice))
        if wanted != self._wanted:
            self._wanted = wanted
            self._look.fits.want(self, [_of(each) for each in wanted])
        self._show()

    def rest(self) -> None:
        """Nobody looks any more."""
        self._wanted = ()
        self._look.fits.rest(self)

    def disconnect_services(self) -> None:
        """Listen to the service no longer."""
        self.rest()
        self._disconnect()

    def _show(self) -> None:
        for each in self._wanted:
            fit = self._look.fits.get(_of(each))
            name = named(each.path) if is_hub_path(each.path) else each.path
            name = name if each.quantisation == AS_IT_IS else f"≈ {each.quantisation}"
            self._models.say(each, fit_word(fit), f"{name}\n{fit_hint(fit)}")
        self._models.tree.viewport().update()

    def _paint(self, painter: QPainter, place: QRect, index: QModelIndex | QPersistentModelIndex) -> None:
        key = index.data(KEY_ROLE)
        if isinstance(key, ModelChoice):
            paint_fit(painter, place, self._look.fits.get(_of(key)), self._look)


def _of(choice: ModelChoice) -> Wanted:
    return choice.path if choice.quantisation == AS_IT_IS else Estimate(choice.path, choice.quantisation)
