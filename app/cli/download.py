"""The command `models download`: fetches a model of a hub, and says how far it is on standard error."""

from __future__ import annotations

import os
import time
from pathlib import Path

from app.cli.pump import Pump
from app.cli.terminal import Terminal
from app.core.download import wanted_of
from app.core.errors import ExitCode, UserError
from app.core.gguf_cursor import shown_name
from app.core.hub_files import missing_parts
from app.core.hub_model import HubModel, hub_reference
from app.core.words import translate
from app.services.downloads import DownloadRow, Downloads
from app.services.model_check import check_model
from app.services.program import Program
from app.services.units import byte_size

TELL_EVERY_S = 10.0
"""Where nobody looks at a screen: a line in a log."""
_MOST_NAMED = 8


def run_download(program: Program, typed: str, terminal: Terminal) -> ExitCode:
    """Download the model and return the exit code; its path is what standard output gets."""
    downloads, teller = program.downloads, _Teller(terminal)
    wanted = wanted_of(_chosen(downloads, typed, terminal))

    def row() -> DownloadRow | None:
        return downloads.row(wanted.key)

    def is_over() -> bool:
        now = row()
        if now is not None:
            teller.tell(now)
        return pump.interrupted or (now is not None and now.state in ("done", "failed"))

    pump = Pump(program.inbox, program.dispatch, lambda: None)
    downloads.add(wanted)
    pump.run(is_over, lambda: os._exit(ExitCode.INTERRUPTED))
    terminal.clear_progress()
    found = row()
    if found is not None and found.state == "done":
        terminal.write(found.path + "\n")
        looked, _ = check_model(Path(found.path))
        if looked.problem is not None:
            terminal.say(f"It cannot be used to chat: {looked.problem.english()}")
        return ExitCode.DONE
    if found is not None and found.problem is not None:
        raise UserError(found.problem)
    terminal.say("Stopped. What is there is kept: the same command goes on from there.")
    return ExitCode.INTERRUPTED


def _chosen(downloads: Downloads, typed: str, terminal: Terminal) -> HubModel:
    """Return the one model that was named, all parts of it; otherwise raise the sentence that says why that is not one."""
    reference = hub_reference(typed)
    if reference is None:
        raise UserError(
            translate(
                "CommandLine", "“{typed}” names no model of a hub: type ORG/REPO:FILE.", typed=shown_name(typed)
            ),
            ExitCode.WRONG_USE,
        )
    terminal.progress(f"Looking at {reference.repository} …")
    models = downloads.find(reference)
    if len(models) > 1:
        raise UserError(
            translate(
                "CommandLine",
                "{repository} has {count} models: name one after a colon, such as {names}.",
                repository=reference.repository,
                count=len(models),
                names=", ".join(shown_name(model.path) for model in models[:_MOST_NAMED]),
            ),
            ExitCode.WRONG_USE,
        )
    missing = missing_parts(models[0].files)
    if missing:
        raise UserError(
            translate(
                "CommandLine",
                "{repository} holds only {there} of the {count} parts of {name}, which nothing can be done with: choose"
                " another one, which tokenlight models show lists.",
                repository=reference.repository,
                there=len(models[0].files),
                count=len(models[0].files) + missing,
                name=shown_name(models[0].path),
            )
        )
    return models[0]


class _Teller:
    """Says how far it is: on a screen all the time, elsewhere now and then."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._next = 0.0
        self._state = ""

    def tell(self, row: DownloadRow) -> None:
        text = _line(row)
        if self._terminal.shows_figures:
            self._terminal.progress(text)
            return
        state = "running" if row.state == "waiting" else row.state  # before the first byte both say the same
        if state != self._state or time.monotonic() >= self._next:
            self._state, self._next = state, time.monotonic() + TELL_EVERY_S
            self._terminal.say(text)


def _line(row: DownloadRow) -> str:
    if row.problem is not None and row.again_in_s is not None:
        return f"{row.problem.english()} Again in {row.again_in_s:.0f} s."
    parts = [f"{row.wanted.name}: {row.share:.0%} of {byte_size(row.total)}"]
    if row.state == "checking":
        parts.append("checking")
    if row.bytes_per_s == 0:
        parts.append("waiting for the server")
    elif row.bytes_per_s is not None:
        parts.append(f"{byte_size(round(row.bytes_per_s))}/s")
    if row.seconds_left is not None:
        parts.append(f"{row.seconds_left:.0f} s left")
    return ", ".join(parts)
