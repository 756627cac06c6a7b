"""Searches a hub for repositories with GGUF files."""

from __future__ import annotations

from typing import Any

from app.core.hub_search import MOST_FOUND, HubListing, HubQuery, HubRepository
from app.hub import web_sentences
from app.hub.hub_api import hub_api
from app.hub.limits import Limits
from app.hub.model_facts import TOLD, kept_entries, repository_of
from app.hub.web import Web

MOST_PAGES = 5
"""Of a filter that the hub does not know; after these, people see what there is and may go on."""
LONGEST_TEXT = 200
"""Characters: repositories have names of 96, and addresses have an end."""
_SORTS = {"downloads": "downloads", "likes": "likes", "date": "last_modified"}


def search(web: Web, endpoint: str, query: HubQuery, limits: Limits) -> HubListing:
    """Return what the hub finds, in its order."""
    if max(map(len, (query.text, query.license, query.language))) > LONGEST_TEXT:
        raise web_sentences.too_much_asked(LONGEST_TEXT)
    found: list[HubRepository] = []
    unread = 0
    is_ours = bool(query.architecture) or query.least_parameters is not None or query.most_parameters is not None
    asked = {**_asked(query), "limit": MOST_FOUND if is_ours else query.limit}
    cursor = query.cursor
    for _ in range(MOST_PAGES):
        with hub_api(web, endpoint, limits, kept_entries) as (api, question):
            question.cursor, question.pages_left = cursor, 1
            page = [repository_of(info) for info in api.list_models(**asked)]
        found += [repository for repository in page if _fits(repository, query)]
        cursor, unread = question.cursor, unread + question.unread
        if not is_ours or not cursor or len(found) >= query.limit:
            break
    return HubListing(tuple(found), cursor, unread=unread)


def _asked(query: HubQuery) -> dict[str, Any]:
    wanted = ["gguf"]
    if query.license:
        wanted.append(f"license:{query.license}")
    if query.language:
        wanted.append(query.language)
    return {"search": query.text, "filter": wanted, "sort": _SORTS[query.sort], "expand": TOLD}


def _fits(repository: HubRepository, query: HubQuery) -> bool:
    """Whether it passes the filters that the hub does not know; what is not told does not."""
    if query.architecture and repository.architecture.lower() != query.architecture.lower():
        return False
    if query.least_parameters is None and query.most_parameters is None:
        return True
    size = repository.parameters
    return size is not None and (query.least_parameters or 0) <= size <= (query.most_parameters or size)
