"""The command `ask`: streams one answer to standard output, as text or as one JSON object per event."""

from __future__ import annotations

import os
from typing import Protocol

import msgspec

from app.cli.ask_json import JsonWriter, failed_line
from app.cli.ask_text import TextWriter
from app.cli.pump import Pump
from app.cli.steps import with_step
from app.cli.terminal import Terminal
from app.core.errors import ExitCode, UserError
from app.core.events import Failed, FailureKind, Finished, Loaded, LoadProgress
from app.core.words import translate
from app.services.ask_options import AskOptions
from app.services.program import Program
from app.services.questions import AnswerEvent

EXIT_CODES: dict[FailureKind, ExitCode] = {
    "engine": ExitCode.ENGINE_DIED,
    "cancelled": ExitCode.INTERRUPTED,
    "wrong_use": ExitCode.WRONG_USE,
    "prompt_too_long": ExitCode.WRONG_USE,
}


class Writer(Protocol):
    """Writes what happens to standard output."""

    def write(self, event: LoadProgress | Loaded | AnswerEvent) -> None:
        """Write one event."""


def run_ask(program: Program, options: AskOptions, terminal: Terminal, as_json: bool) -> ExitCode:
    """Answer one prompt and return the exit code; raises the sentence that says why it cannot."""
    if options.prompt == "-":
        options = msgspec.structs.replace(options, prompt=terminal.read_input())
    if not options.prompt.strip():
        raise UserError(translate("CommandLine", "The prompt is empty: type a question."), ExitCode.WRONG_USE)
    ask = program.ask
    writer: Writer = JsonWriter(terminal, ask) if as_json else TextWriter(terminal, ask)
    names = program.templates.names
    ask.told.connect(lambda event: writer.write(with_step(event, names) if isinstance(event, Failed) else event))
    pump = Pump(program.inbox, program.dispatch, ask.cancel)
    try:
        ask.begin(options)
        pump.run(lambda: ask.outcome is not None, _end_at_once)
    except UserError as error:
        if as_json:
            terminal.write(failed_line(error))
        raise
    except BrokenPipeError:
        terminal.forget_output()
        ask.cancel()
        return ExitCode.DONE
    finally:
        terminal.clear_progress()
    match ask.outcome:
        case Finished(stop_reason=reason):
            interrupted = pump.interrupted and reason == "cancelled"
            return ExitCode.INTERRUPTED if interrupted else ExitCode.DONE
        case Failed() as failed:
            if pump.interrupted:
                return ExitCode.INTERRUPTED
            terminal.say(with_step(failed, names).sentence.english())
            return EXIT_CODES.get(failed.kind, ExitCode.MODEL_UNUSABLE)
        case None:
            return ExitCode.INTERRUPTED


def _end_at_once() -> None:
    """End without waiting for anything; the engine process ends by itself when its parent is gone."""
    os._exit(ExitCode.INTERRUPTED)
