"""The command `models inspect`: what a GGUF file holds, or what differs between two."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from app.cli.plain_values import plain
from app.cli.table import cell, table
from app.cli.terminal import Terminal, one_line
from app.core.errors import ExitCode, UserError
from app.core.gguf_difference import EntryPair, GgufDifference, TensorPair
from app.core.gguf_view import EntryView, GgufView, TensorView
from app.core.words import translate
from app.services.model_viewing import view_files
from app.services.units import byte_size, count, parameter_count
from app.services.viewing_words import length_words, place_words, role_words, shape_text, value_text
from app.system.model_files import readable, shown

MOST_ROWS = 1_000
"""Rows of one table; `--json` has all."""
_ABSENT = "–"


def run_models_inspect(paths: tuple[Path, ...], terminal: Terminal, as_json: bool) -> ExitCode:
    """Print what there is to see and return the exit code."""
    files = view_files(*paths)
    if files.problem is not None:
        problem = files.problem
        if len(paths) > 1 and files.broken is not None:
            problem = translate(
                "CommandLine", "{file}: {reason}", file=readable(files.broken), reason=problem.english()
            )
        raise UserError(problem, ExitCode.MODEL_UNUSABLE)
    names = [shown(path) for path in paths]
    if as_json:
        told: dict[str, Any] = {
            "files": [{"path": name, **plain(view)} for name, view in zip(names, files.views, strict=True)],
            "difference": plain(files.difference),
        }
        terminal.write(msgspec.json.encode(told).decode() + "\n")
    elif files.difference is None:
        terminal.write("\n".join(_file(names[0], files.views[0])) + "\n")
    else:
        terminal.write("\n".join(_difference(names, files.views, files.difference)) + "\n")
    return ExitCode.DONE


def _file(name: str, view: GgufView) -> list[str]:
    entries = [(each.key, each.type, _value(each)) for each in view.entries]
    if view.entries_left_out:
        entries.append(("…", "", f"{view.entries_left_out:,} more entries"))
    tensors = [
        (each.name, shape_text(each), each.type, byte_size(each.size), f"{each.offset:,}") for each in view.tensors
    ]
    places = [(place_words(each).english(), count(each.tensors), byte_size(each.size)) for each in view.places]
    types = [
        (each.type, count(each.tensors), parameter_count(each.elements), byte_size(each.size)) for each in view.types
    ]
    return [
        one_line(name),
        _summary(view),
        *_table("Metadata", ("Key", "Type", "Value"), entries),
        *_tokenizer(view),
        *_templates(view),
        *_table("Size by layer", ("Layer", "Tensors", "Size"), places),
        *_table("Size by type", ("Type", "Tensors", "Numbers", "Size"), types),
        *_table("Tensors", ("Name", "Shape", "Type", "Size", "Offset"), tensors),
    ]


def _summary(view: GgufView) -> str:
    parts = f"; {view.parts} of {view.parts_wanted} parts" if view.parts_wanted > 1 else ""
    return (
        f"GGUF {view.version}; {byte_size(view.file_size)}, {byte_size(view.header_size)} of them header;"
        f" alignment {view.alignment:,}; {len(view.tensors):,} tensors{parts}"
    )


def _tokenizer(view: GgufView) -> list[str]:
    told = view.tokenizer
    if told.kind is None and told.vocabulary is None:
        return ["", "Tokenizer: none"]
    kind = cell(told.kind or _ABSENT) + (f" ({cell(told.pre)})" if told.pre else "")
    merges = f"; {told.merges:,} merges" if told.merges is not None else ""
    rows = [
        (count(each.id), each.text if each.text is not None else _ABSENT, _role(each.role)) for each in told.special
    ]
    if told.special_left_out:
        rows.append(("…", f"{told.special_left_out:,} more", ""))
    return [
        "",
        f"Tokenizer: {kind}; {count(told.vocabulary)} tokens{merges}",
        *_table("Special tokens", ("Token", "Text", "For"), rows),
    ]


def _templates(view: GgufView) -> list[str]:
    lines = []
    for each in view.templates:
        lines += ["", "Chat template" + (f" “{cell(each.name)}”" if each.name else "")]
        lines += [f"    {one_line(line)}" for line in each.text.splitlines()]
        if each.left_out:
            lines.append(f"    … {each.left_out:,} more characters")
    return lines or ["", "Chat template: none"]


def _difference(names: Sequence[str], views: Sequence[GgufView], told: GgufDifference) -> list[str]:
    lines = [
        line
        for number, (name, view) in enumerate(zip(names, views, strict=True), 1)
        for line in (f"{number}: {one_line(name)}", f"   {_summary(view)}")
    ]
    if told.is_none:
        return [*lines, "", "Both say the same of themselves and of their tensors; the weights were not compared."]
    entries = [(each.key, *_sides(each)) for each in told.entries]
    tensors = [(each.name, *_sides(each)) for each in told.tensors]
    types = [(each.type, byte_size(each.first), byte_size(each.second)) for each in told.types]
    return [
        *lines,
        "",
        f"The same in both: {told.same_entries:,} entries, {told.same_tensors:,} tensors by shape and type.",
        *_table("Metadata that differs", ("Key", "1", "2"), entries),
        *_table("Size by type", ("Type", "1", "2"), types),
        *_table("Tensors that differ", ("Name", "1", "2"), tensors),
    ]


def _sides(pair: EntryPair | TensorPair) -> tuple[str, str]:
    first, second = pair.first, pair.second
    cells = _side(first), _side(second)
    if isinstance(first, EntryView) and isinstance(second, EntryView) and first.type != second.type:
        return f"{cells[0]} ({first.type})", f"{cells[1]} ({second.type})"
    return cells


def _side(side: EntryView | TensorView | None) -> str:
    if side is None:
        return _ABSENT
    if isinstance(side, EntryView):
        return _value(side)
    return f"{side.type} {shape_text(side)}"


def _role(role: str) -> str:
    words = role_words(role)
    return f"{role}: {words.english()}" if words is not None else role


def _value(entry: EntryView) -> str:
    length = length_words(entry)
    return value_text(entry) + (f" ({length.english()})" if length is not None else "")


def _table(title: str, head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return a table with its title; nothing where it has no rows."""
    if not rows:
        return []
    printed = rows[:MOST_ROWS]
    lines = table(head, printed)
    if len(rows) > len(printed):
        lines.append(f"… {len(rows) - len(printed):,} more; --json has all of them")
    return ["", title, *lines]
