"""What can be typed after `export` and `import`, which take conversations into files and out of them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import msgspec

from app.cli.values import file, named, one_of

FORMATS = ("json", "markdown", "html")


class ExportAsked(msgspec.Struct, frozen=True):
    """Which conversations go into which file."""

    chat: str
    """Number or title; empty is several of them."""
    format: str
    output: Path
    replaces: bool
    folder: str = ""
    """Those of this folder."""
    search: str = ""
    """Those with a message that holds this text."""


class ImportAsked(msgspec.Struct, frozen=True):
    """The files out of which conversations are taken."""

    files: tuple[Path, ...]


def add_export(commands: argparse._SubParsersAction[Any]) -> Any:
    """Add the export."""
    export = commands.add_parser("export", help="write chats into a file, as JSON, Markdown or HTML")
    export.add_argument(
        "exported", metavar="CHAT", nargs="?", type=named("the title of a chat"), help="title or number"
    )
    export.add_argument("--all", dest="exports_all", action="store_true", help="all chats")
    export.add_argument(
        "--folder",
        dest="exported_folder",
        metavar="NAME",
        type=named("the name of a folder"),
        help="the chats of a folder",
    )
    export.add_argument(
        "--search",
        dest="exported_search",
        metavar="TEXT",
        type=named("a text to search for"),
        help="the chats with a message that holds a text, as `search` finds it",
    )
    export.add_argument(
        "--format",
        dest="export_format",
        type=one_of(FORMATS),
        default="json",
        metavar="NAME",
        help="json, which has everything and can be imported again (if left out), markdown or html",
    )
    export.add_argument("--output", dest="export_file", metavar="FILE", type=file, required=True, help="the file")
    export.add_argument("--replace", dest="replaces", action="store_true", help="write over a file that is there")
    return export


def add_import(commands: argparse._SubParsersAction[Any]) -> Any:
    """Add the import."""
    taking = commands.add_parser("import", help="take chats out of files of Tokenlight, ChatGPT or Open WebUI")
    taking.add_argument("imported", metavar="FILE", nargs="+", type=file, help="JSON, or a ZIP of ChatGPT")
    taking.add_argument("--json", action="store_true", help="print one JSON object")
    return taking


def moving_asked(found: argparse.Namespace) -> ExportAsked | ImportAsked | None:
    """Return what is to be moved; None where it is another command."""
    if found.command == "import":
        return ImportAsked(tuple(found.imported))
    if found.command != "export":
        return None
    ways = (found.exported, found.exports_all, found.exported_folder, found.exported_search)
    if sum(map(bool, ways)) != 1:
        said = "name one chat to export, by its title or number, or add one of --all, --folder and --search"
        raise argparse.ArgumentError(None, said)
    return ExportAsked(
        found.exported or "",
        found.export_format,
        found.export_file,
        found.replaces,
        found.exported_folder or "",
        found.exported_search or "",
    )
