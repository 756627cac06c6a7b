"""What a hub tells of a repository: only what holds is taken, before huggingface_hub reads it and after."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import msgspec

from app.core.hub_model import hub_reference
from app.core.hub_search import HubRepository
from app.hub.hub_api import Kept

TOLD = ["author", "cardData", "downloads", "gated", "gguf", "lastModified", "likes", "sha", "tags"]
_LICENSE = "license:"
_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z", re.ASCII)
_LONGEST = 200
"""Of one word that a hub tells."""
_MOST_WORDS = 200
_LARGEST = 1 << 50
"""Of one number: what a hub counts is far below it, and of what is not nobody knows what it means."""


class _Gguf(msgspec.Struct, omit_defaults=True):
    total: int | None = None
    architecture: str | None = None
    context_length: int | None = None


class _Entry(msgspec.Struct, rename="camel", omit_defaults=True):
    id: str
    author: str | None = None
    sha: str | None = None
    downloads: int | None = None
    likes: int | None = None
    last_modified: str | None = None
    gated: bool | str | None = None
    tags: tuple[str, ...] = ()
    gguf: _Gguf | None = None


def kept_entries(told: Any) -> Kept:
    """Return the entries of a listing that hold, as the hub told them; ValueError where none does."""
    entries = msgspec.convert(told, list[Any])
    kept = [entry for each in entries if isinstance(each, dict) and (entry := _kept(each)) is not None]
    if entries and not kept:
        raise ValueError(entries)
    return Kept(kept, len(entries) - len(kept))


def kept_entry(told: Any) -> Kept:
    """Return what holds of one repository; ValueError where that is nothing."""
    kept = _kept(msgspec.convert(told, dict[str, Any]))
    if kept is None:
        raise ValueError(told)
    return Kept(kept)


def repository_of(info: Any) -> HubRepository:
    """Return a repository as huggingface_hub describes it."""
    facts, card = info.gguf or {}, info.card_data or {}
    tags = tuple(tag for tag in info.tags or () if len(tag) <= _LONGEST)[:_MOST_WORDS]
    licenses = _words(card.get("license")) or [tag.removeprefix(_LICENSE) for tag in tags if tag.startswith(_LICENSE)]
    name = card.get("license_name") or ""
    return HubRepository(
        id=info.id,
        author=info.author or info.id.partition("/")[0],
        revision=info.sha or "",
        downloads=_number(info.downloads),
        likes=_number(info.likes),
        updated=info.last_modified.isoformat() if info.last_modified is not None else "",
        # “other” says nothing where it has a name
        license=name if name and licenses[:1] in ([], ["other"]) else ", ".join(licenses),
        gate=None if info.gated is None else "auto" if info.gated == "auto" else "manual" if info.gated else "",
        tags=tags,
        languages=tuple(_words(card.get("language"))),
        architecture=facts.get("architecture") or "",
        parameters=_number(facts.get("total")) or None,
        context=_number(facts.get("context_length")) or None,
    )


def _kept(told: dict[str, Any]) -> dict[str, Any] | None:
    try:
        entry = msgspec.convert({**told, "tags": _texts(told.get("tags"))}, _Entry)
    except msgspec.ValidationError:
        return None
    named = hub_reference(entry.id)
    if named is None or named.file or named.repository != entry.id:
        return None
    kept: dict[str, Any] = msgspec.to_builtins(entry)
    if not _is_date(kept.get("lastModified", "")):
        kept.pop("lastModified", None)
    card = told.get("cardData")
    kept["cardData"] = _card(card) if isinstance(card, dict) else {}
    return kept


def _card(told: dict[str, Any]) -> dict[str, Any]:
    """Return what holds of a card's facts: each by itself, as they are written by hand."""
    facts = {"license": _texts(told.get("license")), "language": _texts(told.get("language"))}
    name = told.get("license_name")
    return {**facts, "license_name": name if isinstance(name, str) else None}


def _texts(told: Any) -> list[str]:
    """Return the texts of a list, or a text alone as a list of one."""
    return [word for word in (told if isinstance(told, list) else [told]) if isinstance(word, str)]


def _is_date(text: str) -> bool:
    try:
        return (
            _DATE.fullmatch(text) is not None and datetime.fromisoformat(text[: len("2026-01-01T00:00:00")]).year > 0
        )
    except ValueError:
        return False


def _words(told: Any) -> list[str]:
    words = [told] if isinstance(told, str) else list(told or ())
    return [word for word in words if word and len(word) <= _LONGEST][:_MOST_WORDS]


def _number(told: int | None) -> int | None:
    return told if told is not None and 0 <= told <= _LARGEST else None
