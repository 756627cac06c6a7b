"""The command `models recommend`: which model of the catalogue suits this machine, and how the others would fit."""

from __future__ import annotations

from typing import Any

import msgspec

from app.cli.machine_asked import LIMIT_SECONDS, ask_machine
from app.cli.plain_values import plain
from app.cli.plan_text import fit_in_table
from app.cli.table import table
from app.cli.terminal import Terminal, one_line
from app.core.catalogue import CatalogueModel
from app.core.errors import ExitCode
from app.services.program import Program
from app.services.recommending import ModelChoice
from app.services.units import byte_size, count, parameter_count

_HEAD = ("Model", "For", "Parameters", "Size", "Context", "License", "Here")
_BEST = "*"


def run_models_recommend(
    program: Program, terminal: Terminal, as_json: bool, limit_seconds: float = LIMIT_SECONDS
) -> ExitCode:
    """Print the recommendation and return the exit code."""
    if not ask_machine(program, terminal, limit_seconds):
        return ExitCode.INTERRUPTED
    choice = program.planner.recommending.models_now()
    terminal.write(msgspec.json.encode(_plain(choice)).decode() + "\n" if as_json else _text(choice))
    return ExitCode.DONE if choice.models else ExitCode.MODEL_UNUSABLE


def _text(choice: ModelChoice) -> str:
    lines = [] if choice.reason is None else [one_line(choice.reason.english())]
    best = choice.recommended
    if best is not None:
        lines += [f"    {best.purpose}", f"    tokenlight models download {_named(best)}"]
        here = next(each.fit for each in choice.models if each.model is best)
        if here.state:
            lines.append(f"    {one_line(here.reason.english())}")
    if choice.starter is not None and choice.starter_reason is not None:
        lines.append(one_line(choice.starter_reason.english()))
        lines.append(f"    tokenlight models download {_named(choice.starter)}")
    if not choice.models:
        return "\n".join(lines) + "\n"
    rows = [
        (
            f"{_BEST if each.model is best else ' '} {each.model.name}",
            each.model.kind,
            parameter_count(each.model.parameters),
            byte_size(each.model.size),
            count(each.model.context),
            each.model.license,
            fit_in_table(each.fit),
        )
        for each in choice.models
    ]
    return "\n".join([*lines, "", *table(_HEAD, rows)]) + "\n"


def _named(model: CatalogueModel) -> str:
    return f"{model.repository}:{model.file}"


def _plain(choice: ModelChoice) -> dict[str, Any]:
    best = choice.recommended
    return {
        "recommended": None if best is None else _named(best),
        "reason": plain(choice.reason),
        "starter": None if choice.starter is None else _named(choice.starter),
        "starter_reason": plain(choice.starter_reason),
        "models": [
            {
                **msgspec.to_builtins(each.model),
                "verdict": each.fit.verdict,
                "state": each.fit.state or None,
                "verdict_reason": each.fit.reason.english(),
            }
            for each in choice.models
        ],
    }
