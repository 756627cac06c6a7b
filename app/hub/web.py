"""Reads from web servers as this machine's proxy and certificates allow: with a deadline, and a token for one server only.

Every failure is a `UserError` of `web_sentences`. Must not know what is read.
"""

from __future__ import annotations

import functools
import http.client
import os
import re
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from email.message import Message
from typing import IO, Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from app.core.errors import UserError
from app.core.hub_model import ServerFailed
from app.core.version import VERSION
from app.hub import access_sentences, retrying, web_sentences
from app.hub.limits import Limits, connection_within

PIECE = 64 * 1024
MOST_DIGITS = 18
"""Of a length that can be true."""
AS_IT_IS = "identity"
"""The only coding of a body that is asked for: ranges and lengths are those of the file."""
SCHEMES = ("http", "https")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
_CONTENT_RANGE = re.compile(r"bytes (?P<first>\d{1,18})-(?P<last>\d{1,18})/(?P<total>\d{1,18}|\*)")
_WEB_PAGES = ("text/html", "application/xhtml+xml")
_READ_ERRORS = (OSError, http.client.HTTPException, ValueError)
"""What urllib and http.client raise for servers that do as they like; a broken address or header is a ValueError."""


UNKNOWN = 401
"""Who asks is not known: without a token, or by one that is none. Who is known and may not is told 403."""
WANT_TOKEN = (UNKNOWN, 403, 429)
"""Nobody may have it who is not known, or has not accepted its terms; or fewer requests are taken of those."""


class Refused(ServerFailed):
    """A server answers with a status other than success."""

    def __init__(self, told: UserError, status: int, host: str, retry_after: str = "") -> None:
        super().__init__(told.sentence, told.exit_code)
        self.status = status
        self.host = host
        self.wants_token = status in WANT_TOKEN
        self.retry_after = retry_after
        """As the server says it: seconds, or a date; empty where it does not."""


class Part(NamedTuple):
    """Which bytes of a file a server sends, the last one counted in, and how many the file has; None is not told."""

    first: int
    last: int
    total: int | None


class Reply:
    """What a server answers; its body is read in pieces, each within the limits."""

    def __init__(self, answer: http.client.HTTPResponse, limits: Limits, status: int, address: str) -> None:
        self.status = status
        self.address = address
        """Where redirects have led to."""
        self.headers: Message = answer.headers
        self.host = host_of(address)
        told = answer.headers.get("Content-Length", "").strip()
        self.length = int(told) if told.isdecimal() and len(told) <= MOST_DIGITS else None
        """Bytes of the body as the server tells; None where it does not."""
        self._answer = answer
        self._limits = limits

    @property
    def part(self) -> Part | None:
        """Which part of the file this is; None where the server does not say it, or not so that it can be read."""
        told = _CONTENT_RANGE.fullmatch(" ".join(self.headers.get("Content-Range", "").lower().split()))
        if told is None:
            return None
        return Part(int(told["first"]), int(told["last"]), None if told["total"] == "*" else int(told["total"]))

    def refuse_web_page(self) -> None:
        """Raise where a page of HTML comes in place of what was asked for."""
        if self.headers.get_content_type() in _WEB_PAGES:
            raise web_sentences.web_page(self.host)

    def read(self, size: int) -> bytes:
        """Return the next bytes, `size` of them unless the server sends no more."""
        pieces: list[bytes] = []
        missing = size
        while missing > 0 and (piece := self.read_some(min(missing, PIECE))):
            pieces.append(piece)
            missing -= len(piece)
        return b"".join(pieces)

    def read_some(self, most: int) -> bytes:
        """Return what has come, no more than `most` bytes; waits for the first, and is empty at the end."""
        self._limits.check(self.host)
        try:
            piece = self._answer.read1(most)
        except _READ_ERRORS as error:
            self._limits.check(self.host)
            raise web_sentences.lost(self.host, error) from error
        self._limits.check(self.host)
        if self._limits.came is not None:
            self._limits.came(len(piece))
        return piece

    def close(self) -> None:
        """Close the connection, whatever is still to come."""
        self._answer.close()


