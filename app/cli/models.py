"""The command `models`: the model files on this machine, and why those that cannot be used cannot."""

from __future__ import annotations

from typing import Any

import msgspec

from app.cli.table import table
from app.cli.terminal import Terminal, one_line
from app.core.errors import ExitCode
from app.core.found_file import ORIGIN_NAMES
from app.core.model import FoundModel
from app.services.models import Models
from app.services.units import byte_size, count, parameter_count
from app.system.model_files import shown

_HEAD = ("Model", "Kind", "Quantisation", "Parameters", "Size", "Context")


def run_models(models: Models, terminal: Terminal, as_json: bool) -> ExitCode:
    """Print the list and return the exit code."""
    found = models.list_now()
    if as_json:
        terminal.write(msgspec.json.encode([_plain(model) for model in found]).decode() + "\n")
        return ExitCode.DONE
    rows = [
        (
            shown(model.name),
            model.architecture or "–",
            model.quantisation or "–",
            parameter_count(model.parameters),
            byte_size(model.size),
            count(model.trained_context),
        )
        for model in found
    ]
    head, *printed = table(_HEAD, rows)
    lines = [head] if rows else []
    for model, row in zip(found, printed, strict=True):
        lines.append(row)
        lines.append(f"    {one_line(shown(model.path))}{_remarks(model)}")
        if model.problem is not None:
            lines.append(f"    Cannot be used: {one_line(model.problem.english())}")
    if not rows:
        lines.append("No model was found. Put a .gguf file into one of these folders:")
        lines.extend(f"    {one_line(shown(folder))}" for folder in models.folders)
    terminal.write("\n".join(lines) + "\n")
    return ExitCode.DONE


def _remarks(model: FoundModel) -> str:
    """Return what stands behind a path: which parts are there, and whose the file is."""
    remarks = [f"{model.parts} of {model.parts_wanted} parts present"] if model.parts < model.parts_wanted else []
    if model.origin != "own":
        remarks.append(ORIGIN_NAMES[model.origin])
    return f" ({', '.join(remarks)})" if remarks else ""


def _plain(model: FoundModel) -> dict[str, Any]:
    line: dict[str, Any] = msgspec.to_builtins(
        msgspec.structs.replace(model, path=shown(model.path), name=shown(model.name))
    )
    line["problem"] = model.problem.english() if model.problem else None
    return line
