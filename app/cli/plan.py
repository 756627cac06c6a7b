"""The command `plan`: will a model fit, how fast would it be, and what would help, as text or JSON."""

from __future__ import annotations

import os
import threading

import msgspec

from app.cli.plain_values import plain
from app.cli.plan_text import plan_text
from app.cli.pump import Pump
from app.cli.terminal import Terminal
from app.core.errors import ExitCode
from app.core.events import Event
from app.services.plan_answer import PlanAsked
from app.services.program import Program

LIMIT_SECONDS = 60.0
"""An engine that says nothing for so long is ended, and the plan made without it."""


def run_plan(
    program: Program, asked: PlanAsked, terminal: Terminal, as_json: bool, limit_seconds: float = LIMIT_SECONDS
) -> ExitCode:
    """Print the plan and return the exit code."""
    command = program.planner.command

    def tell(name: str, number: int, count: int) -> None:
        terminal.progress(f"Reading {name} …" if count == 1 else f"Reading {name} ({number} of {count}) …")

    def dispatch(event: Event) -> None:
        command.take(event)
        program.dispatch(event)

    try:
        command.find(asked, tell)
        terminal.progress("Asking this machine …")
        pump = Pump(program.inbox, dispatch, program.engine.close)
        limit = threading.Timer(limit_seconds, program.engine.close)
        limit.daemon = True
        limit.start()
        try:
            command.ask()
            pump.run(lambda: command.is_answered or pump.interrupted, _end_at_once)
        finally:
            limit.cancel()
            limit.join()
        if pump.interrupted:
            return ExitCode.INTERRUPTED
    finally:
        terminal.clear_progress()
    report = command.report()
    terminal.write(msgspec.json.encode(plain(report)).decode() + "\n" if as_json else plan_text(report))
    return ExitCode.DONE if command.is_usable else ExitCode.MODEL_UNUSABLE


def _end_at_once() -> None:
    """End without waiting for anything; the engine process ends by itself when its parent is gone."""
    os._exit(ExitCode.INTERRUPTED)
