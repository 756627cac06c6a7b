"""What is searched for on a hub, and what was found. Plain values."""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.words import Sentence

HubSort = Literal["downloads", "likes", "date"]
MOST_FOUND = 100


class HubQuery(msgspec.Struct, frozen=True):
    """A question for the hub; empty is not asked for."""

    text: str
    sort: HubSort = "downloads"
    license: str = ""
    language: str = ""
    limit: int = 20


class HubRepository(msgspec.Struct, frozen=True):
    """A repository that holds GGUF files, as the hub describes it; None and empty are not told."""

    id: str
    author: str = ""
    revision: str = ""
    downloads: int | None = None
    likes: int | None = None
    updated: str = ""
    license: str = ""
    is_gated: bool | None = None
    tags: tuple[str, ...] = ()
    architecture: str = ""
    parameters: int | None = None
    context: int | None = None


class HubListing(msgspec.Struct, frozen=True):
    """What a search found."""

    repositories: tuple[HubRepository, ...]
    age_s: float = 0.0
    """How long ago that was; above 0 only where the hub could not be asked now."""
    problem: Sentence | None = None
    """Why it could not."""
