"""What people are told when something cannot be read from a server: what happened, and what to do next."""

from __future__ import annotations

import socket
import ssl
from math import ceil

from app.core.errors import ExitCode, UserError
from app.core.hub_model import ServerFailed
from app.core.words import translate
from app.hub import access_sentences, proxy_sentences, retrying
from app.hub.short_text import short

NOT_FOUND = 404
GATED = "GatedRepo"
MINUTE_S, HOUR_S = 60, 3600


def bad_endpoint(address: str) -> UserError:
    """The address of the hub is none."""
    return UserError(
        translate(
            "Hub",
            "HF_ENDPOINT is “{address}”, which is no web address: set it to one such as https://huggingface.co, or take"
            " it away.",
            address=short(address),
        ),
        ExitCode.WRONG_USE,
    )


def endpoint_with_login() -> UserError:
    """The address of the hub has a name or a password in it, which nobody would read there; it is not repeated."""
    return UserError(
        translate(
            "Hub",
            "HF_ENDPOINT holds a user name or a password, which are not sent from there: take what stands before the @ out"
            " of it.",
        ),
        ExitCode.WRONG_USE,
    )


def too_much_asked(most: int) -> UserError:
    """The words of a search make an address that no server takes."""
    return UserError(
        translate("Hub", "What is searched for is longer than any name: use at most {most} characters.", most=most),
        ExitCode.WRONG_USE,
    )


def bad_token() -> UserError:
    """The token holds what no token holds."""
    return UserError(
        translate("Hub", "HF_TOKEN holds characters that no access token has: copy the token again."),
        ExitCode.WRONG_USE,
    )


def cancelled(host: str) -> UserError:
    """Somebody ended it."""
    return ServerFailed(
        translate("Hub", "Reading from {host} was cancelled: start it again to go on.", host=short(host)),
        ExitCode.INTERRUPTED,
    )


def too_slow(host: str) -> UserError:
    """The time is over."""
    return ServerFailed(
        translate(
            "Hub",
            "{host} is too slow: check the internet connection, or try again later.",
            host=short(host),
        )
    )


def lost(host: str, error: Exception | None = None) -> UserError:
    """The connection ended before everything was there."""
    if isinstance(error, TimeoutError):
        return too_slow(host)
    return ServerFailed(
        translate("Hub", "The connection to {host} was lost: try again.", host=short(host)),
    )


def unreachable(host: str, error: BaseException, *, by_system: bool = False) -> UserError:
    """No connection came about, or no answer that can be read; `by_system`, where no variable says how to get there."""
    host = short(host)
    if isinstance(error, TimeoutError):
        return too_slow(host)
    if isinstance(error, ssl.SSLCertVerificationError) and not error.verify_message:
        return ServerFailed(
            translate(
                "Hub",
                "The certificate of {host} cannot be trusted: check this machine's clock and proxy, or set SSL_CERT_FILE to"
                " your certificates.",
                host=host,
            )
        )
    if isinstance(error, ssl.SSLCertVerificationError):
        return ServerFailed(
            translate(
                "Hub",
                "The certificate of {host} cannot be trusted ({reason}): check this machine's clock and proxy, or set"
                " SSL_CERT_FILE to your certificates.",
                host=host,
                reason=short(error.verify_message),
            )
        )
    told = proxy_sentences.in_the_way(host, error)
    if told is not None:
        return told
    return _without_variables(host, error) if by_system else _with_variables(host, error)


def _with_variables(host: str, error: BaseException) -> UserError:
    if isinstance(error, socket.gaierror):
        return ServerFailed(
            translate(
                "Hub",
                "{host}, or a proxy on the way to it, is not found by its name: check the internet connection, and how"
                " HF_ENDPOINT and HTTPS_PROXY are written where you set them.",
                host=host,
            )
        )
    if isinstance(error, ConnectionRefusedError):
        return ServerFailed(
            translate(
                "Hub",
                "{host} cannot be reached: check the internet connection and the proxy (HTTPS_PROXY).",
                host=host,
            )
        )
    return ServerFailed(
        translate(
            "Hub",
            "{host} gave no answer that can be read ({reason}): check the internet connection and the proxy"
            " (HTTPS_PROXY), and try again.",
            host=host,
            reason=short(_why(error)),
        )
    )


def _without_variables(host: str, error: BaseException) -> UserError:
    if isinstance(error, socket.gaierror):
        return ServerFailed(
            translate(
                "Hub",
                "{host}, or a proxy on the way to it, is not found by its name: check the internet connection, and the"
                " proxy in this system's settings.",
                host=host,
            )
        )
    if isinstance(error, ConnectionRefusedError):
        return ServerFailed(
            translate(
                "Hub",
                "{host} cannot be reached: check the internet connection, and the proxy in this system's settings.",
                host=host,
            )
        )
    return ServerFailed(
        translate(
            "Hub",
            "{host} gave no answer that can be read ({reason}): check the internet connection, and the proxy in this"
            " system's settings, and try again.",
            host=host,
            reason=short(_why(error)),
        )
    )


