"""What people are told when a proxy, or whatever else stands before the internet, answers in the place of a server."""

from __future__ import annotations

import re
import ssl

from app.core.errors import UserError
from app.core.hub_model import ServerFailed
from app.core.words import translate

PASSWORD_WANTED, SIGN_IN = 407, 511
_TUNNEL = re.compile(r"Tunnel connection failed: (\d{3})\b", re.ASCII)
"""How the standard library begins what it says of a proxy that makes no connection."""


def tunnel_status(error: BaseException) -> int | None:
    """Return with which status a proxy has refused to make a connection; None where that is not what happened."""
    found = _TUNNEL.match(str(error)) if isinstance(error, OSError) else None
    return None if found is None else int(found[1])


def is_lasting(error: BaseException) -> bool:
    """Whether a proxy says what it will say again: anything but trouble of its own."""
    status = tunnel_status(error)
    return status is not None and (status < 500 or status == SIGN_IN)


def in_the_way(host: str, error: BaseException) -> UserError | None:
    """Return what to tell of an error where a proxy is its cause; None where nothing says so."""
    status = tunnel_status(error)
    if status == PASSWORD_WANTED:
        return password_wanted()
    if status is not None and (300 <= status < 400 or status == SIGN_IN):
        return sign_in(host)
    if status is not None:
        return ServerFailed(
            translate(
                "Hub",
                "The proxy makes no connection to {host} ({status}): check HTTPS_PROXY, or ask whoever looks after this"
                " network.",
                host=host,
                status=status,
            )
        )
    if isinstance(error, ssl.SSLError):
        return ServerFailed(
            translate(
                "Hub",
                "What answers in the name of {host} is not encrypted as it should be ({reason}): a proxy or a sign-in of"
                " this network may be in the way, so open a browser, or check HTTPS_PROXY.",
                host=host,
                reason=str(error.reason or "unknown").replace("_", " ").lower(),
            )
        )
    return None


def password_wanted() -> UserError:
    """The proxy does not know who asks."""
    return ServerFailed(
        translate(
            "Hub",
            "The proxy wants a name and a password (407): write them into HTTPS_PROXY, as in"
            " http://NAME:PASSWORD@PROXY:PORT.",
        )
    )


def sign_in(host: str) -> UserError:
    """A page of HTML, or the way to one, in place of what was asked for."""
    return ServerFailed(
        translate(
            "Hub",
            "{host} answers with a web page and no model: a sign-in of this network may be in the way, so open a browser,"
            " or check HF_ENDPOINT.",
            host=host,
        )
    )
