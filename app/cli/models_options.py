"""What can be typed after `tokenlight models`."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any, get_args

import msgspec

from app.cli.values import file, model, named, one_of, text, whole_number
from app.core.hub_search import MOST_FOUND, HubQuery, HubSort

_SIZE = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)\s?([MBT])", re.ASCII | re.IGNORECASE)


class FileDeed(msgspec.Struct, frozen=True):
    """What is to be done with the files of a model of our own."""

    model: str
    """Its path or its name."""
    new_name: str | None = None
    """None is the trash."""
    yes: bool = False
    """Whether nobody is asked first."""


def add_models(models: argparse.ArgumentParser, parser: type[argparse.ArgumentParser]) -> None:
    """Add the options of the command, and the words that may follow it."""
    models.add_argument("--json", action="store_true", help="print one JSON list; of a search, one object")
    within = models.add_subparsers(
        dest="within", metavar="list|search|show|inspect|download|rename|trash|recommend|token", parser_class=parser
    )
    listed = within.add_parser("list", help="list the model files on this machine, as without a further word")
    listed.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON list")
    search = within.add_parser("search", help="search a hub for GGUF models")
    search.add_argument("search_text", metavar="TEXT", type=text, help="a part of a model's name")
    search.add_argument(
        "--sort", type=one_of(get_args(HubSort)), default="downloads", help="downloads, likes or date"
    )
    most = whole_number(1, MOST_FOUND)
    search.add_argument("--limit", metavar="N", type=most, default=20, help=f"at most so many, up to {MOST_FOUND}")
    search.add_argument(
        "--license", metavar="NAME", type=named("a license"), help="only of this license, such as mit"
    )
    search.add_argument(
        "--language",
        metavar="CODE",
        type=named("a code such as de"),
        help="only in this language, such as de",
    )
    search.add_argument(
        "--kind",
        metavar="NAME",
        type=named("a name such as qwen3"),
        help="only of this architecture, such as qwen3",
    )
    search.add_argument(
        "--at-least", metavar="SIZE", type=parameters, help="with so many parameters or more: 500M, 4B"
    )
    search.add_argument("--at-most", metavar="SIZE", type=parameters, help="with so many parameters or fewer")
    _add_json(search)
    show = within.add_parser("show", help="show the files and facts of a repository of a hub")
    show.add_argument("show", metavar="ORG/REPO", type=named("a repository such as org/repo"), help="a repository")
    show.add_argument("--card", action="store_true", help="print what its authors wrote, too")
    _add_json(show)
    inspect = within.add_parser("inspect", help="show what a model file holds, or what differs between two")
    inspect.add_argument("inspect", metavar="FILE", type=file, help="a .gguf file, whatever it is for")
    inspect.add_argument("inspect_other", metavar="FILE", type=file, nargs="?", help="another one to compare it with")
    _add_json(inspect)
    download = within.add_parser("download", help="download a model of a hub; the same again goes on where it ended")
    download.add_argument(
        "download",
        metavar="ORG/REPO[:FILE]",
        type=named("a model such as org/repo:Q4_K_M"),
        help="a model, its file or quantisation",
    )
    _add_files(within)
    _add_recommend_and_token(within)


def _add_files(within: argparse._SubParsersAction[Any]) -> None:
    rename = within.add_parser("rename", help="give a model of Tokenlight's own folder another name")
    rename.add_argument("file_model", metavar="MODEL", type=model, help="its file, or its name")
    rename.add_argument("new_name", metavar="NEWNAME", type=text, help="its new name, without the ending")
    _add_json(rename)
    trash = within.add_parser("trash", help="move a model of Tokenlight's own folder to the system's trash")
    trash.add_argument("file_model", metavar="MODEL", type=model, help="its file, or its name")
    trash.add_argument("--yes", action="store_true", help="do not ask")
    _add_json(trash)


def _add_recommend_and_token(within: argparse._SubParsersAction[Any]) -> None:
    recommend = within.add_parser("recommend", help="name a model that suits this machine; works without a network")
    _add_json(recommend)
    token = within.add_parser("token", help="say whether there is an access token for models that ask for one")
    token.add_argument(
        "--set",
        dest="token_word",
        action="store_const",
        const="set",
        help="keep one, read from standard input, in this system's keyring",
    )
    _add_json(token)
    token.add_argument(
        "--forget", dest="token_word", action="store_const", const="forget", help="take it out of the keyring"
    )


def _add_json(command: argparse.ArgumentParser) -> None:
    # where it was typed before this word it stays so
    command.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON object")


def token_asked(found: argparse.Namespace) -> str:
    """Return what is wanted of the token: show, set or forget; empty where it is another command."""
    return (found.token_word or "show") if getattr(found, "within", None) == "token" else ""


def file_asked(found: argparse.Namespace) -> FileDeed | None:
    """Return what is to be done with the files of a model; None where it is another command."""
    if getattr(found, "within", None) not in ("rename", "trash"):
        return None
    return FileDeed(found.file_model, getattr(found, "new_name", None), getattr(found, "yes", False))


def inspect_asked(found: argparse.Namespace) -> tuple[Path, ...]:
    """Return the files that are to be shown; none where it is another command."""
    if getattr(found, "within", None) != "inspect":
        return ()
    return tuple(Path(file) for file in (found.inspect, found.inspect_other) if file is not None)


def search_asked(found: argparse.Namespace) -> HubQuery | None:
    """Return the search that was typed; None where it is another command."""
    if getattr(found, "within", None) != "search":
        return None
    return HubQuery(
        found.search_text.strip(),
        found.sort,
        found.license or "",
        found.language or "",
        found.limit,
        found.kind or "",
        found.at_least,
        found.at_most,
    )


def parameters(typed: str) -> int:
    """Return a number of parameters as people write it."""
    told = _SIZE.fullmatch(typed.strip())
    if told is None:
        raise argparse.ArgumentTypeError(f"takes a size such as 500M or 4B, not “{typed}”")
    return round(float(told[1]) * {"M": 10**6, "B": 10**9, "T": 10**12}[told[2].upper()])
