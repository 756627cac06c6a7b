"""The commands `export` and `import`: conversations into a file, and out of files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from app.cli.chat_options import ExportAsked, ImportAsked
from app.cli.pump import Pump
from app.cli.table import table
from app.cli.terminal import Terminal
from app.core.conversation import Conversation
from app.core.errors import ExitCode, UserError
from app.core.words import Sentence, translate
from app.services.chat_markdown import MarkdownWriter
from app.services.exporting import ChatWriter
from app.services.importers.chat_file import ChatLines
from app.services.importing import ImportReport
from app.services.program import Program
from app.system.instance import window_is_open
from app.system.model_files import readable

MakePage = Callable[[Program], ChatWriter]
"""Makes what writes HTML, which needs a library that may not be there."""


def run_moving(
    program: Program, asked: ExportAsked | ImportAsked, terminal: Terminal, as_json: bool, make_page: MakePage | None
) -> ExitCode:
    """Do what was asked and return the exit code."""
    if window_is_open(program.paths.data):
        raise _wrong(
            translate("CommandLine", "The window of Tokenlight is open: do it there, in the menu Chat, or close it.")
        )
    stop = program.chat_import.cancel if isinstance(asked, ImportAsked) else program.chat_export.cancel
    pump = Pump(program.inbox, program.dispatch, stop)
    program.conversations.start()
    pump.run(lambda: not program.conversations.is_opening or pump.interrupted, _end_at_once)
    if pump.interrupted:
        return ExitCode.INTERRUPTED
    if isinstance(asked, ImportAsked):
        return _import(program, asked, terminal, as_json, pump)
    return _export(program, asked, terminal, pump, make_page)


def _end_at_once() -> None:
    os._exit(ExitCode.INTERRUPTED)


def _export(
    program: Program, asked: ExportAsked, terminal: Terminal, pump: Pump, make_page: MakePage | None
) -> ExitCode:
    heads = _asked_for(program, asked)
    if asked.output.exists() and not asked.replaces:
        sentence = translate(
            "CommandLine",
            "{file} is there already: give another name, or add --replace to write over it.",
            file=readable(str(asked.output)),
        )
        raise _wrong(sentence)
    exporting = program.chat_export
    exporting.begin(asked.output, heads, _writer(program, asked.format, make_page))
    pump.run(lambda: not exporting.is_busy, _end_at_once)
    if exporting.saved is None:
        if exporting.problem is not None:
            raise _wrong(exporting.problem)
        terminal.say("Nothing was written.")
        return ExitCode.INTERRUPTED
    for title in exporting.unread:
        terminal.say(f"A part of “{title}” could not be read; the rest of it is in the file.")
    terminal.write(f"{len(heads):,} {'chat' if len(heads) == 1 else 'chats'} in {readable(str(asked.output))}\n")
    return ExitCode.DONE


def _writer(program: Program, name: str, make_page: MakePage | None) -> ChatWriter:
    match name:
        case "json":
            return ChatLines()
        case "markdown":
            return MarkdownWriter()
        case _ if make_page is not None:
            return make_page(program)
        case _:
            raise _wrong(
                translate("CommandLine", "HTML cannot be written here: use --format json or --format markdown.")
            )


def _asked_for(program: Program, asked: ExportAsked) -> tuple[Conversation, ...]:
    """Return the chats that are to be written, newest first; at least one."""
    heads = program.conversations.heads
    if asked.chat:
        return (_meant(heads, asked.chat),)
    none = translate("CommandLine", "There is no chat to export yet.")
    if asked.folder:
        name = " ".join(asked.folder.split()).casefold()
        heads = tuple(head for head in heads if head.folder.casefold() == name)
        none = translate(
            "CommandLine", "There is no chat in a folder “{name}”: type its whole name, in quotes.", name=asked.folder
        )
    elif asked.search:
        held = {hit.conversation for hit in program.store.find(asked.search, sys.maxsize)}
        heads = tuple(head for head in heads if head.id in held)
        none = translate("CommandLine", "No message holds “{text}”, letter for letter.", text=asked.search)
    if not heads:
        raise _wrong(none)
    return heads


def _meant(heads: tuple[Conversation, ...], word: str) -> Conversation:
    """Return the chat of a number or a title."""
    wanted = " ".join(word.split()).casefold()
    found = [head for head in heads if str(head.id) == wanted]
    found = found or [head for head in heads if head.title.casefold() == wanted]
    if len(found) == 1:
        return found[0]
    if not found:
        raise _wrong(
            translate("CommandLine", "There is no chat “{title}”: type its whole title, in quotes.", title=word)
        )
    numbers = ", ".join(str(head.id) for head in found)
    raise _wrong(
        translate(
            "CommandLine",
            "“{title}” is the title of several chats, name one by its number: {numbers}.",
            title=word,
            numbers=numbers,
        )
    )


def _import(program: Program, asked: ImportAsked, terminal: Terminal, as_json: bool, pump: Pump) -> ExitCode:
    importing = program.chat_import

    def show() -> None:
        terminal.progress(f"{importing.report.imported:,} imported")

    disconnect = importing.changed.connect(show)
    importing.begin(asked.files)
    pump.run(lambda: not importing.is_busy, _end_at_once)
    disconnect()
    terminal.clear_progress()
    report = importing.report
    terminal.write(msgspec.json.encode(_plain(report)).decode() + "\n" if as_json else _text(report))
    if report.is_cancelled:
        return ExitCode.INTERRUPTED
    nothing_came = report.unread and not report.imported and not report.already_here
    return ExitCode.WRONG_USE if nothing_came else ExitCode.DONE


def _plain(report: ImportReport) -> dict[str, object]:
    unread = [
        {"file": str(path), "title": each.title, "place": each.place, "reason": each.reason.english()}
        for path, each in report.unread
    ]
    return {"imported": report.imported, "already_here": report.already_here, "unread": unread}


def _text(report: ImportReport) -> str:
    lines = [f"{report.imported:,} imported, {report.already_here:,} already here."]
    if report.unread:
        rows = [
            (Path(path).name, each.title or "–", each.place or "–", each.reason.english())
            for path, each in report.unread
        ]
        lines += ["", "What could not be read:", *table(("File", "Chat", "Place", "Why"), rows)]
    return "\n".join(lines) + "\n"


def _wrong(sentence: Sentence) -> UserError:
    return UserError(sentence, ExitCode.WRONG_USE)
