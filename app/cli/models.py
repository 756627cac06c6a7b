"""The command `models`: the model files on this machine, and why those that cannot be used cannot."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from app.cli.table import cell, table
from app.cli.terminal import Terminal, one_line
from app.core.errors import ExitCode
from app.core.found_file import ORIGIN_NAMES
from app.core.model import FoundModel
from app.core.model_note import KeptOfModels, ModelNote, ModelUse
from app.services.models import Models
from app.services.units import UNKNOWN, byte_size, count, parameter_count, rate
from app.system.model_files import shown

_HEAD = ("Model", "Kind", "Quantisation", "Parameters", "Size", "Context")


class _Listed(msgspec.Struct, frozen=True):
    """A model with what is kept of it."""

    model: FoundModel
    note: ModelNote
    use: ModelUse | None

    @property
    def name(self) -> str:
        """What people call it, else what its file says."""
        return shown(self.note.name or self.model.name)

    @property
    def last_used(self) -> str | None:
        """When it answered last here; None where that is not known."""
        if self.use is None:
            return None
        try:
            return datetime.fromtimestamp(self.use.last_ms / 1000, UTC).isoformat(timespec="seconds")
        except (OverflowError, ValueError, OSError):
            return None


def run_models(models: Models, kept: KeptOfModels, terminal: Terminal, as_json: bool) -> ExitCode:
    """Print the list and return the exit code."""
    notes, uses = {note.model: note for note in kept.notes}, {use.model: use for use in kept.uses}
    found = [
        _Listed(model, notes.get(model.identity, ModelNote(model.identity)), uses.get(model.identity))
        for model in models.list_now()
    ]
    if as_json:
        terminal.write(msgspec.json.encode([_plain(listed) for listed in found]).decode() + "\n")
    else:
        terminal.write("\n".join(_table(found) or _nothing(models)) + "\n")
    _tell_of_folders(models, terminal)
    return ExitCode.DONE


def _table(found: list[_Listed]) -> list[str]:
    rows = [
        (
            listed.name,
            listed.model.architecture or UNKNOWN,
            listed.model.quantisation or UNKNOWN,
            parameter_count(listed.model.parameters),
            byte_size(listed.model.size),
            count(listed.model.trained_context),
        )
        for listed in found
    ]
    head, *printed = table(_HEAD, rows)
    lines = [head] if rows else []
    first: dict[str, FoundModel] = {}
    for listed, row in zip(found, printed, strict=True):
        model = listed.model
        same = first.setdefault(model.identity, model) if model.identity else model
        lines.append(row)
        lines.append(f"    {one_line(shown(model.path))}{_remarks(model)}")
        if same is not model:
            lines.append(f"    The same model as {one_line(shown(same.path))}")
        if model.problem is not None:
            lines.append(f"    Cannot be used: {one_line(model.problem.english())}")
        lines.extend(f"    {said}" for said in _said(listed) if said)
    return lines


def _said(listed: _Listed) -> list[str]:
    """Return what is known of a model beside its row: of its file, of its use, and what people say of it."""
    model, use, note = listed.model, listed.use, listed.note
    facts = ["Favourite"] if note.favourite else []
    if model.source is not None:
        facts.append(f"from {cell(model.source.repository)}")
    if model.is_usable:
        facts.append(f"License {cell(model.license or UNKNOWN)}")
        facts.append("chat template in the file" if model.has_template else "no chat template in the file")
        facts.append(f"last used {listed.last_used or UNKNOWN}")
        if use is not None and use.decode is not None:
            facts.append(f"writes {rate(use.decode)} tok/s here")
    return [", ".join(facts), f"Note: {cell(note.note)}" if note.note else ""]


def _nothing(models: Models) -> list[str]:
    folders = [f"    {one_line(shown(folder))}" for folder in models.folders]
    return ["No model was found. Put a .gguf file into one of these folders:", *folders]


def _tell_of_folders(models: Models, terminal: Terminal) -> None:
    """Say which folders that were added are not there: their models are missing in the list, and nothing else is wrong."""
    for folder, state in models.look_at_folders().items():
        if state == "missing":
            terminal.say(
                f"Not here now: {shown(folder)}. If it lies on a drive that is away, its models come back with it;"
                " notes and favourites stay."
            )
        elif state == "closed":
            terminal.say(f"{shown(folder)} may not be read: change its permissions.")


def _remarks(model: FoundModel) -> str:
    """Return what stands behind a path: which parts are there, and whose the file is."""
    remarks = [f"{model.parts} of {model.parts_wanted} parts present"] if model.parts < model.parts_wanted else []
    if model.origin != "own":
        remarks.append(ORIGIN_NAMES[model.origin])
    return f" ({', '.join(remarks)})" if remarks else ""


def _plain(listed: _Listed) -> dict[str, Any]:
    model, use, note = listed.model, listed.use, listed.note
    name_before = shown(model.name) if note.name else ""
    line: dict[str, Any] = msgspec.to_builtins(
        msgspec.structs.replace(model, path=shown(model.path), name=listed.name, name_before=name_before)
    )
    del line["is_lost"]
    line["problem"] = model.problem.english() if model.problem else None
    line["last_used"] = listed.last_used
    line["decode_tokens_per_s"] = use.decode if use is not None else None
    line["prefill_tokens_per_s"] = use.prefill if use is not None else None
    line["favourite"], line["note"] = note.favourite, note.note
    return line
