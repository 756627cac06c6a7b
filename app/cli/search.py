"""The command `search`: the messages of all chats that hold a text, read beside a window that may have them open."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from app.cli.other_options import SearchAsked
from app.cli.table import table
from app.cli.terminal import Terminal
from app.core.errors import ExitCode
from app.core.ports import StorePort
from app.core.search import FoundMessage

_HEAD = ("Day", "Chat", "By", "Text")


def run_search(store: StorePort, asked: SearchAsked, terminal: Terminal, as_json: bool) -> ExitCode:
    """Print what was found, newest first, and return the exit code."""
    found = store.find(asked.text, asked.limit)
    if as_json:
        terminal.write(msgspec.json.encode([_plain(hit) for hit in found]).decode() + "\n")
    else:
        terminal.write(_text(found, asked.limit))
    return ExitCode.DONE


def _plain(hit: FoundMessage) -> dict[str, object]:
    """Return a hit as values: where the matches are, in characters of the text."""
    return {
        "conversation": hit.conversation,
        "title": hit.title,
        "message": hit.message,
        "role": "assistant" if hit.is_answer else "user",
        "created_ms": hit.created_ms,
        "text": hit.snippet.text,
        "matches": hit.snippet.marks,
    }


def _text(found: Sequence[FoundMessage], limit: int) -> str:
    if not found:
        return "No message holds this text, letter for letter.\n"
    rows = [(_day(hit), hit.title or "–", "model" if hit.is_answer else "you", hit.snippet.text) for hit in found]
    more = [f"These are the newest {limit:,}: there may be more (--limit)."] if len(found) == limit else []
    return "\n".join([*table(_HEAD, rows), *more]) + "\n"


def _day(hit: FoundMessage) -> str:
    """Return the day on which a message was written, where people are."""
    try:
        return datetime.fromtimestamp(hit.created_ms / 1000, UTC).astimezone().strftime("%Y-%m-%d")
    except (OverflowError, OSError, ValueError):  # a clock that was wrong beyond all dates
        return "–"
