"""A model file that lies on this machine: by whose doing, and what to call it before its header is read."""

from __future__ import annotations

from typing import Literal

import msgspec

FileOrigin = Literal["own", "hub_cache", "lm_studio", "jan", "ollama"]
"""`own` is a folder of this program or one that people added; the others are those of other programs, read only."""

ORIGIN_NAMES: dict[FileOrigin, str] = {
    "own": "",
    "hub_cache": "Hugging Face",
    "lm_studio": "LM Studio",
    "jan": "Jan",
    "ollama": "Ollama",
}
"""What the programs call themselves, the same in every language."""


FolderState = Literal["there", "missing", "closed"]
"""Of a folder that people added: `missing` is one that is not there, as on a drive that is away; `closed` may not be read."""


class FoundFile(msgspec.Struct, frozen=True):
    """A model's file, or the first of several, as its folder tells of it."""

    path: str
    size: int
    """Bytes, all parts of a model in several files together."""
    modified_ns: int
    origin: FileOrigin = "own"
    name: str = ""
    """As the program that has it calls the model; empty where its file's name is what people know."""
    parts: int = 1
    """Files that are there."""
    parts_wanted: int = 1
    """Files that the model comes in, by its name."""
    is_first: bool = True
    """Whether it is the file that llama.cpp opens, which finds the others by their names."""

    @property
    def stamp(self) -> tuple[str, int, int, int]:
        """What changes when the file, or one of several, does."""
        return self.path, self.size, self.modified_ns, self.parts