class Web:
    """Fetches addresses; a token goes to the server of `endpoint` alone, and never unencrypted over a network."""

    def __init__(
        self,
        endpoint: str,
        token: str = "",
        proxies: Mapping[str, str] | None = None,
        permit: Callable[[], None] = lambda: None,
        in_window: bool = False,
    ) -> None:
        """`proxies` None takes this machine's (HTTPS_PROXY, NO_PROXY, or what its system says).

        `permit` raises where no connection may be opened, and what is open may not be read any more. `in_window` says
        what people have at hand, for sentences.
        """
        self._origin = _origin(endpoint)
        self._token = token if _is_private(endpoint) and not _is_read_by_a_proxy(endpoint, proxies) else ""
        self._proxies = proxies
        self._permit = permit
        self._in_window = in_window

    def get(
        self, address: str, limits: Limits, byte_range: tuple[int, int | None] | None = None, if_range: str = ""
    ) -> Reply:
        """Return the reply to a GET, of the bytes from `byte_range[0]` to `byte_range[1]`, the latter counted in.

        Without a last byte it is to the end; with `if_range` only while the file still has this ETag, else whole. A
        reply with a status other than 200 or 206 is raised as the sentence that fits, with the status.
        """
        host = host_of(address)
        limits.permit = self._permit
        limits.check(host)
        try:
            request = urllib.request.Request(address, headers=_headers(byte_range, if_range))
            self._authorize(request)
            answer = self._opener(limits).open(request, timeout=limits.timeout)
        except urllib.error.HTTPError as refused:
            refused.close()
            raise self._refused(refused.url or address, refused.code, refused.headers) from None
        except _READ_ERRORS as error:
            limits.check(host)
            by_system = self._in_window and not _is_set_by_variables()
            raise web_sentences.unreachable(host, reason_of(error), by_system=by_system) from error
        status, final = int(answer.status), str(answer.url)
        if status not in (200, 206):
            answer.close()
            raise self._refused(final, status, answer.headers)
        encoding = answer.headers.get("Content-Encoding", "").strip()
        if encoding.lower() not in ("", AS_IT_IS):
            answer.close()
            raise web_sentences.encoded(host_of(final), encoding)
        return Reply(answer, limits, status, final)

    def _refused(self, address: str, status: int, headers: Message) -> Refused:
        host, after = host_of(address), retrying.named(headers)
        why = headers.get("X-Error-Code", "")
        wait_s = retrying.seconds(after)
        told = web_sentences.refused(host, status, bool(self._token), why, wait_s, in_window=self._in_window)
        if status == UNKNOWN and why != web_sentences.GATED and self._is_told_token(address):
            told = access_sentences.not_accepted(host, in_window=self._in_window)
        return Refused(told, status, host, after)

    def _authorize(self, request: urllib.request.Request) -> None:
        if self._is_told_token(request.full_url):
            # not among the headers that urllib takes along to where a redirect leads
            request.add_unredirected_header("Authorization", f"Bearer {self._token}")

    def _is_told_token(self, address: str) -> bool:
        return bool(self._token) and _origin(address) == self._origin

    def _opener(self, limits: Limits) -> urllib.request.OpenerDirector:
        handlers: list[urllib.request.BaseHandler] = [
            urllib.request.ProxyHandler(None if self._proxies is None else dict(self._proxies)),
            _Redirects(self._authorize),
            _Plain(limits),
            _Encrypted(limits),
            urllib.request.HTTPDefaultErrorHandler(),
            urllib.request.HTTPErrorProcessor(),
        ]
        opener = urllib.request.OpenerDirector()
        for handler in handlers:
            opener.add_handler(handler)
        return opener


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows to web addresses only, never from an encrypted one to one that is not."""

    def __init__(self, authorize: Callable[[urllib.request.Request], None]) -> None:
        self._authorize = authorize

    def http_error_302(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message
    ) -> Any:
        if _leads_off_the_web(req.full_url, headers.get("location") or headers.get("uri") or ""):
            fp.close()
            raise web_sentences.unsafe_redirect(host_of(req.full_url))
        try:
            return super().http_error_302(req, fp, code, msg, headers)  # type: ignore[arg-type]
        except ValueError:
            fp.close()  # where it leads to is no address
            raise

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> urllib.request.Request | None:
        fp.close()  # urllib would read what stands there to its end
        made = super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]
        if made is None:
            return None
        was, will = urlsplit(req.full_url).scheme, urlsplit(newurl).scheme
        if will not in SCHEMES or (was == "https" and will != "https"):
            raise web_sentences.unsafe_redirect(host_of(req.full_url))
        self._authorize(made)
        return made


def _leads_off_the_web(address: str, location: str) -> bool:
    try:
        return urlsplit(urljoin(address, location)).scheme not in SCHEMES
    except ValueError:
        return False  # that is no address at all, which is told later


class _Plain(urllib.request.HTTPHandler):
    def __init__(self, limits: Limits) -> None:
        super().__init__()
        self._limits = limits

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(connection_within(http.client.HTTPConnection, self._limits), req)


class _Encrypted(urllib.request.HTTPSHandler):
    def __init__(self, limits: Limits) -> None:
        urllib.request.AbstractHTTPHandler.__init__(self)  # without certificates, which take long to read
        self._limits = limits

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(
            connection_within(http.client.HTTPSConnection, self._limits), req, context=_certificates()
        )


@functools.cache
def _certificates() -> ssl.SSLContext:
    """Return what this system trusts, with what a company or a person added to it; SSL_CERT_FILE is in place of that."""
    if any(os.environ.get(name, "").strip() for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")):
        return ssl.create_default_context()
    import truststore  # noqa: PLC0415

    made: ssl.SSLContext = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return made


def host_of(address: str) -> str:
    """Return the server of an address, for a sentence."""
    try:
        return urlsplit(address).netloc.rpartition("@")[2] or address[:60]
    except ValueError:
        return address[:60]


def _headers(byte_range: tuple[int, int | None] | None, if_range: str) -> dict[str, str]:
    headers = {"User-Agent": f"Tokenlight/{VERSION}", "Accept-Encoding": AS_IT_IS}
    if byte_range is not None:
        first, last = byte_range
        headers["Range"] = f"bytes={first}-{'' if last is None else last}"
        if if_range:
            headers["If-Range"] = if_range
    return headers


def _origin(address: str) -> tuple[str, str, int | None]:
    try:
        parts = urlsplit(address)
        return parts.scheme, parts.hostname or "", parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return "", "", None


def _is_private(address: str) -> bool:
    scheme, host, _ = _origin(address)
    return scheme == "https" or host in LOOPBACK


def _is_set_by_variables() -> bool:
    """Whether somebody wrote into the environment which hub is asked, or by which proxy."""
    return bool(os.environ.get("HF_ENDPOINT", "").strip() or urllib.request.getproxies_environment())


def _is_read_by_a_proxy(address: str, proxies: Mapping[str, str] | None) -> bool:
    """Whether a proxy sees all that is said to a server: also one of this machine, unless NO_PROXY has it."""
    parts = urlsplit(address)
    known = urllib.request.getproxies() if proxies is None else proxies
    return parts.scheme == "http" and bool(known.get("http")) and not urllib.request.proxy_bypass(parts.netloc)


def reason_of(error: BaseException) -> BaseException:
    """Return what urllib wraps, which says why there was no answer."""
    reason = getattr(error, "reason", None)
    return reason if isinstance(reason, BaseException) else error
