"""Headers with anything wrong in them, read over a real connection: a clear error, after few bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from app.hub import remote_header
from tests.gguf_bytes import encode_tensor, encode_text, encode_value, raw_gguf, raw_gguf_of
from tests.hub.conftest import MIB, told
from tests.hub.loopback_hub import LoopbackHub, Request


def huge_counts() -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, 1 << 40, 1 << 40) + bytes(4096)


def endless_text() -> bytes:
    return raw_gguf_of([struct.pack("<Q", 1 << 60)], [])


def endless_array() -> bytes:
    entry = encode_text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 1 << 50)
    return raw_gguf_of([entry], [], data=bytes(4 * MIB))


def nested_arrays() -> bytes:
    return raw_gguf_of([encode_text("x") + struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 100_000], [])


def wrong_type() -> bytes:
    return raw_gguf_of([encode_text("x") + struct.pack("<IQ", 77, 1)], [])


def negative_offset() -> bytes:
    entries = [encode_text("general.architecture") + encode_value("llama")]
    return raw_gguf_of(entries, [encode_tensor("token_embd.weight", (4, 2), 0, (1 << 64) - 32)])


def cut_off() -> bytes:
    return raw_gguf({"general.architecture": "llama"})[:60]


@pytest.mark.parametrize(
    "make", [huge_counts, endless_text, endless_array, nested_arrays, wrong_type, negative_offset, cut_off]
)
@pytest.mark.parametrize("ranges", [True, False])
def test_a_broken_header_ends_in_a_sentence(hub: LoopbackHub, make: Callable[[], bytes], *, ranges: bool) -> None:
    content = make()
    hub.files["tiny.F16.gguf"] = content
    if not ranges:

        def whole(request: Request) -> None:
            request.begin(200, {"Content-Length": len(content)})
            request.send(content)

        hub.delivering = whole
    assert told(hub)


@pytest.mark.parametrize("most", [6 * MIB, pytest.param(remote_header.MOST_BYTES, marks=pytest.mark.slow)])
def test_a_header_that_claims_to_be_endless_is_given_up(
    hub: LoopbackHub, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_header, "MOST_BYTES", most)
    size = 1 << 50
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + encode_text("x") + struct.pack("<IIQ", 9, 8, 4_000_000)
    piece = (struct.pack("<Q", 100) + bytes(100)) * 600

    def endless(request: Request) -> None:
        asked = request.asked_range
        assert asked is not None
        first, last = asked
        request.begin(206, {"Content-Range": f"bytes {first}-{last}/{size}", "Content-Length": last + 1 - first})
        start = first - len(head)
        content = piece * ((last + 1 - first) // len(piece) + 2)
        if start < 0:
            request.send((head + content)[: last + 1 - first])
        else:
            shift = start % len(piece)
            request.send(content[shift : shift + last + 1 - first])

    hub.listing = lambda request: request.send_text(
        f'[{{"type":"file","path":"a.gguf","size":{size}}}]', 200, "application/json"
    )
    hub.resolving = endless
    assert "does not end where one should" in told(hub)
    assert hub._hub.sent <= most < 100 * MIB
