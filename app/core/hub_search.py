"""What is searched for on a hub, and what was found. Plain values."""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.words import Sentence, counted, translate

HubSort = Literal["downloads", "likes", "date"]
HubGate = Literal["", "auto", "manual"]
"""Who lets people in: nobody needs to, accepting the terms does, or the authors do after that."""
MOST_FOUND = 100


class HubQuery(msgspec.Struct, frozen=True):
    """A question for the hub; what is empty or None is not asked for."""

    text: str
    sort: HubSort = "downloads"
    license: str = ""
    language: str = ""
    limit: int = 20
    """So many at once; a filter that the hub does not know may find some more."""
    architecture: str = ""
    least_parameters: int | None = None
    most_parameters: int | None = None
    cursor: str = ""
    """Where to go on: `HubListing.next` of the same question."""


class HubRepository(msgspec.Struct, frozen=True):
    """A repository that holds GGUF files, as the hub describes it; None and empty are not told."""

    id: str
    author: str = ""
    revision: str = ""
    """The commit that this was told of."""
    downloads: int | None = None
    likes: int | None = None
    updated: str = ""
    license: str = ""
    gate: HubGate | None = None
    tags: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    architecture: str = ""
    parameters: int | None = None
    context: int | None = None

    @property
    def is_gated(self) -> bool | None:
        """Whether files are given only to those who accept terms; None is not told."""
        return None if self.gate is None else bool(self.gate)


class HubListing(msgspec.Struct, frozen=True):
    """What a search found."""

    repositories: tuple[HubRepository, ...]
    next: str = ""
    """Where to go on; empty where that was all."""
    age_s: float = 0.0
    """How long ago that was; above 0 only where the hub could not be asked now."""
    problem: Sentence | None = None
    """Why it could not."""
    unread: int = 0
    """Entries that the hub told in a way that cannot be read."""
    wants_token: bool = False
    """Whether an access token, or another one, may have the hub answer."""


def unread_words(unread: int) -> Sentence:
    """Return what is said of entries that are not among what is shown."""
    return counted(
        unread,
        translate("Hub", "1 entry of the hub's answer could not be read; the others are shown."),
        translate(
            "Hub", "{count} entries of the hub's answer could not be read; the others are shown.", count=unread
        ),
    )
