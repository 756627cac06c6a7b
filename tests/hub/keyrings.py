"""Keyrings that stand in for that of a desktop; the package keyring itself is the real one."""

from __future__ import annotations

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError


class Memory(KeyringBackend):
    """Keeps what it is given as long as it lives."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.kept: dict[tuple[str, str], str] = {}
        self.asked = 0
        self.is_locked = False

    def get_password(self, service: str, username: str) -> str | None:
        self.asked += 1
        self._check()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._check()
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._check()
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError

    def _check(self) -> None:
        if self.is_locked:
            raise KeyringLocked("hf_secret")


class Forgetful(Memory):
    """Takes everything and keeps nothing."""

    def set_password(self, service: str, username: str, password: str) -> None:
        """Drop it."""


def plain() -> KeyringBackend:
    """Return one that would write a plain file, by its name."""
    kind = type("PlaintextKeyring", (Memory,), {"__module__": "keyrings.alt.file"})
    made: KeyringBackend = kind()
    return made
