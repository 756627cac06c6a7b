"""What can be typed after the commands that have few options: `search`, `bench` and `doctor`."""

from __future__ import annotations

import argparse
from typing import Any

import msgspec

from app.cli.values import named, whole_number

MOST_FOUND = 10_000


class SearchAsked(msgspec.Struct, frozen=True):
    """What is to be looked for in the chats, and how many messages are printed at most."""

    text: str
    limit: int


def add_search(commands: argparse._SubParsersAction[Any]) -> Any:
    """Add the search of all chats."""
    search = commands.add_parser("search", help="find messages in your chats that hold a text, letter for letter")
    search.add_argument("chats_text", metavar="TEXT", type=named("a text to look for"), help="the text, in quotes")
    search.add_argument(
        "--limit",
        dest="chats_limit",
        metavar="N",
        type=whole_number(1, MOST_FOUND),
        default=20,
        help=f"at most so many, the newest first, up to {MOST_FOUND}; 20 if left out",
    )
    search.add_argument("--json", action="store_true", help="print one JSON list, an object a message")
    return search


def add_bench(commands: argparse._SubParsersAction[Any]) -> Any:
    """Add the benchmarks."""
    bench = commands.add_parser("bench", help="measure this machine (in a checkout)")
    bench.add_argument("--json", action="store_true", help="print one JSON list, a row a figure")
    bench.add_argument("--only", action="extend", nargs="+", metavar="NAME", help="measure only these figures")
    return bench


def add_doctor(commands: argparse._SubParsersAction[Any]) -> Any:
    """Add what says what is wrong with a machine."""
    doctor = commands.add_parser(
        "doctor",
        help="say what this machine has, what is wrong and what mends it",
        epilog="Ends with 0 when a chat can be had, be it on the processor alone, and with 4 when the engine cannot start.",
    )
    doctor.add_argument("--json", action="store_true", help="print one JSON object")
    return doctor


def chats_asked(found: argparse.Namespace) -> SearchAsked | None:
    """Return what is to be looked for in the chats; None where it is another command."""
    return SearchAsked(found.chats_text, found.chats_limit) if found.command == "search" else None
