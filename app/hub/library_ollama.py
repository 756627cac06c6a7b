"""Ollama's store: manifests that name a model, and blobs under their digests. Read only, and nothing in it is trusted."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from app.core.found_file import FoundFile
from app.core.printable import printable
from app.hub.library_places import read_small
from app.system.model_search import found_file

MODEL_LAYER = "application/vnd.ollama.image.model"
USUAL_NAMESPACE = "library"
MOST_MANIFESTS = 5_000
MOST_MANIFEST_BYTES = 1 << 20
NAME_PARTS = 4
"""Host, namespace, model and tag: so deep a manifest lies."""
_DIGEST = re.compile(r"sha256[:-]([0-9a-f]{64})")


def find_in_store(store: Path) -> Iterator[FoundFile]:
    """Return the models that are whole in a store, under the names by which Ollama runs them."""
    for manifest, parts in islice(_manifests(store / "manifests"), MOST_MANIFESTS):
        digest = _model_digest(read_small(manifest, MOST_MANIFEST_BYTES))
        if digest is None:
            continue
        blob = store / "blobs" / f"sha256-{digest}"
        is_there = os.path.isfile(blob)  # noqa: PTH113  Path.is_file raises where the folder may not be entered
        if is_there and (found := found_file(str(blob), "ollama", _name(parts))) is not None:
            yield found


def _manifests(folder: Path, parts: tuple[str, ...] = ()) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Return the manifests below a folder with the names on the way; links are not followed."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name.lower())
    except (OSError, ValueError):
        return
    for entry in entries:
        way = (*parts, entry.name)
        try:
            is_folder, is_file = entry.is_dir(follow_symlinks=False), entry.is_file(follow_symlinks=False)
        except OSError:
            continue
        if is_folder and len(way) < NAME_PARTS:
            yield from _manifests(Path(entry.path), way)
        elif is_file and len(way) == NAME_PARTS and not entry.name.startswith("."):
            yield Path(entry.path), way


def _model_digest(content: bytes) -> str | None:
    """Return the digest of the weights that a manifest names; None where it names none that could be a blob."""
    try:
        manifest: Any = msgspec.json.decode(content)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    layers = manifest.get("layers") if isinstance(manifest, dict) else None
    for layer in layers if isinstance(layers, list) else ():
        if isinstance(layer, dict) and layer.get("mediaType") == MODEL_LAYER:
            digest = layer.get("digest")
            match = _DIGEST.fullmatch(digest) if isinstance(digest, str) else None
            if match is not None:
                return match[1]
    return None


def _name(parts: tuple[str, ...]) -> str:
    """Return how people call it: without the host, and without the namespace that Ollama adds itself."""
    _, namespace, model, tag = parts
    owner = "" if namespace == USUAL_NAMESPACE else f"{namespace}/"
    return printable(os.fsencode(f"{owner}{model}:{tag}").decode("utf-8", "replace"))
