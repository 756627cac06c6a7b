"""What the command `ask` was given, as one value for the services."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from app.cli.values import AUTOMATIC
from app.core.errors import ExitCode, UserError
from app.core.grammar import GrammarKind
from app.core.sampling import BOUNDS, PRESETS
from app.core.words import translate
from app.services.ask_options import AskOptions


def ask_options(found: argparse.Namespace) -> AskOptions:
    """Return what was typed. Raises `UserError` for options that contradict each other."""
    typed = {name: value for name, value in vars(found).items() if value is not None}
    names = [*BOUNDS, "seed", "stop", "dry_sequence_breakers", "order", "off"]
    changes = {
        name: tuple(typed[name]) if isinstance(typed[name], list) else typed[name] for name in names if name in typed
    }
    load: dict[str, object] = {name: typed[name] for name in ("context", "threads") if name in typed}
    if "gpu_layers" in typed:
        load["gpu_layers"] = None if typed["gpu_layers"] == AUTOMATIC else typed["gpu_layers"]
    if "kv_type" in typed:
        load.update(kv_type_k=typed["kv_type"], kv_type_v=typed["kv_type"])
    if typed.get("raw") and ("template" in typed or typed["system"]):
        raise UserError(
            translate("CommandLine", "--raw continues plain text, so leave out --template and --system."),
            ExitCode.WRONG_USE,
        )
    return AskOptions(
        prompt=typed["prompt"],
        model=typed.get("model"),
        system=typed["system"],
        template=typed.get("template"),
        raw=typed["raw"],
        load=load,
        load_anyway=typed["load_anyway"],
        preset=PRESETS[typed["preset"]] if "preset" in typed else None,
        changes=changes,
        grammar=_grammar(typed),
        files=tuple(typed["files"]),
    )


def _grammar(typed: dict[str, Any]) -> tuple[GrammarKind, Path] | None:
    if "grammar" in typed:
        return "gbnf", typed["grammar"]
    return ("json_schema", typed["json_schema"]) if "json_schema" in typed else None
