"""What a repository of a hub holds and says of itself. Plain values."""

from __future__ import annotations

import msgspec

from app.core.hub_model import HubFile, HubModel
from app.core.hub_search import HubRepository
from app.core.words import Sentence


class HubLink(msgspec.Struct, frozen=True):
    """A link of a card; nothing follows it but a click."""

    text: str
    address: str
    """Of a web page; begins with https:// or http://."""


class HubCard(msgspec.Struct, frozen=True):
    """What its authors wrote: Markdown without pictures, HTML and characters that turn text around."""

    text: str = ""
    license: str = ""
    """Its name; empty is not told."""
    links: tuple[HubLink, ...] = ()
    problem: Sentence | None = None
    """Why there is no text, where there may be one."""


class HubQuantisation(msgspec.Struct, frozen=True):
    """One model of a repository in one quantisation, or a projector: one file, or all parts of it in their order."""

    name: str
    """Such as Q4_K_M; the name of the file where that says none."""
    files: tuple[HubFile, ...]
    bits_per_weight: float | None = None
    """None where the hub tells no number of parameters that fits."""
    is_projector: bool = False
    """It sees or hears for a model, and is none."""
    missing_parts: int = 0
    """Of those that its names count."""

    @property
    def path(self) -> str:
        """The file that is opened: the first one."""
        return self.files[0].path

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(file.size for file in self.files)


class HubPage(msgspec.Struct, frozen=True):
    """A repository, described."""

    repository: HubRepository
    quantisations: tuple[HubQuantisation, ...]
    """By size; projectors after the models."""
    card: HubCard = HubCard()
    age_s: float = 0.0
    """How long ago that was told; above 0 only where the hub could not be asked now."""
    problem: Sentence | None = None
    """Why it could not."""
    unread: int = 0
    """Entries of its listing that cannot be read."""
    web: str = ""
    """Address of its page for people, on the hub that told all this."""
    wants_token: bool = False
    """Whether an access token, or another one, may have the hub answer."""

    def model(self, quantisation: HubQuantisation) -> HubModel:
        """Return one of its quantisations as a model to read or to download, of the commit that was described."""
        return HubModel(self.repository.id, quantisation.files, self.repository.revision)
