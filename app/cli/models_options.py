"""What can be typed after `tokenlight models`."""

from __future__ import annotations

import argparse
from typing import get_args

from app.cli.values import one_of, text, whole_number
from app.core.hub_search import MOST_FOUND, HubQuery, HubSort


def add_models(models: argparse.ArgumentParser, parser: type[argparse.ArgumentParser]) -> None:
    """Add the options of the command, and the words that may follow it."""
    models.add_argument("--json", action="store_true", help="print one JSON list; of a search, one object")
    within = models.add_subparsers(dest="within", metavar="search|show|download|token", parser_class=parser)
    search = within.add_parser("search", help="search a hub for GGUF models")
    search.add_argument("search_text", metavar="TEXT", type=text, help="a part of a model's name")
    search.add_argument(
        "--sort", type=one_of(get_args(HubSort)), default="downloads", help="downloads, likes or date"
    )
    most = whole_number(1, MOST_FOUND)
    search.add_argument("--limit", metavar="N", type=most, default=20, help=f"at most so many, up to {MOST_FOUND}")
    search.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON object")
    show = within.add_parser("show", help="show the files and facts of a repository of a hub")
    show.add_argument("show", metavar="ORG/REPO", type=text, help="a repository")
    show.add_argument("--card", action="store_true", help="print what its authors wrote, too")
    show.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON object")
    download = within.add_parser("download", help="download a model of a hub; the same again goes on where it ended")
    download.add_argument("download", metavar="ORG/REPO[:FILE]", type=text, help="a model, its file or quantisation")
    token = within.add_parser("token", help="say whether there is an access token for models that ask for one")
    token.add_argument(
        "--set",
        dest="token_word",
        action="store_const",
        const="set",
        help="keep one, read from standard input, in this system's keyring",
    )
    token.add_argument(
        "--forget", dest="token_word", action="store_const", const="forget", help="take it out of the keyring"
    )


def token_asked(found: argparse.Namespace) -> str:
    """Return what is wanted of the token: show, set or forget; empty where it is another command."""
    return (found.token_word or "show") if getattr(found, "within", None) == "token" else ""


def search_asked(found: argparse.Namespace) -> HubQuery | None:
    """Return the search that was typed; None where it is another command."""
    if getattr(found, "within", None) != "search":
        return None
    return HubQuery(found.search_text.strip(), found.sort, limit=found.limit)
