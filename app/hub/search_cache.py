"""Keeps what hubs told, for when the hub cannot be asked; what cannot be kept or read is not there."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from app.core.hub_model import ServerFailed
from app.core.hub_page import HubPage
from app.core.hub_search import HubListing, HubQuery
from app.system.whole_file import replace_whole

MOST_KEPT = 200
"""Answers; the oldest go first."""
_MOST_BYTES = 64 << 20
_AHEAD_S = 86_400.0
"""So far a clock may have been set back since."""
_OLDEST_S = 10 * 365 * 86_400.0
_log = logging.getLogger(__name__)
Answer = TypeVar("Answer", HubListing, HubPage)


class _Kept(msgspec.Struct):
    at: float
    answer: msgspec.Raw


class SearchCache:
    """One file a question, of one hub as one account sees it."""

    def __init__(self, folder: Path, endpoint: str, account: Callable[[], str]) -> None:
        self._folder = folder
        self._endpoint = endpoint
        self._account = account

    def keep(self, question: HubQuery | str, answer: HubListing | HubPage) -> None:
        """Write down what was told now; the question is a search, or the name of a repository."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            kept = _Kept(time.time(), msgspec.Raw(msgspec.json.encode(answer)))
            replace_whole(self._file(question, self._account()), msgspec.json.encode(kept))
            files = sorted(self._folder.glob("*.json"), key=lambda file: file.stat().st_mtime, reverse=True)
            for old in files[MOST_KEPT:]:
                old.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("what the hub told was not kept: %s", error)

    def find(self, question: HubQuery | str, kind: type[Answer], failed: ServerFailed) -> Answer | None:
        """Return what the same question was told before, with its age and what failed now; None where it was not asked.

        What anybody may see, who has no account, serves where the account was told nothing.
        """
        for account in dict.fromkeys((self._account(), "")):
            found = self._read(self._file(question, account), kind, failed)
            if found is not None:
                return found
        return None

    def _read(self, path: Path, kind: type[Answer], failed: ServerFailed) -> Answer | None:
        try:
            with path.open("rb") as file:
                kept = msgspec.json.decode(file.read(_MOST_BYTES), type=_Kept)
            answer = msgspec.json.decode(kept.answer, type=kind)
            age_s = time.time() - kept.at
            if not (-_AHEAD_S <= age_s <= _OLDEST_S) or not _holds(answer):
                raise ValueError("it says what cannot be")
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            _log.warning("what the hub told before cannot be read: %s", error)
            return None
        return msgspec.structs.replace(
            answer, age_s=max(1.0, age_s), problem=failed.sentence, wants_token=failed.wants_token
        )

    def _file(self, question: HubQuery | str, account: str) -> Path:
        asked = f"{self._endpoint}\n{account}\n".encode(errors="replace") + msgspec.json.encode(question)
        return self._folder / f"{hashlib.sha256(asked).hexdigest()}.json"


def _holds(answer: HubListing | HubPage) -> bool:
    """Whether what the types cannot say is so as well: files lie where anything may write."""
    if isinstance(answer, HubListing):
        return True
    files = [file for each in answer.quantisations for file in each.files]
    if not all(each.files for each in answer.quantisations) or any(file.size < 0 for file in files):
        return False
    if answer.card.problem is not None:
        try:
            answer.card.problem.english()
        except (LookupError, AttributeError, TypeError):
            return False
    return True
