"""Lends huggingface_hub: it knows the hub's addresses, questions and pages; what it asks goes over our own connections.

So the proxy, certificates, deadline and token are those of `web`, and it opens no connection itself. What a hub answers
is untrusted: each answer is checked before huggingface_hub reads it. Loaded with it when first needed.
"""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qs, quote, urljoin, urlsplit

import msgspec

from app.core.download import is_commit
from app.core.errors import UserError
from app.core.hub_model import MAIN
from app.hub import web_sentences
from app.hub.limits import Limits
from app.hub.web import Web, host_of

MOST_PAGES = 50
COMMIT = "X-Repo-Commit"
"""The header in which the hub tells what it has answered of."""
MOST_BYTES = 8 * 1024 * 1024
MOST_COMMAS = 400_000
"""About so many values an answer has at most, ten times what a long one has: no other thread runs while they are taken apart."""
_NEXT = re.compile(r'<([^<>\s]{1,4000})>\s*;[^,]*\brel="?next"?')
_MODELS = "/api/models"


class Kept(NamedTuple):
    """What holds of an answer."""

    value: Any
    unread: int = 0
    """Entries that do not."""


Keep = Callable[[Any], Kept]
"""Returns what of an answer holds; a ValueError says that it is none."""


class Question:
    """One question for a hub, with all its pages."""

    def __init__(self, web: Web, endpoint: str, limits: Limits, keep: Keep) -> None:
        self._web = web
        self._limits = limits
        self._keep = keep
        self.host = host_of(endpoint)
        self._places = {urlsplit(endpoint)[:2]}
        self.pages_left = MOST_PAGES
        self._seen: set[str] = set()
        self.commits: list[str] = []
        """What each page is of, where the hub tells it; else “main”."""
        self.unread = 0
        """Entries of all pages that cannot be read."""
        self.cursor = ""
        """Where the first page begins; then where the page after the last one that was read does, or empty."""

    def answer(self, address: str) -> tuple[bytes, dict[str, str]]:
        """Return what stands at an address, and its headers, as far as huggingface_hub may know them."""
        if urlsplit(address)[:2] not in self._places or _MODELS not in urlsplit(address).path:
            raise web_sentences.unreadable_listing(self.host)
        if self.cursor and "cursor=" not in address:
            address += f"{'&' if '?' in address else '?'}cursor={quote(self.cursor, safe='')}"
        self._seen.add(address)
        reply = self._web.get(address, self._limits)
        try:
            reply.refuse_web_page()
            content = reply.read(MOST_BYTES)
        finally:
            reply.close()
        if reply.length is not None and len(content) < min(reply.length, MOST_BYTES):
            raise web_sentences.lost(reply.host)
        try:
            kept = self._keep(_decoded(content))
        except (ValueError, RecursionError) as error:
            raise web_sentences.unreadable_listing(reply.host) from error
        self.unread += kept.unread
        told = reply.headers.get(COMMIT, "").strip().lower()
        self.commits.append(told if is_commit(told) else MAIN)
        self._places.add(urlsplit(reply.address)[:2])
        return msgspec.json.encode(kept.value), self._headers(reply.address, reply.headers.get("Link", ""))

    def _headers(self, address: str, link: str) -> dict[str, str]:
        headers = {"Content-Type": "application/json"}
        found = _NEXT.search(link)
        following = urljoin(address, found[1]) if found is not None else ""
        self.cursor = (parse_qs(urlsplit(following).query).get("cursor") or [""])[0]
        self.pages_left -= 1
        if following and following not in self._seen and self.pages_left > 0:  # in a circle there is no more
            headers["Link"] = f'<{following}>; rel="next"'
        return headers


def _decoded(content: bytes) -> Any:
    """Return what an answer says; a ValueError where it holds more than any."""
    if content.count(b",") > MOST_COMMAS:
        raise ValueError("too many values")
    return msgspec.json.decode(content)


@contextmanager
def hub_api(web: Web, endpoint: str, limits: Limits, keep: Keep) -> Iterator[tuple[Any, Question]]:
    """Lend huggingface_hub's interface for one question; every failure is a sentence."""
    question = Question(web, endpoint, limits, keep)
    interface, refused_name = _interface()
    made = interface(endpoint=endpoint, token=False)
    asked = _ASKED.set(question)
    try:
        yield made, question
    except UserError:
        raise
    except refused_name as error:
        raise web_sentences.refused(question.host, web_sentences.NOT_FOUND, has_token=False) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        # what the check has let pass, huggingface_hub cannot read
        raise web_sentences.unreadable_listing(host_of(endpoint)) from error
    finally:
        _ASKED.reset(asked)


_ASKED: ContextVar[Question] = ContextVar("_ASKED")


class _Connections:
    """In the place of those that huggingface_hub would open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """There is nothing to close: each answer was read whole."""

    def handle_request(self, request: Any) -> Any:
        """Answer as `web` does; a question of anybody else fails."""
        from httpx2 import Response  # noqa: PLC0415

        content, headers = _ASKED.get().answer(str(request.url))
        return Response(200, headers=headers, content=content, request=request)


@functools.cache
def _interface() -> tuple[Any, type[ValueError]]:
    """Return what asks, and what it raises for a name that it does not take."""
    from httpx2 import Client  # noqa: PLC0415
    from huggingface_hub import constants, set_client_factory  # noqa: PLC0415
    from huggingface_hub.errors import HFValidationError  # noqa: PLC0415
    from huggingface_hub.hf_api import HfApi  # noqa: PLC0415

    constants.HF_HUB_DISABLE_TELEMETRY = True  # it would ask for more than it is asked, and write that down
    logging.getLogger("httpx2").setLevel(logging.WARNING)  # it would tell each address
    # without the environment, whose .netrc it would read
    set_client_factory(lambda: Client(transport=_Connections(), trust_env=False))  # type: ignore[arg-type]
    return HfApi, HFValidationError
