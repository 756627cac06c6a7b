"""Headers read over a real connection: how much is read of a file, and what people are told when a server is not well."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.errors import ExitCode, UserError
from app.core.gguf_header import read_header
from app.core.gguf_magic import HEAD_BYTES
from app.hub.limits import Limits
from app.hub.remote_header import AHEAD, RemoteFile
from app.hub.web import Web
from tests.gguf_bytes import raw_gguf
from tests.ggufs import write_split_llama
from tests.hub.conftest import only, told
from tests.hub.loopback_hub import GUARD_S, PIECE, LoopbackHub, Request

MIB = 1 << 20


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


def header_of_length(length: int) -> bytes:
    """Return a file whose header is exactly so many bytes long, with data behind it."""
    sizes = [len(raw_gguf({"filler": "x" * fill}, data=b"")) for fill in (0, 32)]
    assert sizes[1] - sizes[0] == 32 and length % 32 == sizes[0] % 32 == 0
    return raw_gguf({"filler": "x" * (length - sizes[0])}, data=bytes(3 * AHEAD))


@pytest.mark.parametrize("edge", [AHEAD, AHEAD + HEAD_BYTES, 2 * AHEAD - HEAD_BYTES, 2 * AHEAD, 3 * AHEAD])
@pytest.mark.parametrize("beyond", [-64, -32, 0, 32])
def test_a_header_that_ends_at_the_edge_of_a_range_is_read_once_and_no_further(edge: int, beyond: int) -> None:
    length = edge // 32 * 32 + beyond
    content = header_of_length(length)
    with LoopbackHub({"m.gguf": content}) as hub, Limits(GUARD_S) as limits:
        address = f"{hub.endpoint}/{hub.repository}/resolve/main/m.gguf"
        remote = RemoteFile(Web(hub.endpoint), address, len(content), limits)
        header = read_header(*remote.source)
        remote.close()
        assert header == read_header(lambda offset, size: content[offset : offset + size], len(content))
        assert header.data_offset == length
        asked = [headers["range"] for where, _, headers in hub.asked if where == "store"]
        ranges = [tuple(map(int, each.removeprefix("bytes=").split("-"))) for each in asked]
        assert [first for first, _ in ranges] == [0, *(last + 1 for _, last in ranges[:-1])], (
            "no byte twice, none missing"
        )
        assert all(first < length for first, _ in ranges), "nothing is asked for behind the end"
        assert remote.received == ranges[-1][1] + 1 <= length + 1_000_000


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
    assert "is too slow: check the internet connection, or try again later" in told(hub)


@pytest.mark.parametrize("first", [b"HTTP/1.1 200 OK\r\nX-Slow: ", b"HTTP/1.1 200 OK\r\n\r\nGGUF"])
def test_a_server_that_drips_is_given_up_at_the_deadline(
    hub: LoopbackHub, first: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.hub.reading.Limits", lambda _seconds: Limits(0.4))
    hub.delivering = dripping(hub, first)
    assert "is too slow: check the internet connection, or try again later" in told(hub)


def test_reading_can_be_cancelled_from_another_thread(hub: LoopbackHub) -> None:
    asked, answered = threading.Event(), threading.Event()

    def answer(_request: Request) -> None:
        asked.set()
        hub.ended.wait(GUARD_S)
        answered.set()

    hub.resolving = answer
    with Limits(6 * GUARD_S, 6 * GUARD_S) as limits:

        def cancel() -> None:
            asked.wait(GUARD_S)
            limits.cancel()

        thread = threading.Thread(target=cancel)
        thread.start()
        with pytest.raises(UserError, match="was cancelled") as caught:
            Web(hub.endpoint).get(f"{hub.endpoint}/x", limits)
        assert not answered.is_set()
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


def test_the_range_of_a_file_of_another_length_is_not_believed(hub: LoopbackHub, tiny: bytes) -> None:
    last = min(len(tiny), AHEAD) - 1
    hub.delivering = lambda request: request.send_part(tiny, Content_Range=f"bytes 0-{last}/{len(tiny) + 1}")
    assert "tells two lengths" in told(hub)


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
