"""The command `doctor`: what this machine has, what is wrong, and the one command that mends it."""

from __future__ import annotations

import os
import threading
from itertools import groupby

import msgspec

from app.cli.plain_values import plain
from app.cli.pump import Pump
from app.cli.terminal import Terminal, one_line
from app.core.errors import ExitCode
from app.core.words import translate
from app.services.doctor import EngineAnswer
from app.services.findings import TITLES, Fact, Finding, Report
from app.services.program import Program
from app.services.surroundings import Surroundings

LIMIT_SECONDS = 60.0
"""An engine that says nothing for so long is ended."""
INDENT = "  "
FINDINGS = translate("Doctor", "Findings")


def run_doctor(program: Program, terminal: Terminal, as_json: bool, limit_seconds: float = LIMIT_SECONDS) -> ExitCode:
    """Examine, print what was found, and return 0 when a chat can be had, 4 when the engine cannot start."""
    doctor = program.doctor
    pump = Pump(program.inbox, program.dispatch, program.engine.close)
    terminal.progress("Looking at this machine …")
    limit = threading.Timer(limit_seconds, program.engine.close)
    limit.daemon = True
    limit.start()
    try:
        doctor.begin()
        pump.run(lambda: doctor.is_answered or pump.interrupted, _end_at_once)
        limit.cancel()
        if pump.interrupted:
            return ExitCode.INTERRUPTED
        around = doctor.look_around()
    finally:
        limit.cancel()
        limit.join()
        terminal.clear_progress()
    report = doctor.report(around)
    code = ExitCode.DONE if report.engine_works else ExitCode.ENGINE_DIED
    terminal.write(_json(report, doctor.answer, around, code) if as_json else _text(report))
    return code


def _text(report: Report) -> str:
    lines = []
    for section, facts in groupby(report.facts, lambda fact: fact.section):
        lines += [TITLES[section].english(), *_rows(list(facts)), ""]
    lines.append(FINDINGS.english())
    found = [finding for finding in report.findings if finding.state != "ok"]
    lines += [line for finding in report.findings if finding.state == "ok" for line in _paragraph(finding)]
    lines += [line for finding in found for line in _paragraph(finding)]
    if not found:
        lines.append(f"{INDENT}Nothing is wrong.")
    return "\n".join(lines) + "\n"


def _rows(facts: list[Fact]) -> list[str]:
    names = [one_line(fact.name.english()) for fact in facts]
    width = max(map(len, names))
    values = [one_line(fact.value.english()) for fact in facts]
    return [f"{INDENT}{name.ljust(width)}  {value}".rstrip() for name, value in zip(names, values, strict=True)]


def _paragraph(finding: Finding) -> list[str]:
    state = {"ok": "ok", "note": "note", "problem": "problem"}[finding.state].ljust(len("problem"))
    sentences = (finding.sentence, *(() if finding.reason is None else (finding.reason,)))
    lines = [f"{INDENT}{state}  {one_line(' '.join(sentence.english() for sentence in sentences))}"]
    if finding.command:
        lines.append(f"{INDENT}{' ' * len(state)}  {one_line(finding.command)}")
    return lines


def _json(report: Report, answer: EngineAnswer, around: Surroundings, code: ExitCode) -> str:
    """Return one object: whether it works, what was found, and the figures behind it; unknown is null."""
    found = {
        "engine_works": report.engine_works,
        "exit_code": int(code),
        "findings": [plain(finding) for finding in report.findings],
        "facts": [
            {"section": fact.section, "name": fact.name.english(), "value": fact.value.english()}
            for fact in report.facts
        ],
        "engine": plain(answer),
        "memory": plain(around.memory),
        "gpus": plain(around.gpus),
        "qt": plain(around.qt),
    }
    return msgspec.json.encode(found).decode() + "\n"


def _end_at_once() -> None:
    """End without waiting for anything; the engine process ends by itself when its parent is gone."""
    os._exit(ExitCode.INTERRUPTED)
