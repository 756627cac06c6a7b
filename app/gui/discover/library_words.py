"""What is said of a model on this machine: one line in the list, and the facts beside it."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.core.found_file import ORIGIN_NAMES
from app.core.model import FoundModel
from app.core.model_kind import ModelKind
from app.gui.discover.words import shown
from app.gui.widgets.words import render
from app.services.units import byte_size, count, parameter_count

translate = QCoreApplication.translate


def line_of(model: FoundModel, *, is_loaded: bool) -> list[str]:
    """Return what stands under its name: what tells it from others."""
    facts = [translate("Library", "loaded")] if is_loaded else []
    if model.problem is not None and model.parts >= model.parts_wanted:
        facts.append(kind_of(model))
    facts += [shown(model.quantisation)] if model.quantisation else []
    facts.append(byte_size(model.size))
    if model.parts < model.parts_wanted:
        facts.append(parts_of(model))
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


def facts_of(model: FoundModel) -> list[tuple[str, str]]:
    """Return each fact with its caption; what is not known is left out."""
    facts: list[tuple[str, str | None]] = [
        (translate("Library", "Architecture"), model.architecture),
        (translate("Library", "Parameters"), parameter_count(model.parameters) if model.parameters else None),
        (translate("Library", "Quantisation"), model.quantisation),
        (translate("Library", "Size"), byte_size(model.size)),
        (translate("Library", "Trained for"), _tokens(model.trained_context)),
        (translate("Library", "Chat template"), _template(model)),
        (translate("Library", "Parts"), parts_of(model) if model.parts_wanted > 1 else None),
        (translate("Library", "Found in"), ORIGIN_NAMES[model.origin] or translate("Library", "your model folders")),
        (translate("Library", "File"), model.path),
    ]
    return [(caption, shown(value)) for caption, value in facts if value]


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
