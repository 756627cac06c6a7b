"""The hub as services know it; what reads from the network is loaded with the first question.

A question waits for the network: who asks does not paint.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.core.gguf_header import Header
from app.core.hub_model import HubModel, HubReference
from app.core.hub_page import HubPage
from app.core.hub_search import HubListing, HubQuery
from app.core.hub_token import HubToken
from app.core.hub_watch import HubWatch

if TYPE_CHECKING:
    from app.system.offline_switch import OfflineSwitch

READING = "app.hub.reading"


class Hub:
    """Implements `HubPort`, `DiscoverPort` and `HubTokenPort`."""

    def __init__(
        self,
        environment: Mapping[str, str],
        cache: Path | None = None,
        data: Path | None = None,
        offline: OfflineSwitch | None = None,
        in_window: bool = False,
    ) -> None:
        """Without a switch the environment alone says whether to stay offline; sentences name what a window has."""
        self._in_window = in_window
        self._environment = environment
        self._offline = offline
        self._cache = cache
        self._data = data
        self._made: Any = None

    def models(self, wanted: HubReference, watch: HubWatch | None = None) -> tuple[HubModel, ...]:
        """Return the models that somebody means, or raise the sentence that says why there is none."""
        found: tuple[HubModel, ...] = self._reader().models(wanted, watch)
        return found

    def headers(self, model: HubModel, watch: HubWatch | None = None) -> tuple[Header, ...]:
        """Return the headers of a model's files, or raise the sentence that says what is wrong."""
        found: tuple[Header, ...] = self._reader().headers(model, watch)
        return found

    def search(self, query: HubQuery, watch: HubWatch | None = None) -> HubListing:
        """Return what is found; what was found before, with its age, where the hub cannot be asked."""
        found: HubListing = self._reader().search(query, watch)
        return found

    def describe(self, repository: str, watch: HubWatch | None = None) -> HubPage:
        """Return a repository's page; the one before, with its age, where the hub cannot be asked."""
        found: HubPage = self._reader().describe(repository, watch)
        return found

    def token(self) -> HubToken:
        """Return where the access token is."""
        state: HubToken = self._reader().token.state()
        return state

    def keep_token(self, token: str) -> None:
        """Put an access token into this system's keyring."""
        self._reader().token.keep(token)

    def forget_token(self) -> None:
        """Take it out again."""
        self._reader().token.forget()

    def connect(self) -> tuple[Any, str]:
        """Return what fetches, and the hub's address; for the threads of downloads."""
        made: tuple[Any, str] = self._reader().connect()
        return made

    def _reader(self) -> Any:
        if self._made is None:
            self._made = importlib.import_module(READING).HubReader(
                self._environment,
                cache=self._cache,
                data=self._data,
                offline=self._offline,
                in_window=self._in_window,
            )
        return self._made
