"""What a preset of a whole chat holds, in words."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLocale

from app.core.chat_preset import ChatPreset
from app.core.sampling import STAGES, SamplingSettings
from app.gui.chat.system_prompt_line import first_words
from app.gui.widgets.grammar_words import fits_words
from app.gui.widgets.stage_words import off_words, order_words
from app.services.units import UNKNOWN

translate = QCoreApplication.translate
SHOWN_CHARACTERS = 60
"""Of a system prompt."""


def prompt_in_words(text: str) -> str:
    """Return how a system prompt begins."""
    if not text:
        return translate("ChatPresets", "None: the model is told nothing")
    words = first_words(text)
    return words if len(words) <= SHOWN_CHARACTERS else f"{words[:SHOWN_CHARACTERS].rstrip()}…"


def sampling_in_words(values: SamplingSettings) -> str:
    """Return the settings that people look at first."""
    words = translate("ChatPresets", "Temperature {temperature}, top-k {top_k}, top-p {top_p}, min-p {min_p}")
    point = QLocale().decimalPoint()
    shares = {name: f"{getattr(values, name):.2f}".replace(".", point) for name in ("temperature", "top_p", "min_p")}
    said = words.format(top_k=values.top_k or translate("ChatPresets", "off"), **shares)
    parts = [order_words(values)] if values.order != STAGES else []
    parts += [off_words(values)] if values.off else []
    parts += [fits_words(values.grammar)] if values.grammar is not None else []
    return ", ".join((said, *parts))


def parts_in_words(preset: ChatPreset) -> list[str]:
    """Return a line for each part that a preset has."""
    lines = []
    if preset.system_prompt is not None:
        words = translate("ChatPresets", "System prompt: {text}")
        lines.append(words.format(text=prompt_in_words(preset.system_prompt)))
    if preset.sampling is not None:
        lines.append(sampling_in_words(preset.sampling))
    if preset.model is not None:
        lines.append(translate("ChatPresets", "Model: {name}").format(name=preset.model.name or UNKNOWN))
    return lines
