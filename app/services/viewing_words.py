"""How what a GGUF file holds reads in rows: values on one line, places by name, lengths of what is cut."""

from __future__ import annotations

import re

from app.core.gguf_view import EntryView, GgufView, PlaceSize, TensorKind, TensorView
from app.core.printable import printable
from app.core.words import Sentence, translate
from app.services.units import UNKNOWN

TEMPLATE_LANGUAGE = "jinja"
_FENCE = "`"
_FENCES = re.compile(f"{_FENCE}+")
_CONTROL = 3
MOST_SHOWN = 120
"""Characters of a value in a row."""
_ROLES = {
    "bos": translate("ModelViewing", "begins a text"),
    "eos": translate("ModelViewing", "ends a text"),
    "eot": translate("ModelViewing", "ends a turn"),
    "eom": translate("ModelViewing", "ends a message"),
    "unknown": translate("ModelViewing", "stands for what is not in the vocabulary"),
    "padding": translate("ModelViewing", "fills up"),
    "seperator": translate("ModelViewing", "separates"),
    "separator": translate("ModelViewing", "separates"),
    "mask": translate("ModelViewing", "hides a token"),
    "cls": translate("ModelViewing", "begins what is sorted into classes"),
}

_KINDS: dict[TensorKind, Sentence] = {
    "attention": translate("ModelViewing", "Attention"),
    "feed_forward": translate("ModelViewing", "Feed-forward"),
    "experts": translate("ModelViewing", "Experts"),
    "state": translate("ModelViewing", "State"),
    "vocabulary": translate("ModelViewing", "Vocabulary"),
    "other": translate("ModelViewing", "Norms and others"),
}
_TOKEN_KINDS = {
    1: translate("ModelViewing", "text"),
    2: translate("ModelViewing", "unknown"),
    _CONTROL: translate("ModelViewing", "control"),
    4: translate("ModelViewing", "added by its authors"),
    5: translate("ModelViewing", "unused"),
    6: translate("ModelViewing", "one byte"),
}


def value_text(entry: EntryView) -> str:
    """Return a value on one line; one that is cut ends with an ellipsis, and `length_words` says how long it is."""
    value = entry.value
    if isinstance(value, tuple):
        inside = ", ".join(_scalar(each) for each in value)
        more = ", …" if (entry.length or 0) > len(value) else ""
        text = f"[{inside}{more}]"
    else:
        text = _scalar(value) + ("…" if entry.is_shortened else "")
    shown = printable(text.replace("\r\n", "\n").replace("\n", "⏎").replace("\t", " "))
    return shown if len(shown) <= MOST_SHOWN else shown[: MOST_SHOWN - 1] + "…"


def length_words(entry: EntryView) -> Sentence | None:
    """Return how long a value is of which only the beginning is shown."""
    if entry.length is None or not entry.is_shortened:
        return None
    if isinstance(entry.value, tuple):
        return translate("ModelViewing", "{count} values", count=entry.length)
    return translate("ModelViewing", "{count} characters", count=entry.length)


def shape_text(tensor: TensorView) -> str:
    """Return a shape as it lies in the file: the length of a row first."""
    return " × ".join(f"{length:,}" for length in tensor.shape)


def place_words(row: PlaceSize) -> Sentence:
    """Return the name of a layer, or of what stands before or after all of them."""
    if row.place == "layer" and row.layer is not None:
        return translate("ModelViewing", "Layer {layer}", layer=row.layer)
    if row.place == "input":
        return translate("ModelViewing", "Before the layers")
    if row.place == "further":
        return translate("ModelViewing", "Further layers")
    return translate("ModelViewing", "After the layers")


def role_words(role: str) -> Sentence | None:
    """Return what a special token is for; None where nobody knows more than its name."""
    return _ROLES.get(role)


def kind_words(kind: TensorKind) -> Sentence:
    """Return what tensors of a kind are called."""
    return _KINDS[kind]


def token_kind_words(kind: int) -> Sentence | None:
    """Return what a vocabulary calls a token; None where nobody knows such a kind."""
    return _TOKEN_KINDS.get(kind)


def parts_words(view: GgufView) -> Sentence | None:
    """Return what is missing of a model in several files; None where nothing is."""
    if view.part:
        return translate(
            "ModelViewing",
            "This file is part {number} of {count} of a model, and is shown by itself: tokenizer and template are in part 1.",
            number=view.part + 1,
            count=view.parts_wanted,
        )
    if view.parts < view.parts_wanted:
        return translate(
            "ModelViewing",
            "Only {there} of {count} parts of this model are here: what the others hold is not shown.",
            there=view.parts,
            count=view.parts_wanted,
        )
    return None


def one_line(text: str) -> str:
    """Return a name out of a file as it may stand in a row."""
    shown = printable(text[: MOST_SHOWN + 1].replace("\n", "⏎").replace("\t", " "))
    return shown if len(text) <= MOST_SHOWN else shown[: MOST_SHOWN - 1] + "…"


def share_text(size: int | None, whole: int | None) -> str:
    """Return what share of a whole something is."""
    if size is None or not whole:
        return UNKNOWN
    percent = 100 * size / whole
    return f"{percent:.1f} %" if percent >= 0.05 or not size else "< 0.1 %"


def fenced(text: str) -> str:
    """Return a template as a block of code that nothing in it can end, and in which nothing turns it around or hides."""
    lines = [printable(line.replace("\t", "    ")) for line in text.splitlines()]
    longest = max((len(found) for found in _FENCES.findall(text)), default=0)
    fence = _FENCE * max(longest + 1, 3)
    return "\n".join((f"{fence}{TEMPLATE_LANGUAGE}", *lines, fence))


def _scalar(value: float | str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.7g}"
    return str(value)
