"""The GGUF files of a repository as its tree tells them; an entry that does not hold is left out and counted."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from app.core.download import is_sha256
from app.core.hub_model import MAIN, HubFile
from app.hub import web_sentences
from app.hub.hub_api import Kept, hub_api
from app.hub.limits import Limits
from app.hub.web import Web

SUFFIX = ".gguf"
_POINTER_BYTES = 134
"""Of the small file that stands for a large one; nobody asks for it."""


class _Pointer(msgspec.Struct, rename="camel"):
    size: int = -1
    oid: str = ""
    pointer_size: int = _POINTER_BYTES


class _Entry(msgspec.Struct):
    type: str
    path: str
    size: int = -1
    oid: str = ""
    lfs: _Pointer | None = None


class Tree(NamedTuple):
    """What a repository holds."""

    files: tuple[HubFile, ...]
    """By their paths, in all its folders."""
    revision: str
    """The commit that they are of."""
    unread: int = 0
    """Entries that cannot be read."""


def files_of(web: Web, endpoint: str, repository: str, limits: Limits, revision: str = MAIN) -> Tree:
    """Return the GGUF files of a revision."""
    with hub_api(web, endpoint, limits, _kept) as (api, question):
        told = list(api.list_repo_tree(repository, recursive=True, revision=revision))
        first, *others = question.commits
        unread = question.unread
    if any(commit not in (first, MAIN) for commit in others):
        raise web_sentences.changed_meanwhile(repository)
    once = {entry.path: entry for entry in told}.values()  # pages that overlap name a file twice
    files = [_file(entry) for entry in once if entry.path.lower().endswith(SUFFIX)]
    whole = tuple(sorted((file for file in files if file.size > 0), key=lambda file: file.path.lower()))
    return Tree(whole, revision if first == MAIN else first, unread)


def _kept(told: Any) -> Kept:
    entries = msgspec.convert(told, list[Any])
    read = [entry for each in entries if (entry := _entry(each)) is not None]
    if entries and not read:
        raise ValueError(entries)
    files = [entry for entry in read if entry.type == "file"]
    return Kept(msgspec.to_builtins(files), len(entries) - len(read))


def _entry(told: Any) -> _Entry | None:
    try:
        return msgspec.convert(told, _Entry)
    except msgspec.ValidationError:
        return None


def _file(entry: Any) -> HubFile:
    size, tag, digest = entry.size, entry.blob_id, ""
    if entry.lfs is not None:
        size = entry.lfs.size if entry.lfs.size > 0 else size
        digest = entry.lfs.sha256.removeprefix("sha256:").lower()
        digest = digest if is_sha256(digest) else ""
        tag = digest
    return HubFile(entry.path, size, digest, tag)
