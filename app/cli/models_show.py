"""The command `models show`: what a repository of a hub holds, and what it says of itself."""

from __future__ import annotations

import msgspec

from app.cli.machine_asked import ask_machine
from app.cli.models_search import shown_age
from app.cli.plan_text import fit_in_table
from app.cli.table import cell, table
from app.cli.terminal import Terminal, one_line
from app.core.errors import ExitCode, UserError
from app.core.gguf_cursor import shown_name
from app.core.hub_model import hub_reference
from app.core.hub_page import HubPage, HubQuantisation
from app.core.hub_search import unread_words
from app.core.words import translate
from app.services.program import Program
from app.services.recommended_files import FileChoice, JudgedFile, loss_words
from app.services.units import byte_size, count, parameter_count

_HEAD = ("  Quantisation", "Size", "Bits/weight", "Expected loss", "Here", "Files", "File")
_BEST = "*"
_GATES = {
    None: "–",
    "": "none",
    "auto": "to accept on its page",
    "manual": "to accept on its page, then authors answer",
}


def run_models_show(program: Program, typed: str, terminal: Terminal, as_json: bool, with_card: bool) -> ExitCode:
    """Print a repository's page and return the exit code."""
    reference = hub_reference(typed)
    if reference is None or reference.file:
        raise UserError(
            translate(
                "CommandLine", "“{typed}” names no repository of a hub: type ORG/REPO.", typed=shown_name(typed)
            ),
            ExitCode.WRONG_USE,
        )
    terminal.progress(f"Reading {reference.repository} …")
    try:
        page = program.discovering.describe_now(reference.repository)
    finally:
        terminal.clear_progress()
    if page.quantisations and not ask_machine(program, terminal):
        return ExitCode.INTERRUPTED
    terminal.progress(f"Reading a header of {reference.repository} …")
    try:
        choice = program.planner.recommending.files_now(page)
    finally:
        terminal.clear_progress()
    if as_json:
        plain = {
            **msgspec.to_builtins(page),
            "problem": page.problem.english() if page.problem is not None else None,
        }
        plain["card"]["problem"] = page.card.problem.english() if page.card.problem is not None else None
        plain["recommended"] = choice.recommended or None
        plain["recommended_reason"] = choice.reason.english() if choice.reason is not None else None
        plain["recommended_note"] = choice.note.english() if choice.note is not None else None
        for each, told in zip(page.quantisations, plain["quantisations"], strict=True):
            told.update(_judged_plain(choice.of(each.path)))
        terminal.write(msgspec.json.encode(plain).decode() + "\n")
    else:
        terminal.write(_text(page, choice, with_card, terminal.columns))
    return ExitCode.DONE


def _judged_plain(judged: JudgedFile | None) -> dict[str, object]:
    if judged is None:
        return {"verdict": None, "state": None, "verdict_reason": None, "expected_loss": None}
    fit, loss = judged.fit, judged.loss
    return {
        "verdict": fit.verdict,
        "state": fit.state or None,
        "verdict_reason": fit.reason.english(),
        "expected_loss": None if loss is None else loss.level,
    }


def _text(page: HubPage, choice: FileChoice, with_card: bool, columns: int | None) -> str:
    told = page.repository
    lines = []
    if page.problem is not None:
        lines += [f"Read {shown_age(page.age_s)} ago. Now: {one_line(page.problem.english())}", ""]
    lines += [
        cell(told.id),
        (
            f"Kind: {cell(told.architecture) or '–'}; parameters: {parameter_count(told.parameters)};"
            f" context: {count(told.context)}"
        ),
        (
            f"License: {cell(told.license) or '–'}; terms: {_GATES[told.gate]};"
            f" languages: {cell(', '.join(told.languages)) or '–'}"
        ),
        f"Downloads: {count(told.downloads)}; likes: {count(told.likes)}; updated: {one_line(told.updated[:10]) or '–'}",
        "",
    ]
    if page.quantisations:
        rows = [_row(each, choice) for each in page.quantisations]
        lines += table(_HEAD, rows, columns)
        if choice.reason is not None:
            mark = f"{_BEST} " if choice.recommended else ""
            lines += ["", f"{mark}{one_line(choice.reason.english())}"]
        lines += [one_line(each.english()) for each in (choice.note, choice.problem) if each is not None]
    else:
        lines.append("It holds no GGUF file: look for the same model with “GGUF” in its name.")
    if page.unread:
        lines += ["", one_line(unread_words(page.unread).english())]
    if with_card:
        said = page.card.problem.english() if page.card.problem is not None else "It has no card."
        lines += ["", *(page.card.text.split("\n") if page.card.text else [one_line(said)])]
    return "\n".join(lines) + "\n"


def _row(quantisation: HubQuantisation, choice: FileChoice) -> tuple[str, ...]:
    judged = choice.of(quantisation.path)
    files = str(len(quantisation.files))
    if quantisation.missing_parts:
        files += f" of {len(quantisation.files) + quantisation.missing_parts}"
    bits = quantisation.bits_per_weight
    mark = _BEST if quantisation.path == choice.recommended else " "
    return (
        f"{mark} {quantisation.name}" + (" (projector)" if quantisation.is_projector else ""),
        byte_size(quantisation.size),
        f"{bits:.1f}" if bits is not None else "–",
        loss_words(judged.loss).english() if judged is not None else "–",
        fit_in_table(judged.fit) if judged is not None else "–",
        files,
        quantisation.path,
    )
