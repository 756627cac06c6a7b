"""What the stages of the sampler chain are called, and in which order they run, in words."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QCoreApplication

from app.core.sampling import STAGE_NAMES, STAGES, SamplingSettings, in_effect, whole_order

translate = QCoreApplication.translate
THEN = " → "


def stage_words(stage: str) -> str:
    """Return what people call a stage."""
    if stage == "grammar":
        return translate("Stages", "grammar")
    if stage == "penalties":
        return translate("Stages", "penalties")
    return translate("Stages", "temperature") if stage == "temperature" else STAGE_NAMES.get(stage, stage)


def stage_heading(stage: str) -> str:
    """Return what people call a stage, as a heading begins."""
    words = stage_words(stage)
    return words[:1].upper() + words[1:]


def cutter_words(stage: str) -> str:
    """Return what people call a stage that cut a token: the temperature does so at 0 alone."""
    return translate("Stages", "temp. 0") if stage == "temperature" else stage_words(stage)


def stages_in_words(stages: Iterable[str]) -> str:
    """Return the names of stages, one after another."""
    return ", ".join(map(stage_words, stages))


def is_usual(settings: SamplingSettings) -> bool:
    """Return whether all stages run in their default order."""
    return whole_order(settings.order) == STAGES and not settings.off


def order_words(settings: SamplingSettings) -> str:
    """Return an order in few words: by the one stage that stands elsewhere, else the stages that do something."""
    order = whole_order(settings.order)
    if order == STAGES:
        return translate("Stages", "usual order")
    moved = [name for name in STAGES if _without(order, name) == _without(STAGES, name)]
    if not moved:
        return chain_words(in_effect(settings).order)
    # Of two neighbours that changed places, the one that comes earlier now is told.
    name = min(moved, key=order.index)
    place, said = order.index(name), stage_words(name)
    if place == 0:
        return translate("Stages", "{stage} first").format(stage=said)
    if place == len(order) - 1:
        return translate("Stages", "{stage} last").format(stage=said)
    if place < STAGES.index(name):
        return translate("Stages", "{stage} before {other}").format(stage=said, other=stage_words(order[place + 1]))
    return translate("Stages", "{stage} after {other}").format(stage=said, other=stage_words(order[place - 1]))


def off_words(settings: SamplingSettings) -> str:
    """Return which stages are switched off."""
    if not settings.off:
        return translate("Stages", "with all stages")
    return translate("Stages", "without {stages}").format(stages=stages_in_words(settings.off))


def chain_words(stages: Iterable[str]) -> str:
    """Return stages with arrows between them."""
    return THEN.join(map(stage_words, stages))


def chain_remark(settings: SamplingSettings) -> str:
    """Return the whole chain in its order, and what of it is switched off; empty where it is the usual one."""
    if is_usual(settings):
        return ""
    said = translate("Stages", "Order: {stages}").format(stages=chain_words(settings.stages))
    if not settings.stages:
        said = translate("Stages", "All stages are switched off")
    elif settings.off:
        said = translate("Stages", "{order}; off: {stages}").format(order=said, stages=stages_in_words(settings.off))
    return f"{said}."


def _without(order: tuple[str, ...], name: str) -> tuple[str, ...]:
    return tuple(each for each in order if each != name)
