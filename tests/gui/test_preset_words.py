"""What a preset of a whole chat says of its sampling settings."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from app.core.sampling import STAGES, SamplingSettings
from app.gui.chat.preset_words import sampling_in_words


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (SamplingSettings(), ""),
        (SamplingSettings(order=("temperature", *STAGES[:-1])), ", temperature first"),
        (SamplingSettings(off=("xtc", "top_p")), ", without XTC, top-p"),
        (SamplingSettings(order=(*STAGES[1:], "penalties"), off=("dry",)), ", penalties last, without DRY"),
    ],
)
def test_a_preset_says_its_order_and_what_is_switched_off(
    qapp: QApplication, settings: SamplingSettings, said: str
) -> None:
    usual = sampling_in_words(SamplingSettings())
    assert sampling_in_words(settings) == usual + said
