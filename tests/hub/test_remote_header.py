"""Headers read over a real connection: how much is read of a file, and what people are told when a server is not well."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.errors import ExitCode, UserError
from app.core.gguf_header import read_header
from app.hub import remote_header
from app.hub.remote_header import AHEAD, RemoteFile
from app.hub.web import Limits, Web
from tests.gguf_bytes import encode_tensor, encode_text, encode_value, raw_gguf, raw_gguf_of
from tests.ggufs import write_split_llama
from tests.hub.conftest import only
from tests.hub.loopback_hub import GUARD_S, PIECE, LoopbackHub, Request

MIB = 1 << 20


def told(hub: LoopbackHub, **environment: str) -> str:
    """Return what people are told when the header is read, which may not take long, nor many bytes."""
    begun = time.monotonic()

    def read() -> None:
        reading, model = only(hub, **environment)
        reading.headers(model)

    with pytest.raises(UserError) as caught:
        read()
    assert time.monotonic() - begun < GUARD_S
    assert hub.delivered < 100 * MIB
    text = caught.value.sentence.english()
    assert text.endswith(".") and "\n" not in text and len(text) < 320
    return text


def test_a_header_is_the_one_of_the_file_and_no_more_is_read_than_a_megabyte_beyond_it(starter_model: Path) -> None:
    content = starter_model.read_bytes()
    with LoopbackHub({"smol.Q4_1.gguf": content}) as hub:
        reading, model = only(hub)
        (header,) = reading.headers(model)
        assert header == read_header(lambda offset, size: content[offset : offset + size], len(content))
        assert header.data_offset > AHEAD
        assert hub.delivered <= header.data_offset + 1_000_000
        sent_on = [path for where, path, _ in hub.asked if where == "hub" and "/resolve/" in path]
        assert len(sent_on) == 1


def test_a_small_file_is_one_request(hub: LoopbackHub, tiny: bytes) -> None:
    reading, model = only(hub)
    (header,) = reading.headers(model)
    assert header.text("general.architecture") == "llama"
    assert [headers["range"] for where, _, headers in hub.asked if where == "store"] == [
        f"bytes=0-{min(len(tiny), AHEAD) - 1}"
    ]


def test_all_parts_of_a_model_are_read(tmp_path: Path) -> None:
    paths = write_split_llama(tmp_path)
    with LoopbackHub({f"f16/{path.name}": path.read_bytes() for path in paths}) as hub:
        reading, model = only(hub)
        headers = reading.headers(model)
        assert len(headers) == len(paths) > 1
        assert model.size == sum(path.stat().st_size for path in paths)
        hub.files.pop(f"f16/{paths[1].name}")
        _, fewer = only(hub)
        with pytest.raises(UserError, match="comes in"):
            reading.headers(fewer)


def test_a_server_that_ignores_ranges_is_read_as_far_as_needed_and_then_closed(starter_model: Path) -> None:
    content = starter_model.read_bytes()
    gone = threading.Event()

    def endless(request: Request) -> None:
        request.begin(200, {"Content-Type": "application/octet-stream"})
        sent = 0
        while request.send(content[sent : sent + PIECE] or bytes(PIECE)):
            sent += PIECE
        gone.set()

    with LoopbackHub({"smol.gguf": content}) as hub:
        hub.delivering = endless
        reading, model = only(hub)
        (header,) = reading.headers(model)
        assert gone.wait(GUARD_S)
        assert header == read_header(lambda offset, size: content[offset : offset + size], len(content))
        assert len([1 for where, _, _ in hub.asked if where == "store"]) == 1


def test_what_is_read_of_such_a_server_is_the_header_and_a_megabyte(starter_model: Path) -> None:
    content = starter_model.read_bytes()

    def whole(request: Request) -> None:
        request.begin(200, {"Content-Length": len(content)})
        request.send(content)

    with LoopbackHub({"smol.gguf": content}) as hub, Limits(GUARD_S) as limits:
        hub.delivering = whole
        remote = RemoteFile(
            Web(hub.endpoint), f"{hub.endpoint}/{hub.repository}/resolve/main/smol.gguf", len(content), limits
        )
        header = read_header(*remote.source)
        remote.close()
        assert header.data_offset <= remote.received + 32 <= header.data_offset + 1_000_000 + 32


def stuck(hub: LoopbackHub) -> Callable[[Request], None]:
    def answer(_request: Request) -> None:
        hub.ended.wait(GUARD_S)

    return answer


def dripping(hub: LoopbackHub, first: bytes) -> Callable[[Request], None]:
    def answer(request: Request) -> None:
        request.wfile.write(first)
        while request.send(b"x") and not hub.ended.wait(0.02):
            pass

    return answer


@pytest.mark.parametrize("where", ["listing", "resolving", "delivering"])
def test_a_server_that_says_nothing_is_given_up(
    hub: LoopbackHub, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.hub.reading.Limits", lambda _seconds: Limits(0.4))
    setattr(hub, where, stuck(hub))
    assert "is too slow: try again later" in told(hub)


@pytest.mark.parametrize("first", [b"HTTP/1.1 200 OK\r\nX-Slow: ", b"HTTP/1.1 200 OK\r\n\r\nGGUF"])
def test_a_server_that_drips_is_given_up_at_the_deadline(
    hub: LoopbackHub, first: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.hub.reading.Limits", lambda _seconds: Limits(0.4))
    hub.delivering = dripping(hub, first)
    assert "is too slow: try again later" in told(hub)


def test_reading_can_be_cancelled_from_another_thread(hub: LoopbackHub) -> None:
    asked = threading.Event()

    def answer(_request: Request) -> None:
        asked.set()
        hub.ended.wait(GUARD_S)

    hub.resolving = answer
    with Limits(GUARD_S) as limits:

        def cancel() -> None:
            asked.wait(GUARD_S)
            limits.cancel()

        thread = threading.Thread(target=cancel)
        thread.start()
        with pytest.raises(UserError, match="was cancelled") as caught:
            Web(hub.endpoint).get(f"{hub.endpoint}/x", limits)
        thread.join()
        assert caught.value.exit_code == ExitCode.INTERRUPTED
        with pytest.raises(UserError, match="was cancelled"):
            Web(hub.endpoint).get(f"{hub.endpoint}/x", limits)


LIES: dict[str, dict[str, object]] = {
    "another length in all": {"Content_Range": "bytes 0-99/100"},
    "another place": {"Content_Range": "bytes 5-9/10"},
    "no range": {"Content_Range": ""},
    "a range of nothing": {"Content_Range": "bytes */10"},
    "an absurd range": {"Content_Range": f"bytes 0-{'9' * 5000}/{'9' * 5000}"},
}


@pytest.mark.parametrize("lie", LIES)
def test_a_server_that_lies_about_the_range_is_not_believed(hub: LoopbackHub, tiny: bytes, lie: str) -> None:
    hub.delivering = lambda request: request.send_part(tiny, **LIES[lie])
    assert "tells two lengths of this file, or sends other parts" in told(hub)


def test_a_whole_file_of_another_length_is_not_believed(hub: LoopbackHub, tiny: bytes) -> None:
    def whole(request: Request) -> None:
        request.begin(200, {"Content-Length": len(tiny) + 1})
        request.send(tiny)

    hub.delivering = whole
    assert "tells two lengths" in told(hub)


@pytest.mark.parametrize("length", [10**6, 10**12])
def test_a_server_that_sends_less_than_it_says_has_lost_the_connection(
    hub: LoopbackHub, tiny: bytes, length: int
) -> None:
    def short(request: Request) -> None:
        request.begin(
            206, {"Content-Length": length, "Content-Range": f"bytes 0-{min(len(tiny), AHEAD) - 1}/{len(tiny)}"}
        )
        request.send(tiny[:500])

    hub.delivering = short
    assert "The connection to" in told(hub)


def test_a_length_that_is_no_number_changes_nothing(hub: LoopbackHub, tiny: bytes) -> None:
    def whole(request: Request) -> None:
        request.begin(200, {"Content-Length": "9" * 5000})
        request.send(tiny)

    hub.delivering = whole
    reading, model = only(hub)
    assert len(reading.headers(model)) == 1


def test_a_server_that_hangs_up_without_a_word(hub: LoopbackHub) -> None:
    hub.delivering = lambda request: request.connection.close()
    assert "gave no answer that can be read" in told(hub)

    def other_protocol(request: Request) -> None:
        request.send(b"SSH-2.0-server\r\n")

    hub.delivering = other_protocol
    assert "gave no answer that can be read" in told(hub)


STATUS = {
    401: "without permission",
    403: "without permission",
    404: "has no such model or file",
    410: "the status 410",
    416: "the status 416",
    429: "fewer requests",
    500: "trouble of its own (500)",
    503: "trouble of its own (503)",
    204: "the status 204",
}


@pytest.mark.parametrize("status", STATUS)
@pytest.mark.parametrize("where", ["listing", "resolving", "delivering"])
def test_each_refusal_is_a_sentence(hub: LoopbackHub, status: int, where: str) -> None:
    def refuse(request: Request) -> None:
        if status == 204:
            request.begin(204, {})
        else:
            request.send_text("no", status)

    setattr(hub, where, refuse)
    assert STATUS[status] in told(hub)


@pytest.mark.parametrize("where", ["listing", "resolving", "delivering"])
def test_a_web_page_in_its_place_is_told(hub: LoopbackHub, where: str) -> None:
    setattr(hub, where, lambda request: request.send_text("<html>Sign in</html>", 200, "text/html; charset=utf-8"))
    assert "a web page and no model" in told(hub)


def test_bytes_of_something_else_are_called_what_they_are(hub: LoopbackHub) -> None:
    page = b"<!DOCTYPE html><p>Please sign in</p>" + bytes(3000)
    hub.files["tiny.F16.gguf"] = page
    assert "is a web page" in told(hub)


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
