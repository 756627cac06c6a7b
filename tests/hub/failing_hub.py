"""A hub that fails once, in a given way, once so many bytes of a file have come; afterwards it does as it should."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

from app.core.download import DownloadChanged, DownloadGone, DownloadWanted
from app.core.events import Event
from app.hub.download_queue import DownloadQueue
from app.hub.reading import HubReader
from app.system.model_search import find_files
from tests.hub.download_hub import Downloader, DownloadHub
from tests.hub.loopback_hub import GUARD_S, LoopbackHub, Request

TOKEN = "hf_secret"
Step = Callable[["FailingHub", Request], None]
"""Answers the request for a file in the place of the hub, or of the store to which `to_store` sends on."""


class FailingHub(DownloadHub):
    """Takes a step for each request of the file that is struck, until none is left."""

    def __init__(self, files: Mapping[str, bytes], struck: str) -> None:
        super().__init__(files)
        self.struck = struck
        self.steps: list[Step] = []
        self.resolving = self._resolve
        self.delivering = self._deliver
        self.beside: LoopbackHub = self
        """Another server, to which it may send on."""
        self.ignores_if_range = False
        self._at_store: Step | None = None

    @property
    def nickname(self) -> str:
        """The same server by a name that is another host's to whoever asks."""
        return self.endpoint.replace("127.0.0.1", "localhost")

    def to_store(self, request: Request, step: Step | None = None, address: str = "") -> None:
        """Send on to the store, which takes this step; or to another address."""
        self._at_store = step
        name = self._named(request.path)
        request.send_text("", 302, Location=address or f"{self.store}/blobs/{name}?key=1")

    def digest(self, name: str) -> str:
        return hashlib.sha256(self.files[name]).hexdigest()

    def strangers(self) -> list[str]:
        """Return where the token went to but this hub."""
        own = self.endpoint.partition("//")[2]
        return [
            path
            for where, path, told in self.asked
            if (where, told.get("host")) != ("hub", own) and TOKEN in str(told)
        ]

    def _resolve(self, request: Request) -> None:
        if request.command == "CONNECT":
            request.send_text("", 407, Proxy_Authenticate="Basic")  # it is taken for a proxy
        elif request.path.startswith("/blobs/"):
            self.deliver(request)  # another host by its name
        elif self._named(request.path) == self.struck and self.steps:
            self.steps.pop(0)(self, request)
        else:
            self.to_store(request)

    def _deliver(self, request: Request) -> None:
        step, self._at_store = self._at_store, None
        if self.ignores_if_range:
            del request.headers["If-Range"]
        if step is None:
            self.deliver(request)
        else:
            step(self, request)


def at_store(step: Step) -> Step:
    """Let the store take a step."""
    return lambda hub, request: hub.to_store(request, step)


def status(number: int, **headers: object) -> Step:
    """Refuse."""
    return lambda _, request: request.send_text("", number, "text/plain", **headers)


def page(number: int) -> Step:
    """Answer with a web page."""
    return lambda _, request: request.send_text("<html>" + "x" * 5000, number, kind="text/html; charset=utf-8")


def elsewhere(address: Callable[[FailingHub], str]) -> Step:
    """Send on to where nobody expects it."""
    return lambda hub, request: hub.to_store(request, None, address(hub))


def lost(position: int) -> Step:
    """Close the connection once the file is there up to a byte; before the first one, without an answer."""

    def close(hub: FailingHub, request: Request) -> None:
        if position:
            hub.break_at = [position]
            hub.deliver(request)
        request.close_connection = True

    return at_store(close)


def ended(position: int) -> Step:
    """End there as if that were all, without a word on how much there is."""

    def end(hub: FailingHub, request: Request) -> None:
        begin = request.begin

        def untold(status: int, headers: Mapping[str, object]) -> None:
            begin(status, {name: value for name, value in headers.items() if name != "Content-Length"})

        request.begin = untold  # type: ignore[method-assign]
        hub.break_at = [position]
        hub.deliver(request)

    return at_store(end)


def stalled(position: int) -> Step:
    """Say nothing any more from there on."""

    def hang(hub: FailingHub, request: Request) -> None:
        if position:
            hub.break_at = [position]
            hub.deliver(request)
        hub.ended.wait(GUARD_S)  # the connection is open as long

    return at_store(hang)


def damaged(position: int) -> Step:
    """Send one byte that is not that of the file."""

    def spoil(hub: FailingHub, request: Request) -> None:
        whole = hub.files[hub.struck]
        hub.files[hub.struck] = whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :]
        try:
            hub.deliver(request)
        finally:
            hub.files[hub.struck] = whole

    return at_store(spoil)


def replaced(content: bytes, *, ignores_if_range: bool = False) -> Step:
    """Have another file from now on."""

    def replace(hub: FailingHub, request: Request) -> None:
        hub.files[hub.struck], hub.etag, hub.ignores_if_range = content, '"two"', ignores_if_range
        hub.to_store(request)

    return replace


class Witness(Downloader):
    """A queue whose every event is looked at when it comes: what is listed as a model by then."""

    def __init__(self, hub: FailingHub, folder: Path) -> None:
        super().__init__(hub, folder)
        self.listed_early: list[str] = []
        """Models that were listed as whole before the download was."""
        reader = HubReader({"HF_ENDPOINT": hub.endpoint, "HF_TOKEN": TOKEN})
        self.queue = DownloadQueue(reader.connect, folder, None, self._note)

    def problems(self) -> list[tuple[str, str]]:
        """Return what people were told until now: the state, and the kind of sentence."""
        return [
            (event.state, event.problem.template)
            for event in self.told
            if isinstance(event, DownloadChanged) and event.problem is not None
        ]

    def until_it_ends(self) -> DownloadChanged:
        """Wait until it is whole, or nothing goes on unless somebody wants it."""
        while True:
            event = self.next_event()
            if isinstance(event, DownloadChanged) and (
                event.state in ("failed", "done") or (event.again_in_s or 0.0) >= 1.0
            ):
                return event

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.queue.close()

    def anew(self, wanted: DownloadWanted, other: DownloadWanted) -> None:
        """Cancel a download and choose its file anew."""
        self.queue.cancel(wanted.key)
        self.until(None)
        self.queue.add(other)

    def _note(self, event: Event) -> None:
        is_done = isinstance(event, DownloadGone) or (isinstance(event, DownloadChanged) and event.state == "done")
        if not is_done:
            self.listed_early += listed(self.folder)
        self._events.put(event)


def listed(folder: Path) -> Sequence[str]:
    """Return the models in a folder of which all parts are there."""
    return [found.path for found in find_files([folder]) if found.parts == found.parts_wanted]
