"""What is said of a model on this machine: one line in the list, and the facts beside it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale

from app.core.download import DownloadWanted
from app.core.found_file import ORIGIN_NAMES
from app.core.model import FoundModel
from app.core.model_kind import ModelKind
from app.core.model_note import ModelUse
from app.gui.discover.words import ago, shown
from app.gui.widgets.words import render
from app.services.units import UNKNOWN, byte_size, count, parameter_count, rate

translate = QCoreApplication.translate
_COMMIT_DIGITS = 12
_MOST_PLACES = 5
"""So many places of copies are named."""


class Fact(NamedTuple):
    """One thing that is known of a model, or why it is not."""

    caption: str
    value: str
    hint: str = ""


def line_of(model: FoundModel, *, is_loaded: bool, fit: str = "") -> list[str]:
    """Return what stands under its name: what tells it from others, and a word on whether it fits.

    What matters least comes last, where a narrow list cuts it.
    """
    facts = [translate("Library", "loaded")] if is_loaded else []
    if model.problem is not None and model.parts >= model.parts_wanted:
        facts.append(kind_of(model))
    facts += [shown(model.quantisation)] if model.quantisation else []
    facts.append(byte_size(model.size))
    if model.parts < model.parts_wanted:
        facts.append(parts_of(model))
    if fit:
        facts.append(fit)
    if model.origin != "own":
        facts.append(ORIGIN_NAMES[model.origin])
    return facts


def parts_of(model: FoundModel) -> str:
    """Return how many of its files are there."""
    words = translate("Library", "{there} of {count} parts present")
    return words.format(there=model.parts, count=model.parts_wanted)


def kind_of(model: FoundModel) -> str:
    """Return in a word what a file is that cannot be chatted with."""
    words: dict[ModelKind, str] = {
        "projector": translate("Library", "projector"),
        "embedding": translate("Library", "embedding model"),
        "reranker": translate("Library", "reranker"),
        "adapter": translate("Library", "LoRA adapter"),
        "vocabulary": translate("Library", "vocabulary only"),
        "other": translate("Library", "for something else"),
    }
    unusable = translate("Library", "cannot be used")
    return words.get(model.kind, unusable) if model.kind is not None else unusable


def facts_of(model: FoundModel, copies: Sequence[FoundModel] = ()) -> list[Fact]:
    """Return each fact that its file and its folder tell; what a file that is no chat model does not tell is left out."""
    facts: list[tuple[str, str | None]] = [
        (translate("Library", "Architecture"), model.architecture),
        (translate("Library", "Parameters"), parameter_count(model.parameters) if model.parameters else None),
        (translate("Library", "Quantisation"), model.quantisation),
        (translate("Library", "Size"), byte_size(model.size)),
        (translate("Library", "Trained for"), _tokens(model.trained_context)),
        (translate("Library", "License"), model.license),
        (translate("Library", "Chat template"), _template(model)),
        (translate("Library", "Parts"), parts_of(model) if model.parts_wanted > 1 else None),
        (translate("Library", "Found in"), ORIGIN_NAMES[model.origin] or translate("Library", "your model folders")),
        (translate("Library", "File"), model.path),
    ]
    unknown = translate("Library", "Its file does not tell.") if model.is_usable else ""
    made = [
        Fact(caption, shown(value) if value else UNKNOWN, "" if value else unknown)
        for caption, value in facts
        if value or (unknown and caption != translate("Library", "Parts"))
    ]
    if model.source is not None:
        made.append(_source(model.source))
    if copies:
        places = [shown(each.path) for each in copies[:_MOST_PLACES]]
        more = ["…"] if len(copies) > _MOST_PLACES else []
        hint = translate("Library", "These files hold the same model, whatever they are called.")
        made.append(Fact(translate("Library", "Also at"), "\n".join([*places, *more]), hint))
    if model.name_before:
        made.append(Fact(translate("Library", "Name of its file"), shown(model.name_before)))
    return made


def _source(source: DownloadWanted) -> Fact:
    """Return where a model was downloaded from; the hint has what tells its version."""
    words = translate("Library", "{repository}, commit {commit}")
    value = words.format(repository=shown(source.repository), commit=shown(source.revision[:_COMMIT_DIGITS]))
    said = [translate("Library", "Commit {commit}").format(commit=shown(source.revision))]
    digests = [file.sha256 for file in source.files if file.sha256]
    said += [translate("Library", "sha256 {digest}").format(digest=digest) for digest in digests[:_MOST_PLACES]]
    return Fact(translate("Library", "Downloaded from"), value, "\n".join(said))


def use_of(use: ModelUse | None, *, is_known: bool) -> list[Fact]:
    """Return when a model answered last on this machine, and how fast it was; `is_known` is whether anybody has looked."""
    used, speed = translate("Library", "Last used"), translate("Library", "Speed here")
    if use is None:
        reason = translate("Library", "It has not answered here yet, or its chats were erased.")
        if not is_known:
            reason = translate("Library", "What was kept of its answers is not read yet.")
        return [Fact(used, UNKNOWN, reason), Fact(speed, UNKNOWN, reason)]
    moment = QLocale().toString(QDateTime.fromMSecsSinceEpoch(use.last_ms), QLocale.FormatType.LongFormat)
    when = ago(max(0.0, time.time() - use.last_ms / 1000))
    return [Fact(used, when, moment), _speed(speed, use)]


def _speed(caption: str, use: ModelUse) -> Fact:
    if use.decode is None and use.prefill is None:
        reason = translate(
            "Library", "Its answers here were too short to tell, or the first one is still being written."
        )
        return Fact(caption, UNKNOWN, reason)
    written = translate("Library", "writes {speed} tok/s").format(speed=rate(use.decode))
    read = translate("Library", "reads {speed} tok/s").format(speed=rate(use.prefill))
    hint = translate(
        "Library", "Measured over its newest answers here: {answers} that it wrote, {prompts} prompts that it read."
    )
    return Fact(caption, f"{written} · {read}", hint.format(answers=use.decode_answers, prompts=use.prefill_answers))


def problem_of(model: FoundModel) -> str:
    """Return why it cannot be chatted with; empty where it can."""
    if not model.is_read:
        return translate("Library", "The file is being looked at.")
    return render(model.problem) if model.problem is not None else ""


def _tokens(number: int | None) -> str | None:
    return None if number is None else translate("Library", "{count} tokens").format(count=count(number))


def _template(model: FoundModel) -> str | None:
    if model.has_template is None or model.problem is not None:
        return None
    return translate("Library", "in the file") if model.has_template else translate("Library", "none: a usual one")
