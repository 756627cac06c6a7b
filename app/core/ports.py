"""What services need from the outside, as Protocols; `bootstrap` alone knows who implements them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from app.core.commands import Command
from app.core.download import DownloadWanted
from app.core.events import Event
from app.core.found_file import FoundFile
from app.core.gguf_header import Header
from app.core.hub_model import HubModel, HubReference
from app.core.hub_page import HubPage
from app.core.hub_search import HubListing, HubQuery
from app.core.hub_token import HubToken
from app.core.hub_watch import HubWatch
from app.core.model import LoadOptions
from app.core.model_note import KeptOfModels
from app.core.search import FoundMessage
from app.core.store_commands import StoreCommand

EventSink = Callable[[Event], None]
"""Where producers put events; safe to call from any thread."""


class DownloadPort(Protocol):
    """Downloads models from a hub, on threads of its own; every call returns at once, and events tell what comes of it.

    A download is named by its `key`; a call for one that is not there does nothing.
    """

    def open(self) -> None:
        """Take up what an earlier run of the program left: paused downloads stay so, others go on."""

    def add(self, wanted: DownloadWanted) -> None:
        """Download these files after those that wait; one that is there already goes on if it has stopped."""

    def pause(self, key: str) -> None:
        """Stop and keep what is there."""

    def resume(self, key: str) -> None:
        """Go on with one that is paused or has failed."""

    def first(self, key: str) -> None:
        """Let one go before all others that wait."""

    def cancel(self, key: str) -> None:
        """End one, within a second, and delete what is there of it; a whole file stays."""

    def set_at_once(self, count: int) -> None:
        """Let so many run at once."""

    def look(self) -> None:
        """See whether the program is offline: what runs is paused while it is, and goes on by itself afterwards."""

    def close(self) -> None:
        """Stop all and keep what is there, within a second."""


class DryRunPort(Protocol):
    """Works out what models would take, in a process of its own that a hostile file may end."""

    def measure(
        self, request: int, path: str, options: LoadOptions, *, keep: bool = True, sizes_only: bool = False
    ) -> None:
        """Return at once; `MemoryMeasured` or `Failed` with this request follows.

        `keep` says whether another question about the same file may follow soon: it is answered faster, and until
        then the process holds some memory. What was said before of the same file and options is said again; where
        there is a GPU, that tells what was free on it then, so that only who wants `sizes_only` is told it.
        """

    def close(self) -> None:
        """End its process and wait for it."""


class EnginePort(Protocol):
    """The engine process as services see it: commands go in, events come out of the sink."""

    def send(self, command: Command) -> None:
        """Send a command and return at once; a stopped engine is started first."""

    def new_request(self) -> int:
        """Return a request number that no earlier request had."""

    def unload(self) -> None:
        """End the engine process in an orderly way; `Unloaded` follows."""

    def close(self) -> None:
        """End the engine process for good and wait for it, with force after two seconds."""

    @property
    def running(self) -> bool:
        """Whether an engine process is there."""


class HubListingPort(Protocol):
    """What a repository has; every call waits for the network and raises a `UserError`.

    A `watch` is told how much comes, and ends the call when it is cancelled.
    """

    def models(self, wanted: HubReference, watch: HubWatch | None = None) -> tuple[HubModel, ...]:
        """Return the models of a repository, or the one whose file was named."""


class HubPort(HubListingPort, Protocol):
    """Models on a hub, read from there."""

    def headers(self, model: HubModel, watch: HubWatch | None = None) -> tuple[Header, ...]:
        """Return the headers of a model's files, the first one first."""


class DiscoverPort(Protocol):
    """Looks for models on a hub; every call waits for the network, is ended by its `watch`, and raises a `UserError`."""

    def search(self, query: HubQuery, watch: HubWatch | None = None) -> HubListing:
        """Return what is found; what was found before, with its age, where the hub cannot be asked."""

    def describe(self, repository: str, watch: HubWatch | None = None) -> HubPage:
        """Return a repository's page; the one before, with its age, where the hub cannot be asked."""


class HubTokenPort(Protocol):
    """The access token for the hub, which is never told; a call may wait for a person who unlocks a keyring."""

    def token(self) -> HubToken:
        """Return where it is."""

    def keep_token(self, token: str) -> None:
        """Put it into this system's keyring, or raise the sentence that says why that cannot be."""

    def forget_token(self) -> None:
        """Take it out of the keyring."""


class OtherModelsPort(Protocol):
    """Models that other programs keep on this machine, which are only looked at."""

    def find(self) -> tuple[FoundFile, ...]:
        """Return their files, each once, by what their folders tell; may take a moment, and fails for nothing."""


class StorePort(Protocol):
    """Where conversations are kept, as services see it; one thread of its own does all of it, in order."""

    def send(self, command: StoreCommand) -> None:
        """Take a command and return at once; events come out of the sink."""

    def look(self) -> KeptOfModels:
        """Read at once what is kept of models, beside whoever has it open; nothing is touched."""

    def find(self, text: str, limit: int) -> tuple[FoundMessage, ...]:
        """Find at once so many messages that hold a text, newest first, as `look` reads; raises a `UserError`."""

    def close(self) -> None:
        """Write what waits and end the thread, with a limit of two seconds; longer where all chats are written anew."""
