"""Models that other programs keep on this machine: only looked at, never written to.

What is not there, may not be read or makes no sense is passed over: it belongs to somebody else.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from app.core.found_file import FoundFile
from app.core.printable import printable
from app.hub.library_ollama import find_in_store
from app.hub.library_places import Places, read_small
from app.system.model_search import find_files, once_each

OFF_VARIABLE = "TOKENLIGHT_OWN_MODELS_ONLY"
MOST_REFERENCE_BYTES = 1 << 10
COMMON_NAMES = ("model", "ggml-model")
"""What a file is called whose folder has the name of the model."""


class OtherModels:
    """Implements `OtherModelsPort`."""

    def __init__(self, environment: Mapping[str, str], places: Places | None = None) -> None:
        self._is_off = environment.get(OFF_VARIABLE, "").strip() not in ("", "0")
        self._places = places or Places(environment)

    def find(self) -> tuple[FoundFile, ...]:
        """Return the model files of other programs, each once."""
        return () if self._is_off else tuple(once_each(self._all()))

    def _all(self) -> Iterator[FoundFile]:
        places = self._places
        yield from find_files(places.lm_studio(), "lm_studio")
        for folder in places.jan():
            yield from (_called_by_folder(found, folder) for found in find_files([folder], "jan"))
        for store in places.ollama():
            yield from find_in_store(store)
        for cache in places.hub_caches():
            yield from find_files(_snapshots(cache), "hub_cache")


def _called_by_folder(found: FoundFile, folder: Path) -> FoundFile:
    """Jan calls every model's file the same, and its folder by the model."""
    path = Path(found.path)
    if path.stem.lower() not in COMMON_NAMES or path.parent == folder:
        return found
    name = os.fsencode(str(path.parent.relative_to(folder))).decode("utf-8", "replace")
    return msgspec.structs.replace(found, name=printable(name))


def _snapshots(cache: Path) -> Iterator[Path]:
    """Return the folders of a cache's revisions, of each repository that which `main` names first."""
    for repository in _folders(cache):
        if repository.name.startswith("models--"):
            newest = read_small(repository / "refs" / "main", MOST_REFERENCE_BYTES).strip()
            yield from sorted(
                _folders(repository / "snapshots"), key=lambda each: (os.fsencode(each.name) != newest, each.name)
            )


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(Path(entry.path) for entry in os.scandir(folder) if entry.is_dir())
    except (OSError, ValueError):
        return []
