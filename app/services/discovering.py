"""Finds models on a hub; waits for the network, so that whoever asks does not paint."""

from __future__ import annotations

from app.core.errors import ExitCode, UserError
from app.core.hub_page import HubPage
from app.core.hub_search import HubListing, HubQuery
from app.core.ports import DiscoverPort
from app.core.words import translate


class Discovering:
    """Asks the hub."""

    def __init__(self, hub: DiscoverPort) -> None:
        self._hub = hub

    def search_now(self, query: HubQuery) -> HubListing:
        """Return what is found, or what was found before where the hub cannot be asked."""
        if not query.text.strip():
            raise UserError(
                translate("Hub", "Nothing to search for: say a part of a model's name, such as qwen."),
                ExitCode.WRONG_USE,
            )
        return self._hub.search(query)

    def describe_now(self, repository: str) -> HubPage:
        """Return what a repository holds and says of itself, or what it did before."""
        return self._hub.describe(repository)
