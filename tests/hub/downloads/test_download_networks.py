"""Downloads through networks that are in the way: certificates, proxies, and sign-in pages in place of a model."""

from __future__ import annotations

import gzip
import socket
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.download import DownloadChanged
from app.hub import download_run, proxy_sentences, web
from app.hub.tunnel import open_tunnel
from tests.hub.connecting_proxy import ConnectingProxy
from tests.hub.download_hub import CONTENT, HALF, NAME, DownloadHub, downloader
from tests.hub.loopback_hub import Answer, Request

CERTIFICATE = Path(__file__).parents[1] / "localhost.pem"
PAGE = "<html>" + "x" * 5000


@pytest.fixture(autouse=True)
def _certificates() -> Iterator[None]:
    web._certificates.cache_clear()
    yield
    web._certificates.cache_clear()


@pytest.fixture
def encrypted() -> Iterator[DownloadHub]:
    """A hub behind a certificate of localhost that nobody trusts, which sends the file itself."""
    made = DownloadHub({NAME: CONTENT})
    made.encrypt(CERTIFICATE)
    made.resolving = made.deliver
    with made:
        yield made


def failed(hub: DownloadHub, folder: Path, **environment: str) -> tuple[str, int]:
    """Return what people are told, and how often it was tried; nothing of it is kept."""
    with downloader(hub, folder, None, **environment) as made:
        made.queue.add(hub.wanted())
        told = made.until("failed")
        tries = 1 + sum(isinstance(event, DownloadChanged) and event.state == "retrying" for event in made.told)
        assert not any(name.endswith(".gguf") for name in made.files()) and told.done == 0
    assert told.problem is not None
    text = told.problem.english()
    assert text.endswith(".") and "\n" not in text and len(text) < 320
    return text, tries


def test_a_certificate_that_nobody_trusts_is_told_at_once(encrypted: DownloadHub, tmp_path: Path) -> None:
    text, tries = failed(encrypted, tmp_path, HF_ENDPOINT=encrypted.encrypted_endpoint)
    assert "certificate of localhost" in text and "SSL_CERT_FILE" in text and tries == 1
    assert not encrypted.asked


