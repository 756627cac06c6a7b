"""Models on a hub, as its listing tells them, and how people name one: `org/repo`, or `org/repo:file`. Plain values."""

from __future__ import annotations

import re

import msgspec

from app.core.errors import UserError

HOSTS = ("huggingface.co", "www.huggingface.co", "hf.co")
"""Whose pages people paste."""
_ADDRESS = re.compile(
    r"(?:https?://)?(?P<host>[\w.-]+\.[a-z]+)/(?P<repository>[^/?#:]+/[^/?#:]+)"
    r"(?:/(?:blob|resolve|raw)/[^/?#]+/(?P<file>[^?#]+)|/tree/[^?#]*|/)?(?P<named>:[^/?#]+)?(?:[?#].*)?",
    re.ASCII | re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"(?P<repository>[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9_][\w.-]{0,95})(?::(?P<file>.{1,400}))?", re.ASCII
)

_PERCENT = re.compile(r"%([2-7][0-9A-Fa-f])")


MAIN = "main"
"""The revision of a repository that people see on its page."""


class ServerFailed(UserError):
    """A server could not be read from at all: what else is there of it will fail the same way."""

    wants_token = False
    """Whether it may give to an access token, or to another one, what it refused."""


class Offline(ServerFailed):
    """The program was told to stay offline: nothing was asked, and nothing will be."""


class HubReference(msgspec.Struct, frozen=True):
    """What somebody named."""

    repository: str
    """`organisation/name`."""
    file: str = ""
    """A file of it, or its quantisation; empty is not said."""


class HubFile(msgspec.Struct, frozen=True):
    """One file of a repository."""

    path: str
    """Inside the repository, with slashes."""
    size: int
    sha256: str = ""
    """Empty where the listing tells none."""
    etag: str = ""
    """What the hub says the file's ETag is, without quotes; empty where it tells none."""


class HubModel(msgspec.Struct, frozen=True):
    """A model of a repository: one file, or all parts of it in their order."""

    repository: str
    files: tuple[HubFile, ...]
    revision: str = MAIN
    """The commit that was listed, where the hub tells it: later ones may hold other files of these names."""

    @property
    def path(self) -> str:
        """The file that is named: the first one."""
        return self.files[0].path

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(file.size for file in self.files)


def hub_reference(typed: str) -> HubReference | None:
    """Return what `org/repo`, `org/repo:file` or the address of its page means; None where a text has no such form."""
    address = _ADDRESS.fullmatch(typed.strip())
    if address is not None and address["host"].lower() in HOSTS:
        named = (address["named"] or "")[1:]
        file = _PERCENT.sub(lambda found: chr(int(found[1], 16)), address["file"] or "") or named
        typed = f"{address['repository']}:{file}" if file else address["repository"]
    found = _REFERENCE.fullmatch(typed.strip())
    if found is None or ".." in found["repository"] or found["repository"].lower().endswith(".gguf"):
        return None
    return HubReference(found["repository"], (found["file"] or "").strip())
