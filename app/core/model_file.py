"""Takes a model file through every check, with the other files of a model that comes in several parts.

Opens nothing: it asks the function it was given for the bytes of a file by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from app.core.errors import UserError
from app.core.gguf_cursor import DISK_PIECES, Pieces, Read, shown_name
from app.core.gguf_header import Header, Split, check_counts, read_header
from app.core.gguf_verdict import check_chat_model, check_tensor_data
from app.core.words import Sentence, translate

MAX_PARTS = 1_000


class ModelSource(NamedTuple):
    """The bytes of one file, and how many there are."""

    read: Read
    size: int
    pieces: Pieces = DISK_PIECES


OpenFile = Callable[[str], ModelSource | None]
"""Returns the file of that name in the model's folder; None where there is none."""


def opened(file_name: str, open_file: OpenFile) -> ModelSource:
    """Return the file of that name in the model's folder, or raise the sentence that there is none."""
    source = open_file(file_name)
    if source is None:
        raise UserError(
            translate(
                "ModelFile",
                "There is no file “{file}” here: check its name, or choose the model again.",
                file=shown_name(file_name),
            )
        )
    return source


def check_model_file(file_name: str, open_file: OpenFile) -> tuple[Header, ...]:
    """Return the headers of all parts of a usable chat model, or raise the sentence that says what is wrong.

    `file_name` is a name without folders; every part of a split model is looked for beside it.
    """
    source = opened(file_name, open_file)
    first = read_header(*source)
    headers = (first, *_read_other_parts(first.split, file_name, open_file))
    tensors = sum(len(header.tensors) for header in headers)
    check_counts(tensors, len(first.metadata))
    check_chat_model(first, tensors)
    check_tensor_data(first, source.size, file_name)
    if first.split is not None and first.split.tensors not in (None, tensors):
        raise UserError(
            translate(
                "ModelFile",
                "The {count} files of this model do not belong together, they hold {tensors:,} tensors where"
                " {expected:,} should be: download all of them again.",
                count=first.split.count,
                tensors=tensors,
                expected=first.split.tensors or 0,
            )
        )
    return headers


def part_names(file_name: str, count: int) -> tuple[str, ...] | None:
    """Return the names of all parts, given that of the first; None where llama.cpp could not tell them."""
    ending = part_ending(0, count)
    if not file_name.endswith(ending) or file_name == ending:
        return None
    prefix = file_name.removesuffix(ending)
    return tuple(prefix + part_ending(number, count) for number in range(count))


def part_ending(number: int, count: int) -> str:
    """Return how the name of part `number`, counted from 0, of a split model ends."""
    return f"-{number + 1:05d}-of-{count:05d}.gguf"


def _not_there(count: int, missing: Sequence[str]) -> Sentence:
    """Return which of the files of a model are not beside its first one."""
    file = shown_name(missing[0])
    if len(missing) == 1:
        return translate(
            "ModelFile",
            "This model comes in {count} files and one of them is not in its folder, “{file}”: download it into the same"
            " folder.",
            count=count,
            file=file,
        )
    return translate(
        "ModelFile",
        "This model comes in {count} files and {missing} of them are not in its folder, the first of these being “{file}”:"
        " download them into the same folder.",
        count=count,
        missing=len(missing),
        file=file,
    )


def _read_other_parts(split: Split | None, file_name: str, open_file: OpenFile) -> list[Header]:
    """Return the headers of the parts after the first, each complete and in its place."""
    if split is None:
        return []
    names = _names_of_parts(split, file_name)
    sources = [open_file(name) for name in names[1:]]
    missing = [name for name, source in zip(names[1:], sources, strict=True) if source is None]
    if missing:
        raise UserError(_not_there(split.count, missing))
    headers = []
    for number, (name, source) in enumerate(zip(names[1:], sources, strict=True), start=1):
        if source is not None:
            headers.append(_read_part(number, split.count, name, source))
    return headers


def _names_of_parts(split: Split, file_name: str) -> tuple[str, ...]:
    """Return the names that llama.cpp will look for, or say why it would not find them."""
    ending = part_ending(0, split.count)
    if split.count > MAX_PARTS or not 0 <= split.number < split.count:
        raise UserError(
            translate(
                "ModelFile",
                "This file claims to be part {number} of {count}, so it is damaged: download the model again.",
                number=split.number + 1,
                count=split.count,
            )
        )
    if split.number > 0:
        raise UserError(
            translate(
                "ModelFile",
                "This is file {number} of {count} of one model: choose the first one, whose name ends in “{ending}”.",
                number=split.number + 1,
                count=split.count,
                ending=ending,
            )
        )
    names = part_names(file_name, split.count)
    if names is None:
        raise UserError(
            translate(
                "ModelFile",
                "This is the first of {count} files of one model, which are found by their names: rename it"
                " so that it ends in “{ending}” again.",
                count=split.count,
                ending=ending,
            )
        )
    return names


def _read_part(number: int, count: int, name: str, source: ModelSource) -> Header:
    """Return the header of one further part after checking that it is whole and in its place."""
    try:
        header = read_header(*source)
    except UserError as error:
        raise _unusable_part(name) from error
    split = header.split
    if split is None or split.number != number or split.count != count:
        raise _unusable_part(name)
    check_tensor_data(header, source.size, name)
    return header


def _unusable_part(name: str) -> UserError:
    return UserError(
        translate(
            "ModelFile",
            "“{file}”, one of the files of this model, is damaged or belongs to another model: download it again.",
            file=shown_name(name),
        )
    )
