"""The catalogue of models that ships with the program, read out of its text: what each is good for, and its file. Pure."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from app.core.hub_model import HubFile, HubModel, hub_reference
from app.core.words import Sentence, translate

CatalogueKind = Literal["chat", "code", "reasoning"]
"""What somebody would choose it for: anything, programs, or hard thinking."""

_Word = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
_Count = Annotated[int, msgspec.Meta(gt=0, le=1 << 50)]
_Commit = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{40}$")]
_Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class CatalogueModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model that can be recommended, and the one file of it that is."""

    name: _Word
    kind: CatalogueKind
    purpose: _Word
    """In plain words, English; a whole sentence."""
    languages: tuple[_Word, ...]
    """Codes such as “de”; “many” are dozens more."""
    license: _Word
    parameters: _Count
    context: _Count
    """Tokens that it was trained for."""
    repository: _Word
    revision: _Commit
    """The commit whose file this is."""
    file: _Word
    quantisation: _Word
    size: _Count
    """Bytes of the file."""
    sha256: _Digest
    active: _Count | None = None
    """Parameters that work on one token of a mixture; None is all."""
    source: str = ""
    """Where a figure comes from that is from elsewhere than the others of the catalogue."""

    @property
    def bits_per_weight(self) -> float:
        """Bits that the file takes for each parameter."""
        return self.size * 8 / self.parameters

    @property
    def read_bytes(self) -> int:
        """Bytes of weights that one token needs, about."""
        return self.size * (self.active or self.parameters) // self.parameters

    @property
    def hub_model(self) -> HubModel:
        """What is downloaded: this file, of the commit that it is in."""
        return HubModel(self.repository, (HubFile(self.file, self.size, self.sha256),), self.revision)


class _File(msgspec.Struct, frozen=True):
    model: tuple[CatalogueModel, ...]


class Catalogue(msgspec.Struct, frozen=True):
    """The models, smallest first as in the file; or what is wrong with it."""

    models: tuple[CatalogueModel, ...] = ()
    problem: Sentence | None = None


def read_catalogue(text: str) -> Catalogue:
    """Return what a catalogue says; one that is damaged is empty and has a problem. Never raises."""
    try:
        models = msgspec.toml.decode(text.encode("utf-8", "replace"), type=_File).model
    except (msgspec.MsgspecError, RecursionError):
        return Catalogue(problem=_damaged())
    is_sound = all(
        hub_reference(model.repository) is not None and (model.active or 0) <= model.parameters for model in models
    )
    is_sound = is_sound and len({model.name for model in models}) == len(models) > 0
    return Catalogue(models) if is_sound else Catalogue(problem=_damaged())


def _damaged() -> Sentence:
    return translate(
        "Catalogue",
        "The catalogue of recommended models is damaged, so none can be recommended: install Tokenlight anew, or search"
        " the hub.",
    )
