"""Keeps what searches found, for when the hub cannot be asked; what cannot be kept or read is not there."""

from __future__ import annotations

import hashlib
import logging
import time
from pathlib import Path

import msgspec

from app.core.hub_search import HubListing, HubQuery, HubRepository
from app.core.words import Sentence
from app.system.whole_file import replace_whole

MOST_KEPT = 200
"""Searches; the oldest go first."""
_log = logging.getLogger(__name__)


class _Kept(msgspec.Struct):
    at: float
    repositories: tuple[HubRepository, ...]


class SearchCache:
    """One file a question, of one hub as one account sees it."""

    def __init__(self, folder: Path, endpoint: str, token: str) -> None:
        self._folder = folder
        self._asked_of = f"{endpoint}\n{token}"

    def keep(self, query: HubQuery, repositories: tuple[HubRepository, ...]) -> None:
        """Write down what was found now."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            replace_whole(self._file(query), msgspec.json.encode(_Kept(time.time(), repositories)))
            kept = sorted(self._folder.glob("*.json"), key=lambda file: file.stat().st_mtime, reverse=True)
            for old in kept[MOST_KEPT:]:
                old.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("a search was not kept: %s", error)

    def find(self, query: HubQuery, problem: Sentence) -> HubListing | None:
        """Return what the same question found before, with its age; None where it was not asked."""
        try:
            kept = msgspec.json.decode(self._file(query).read_bytes(), type=_Kept)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError) as error:
            _log.warning("a kept search cannot be read: %s", error)
            return None
        return HubListing(kept.repositories, max(1.0, time.time() - kept.at), problem)

    def _file(self, query: HubQuery) -> Path:
        digest = hashlib.sha256(self._asked_of.encode(errors="replace") + b"\n" + msgspec.json.encode(query))
        return self._folder / f"{digest.hexdigest()}.json"
