"""Downloads as plain values: which files of a repository somebody wants, where they go, and how far they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from app.core.file_name import LONGEST_BYTES, is_reserved
from app.core.hub_model import HubModel
from app.core.printable import printable
from app.core.words import Sentence, translate

SHA256_DIGITS = 64
COMMIT_DIGITS = 40
MOST_PARTS = 32
"""Folders of a path with its name: no model lies deeper, and no system takes all paths that a listing could tell."""
_LONGEST_SAID = 120
_HEXADECIMAL = frozenset("0123456789abcdef")
_FORBIDDEN = frozenset('\\:*?"<>|')

DownloadState = Literal["waiting", "running", "retrying", "checking", "paused", "failed", "done"]
"""“retrying” waits to try again by itself; “checking” has all bytes and compares them with the hub's checksum."""
DownloadAction = Literal["pause", "resume", "first", "again", "cancel", "dismiss"]


class DownloadFile(msgspec.Struct, frozen=True):
    """One file as the hub lists it."""

    path: str
    """Inside the repository, with slashes."""
    size: int
    sha256: str = ""
    """Empty where the hub tells none; then only the length can be checked."""


class DownloadWanted(msgspec.Struct, frozen=True):
    """A model that somebody wants: one file, or all its parts in their order."""

    repository: str
    revision: str
    files: tuple[DownloadFile, ...]

    @property
    def key(self) -> str:
        """What tells it apart: the same files are never downloaded twice at once."""
        return f"{self.repository}@{self.revision}/{self.files[0].path}"

    @property
    def place(self) -> str:
        """Where its first file belongs in the models folder; that of another commit belongs there too."""
        return f"{self.repository}/{self.files[0].path}"

    def is_same(self, other: DownloadWanted) -> bool:
        """Whether two downloads of one place are of the same content: of one commit, or with the same checksums."""
        if (self.repository, self.files) != (other.repository, other.files):
            return False
        return self.revision == other.revision or all(file.sha256 for file in self.files)

    @property
    def name(self) -> str:
        """What people call it: the name of its first file."""
        return self.files[0].path.rpartition("/")[2]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)


class DownloadChanged(msgspec.Struct, frozen=True, tag="download_changed"):
    """How far a download is; one that runs tells it some times a second."""

    wanted: DownloadWanted
    state: DownloadState
    done: int = 0
    """Bytes of all its files that are on the disk."""
    bytes_per_s: float | None = None
    """Over the last seconds; 0 while nothing comes, None while that is not known yet."""
    problem: Sentence | None = None
    """Why it failed, or why it tries again."""
    again_in_s: float | None = None
    """When it tries again by itself."""
    path: str = ""
    """Where its first file is, or will be."""
    wants_token: bool = False
    """Whether an access token, or another one, may have the hub give it."""


class DownloadGone(msgspec.Struct, frozen=True, tag="download_gone"):
    """A download is no more: cancelled, or taken off the list."""

    key: str


def wanted_of(model: HubModel) -> DownloadWanted:
    """Return the download of a model that a listing told."""
    files = tuple(DownloadFile(file.path, file.size, file.sha256) for file in model.files)
    return DownloadWanted(model.repository, model.revision, files)


def is_commit(text: str) -> bool:
    """Whether a text names a commit, which what a server tells need not do."""
    return len(text) == COMMIT_DIGITS and set(text) <= _HEXADECIMAL


def is_sha256(text: str) -> bool:
    """Whether a text is a SHA-256 in hexadecimal, which what a server tells need not be."""
    return len(text) == SHA256_DIGITS and set(text) <= _HEXADECIMAL


def safe_parts(path: str) -> tuple[str, ...] | None:
    """Return the folders and the name of a path inside a repository; None where it could lead anywhere else.

    What one system takes for a drive, a device or a parent is refused on all. A hidden folder is none here: nobody would
    see what is in it, no search for models either.
    """
    *folders, name = path.split("/")
    if len(folders) >= MOST_PARTS or not all(map(_is_safe, (*folders, name))):
        return None
    return (*("_" + folder[1:] if folder.startswith(".") else folder for folder in folders), name)


def refusal_of(repository: str, paths: Iterable[str]) -> Sentence | None:
    """Return why files of a repository cannot be kept under their names; None where they can."""
    unsafe = next((path for path in paths if safe_parts(f"{repository}/{path}") is None), None)
    if unsafe is None:
        return None
    name = printable(" ".join(unsafe.split()))
    return translate(
        "Download",
        "The repository lists a file whose name cannot be kept safely ({name}): choose another file.",
        name=name if len(name) <= _LONGEST_SAID else name[: _LONGEST_SAID - 1] + "…",
    )


def _is_safe(part: str) -> bool:
    if not part or part.startswith("..") or part != part.strip().rstrip("."):
        return False
    if any(character in _FORBIDDEN or (not character.isprintable() and character != "\u200d") for character in part):
        return False
    if len(part.encode()) > LONGEST_BYTES:
        return False  # no disk takes it
    return not is_reserved(part)
