"""Keeps the access token for a hub in this system's keyring: never in a file of ours, never for another host.

A note beside our data says for which hosts there is one, so that a keyring nobody has put anything in is not unlocked.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from app.core.errors import UserError
from app.core.hub_token import HubToken, is_token
from app.hub import token_sentences, web_sentences
from app.hub.web import host_of
from app.system.whole_file import replace_whole

VARIABLE = "HF_TOKEN"
SERVICE = "Tokenlight"
NOTE = "hub-tokens.json"
_PLAIN = ("keyrings.alt", "keyring.backends.null", "keyring.backends.fail")
"""Keyrings that would write it into a plain file, or nowhere."""
_log = logging.getLogger(__name__)


class TokenKeeping:
    """The token for one hub: HF_TOKEN where it is set, else what the keyring holds."""

    def __init__(self, environment: Mapping[str, str], endpoint: str, folder: Path | None) -> None:
        self._environment = environment
        self._host = host_of(endpoint).lower()
        self._note = folder / NOTE if folder is not None else None
        self._read: str | None = None
        self._problem: UserError | None = None

    def account(self) -> str:
        """Return what tells one account's answers from another's, without asking the keyring."""
        return self._environment.get(VARIABLE, "").strip() or ("kept" if self._host in self._hosts() else "")

    def read(self) -> str:
        """Return the token, empty where there is none or the keyring does not give it."""
        told = self._environment.get(VARIABLE, "").strip()
        if told:
            if not is_token(told):
                raise web_sentences.bad_token()
            return told
        if self._read is None:
            self._read = self._from_keyring() if self._host in self._hosts() else ""
        return self._read

    def state(self) -> HubToken:
        """Return where it is."""
        if self._environment.get(VARIABLE, "").strip():
            return HubToken("environment", self._host)
        self._read = None  # the keyring may have been opened by now
        token = self.read()
        problem = self._problem.sentence if self._problem is not None else None
        return HubToken("keyring" if token else "none", self._host, problem)

    def keep(self, token: str) -> None:
        """Put a token into the keyring."""
        token = token.strip()
        if not is_token(token):
            raise token_sentences.no_token()
        keyring = _keyring()
        try:
            keyring.set_password(SERVICE, self._host, token)
            if keyring.get_password(SERVICE, self._host) != token:
                raise token_sentences.not_kept()
        except UserError:
            raise
        except Exception as error:  # each system's keyring raises what it likes
            raise token_sentences.not_kept() from error
        self._write_hosts({*self._hosts(), self._host})
        self._read, self._problem = token, None

    def forget(self) -> None:
        """Take it out of the keyring; nothing happens where there is none."""
        if self._host in self._hosts():
            keyring = _keyring()
            try:
                if keyring.get_password(SERVICE, self._host) is not None:
                    keyring.delete_password(SERVICE, self._host)
            except Exception as error:
                raise token_sentences.not_forgotten() from error
            self._write_hosts(self._hosts() - {self._host})
        self._read = ""

    def _from_keyring(self) -> str:
        self._problem = None
        try:
            token = _keyring().get_password(SERVICE, self._host) or ""
        except UserError as error:
            self._problem = error
            return ""
        except Exception as error:  # noqa: BLE001  a keyring that is locked or broken is as if nothing lay there
            _log.warning("the keyring does not give the token: %s", type(error).__name__)
            self._problem = token_sentences.not_given()
            return ""
        return token if is_token(token) else ""

    def _hosts(self) -> set[str]:
        if self._note is None:
            return set()
        try:
            return msgspec.json.decode(self._note.read_bytes(), type=set[str])
        except FileNotFoundError:
            return set()
        except (OSError, msgspec.MsgspecError) as error:
            _log.warning("which hubs a token is kept for cannot be read: %s", error)
            return {self._host}

    def _write_hosts(self, hosts: set[str]) -> None:
        if self._note is None:
            return
        try:
            self._note.parent.mkdir(parents=True, exist_ok=True)
            replace_whole(self._note, msgspec.json.encode(sorted(hosts)))
        except OSError as error:
            raise token_sentences.not_noted(self._note.name) from error


def _keyring() -> Any:
    """Return the keyring of this system, one that keeps secrets."""
    import keyring  # noqa: PLC0415

    try:
        found = keyring.get_keyring()
        kinds = [found, *getattr(found, "backends", ())]
    except Exception as error:
        raise token_sentences.no_keyring() from error
    if any(type(kind).__module__.startswith(_PLAIN) for kind in kinds):
        raise token_sentences.no_keyring()
    return found
