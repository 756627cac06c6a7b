"""Reads models of the hub from where they are: their list, and the headers of their files. Loaded when first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from app.core.errors import ExitCode
from app.core.gguf_header import Header
from app.core.hub_model import HubModel, HubReference, ServerFailed
from app.core.hub_page import HubPage
from app.core.hub_search import HubListing, HubQuery
from app.core.hub_watch import HubWatch
from app.core.model_file import ModelSource, check_model_file
from app.hub import web_sentences
from app.hub.describing import describe
from app.hub.limits import DEADLINE_S, Limits
from app.hub.remote_header import RemoteFile
from app.hub.repository import address_of, chosen, models_of
from app.hub.search_cache import Answer, SearchCache
from app.hub.searching import search
from app.hub.token_keeping import TokenKeeping
from app.hub.web import SCHEMES, Web
from app.system.offline_switch import OfflineSwitch

ENDPOINT = "https://huggingface.co"
ANSWER_DEADLINE_S = 30.0
"""For one search or one page: somebody looks on."""


class HubReader:
    """Reads what the environment says: HF_ENDPOINT, HF_TOKEN and the proxy's variables."""

    def __init__(
        self,
        environment: Mapping[str, str],
        deadline_s: float = DEADLINE_S,
        cache: Path | None = None,
        data: Path | None = None,
        offline: OfflineSwitch | None = None,
        in_window: bool = False,
    ) -> None:
        """Without a folder nothing that was found is kept, or no note that there is a token.

        Without a switch the environment alone says whether to stay offline.
        """
        self._in_window = in_window
        self._offline = offline or OfflineSwitch(environment)
        self._deadline_s = deadline_s
        self._endpoint = environment.get("HF_ENDPOINT", "").strip().rstrip("/") or ENDPOINT
        self.token = TokenKeeping(environment, self._endpoint, data)
        self._cache = SearchCache(cache, self._endpoint, self.token.account) if cache is not None else None

    def models(self, wanted: HubReference, watch: HubWatch | None = None) -> tuple[HubModel, ...]:
        """Return the models that somebody means: those of a repository, or the one whose file was named."""
        web, endpoint = self.connect()
        with self._limits(watch) as limits:
            return chosen(models_of(web, endpoint, wanted.repository, limits), wanted)

    def headers(self, model: HubModel, watch: HubWatch | None = None) -> tuple[Header, ...]:
        """Return the headers of all files of a model, checked as those of files on a disk are."""
        web, endpoint = self.connect()
        folder = model.path.rpartition("/")[0]
        files = {file.path: file for file in model.files}
        opened: list[RemoteFile] = []
        with self._limits(watch) as limits:

            def open_file(name: str) -> ModelSource | None:
                file = files.get(f"{folder}/{name}" if folder else name)
                if file is None:
                    return None
                address = address_of(endpoint, model.repository, model.revision, file.path)
                opened.append(RemoteFile(web, address, file.size, limits))
                return opened[-1].source

            try:
                return check_model_file(model.path.rpartition("/")[2], open_file)
            finally:
                for remote in opened:
                    remote.close()

    def search(self, query: HubQuery, watch: HubWatch | None = None) -> HubListing:
        """Return what is found; what was found before, with its age, where the hub cannot be asked."""
        return self._answer(HubListing, query, lambda web, at, limits: search(web, at, query, limits), watch)

    def describe(self, repository: str, watch: HubWatch | None = None) -> HubPage:
        """Return a repository's page, or the one before, as with a search."""

        def ask(web: Web, endpoint: str, limits: Limits) -> HubPage:
            return describe(web, endpoint, repository, limits)

        return self._answer(HubPage, repository, ask, watch)

    def _answer(
        self,
        kind: type[Answer],
        question: HubQuery | str,
        ask: Callable[[Web, str, Limits], Answer],
        watch: HubWatch | None,
    ) -> Answer:
        try:
            with self._limits(watch, min(self._deadline_s, ANSWER_DEADLINE_S)) as limits:
                found = ask(*self.connect(), limits)
        except ServerFailed as failed:
            before = None
            if self._cache is not None and failed.exit_code != ExitCode.INTERRUPTED:
                before = self._cache.find(question, kind, failed)
            if before is None:
                raise
            return before
        if self._cache is not None:
            self._cache.keep(question, found)
        return found

    @contextmanager
    def _limits(self, watch: HubWatch | None, deadline_s: float | None = None) -> Iterator[Limits]:
        with Limits(deadline_s or self._deadline_s) as limits, self._offline.ending(limits.cancel):
            if watch is not None:
                limits.came = watch.count
                watch.ended_by(limits.cancel)
            yield limits

    def connect(self) -> tuple[Web, str]:
        """Return what fetches from the hub and the hub's address; opens no connection, and none where it is forbidden."""
        self._offline.check()
        endpoint = self._endpoint
        try:
            parts = urlsplit(endpoint)
            is_address = parts.scheme in SCHEMES and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            is_address = False
        if "@" in (parts.netloc if is_address else endpoint):
            raise web_sentences.endpoint_with_login()
        if not is_address or parts.query or parts.fragment or not endpoint.isascii() or " " in endpoint:
            raise web_sentences.bad_endpoint(endpoint)
        return Web(endpoint, self.token.read(), permit=self._offline.check, in_window=self._in_window), endpoint
