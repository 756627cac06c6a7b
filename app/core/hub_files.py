"""Which files of a repository belong together, and what their names say. Plain functions on names and sizes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from app.core.file_name import MODEL_SUFFIX, model_stem, part_name
from app.core.hub_model import HubFile
from app.core.hub_page import HubQuantisation

PROJECTOR, MATRIX = "mmproj", "imatrix"
_HAS_PROJECTOR = re.compile(r"(?:^|[-._])mmproj|mmproj(?:[-._]|$)")
_QUANTISATION = re.compile(
    r"(?<![A-Za-z0-9])((?:UD-)?(?:I?Q[1-9]_(?:K_(?:XXL|XL|L|M|S)|K|XXS|XS|NL|S|M|[01](?:_\d{1,2}){0,2})|Q[1-9]K?|TQ[12]_0"
    r"|MXFP4(?:_MOE)?|NVFP4|BF16|FP?16|FP?32))(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_BITS = re.compile(r"(?:UD-)?(?:I?Q|TQ|MXFP|NVFP|BF|FP?)(\d{1,2})", re.IGNORECASE)
_SPREAD = (0.75, 4.5)
"""How far bits per weight may be from the number in the name: no fewer than this share, no more than so many above."""


def by_model(files: Iterable[HubFile]) -> list[tuple[HubFile, ...]]:
    """Return the files of each model together, its parts in their order."""
    found: dict[tuple[str, int], list[HubFile]] = {}
    for file in files:
        part = part_name(file.path)
        found.setdefault((file.path, 0) if part is None else (part.stem, part.of), []).append(file)
    return [tuple(sorted(parts, key=lambda file: file.path)) for parts in found.values()]


def goes_along(path: str) -> str:
    """Return what a file is that goes with a model and is none, by its name: a projector or a matrix; empty for neither."""
    name = path.rpartition("/")[2].lower().removesuffix(MODEL_SUFFIX)
    if _HAS_PROJECTOR.search(name):
        return PROJECTOR
    # as a word in the middle it tells how a model was quantised
    return MATRIX if name.startswith(MATRIX) or name.endswith(MATRIX) else ""


def missing_parts(files: Sequence[HubFile]) -> int:
    """Return how many parts of a model are not there, of those that its names count."""
    found = [part for file in files if (part := part_name(file.path)) is not None]
    return found[0].of - len({part.number for part in found if part.can_be}) if found else 0


def quantisations(files: Iterable[HubFile], parameters: int | None) -> tuple[HubQuantisation, ...]:
    """Return what a repository holds: its models by size, then its projectors; a matrix is of use to nobody here."""
    groups = [group for group in by_model(files) if goes_along(group[0].path) != MATRIX]
    models = [group for group in groups if not goes_along(group[0].path)]
    known = parameters if len({_model_name(group[0].path) for group in models}) == 1 else None
    made = [_quantisation(group, known) for group in groups]
    if any(each.bits_per_weight is not None and not _is_likely(each) for each in made):
        # the hub counts another file, or a part of one: then it counts for none
        made = [_quantisation(group, None) for group in groups]
    return tuple(sorted(made, key=lambda each: (each.is_projector, each.size, each.path)))


def quantisation_name(path: str) -> str:
    """Return what the name of a file, or of a folder around it, says of its quantisation; empty where it says nothing."""
    for word in reversed(model_stem(path).split("/")):
        found = _QUANTISATION.findall(word)
        if found:
            return _usual_spelling(found[-1])
    return ""


def quantisation_typed(word: str) -> str:
    """Return the quantisation that a word is as a whole; empty for any other word."""
    return _usual_spelling(word) if _QUANTISATION.fullmatch(word) else ""


def _usual_spelling(name: str) -> str:
    return name.upper().replace("FP16", "F16").replace("FP32", "F32")


def _quantisation(files: tuple[HubFile, ...], parameters: int | None) -> HubQuantisation:
    path = files[0].path
    missing = missing_parts(files)
    is_projector = goes_along(path) == PROJECTOR
    bits = None
    if parameters and not is_projector and not missing:
        bits = sum(file.size for file in files) * 8 / parameters
    name = quantisation_name(path) or path.rpartition("/")[2]
    return HubQuantisation(name, files, bits, is_projector, missing)


def _is_likely(quantisation: HubQuantisation) -> bool:
    told = _BITS.match(quantisation.name)
    if told is None or quantisation.bits_per_weight is None:
        return True
    share, above = _SPREAD
    return int(told[1]) * share <= quantisation.bits_per_weight <= int(told[1]) + above


def _model_name(path: str) -> str:
    """Return what is left of a file's name without its quantisation, to tell one model from another."""
    name = model_stem(path.rpartition("/")[2]).lower()
    return _QUANTISATION.sub("", name).strip("-._")
