"""What the load options say in words: of the file, of a context, and of whether it fits."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from app.core.load_estimate import LoadEstimate
from app.core.model import CONTEXT_STEP, FlashAttention, FoundModel, LoadOptions
from app.gui.widgets.labels import in_parts
from app.gui.widgets.words import render
from app.services.load_options import LoadOptionsDraft
from app.services.models import is_very_small
from app.services.units import byte_size, count, parameter_count

translate = QCoreApplication.translate


def flash_name(mode: FlashAttention) -> str:
    """Return what a setting of flash attention is called."""
    names: dict[FlashAttention, str] = {
        "auto": translate("LoadOptions", "automatic"),
        "on": translate("LoadOptions", "on"),
        "off": translate("LoadOptions", "off"),
    }
    return names[mode]


def file_words(file: FoundModel | None, last: LoadEstimate | None = None) -> str:
    """Return what a model's file says of itself, and how far the last load was from what was estimated."""
    if file is None:
        return translate("LoadOptions", "Looking at the file …")
    parts = [file.quantisation or "", byte_size(file.size)]
    if file.parameters is not None:
        parts.append(translate("LoadOptions", "{count} parameters").format(count=parameter_count(file.parameters)))
    if file.trained_context is not None:
        parts.append(
            translate("LoadOptions", "trained for {tokens} tokens").format(tokens=count(file.trained_context))
        )
    if is_very_small(file.parameters):
        parts.append(translate("LoadOptions", "very small"))
    parts.append(last_load_words(last))
    return in_parts([part for part in parts if part])


def last_load_words(last: LoadEstimate | None) -> str:
    """Return how far the estimate was from what the last load took; empty where that is not known."""
    percent = last.percent if last is not None else None
    if percent is None:
        return ""
    if not round(percent):
        return translate("LoadOptions", "last load as estimated")
    if percent > 0:
        said = translate("LoadOptions", "last load {percent} % more than estimated")
    else:
        said = translate("LoadOptions", "last load {percent} % less than estimated")
    return said.format(percent=count(abs(round(percent))))


def remarks(options: LoadOptions, file: FoundModel | None) -> list[str]:
    """Return what people should know of the context that they chose, in one sentence."""
    said: list[str] = []
    if options.context is not None and options.context % CONTEXT_STEP:
        said.append(
            translate("LoadOptions", "{asked} tokens are rounded up to {cells}, a multiple of {step}.").format(
                asked=count(options.context), cells=count(options.cells(None)), step=CONTEXT_STEP
            )
        )
    trained = file.trained_context if file is not None else None
    if not said and file is not None:  # always one line: nothing below it moves when a context is chosen
        automatic = LoadOptions().cells(trained)  # whatever is chosen now
        said.append(translate("LoadOptions", "Automatic is {tokens} tokens.").format(tokens=count(automatic)))
    return said


class Verdict(NamedTuple):
    """What is said of a load as it is chosen now, in one or two sentences."""

    words: str
    warns: bool
    """Whether it is better not loaded so."""


def verdict(draft: LoadOptionsDraft, *, is_awaited: bool = False) -> Verdict:
    """Return whether a load fits and is worth it: a context that the model was not trained for is never just approved.

    `is_awaited` says that it is to be loaded as soon as it is known what it takes.
    """
    trained = _passed_training(draft.options, draft.file)
    if draft.problem is not None:
        return Verdict(render(draft.problem), warns=True)
    if not draft.is_current or draft.measured is None:
        fit = translate("LoadOptions", "Working out what this takes …")
        if is_awaited:
            fit = translate("LoadOptions", "Working out what this takes, to load it then …")
    elif draft.lack is not None:
        fit = translate("LoadOptions", "Does not fit: it needs {needed}, and {free} are free.").format(
            needed=byte_size(draft.lack.told), free=byte_size(draft.lack.free)
        )
    elif trained is not None:
        fits = translate(
            "LoadOptions",
            "Fits, but its answers fall apart beyond the {trained} tokens that this model was trained for: "
            "choose {trained} or fewer.",
        )
        unknown = translate(
            "LoadOptions",
            "Whether it fits is not known, and its answers fall apart beyond {trained} tokens: choose fewer.",
        )
        said = unknown if any(need.fits is None for need in draft.needs) else fits
        return Verdict(said.format(trained=count(trained)), warns=True)
    else:
        return Verdict(_fitting_words(draft), warns=False)
    if trained is None:
        return Verdict(fit, warns=draft.lack is not None and draft.is_current)
    apart = translate("LoadOptions", "Its answers fall apart beyond {trained} tokens.").format(trained=count(trained))
    return Verdict(f"{fit} {apart}", warns=True)


def _passed_training(options: LoadOptions, file: FoundModel | None) -> int | None:
    """Return what the model was trained for, in tokens, where the chosen context is larger."""
    trained = file.trained_context if file is not None else None
    is_passed = trained is not None and options.context is not None and options.context > trained
    return trained if is_passed else None


def _fitting_words(draft: LoadOptionsDraft) -> str:
    if any(need.fits is None for need in draft.needs):
        return translate("LoadOptions", "Whether it fits is not known: this build does not tell all of its memory.")
    wanted = draft.options.cells(draft.file.trained_context if draft.file is not None else None)
    if draft.options.may_shorten_context and draft.measured is not None and draft.measured.context < wanted:
        said = translate("LoadOptions", "Fits with a context shortened to {tokens} tokens.")
        return said.format(tokens=count(draft.measured.context))
    spare = min(((need.free or 0) - (need.use.total or 0) for need in draft.needs), default=0)
    return translate("LoadOptions", "Fits, with {spare} to spare.").format(spare=byte_size(spare))