def test_a_certificate_of_another_host_is_told(
    encrypted: DownloadHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    text, tries = failed(
        encrypted, tmp_path, HF_ENDPOINT=encrypted.encrypted_endpoint.replace("localhost", "127.0.0.1")
    )
    assert "certificate of 127.0.0.1" in text and "mismatch" in text and tries == 1


def test_certificates_that_people_name_are_trusted(
    encrypted: DownloadHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    with downloader(encrypted, tmp_path, None, HF_ENDPOINT=encrypted.encrypted_endpoint) as made:
        made.queue.add(encrypted.wanted())
        made.until("done")
        assert made.goal(encrypted, NAME).read_bytes() == CONTENT


def test_an_encrypted_hub_leads_to_no_plain_server(
    encrypted: DownloadHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    encrypted.resolving = None
    text, tries = failed(encrypted, tmp_path, HF_ENDPOINT=encrypted.encrypted_endpoint)
    assert "not safe" in text and tries == 1
    assert {where for where, _, _ in encrypted.asked} == {"hub"}


def test_a_download_goes_through_the_proxy(hub: DownloadHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", hub.endpoint)
    monkeypatch.setenv("no_proxy", "localhost")
    with downloader(hub, tmp_path, None, HF_ENDPOINT="http://hub.invalid") as made:
        made.queue.add(hub.wanted())
        made.until("done")
        assert made.goal(hub, NAME).read_bytes() == CONTENT
    assert [path.startswith("http://hub.invalid/") for _, path, _ in hub.asked] == [True, False]


@pytest.mark.parametrize(("bypass", "token"), [("", None), ("127.0.0.1,localhost", "Bearer hf_secret")])
def test_no_proxy_reads_the_token_for_a_hub_of_this_machine(
    hub: DownloadHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bypass: str, token: str | None
) -> None:
    monkeypatch.setenv("http_proxy", hub.endpoint)
    monkeypatch.setenv("no_proxy", bypass)
    hub.resolving = hub.deliver
    with downloader(hub, tmp_path, None, HF_TOKEN="hf_secret") as made:
        made.queue.add(hub.wanted())
        made.until("done")
    ((_, path, told),) = hub.asked
    assert path.startswith("http://") == (not bypass) and told.get("authorization") == token


def test_a_proxy_that_is_not_there_is_told(hub: DownloadHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    text, tries = failed(hub, tmp_path)
    assert "cannot be reached" in text and "HTTPS_PROXY" in text and tries == download_run.MOST_TRIES


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_wants_a_password_is_told_at_once(
    hub: DownloadHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    monkeypatch.setenv(f"{scheme}_proxy", hub.endpoint)
    hub.resolving = lambda request: request.send_text("", 407, Proxy_Authenticate="Basic")
    text, tries = failed(hub, tmp_path, HF_ENDPOINT=f"{scheme}://hub.invalid", HF_TOKEN="hf_secret")
    assert "wants a name and a password (407): write them into HTTPS_PROXY" in text and tries == 1
    assert scheme == "http" or not any("authorization" in headers for _, _, headers in hub.asked)


@pytest.mark.parametrize(
    ("status", "words", "lasts"),
    [
        (200, "not encrypted as it should be", False),
        (302, "a sign-in of this network may be in the way", True),
        (403, "The proxy makes no connection to hub.invalid (403)", True),
        (502, "The proxy makes no connection to hub.invalid (502)", False),
        (503, "The proxy makes no connection to hub.invalid (503)", False),
        (511, "a sign-in of this network may be in the way", True),
    ],
)
def test_a_proxy_that_answers_itself_is_told(
    hub: DownloadHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, words: str, lasts: bool
) -> None:
    """It is asked for a connection to a hub, and sends a page."""
    monkeypatch.setattr(download_run, "MOST_TRIES", 2)
    monkeypatch.setenv("https_proxy", hub.endpoint)
    hub.resolving = lambda request: request.send_text(PAGE, status, "text/html", Location="http://sign-in.invalid/")
    text, tries = failed(hub, tmp_path, HF_ENDPOINT="https://hub.invalid", HF_TOKEN="hf_secret")
    assert words in text and "[" not in text and tries == (1 if lasts else 2)
    assert not any("authorization" in headers for _, _, headers in hub.asked)


def test_what_a_proxy_says_beside_its_status_decides_nothing(
    hub: DownloadHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", hub.endpoint)

    def refuse(request: Request) -> None:
        request.send(b"HTTP/1.1 403 Tunnel connection failed: 407 \r\nContent-Length: 0\r\n\r\n")

    hub.resolving = refuse
    text, tries = failed(hub, tmp_path, HF_ENDPOINT="https://hub.invalid")
    assert "The proxy makes no connection to hub.invalid (403)" in text and tries == 1
    told = proxy_sentences.in_the_way("hub.invalid", OSError("Tunnel connection failed: 407 who are you"))
    assert told is None and not proxy_sentences.is_lasting(OSError("Tunnel connection failed: 403"))


def test_a_download_goes_through_the_connection_that_a_proxy_makes(
    encrypted: DownloadHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    monkeypatch.delenv("no_proxy", raising=False)
    with ConnectingProxy() as proxy:
        monkeypatch.setenv("https_proxy", f"http://me:secret@127.0.0.1:{proxy.port}")
        with downloader(encrypted, tmp_path, None, HF_ENDPOINT=encrypted.encrypted_endpoint) as made:
            made.queue.add(encrypted.wanted())
            made.until("done")
            assert made.goal(encrypted, NAME).read_bytes() == CONTENT
    place = encrypted.encrypted_endpoint.removeprefix("https://")
    line, *headers = proxy.asked[0].split("\r\n")
    assert line == f"CONNECT {place} HTTP/1.1" and f"Host: {place}" in headers
    assert f"Proxy-Authorization: Basic {b64encode(b'me:secret').decode()}" in headers
    assert not any("authorization" in told for _, _, told in encrypted.asked), "a proxy's password is its own"


@pytest.mark.parametrize("host", ["hub.example\r\nX: y", "hub example", "h\u00fcb.example"])
def test_nothing_but_the_name_of_a_server_is_asked_of_a_proxy(host: str) -> None:
    ours, other = socket.socketpair()
    with ours, other, pytest.raises(ValueError, match="no name"):
        open_tunnel(ours, host, 443, {})


def test_an_address_with_colons_is_asked_for_in_brackets() -> None:
    ours, other = socket.socketpair()
    with ours, other:
        other.sendall(b"HTTP/1.0 200 Connection established\r\n\r\n")
        open_tunnel(ours, "::1", 443, {})
        assert other.recv(1000).startswith(b"CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n\r\n")


def sign_in(request: Request) -> None:
    request.send_text(PAGE, kind="text/html; charset=utf-8")


def sign_in_elsewhere(request: Request) -> None:
    if "sign-in" in request.path:
        sign_in(request)
    else:
        request.begin(302, {"Location": "/sign-in", "Content-Length": 0})


def required(request: Request) -> None:
    request.send_text(PAGE, 511, kind="text/html")


def disguised(request: Request) -> None:
    request.send_text(PAGE + "x" * (len(CONTENT) - len(PAGE)), kind="application/octet-stream")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (sign_in, "sign-in"),
        (sign_in_elsewhere, "sign-in"),
        (required, "sign-in"),
        (disguised, "no model in place of"),
    ],
)
def test_a_network_that_wants_a_sign_in_is_told_and_nothing_of_its_page_is_kept(
    hub: DownloadHub, tmp_path: Path, answer: Answer, words: str
) -> None:
    hub.resolving = answer
    text, tries = failed(hub, tmp_path)
    assert words in text and tries == 1
    assert not any(path.stat().st_size for path in tmp_path.rglob("*.part"))
    hub.resolving = None
    with downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted())
        made.until("done")
        assert made.goal(hub, NAME).read_bytes() == CONTENT


@pytest.mark.parametrize("encoding", ["gzip", " BR ", "identity, deflate"])
def test_what_is_compressed_on_the_way_is_told_and_costs_nothing_of_what_is_there(
    hub: DownloadHub, tmp_path: Path, encoding: str
) -> None:
    packed = gzip.compress(CONTENT)

    def compressed(request: Request) -> None:
        assert request.headers["Accept-Encoding"] == "identity"
        request.begin(200, {"ETag": '"one"', "Content-Encoding": encoding, "Content-Length": len(packed)})
        request.send(packed)

    hub.break_at = [HALF]
    with downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted())
        made.until("retrying")
        hub.delivering = compressed
        told = made.until("failed")
        assert told.problem is not None and told.done == HALF
        assert f"compressed ({encoding.strip()})" in told.problem.english() and "proxy" in told.problem.english()
        hub.delivering = hub.deliver
        made.queue.resume(told.wanted.key)
        made.until("done")


def test_what_is_said_to_come_as_it_is_is_taken(hub: DownloadHub, tmp_path: Path) -> None:
    def deliver(request: Request) -> None:
        request.begin(200, {"ETag": '"one"', "Content-Encoding": "Identity", "Content-Length": len(CONTENT)})
        request.send(CONTENT)

    hub.delivering = deliver
    with downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted())
        made.until("done")
