"""A hub on this machine with two small models in one repository, which the program is told to ask."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.ggufs import write_tiny_llama
from tests.hub.loopback_hub import GUARD_S, LoopbackHub, Request

NAMES = ("tiny-F16.gguf", "tiny-Q8_0.gguf")
BEGUN = 512
"""Bytes that a slow hub sends before it waits."""


@contextmanager
def planned_hub(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    """Open the hub; models have two layers and three."""
    for name in ("http_proxy", "HTTP_PROXY", "TOKENLIGHT_OFFLINE", "HF_HUB_OFFLINE", "HF_TOKEN"):
        patch.delenv(name, raising=False)
    paths = [write_tiny_llama(folder / name, layers=2 + number) for number, name in enumerate(NAMES)]
    with LoopbackHub({path.name: path.read_bytes() for path in paths}) as made:
        patch.setenv("HF_ENDPOINT", made.endpoint)
        yield made


def begin_and_wait(hub: LoopbackHub, request: Request) -> None:
    """Send the first bytes of a part, and the others never: the end of the hub ends it, or who asked goes away."""
    content, asked = hub.content_of(request), request.asked_range or (0, 0)
    last = min(asked[1], len(content) - 1)
    told = {"Content-Length": last + 1 - asked[0], "Content-Range": f"bytes {asked[0]}-{last}/{len(content)}"}
    request.begin(206, told)
    request.send(content[:BEGUN])
    request.connection.settimeout(GUARD_S)
    try:
        request.rfile.read(1)  # nothing is said any more: it ends when who asked does
    except OSError:
        pass
