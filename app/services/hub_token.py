"""The access token for gated models: whether there is one, and giving and taking it; the token itself is passed on."""

from __future__ import annotations

from app.core.hub_token import HubToken
from app.core.ports import HubTokenPort


class HubTokenKeeping:
    """What people do with their token; each call may wait for somebody who unlocks a keyring."""

    def __init__(self, port: HubTokenPort) -> None:
        self._port = port

    def state_now(self) -> HubToken:
        """Return where the token is."""
        return self._port.token()

    def keep_now(self, token: str) -> HubToken:
        """Keep a token in this system's keyring, or raise why that cannot be; return where the one in use is now."""
        self._port.keep_token(token)
        return self._port.token()

    def forget_now(self) -> HubToken:
        """Take it out of the keyring; return where one in use is still."""
        self._port.forget_token()
        return self._port.token()
