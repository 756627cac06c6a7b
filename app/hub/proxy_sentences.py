"""What people are told when a proxy, or whatever else stands before the internet, answers in the place of a server."""

from __future__ import annotations

import ssl

from app.core.errors import UserError
from app.core.hub_model import ServerFailed
from app.core.words import translate
from app.hub.tunnel import ProxyRefused

PASSWORD_WANTED, SIGN_IN = 407, 511


def is_lasting(error: BaseException) -> bool:
    """Whether a proxy says what it will say again: anything but trouble of its own."""
    return isinstance(error, ProxyRefused) and (error.status < 500 or error.status == SIGN_IN)


def in_the_way(host: str, error: BaseException) -> UserError | None:
    """Return what to tell of an error where a proxy is its cause; None where nothing says so."""
    status = error.status if isinstance(error, ProxyRefused) else None
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
    if isinstance(error, ssl.SSLError) and not error.reason:
        return ServerFailed(
            translate(
                "Hub",
                "What answers in the name of {host} is not encrypted as it should be: a proxy or a sign-in of this network"
                " may be in the way, so open a browser, or check HTTPS_PROXY.",
                host=host,
            )
        )
    if isinstance(error, ssl.SSLError):
        return ServerFailed(
            translate(
                "Hub",
                "What answers in the name of {host} is not encrypted as it should be ({reason}): a proxy or a sign-in of"
                " this network may be in the way, so open a browser, or check HTTPS_PROXY.",
                host=host,
                reason=str(error.reason).replace("_", " ").lower(),
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
