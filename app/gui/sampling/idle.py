"""Why a setting has no effect now, for the rows that show it muted."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication

from app.core.sampling import STAGE_FIELDS, SamplingSettings
from app.gui.widgets.slider_row import SliderRow
from app.gui.widgets.stage_words import stage_words

translate = QCoreApplication.translate
WITHOUT_EFFECT_AT_0 = ("top_k", "top_p", "min_p")


def show_idle(rows: Mapping[str, SliderRow], values: SamplingSettings) -> None:
    """Mute the rows whose settings have no effect, and say why on hover."""
    for name, row in rows.items():
        row.set_idle(_reason(name, values))


def _reason(name: str, values: SamplingSettings) -> str:
    stage = next((stage for stage in values.off if name in STAGE_FIELDS.get(stage, ())), None)
    if stage is not None:
        words = translate("SamplingPanel", "It has no effect: the stage “{stage}” is switched off.")
        return words.format(stage=stage_words(stage))
    if values.is_greedy and name in WITHOUT_EFFECT_AT_0:
        return translate("SamplingPanel", "It has no effect at temperature 0.")
    return ""
