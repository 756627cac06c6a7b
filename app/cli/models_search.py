"""The command `models search`: what a hub holds under a name."""

from __future__ import annotations

import msgspec

from app.cli.table import table
from app.cli.terminal import Terminal, one_line
from app.core.errors import ExitCode
from app.core.hub_search import HubListing, HubQuery, unread_words
from app.services.discovering import Discovering
from app.services.units import count, parameter_count

_HEAD = ("Repository", "Downloads", "Likes", "Updated", "Kind", "Parameters", "Context", "License", "Terms")
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))
_DATE = len("2026-01-01")


def run_models_search(discovering: Discovering, query: HubQuery, terminal: Terminal, as_json: bool) -> ExitCode:
    """Print what was found and return the exit code."""
    terminal.progress("Searching …")
    try:
        listing = discovering.search_now(query)
    finally:
        terminal.clear_progress()
    listing = msgspec.structs.replace(listing, repositories=listing.repositories[: query.limit])
    if as_json:
        plain = {
            "repositories": msgspec.to_builtins(listing.repositories),
            "unread": listing.unread,
            "age_s": listing.age_s,
            "problem": listing.problem.english() if listing.problem is not None else None,
        }
        terminal.write(msgspec.json.encode(plain).decode() + "\n")
    else:
        terminal.write(_text(listing))
    return ExitCode.DONE


def _text(listing: HubListing) -> str:
    lines = []
    if listing.problem is not None:
        lines += [f"Found {shown_age(listing.age_s)} ago. Now: {one_line(listing.problem.english())}", ""]
    if listing.unread:
        lines += [one_line(unread_words(listing.unread).english()), ""]
    rows = [
        (
            found.id,
            count(found.downloads),
            count(found.likes),
            found.updated[:_DATE] or "–",
            found.architecture or "–",
            parameter_count(found.parameters),
            count(found.context),
            found.license or "–",
            {None: "–", True: "to accept", False: "none"}[found.is_gated],
        )
        for found in listing.repositories
    ]
    if not rows:
        found = "No model was found among the first: ask for less, or name more of it."
        return "\n".join([*lines, found if listing.next else "No model was found: try a shorter name."]) + "\n"
    return "\n".join([*lines, *table(_HEAD, rows)]) + "\n"


def shown_age(seconds: float) -> str:
    """Return how long ago something was, in its largest unit."""
    size, unit = next((each for each in _UNITS if seconds >= each[0]), _UNITS[-1])
    number = max(1, int(seconds // size))
    return f"{number:,} {unit}{'' if number == 1 else 's'}"
