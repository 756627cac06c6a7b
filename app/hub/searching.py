"""Searches a hub for repositories with GGUF files. What it answers is untrusted: each entry holds or is left out."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import msgspec

from app.core.hub_model import hub_reference
from app.core.hub_search import HubQuery, HubRepository
from app.hub import web_sentences
from app.hub.web import Limits, Web

MOST_BYTES = 8 * 1024 * 1024
_SORTS = {"downloads": "downloads", "likes": "likes", "date": "lastModified"}
_TOLD = ("author", "downloads", "gated", "gguf", "lastModified", "likes", "sha", "tags")
_LICENSE = "license:"


class _Gguf(msgspec.Struct):
    total: int | None = None
    architecture: str | None = None
    context_length: int | None = None


class _Entry(msgspec.Struct, rename="camel"):
    id: str
    author: str | None = None
    sha: str | None = None
    downloads: int | None = None
    likes: int | None = None
    last_modified: str | None = None
    gated: bool | str | None = None
    tags: tuple[str, ...] = ()
    gguf: _Gguf | None = None


def search(web: Web, endpoint: str, query: HubQuery, limits: Limits) -> tuple[HubRepository, ...]:
    """Return what the hub finds, in its order."""
    reply = web.get(f"{endpoint}/api/models?{urlencode(_asked(query))}", limits)
    try:
        if reply.headers.get_content_type() in ("text/html", "application/xhtml+xml"):
            raise web_sentences.web_page(reply.host)
        content = reply.read(MOST_BYTES)
    finally:
        reply.close()
    if reply.length is not None and len(content) < min(reply.length, MOST_BYTES):
        raise web_sentences.lost(reply.host)
    try:
        entries = msgspec.json.decode(content, type=list[dict[str, Any]])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise web_sentences.unreadable_listing(reply.host) from error
    found = [repository for entry in entries if (repository := _repository(entry)) is not None]
    if entries and not found:
        raise web_sentences.unreadable_listing(reply.host)
    return tuple(found[: query.limit])


def _asked(query: HubQuery) -> list[tuple[str, str]]:
    asked = [("search", query.text), ("filter", "gguf")]
    if query.license:
        asked.append(("filter", _LICENSE + query.license))
    if query.language:
        asked.append(("filter", query.language))
    asked += [("sort", _SORTS[query.sort]), ("direction", "-1"), ("limit", str(query.limit))]
    return asked + [("expand[]", name) for name in _TOLD]


def _repository(told: dict[str, Any]) -> HubRepository | None:
    try:
        entry = msgspec.convert(told, _Entry)
    except msgspec.ValidationError:
        return None
    named = hub_reference(entry.id)
    if named is None or named.file:
        return None
    facts = entry.gguf or _Gguf()
    return HubRepository(
        id=entry.id,
        author=entry.author or "",
        revision=entry.sha or "",
        downloads=_number(entry.downloads),
        likes=_number(entry.likes),
        updated=entry.last_modified or "",
        license=next((tag.removeprefix(_LICENSE) for tag in entry.tags if tag.startswith(_LICENSE)), ""),
        is_gated=None if entry.gated is None else bool(entry.gated),
        tags=entry.tags,
        architecture=facts.architecture or "",
        parameters=_number(facts.total),
        context=_number(facts.context_length),
    )


def _number(told: int | None) -> int | None:
    return told if told is not None and told >= 0 else None