def refused(
    host: str, status: int, has_token: bool, why: str = "", wait_s: float | None = None, *, in_window: bool = False
) -> UserError:
    """A server that answers with a status other than success; `why` is the hub's word for it, `wait_s` what it asks.

    In a window there is a button where the command line has a command.
    """
    host = short(host)
    if status in (401, 403):
        return access_sentences.refused(host, has_token, is_gated=why == GATED, in_window=in_window)
    if status == 429 and wait_s is not None:
        return _busy(host, wait_s)
    if status == NOT_FOUND:
        return ServerFailed(
            translate("Hub", "{host} has no such model or file: check its name on the model's page.", host=host)
        )
    if status == 429:
        return access_sentences.too_many(host, has_token, in_window=in_window)
    if status == proxy_sentences.SIGN_IN:
        return web_page(host)
    if status == proxy_sentences.PASSWORD_WANTED:
        return proxy_sentences.password_wanted()
    if status >= 500:
        return ServerFailed(
            translate("Hub", "{host} has trouble of its own ({status}): try again later.", host=host, status=status)
        )
    return ServerFailed(
        translate(
            "Hub",
            "{host} answers with the status {status}: check HF_ENDPOINT and the proxy (HTTPS_PROXY).",
            host=host,
            status=status,
        )
    )


def _busy(host: str, wait_s: float) -> UserError:
    """Too many requests, and when the server wants the next one."""
    if wait_s < MINUTE_S:
        return ServerFailed(
            translate(
                "Hub", "{host} wants fewer requests: try again in {seconds} s.", host=host, seconds=ceil(wait_s)
            )
        )
    if wait_s < 2 * HOUR_S:
        return ServerFailed(
            translate(
                "Hub",
                "{host} wants fewer requests: try again in {minutes} min; an access token of your account allows more.",
                host=host,
                minutes=ceil(wait_s / MINUTE_S),
            )
        )
    if wait_s < retrying.LONGEST_S:
        return ServerFailed(
            translate(
                "Hub",
                "{host} wants fewer requests: try again in {hours} h; an access token of your account allows more.",
                host=host,
                hours=ceil(wait_s / HOUR_S),
            )
        )
    return ServerFailed(
        translate(
            "Hub",
            "{host} wants no more requests for a day or longer: try again tomorrow, or with an access token of your"
            " account.",
            host=host,
        )
    )


def unsafe_redirect(host: str) -> UserError:
    """A redirect to an address that is not encrypted, or that is no web address."""
    return ServerFailed(
        translate(
            "Hub",
            "{host} sends on to an address that is not safe, which is not followed: check HF_ENDPOINT and the proxy"
            " (HTTPS_PROXY).",
            host=short(host),
        )
    )


def web_page(host: str) -> UserError:
    """A page of HTML in place of what was asked for."""
    return proxy_sentences.sign_in(short(host))


def encoded(host: str, encoding: str) -> UserError:
    """Compressed on the way, although nobody asked for that."""
    return ServerFailed(
        translate(
            "Hub",
            "{host} sends this compressed ({encoding}), though it was asked for as it is: check the proxy (HTTPS_PROXY)"
            " and HF_ENDPOINT, and try again.",
            host=short(host),
            encoding=short(encoding),
        )
    )


def changed_meanwhile(repository: str) -> UserError:
    """One page of a listing is of another commit than the one before."""
    return UserError(
        translate(
            "Hub",
            "{repository} was changed while its files were being listed: try again.",
            repository=short(repository),
        )
    )


def contradicts(host: str) -> UserError:
    """Other bytes than asked for, or another length than was told."""
    return UserError(
        translate(
            "Hub",
            "{host} tells two lengths of this file, or sends other parts than asked for: check the proxy (HTTPS_PROXY) and"
            " HF_ENDPOINT, and try again.",
            host=short(host),
        )
    )


def too_much(host: str) -> UserError:
    """A header that does not end."""
    return UserError(
        translate(
            "Hub",
            "The header of this file on {host} does not end where one should, so it is damaged: choose another file.",
            host=short(host),
        )
    )


def unreadable_listing(host: str) -> UserError:
    """A listing that is none."""
    return ServerFailed(
        translate("Hub", "{host} lists files in a way that cannot be read: check HF_ENDPOINT.", host=short(host))
    )


def _why(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
