"""What is said where a server gives something only to those whom it knows, and how to be one: in the window, or a command."""

from __future__ import annotations

from app.core.errors import UserError
from app.core.hub_model import ServerFailed
from app.core.words import translate


def refused(host: str, has_token: bool, *, is_gated: bool, in_window: bool) -> UserError:
    """A server that shows something to nobody, or not to the account of the token; gated is what has terms to accept."""
    if has_token and is_gated:
        return ServerFailed(
            translate(
                "Hub",
                "This model is given to those who have accepted its terms: accept them on its page on {host} with the"
                " account of your access token; where its authors answer by hand, wait for them.",
                host=host,
            )
        )
    if has_token:
        return ServerFailed(
            translate(
                "Hub",
                "{host} does not show this to your access token: check the name and the token, and accept the model's"
                " terms on its page.",
                host=host,
            )
        )
    return _gated(host, in_window) if is_gated else _closed(host, in_window)


def not_accepted(host: str, *, in_window: bool) -> UserError:
    """A server that takes the access token for none: a wrong one, or one that has ended."""
    if in_window:
        return ServerFailed(
            translate(
                "Hub",
                "{host} does not accept your access token: replace or remove it with “Access token…”, or change HF_TOKEN"
                " where you have set that.",
                host=host,
            )
        )
    return ServerFailed(
        translate(
            "Hub",
            "{host} does not accept your access token: replace it with tokenlight models token --set, remove it with"
            " --forget, or change HF_TOKEN where you have set that.",
            host=host,
        )
    )


def too_many(host: str, has_token: bool, *, in_window: bool) -> UserError:
    """A server that wants fewer requests and does not say until when; of an account it takes more."""
    if has_token:
        return ServerFailed(
            translate("Hub", "{host} wants fewer requests for now: try again in some minutes.", host=host)
        )
    if in_window:
        return ServerFailed(
            translate(
                "Hub",
                "{host} wants fewer requests for now: try again in some minutes, or give Tokenlight an access token"
                " (Models, Find, “Access token…”).",
                host=host,
            )
        )
    return ServerFailed(
        translate(
            "Hub",
            "{host} wants fewer requests for now: try again in some minutes, or set HF_TOKEN to your access token.",
            host=host,
        )
    )


def _closed(host: str, in_window: bool) -> UserError:
    if in_window:
        return ServerFailed(
            translate(
                "Hub",
                "{host} does not show this without permission: check the name; where the model asks for it, accept its"
                " terms on its page and give Tokenlight your access token (Models, Find, “Access token…”).",
                host=host,
            )
        )
    return ServerFailed(
        translate(
            "Hub",
            "{host} does not show this without permission: check the name; where the model asks for it, accept its"
            " terms on its page and give Tokenlight your access token: tokenlight models token --set, or HF_TOKEN.",
            host=host,
        )
    )


def _gated(host: str, in_window: bool) -> UserError:
    if in_window:
        return ServerFailed(
            translate(
                "Hub",
                "This model is given to those who have accepted its terms: accept them on its page on {host}, and give"
                " Tokenlight an access token of that account (Models, Find, “Access token…”).",
                host=host,
            )
        )
    return ServerFailed(
        translate(
            "Hub",
            "This model is given to those who have accepted its terms: accept them on its page on {host}, and give"
            " Tokenlight an access token of that account: tokenlight models token --set, or HF_TOKEN.",
            host=host,
        )
    )
