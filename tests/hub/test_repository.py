"""What a repository holds, whom the token is shown to, and what the environment says, over a real connection."""

from __future__ import annotations

import io
import socket
import ssl
import urllib.request
from email.message import Message

import pytest

from app.core.errors import ExitCode, UserError
from app.core.hub_model import HubReference, hub_reference
from app.hub import web_sentences
from app.hub.hub import Hub
from app.hub.reading import ENDPOINT, HubReader
from app.hub.repository import address_of
from app.hub.web import Web, _Redirects
from tests.hub.conftest import only, reader
from tests.hub.loopback_hub import LoopbackHub, Request


def refused(reading: HubReader, repository: str, file: str = "") -> UserError:
    with pytest.raises(UserError) as caught:
        reading.models(HubReference(repository, file))
    return caught.value


@pytest.fixture
def full(hub: LoopbackHub, tiny: bytes) -> LoopbackHub:
    names = ("big/M-Q8_0-00001-of-00002.gguf", "big/M-Q8_0-00002-of-00002.gguf", "M-Q4_K_M.gguf", "M-IQ4_K_M.GGUF")
    hub.files = dict.fromkeys((*names, "mmproj-M-f16.gguf", "M.imatrix.gguf", "config.json"), tiny)
    return hub


@pytest.mark.parametrize("page_entries", [1000, 2])
def test_models_are_listed_with_their_parts_and_sizes_and_nothing_else(
    full: LoopbackHub, tiny: bytes, page_entries: int
) -> None:
    full.page_entries = page_entries
    models = reader(full).models(HubReference(full.repository))
    assert [(model.path, len(model.files), model.size) for model in models] == [
        ("big/M-Q8_0-00001-of-00002.gguf", 2, 2 * len(tiny)),
        ("M-IQ4_K_M.GGUF", 1, len(tiny)),
        ("M-Q4_K_M.gguf", 1, len(tiny)),
    ]


FIRST, SECOND = "1a" * 20, "2b" * 20


@pytest.mark.parametrize(
    ("commits", "revision"),
    [([], "main"), ([FIRST], FIRST), ([FIRST, ""], FIRST), (["../../evil"], "main"), (["", FIRST], "refused")],
)
def test_models_are_of_the_commit_that_the_listing_is_of(
    full: LoopbackHub, commits: list[str], revision: str
) -> None:
    full.commits, full.page_entries = commits, 6
    if revision == "refused":
        assert "was changed while" in refused(reader(full), full.repository).sentence.english()
        return
    (model,) = reader(full).models(HubReference(full.repository, "M-Q4_K_M.gguf"))
    assert model.revision == revision
    reader(full).headers(model)
    assert {path.split("/")[4] for where, path, _ in full.asked if "/resolve/" in path} == {revision}


def test_pages_of_two_commits_are_no_listing(full: LoopbackHub) -> None:
    full.commits, full.page_entries = [FIRST, SECOND], 2
    assert "was changed while" in refused(reader(full), full.repository).sentence.english()


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        ("M-Q4_K_M.gguf", "M-Q4_K_M.gguf"),
        ("m-q4_k_m", "M-Q4_K_M.gguf"),
        ("Q4_K_M", "M-Q4_K_M.gguf"),
        ("q8_0", "big/M-Q8_0-00001-of-00002.gguf"),
        ("big/M-Q8_0-00001-of-00002.gguf", "big/M-Q8_0-00001-of-00002.gguf"),
    ],
)
def test_a_model_is_named_by_its_file_or_its_quantisation(full: LoopbackHub, typed: str, path: str) -> None:
    assert [model.path for model in reader(full).models(HubReference(full.repository, typed))] == [path]


@pytest.mark.parametrize("name", ["Q5_K_M/llama-00001-of-00001.gguf", "m-Q5_K_M-v2.gguf", "m.q5_k_m.imat.GGUF"])
def test_a_quantisation_is_found_wherever_the_name_has_it(full: LoopbackHub, tiny: bytes, name: str) -> None:
    full.files[name] = tiny
    assert [model.path for model in reader(full).models(HubReference(full.repository, "q5_k_m"))] == [name]
    refused(reader(full), full.repository, "other-Q5_K_M.gguf")


def test_a_file_that_is_not_there_names_some_that_are(full: LoopbackHub) -> None:
    error = refused(reader(full), full.repository, "Q2_K")
    assert error.exit_code == ExitCode.WRONG_USE
    assert "name one of its 3 models, such as big/M-Q8_0-00001-of-00002.gguf, M-IQ4_K_M.GGUF" in str(error)


def test_a_name_that_no_repository_can_have_is_told_without_asking(hub: LoopbackHub) -> None:
    assert "check its name" in str(refused(reader(hub), "org/a--b"))
    assert hub.asked == []


def test_a_repository_without_a_model_says_what_to_look_for(hub: LoopbackHub) -> None:
    hub.files = {"model.safetensors": b"x"}
    assert "holds no GGUF file" in str(refused(reader(hub), hub.repository))


@pytest.mark.parametrize("text", ["{}", "[1]", "[" * 100_000, '[{"type":"file"}]', "\udcff", ""])
def test_a_listing_that_is_none_is_told(hub: LoopbackHub, text: str) -> None:
    def answer(request: Request) -> None:
        request.begin(200, {"Content-Type": "application/json"})
        request.send(text.encode("utf-8", "surrogateescape"))

    hub.listing = answer
    assert "in a way that cannot be read" in str(refused(reader(hub), hub.repository))


def test_a_listing_that_breaks_off_is_told(hub: LoopbackHub) -> None:
    def answer(request: Request) -> None:
        request.begin(200, {"Content-Type": "application/json", "Content-Length": 1000})
        request.send(b"[]")

    hub.listing = answer
    assert "The connection to" in str(refused(reader(hub), hub.repository))


def test_a_listing_that_leads_elsewhere_is_not_followed(hub: LoopbackHub) -> None:
    hub.listing = lambda request: request.send_text(
        "[]", 200, "application/json", Link=f'<{hub.store}/next>; rel="next"'
    )
    assert "in a way that cannot be read" in str(refused(reader(hub), hub.repository))
    assert {where for where, _, _ in hub.asked} == {"hub"}


def test_a_listing_that_never_ends_is_read_so_far_and_no_further(hub: LoopbackHub) -> None:
    hub.listing = lambda request: request.send_text(
        "[]", 200, "application/json", Link=f'<{hub.endpoint}{request.path}x>; rel="next"'
    )
    assert "holds no GGUF file" in str(refused(reader(hub), hub.repository))
    assert len(hub.asked) == 50


def test_pages_in_a_circle_are_read_once(hub: LoopbackHub) -> None:
    asked: list[str] = []

    def send(request: Request) -> None:
        asked.append(request.path)
        page = len(asked) % 2
        entry = f'[{{"type":"file","path":"M-Q{4 + 4 * page}_0.gguf","size":7}}]'
        following = f"{hub.endpoint}{request.path.split('?')[0]}?page={page}"
        request.send_text(entry, 200, "application/json", Link=f'<{following}>; rel="next"')

    hub.listing = send
    models = reader(hub).models(HubReference(hub.repository))
    assert [(model.path, len(model.files), model.size) for model in models] == [
        ("M-Q4_0.gguf", 1, 7),
        ("M-Q8_0.gguf", 1, 7),
    ]
    assert len(asked) == 3


def test_the_token_goes_to_the_hub_and_nowhere_else(hub: LoopbackHub) -> None:
    reading, model = only(hub, HF_TOKEN=" hf_secret\n")
    reading.headers(model)
    shown = {
        where: {headers.get("authorization") for at, _, headers in hub.asked if at == where}
        for where in ("hub", "store")
    }
    assert shown == {"hub": {"Bearer hf_secret"}, "store": {None}}


def test_the_token_stays_where_a_redirect_stays_with_the_hub(hub: LoopbackHub, tiny: bytes) -> None:
    def moved(request: Request) -> None:
        if request.path.startswith("/new/"):
            request.send_part(tiny)
        else:
            request.send_text("", 307, Location="/new/place")

    hub.resolving = moved
    reading, model = only(hub, HF_TOKEN="hf_secret")
    reading.headers(model)
    assert {headers.get("authorization") for _, _, headers in hub.asked} == {"Bearer hf_secret"}


def test_an_endpoint_that_is_not_encrypted_sees_no_token() -> None:
    assert Web("http://mirror.example", "t")._token == ""
    assert Web("https://mirror.example", "t")._token == Web("http://127.0.0.1:80", "t")._token == "t"


@pytest.mark.parametrize("place", ["ftp://127.0.0.1/x", "file:///etc/hostname", "gopher://x"])
def test_a_redirect_to_no_web_address_is_not_followed(hub: LoopbackHub, place: str) -> None:
    hub.listing = lambda request: request.send_text("", 302, Location=place)
    assert "sends on to an address that is not safe" in str(refused(reader(hub), hub.repository))


@pytest.mark.parametrize("place", ["//[", "http://"])
def test_a_redirect_to_no_address_is_not_followed(hub: LoopbackHub, place: str) -> None:
    hub.listing = lambda request: request.send_text("", 302, Location=place)
    text = str(refused(reader(hub), hub.repository))
    assert "check HF_ENDPOINT" in text or "check the internet connection" in text


def test_a_redirect_is_not_followed_where_it_is_not_safe(hub: LoopbackHub) -> None:
    hub.listing = lambda request: request.send_text("", 302, Location="ftp://127.0.0.1/x")
    assert "to an address that is not safe" in str(refused(reader(hub), hub.repository))
    redirects = _Redirects(lambda _request: None)
    request = urllib.request.Request("https://hub.example/a")
    with pytest.raises(UserError, match="to an address that is not safe"):
        redirects.redirect_request(request, io.BytesIO(), 302, "", Message(), "http://hub.example/a")
    followed = redirects.redirect_request(request, io.BytesIO(), 302, "", Message(), "https://other.example/a")
    assert followed is not None and followed.host == "other.example"


def test_a_redirect_that_goes_round_in_a_circle_ends(hub: LoopbackHub) -> None:
    hub.listing = lambda request: request.send_text("", 302, Location=request.path)
    assert "the status 302" in str(refused(reader(hub), hub.repository))
    assert len(hub.asked) < 20


def test_the_words_about_a_refusal_know_whether_there_is_a_token(hub: LoopbackHub) -> None:
    hub.listing = lambda request: request.send_text("no", 401)
    assert "models token --set, or HF_TOKEN" in str(refused(reader(hub), hub.repository))
    assert "does not accept your access token" in str(refused(reader(hub, HF_TOKEN="x"), hub.repository))
    hub.listing = lambda request: request.send_text("no", 403)
    assert "show this to your access token" in str(refused(reader(hub, HF_TOKEN="x"), hub.repository))


@pytest.mark.parametrize(("status", "code"), [(401, ""), (403, "GatedRepo"), (429, "")])
def test_a_window_is_told_of_its_button_and_a_command_of_the_command(
    hub: LoopbackHub, status: int, code: str
) -> None:
    hub.listing = lambda request: request.send_text("no", status, **{"X-Error-Code": code})
    on_command = str(refused(reader(hub), hub.repository))
    in_window = str(refused(HubReader({"HF_ENDPOINT": hub.endpoint}, in_window=True), hub.repository))
    assert "HF_TOKEN" in on_command and "Access token…" not in on_command
    assert "(Models, Find, “Access token…”)" in in_window
    assert "HF_TOKEN" not in in_window and "tokenlight " not in in_window
    known = str(refused(HubReader({"HF_ENDPOINT": hub.endpoint, "HF_TOKEN": "x"}, in_window=True), hub.repository))
    assert ("Access token…" in known) == (status == 401), "it has one, which only the first takes for none"


@pytest.mark.parametrize("name", ["TOKENLIGHT_OFFLINE", "HF_HUB_OFFLINE"])
def test_offline_opens_no_socket(hub: LoopbackHub, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(socket, "socket", fail)
    assert f"offline because {name} is set" in str(refused(reader(hub, **{name: "1"}), hub.repository))
    assert hub.asked == []


@pytest.mark.parametrize("value", ["0", "", "false", " No "])
def test_a_variable_that_says_no_is_no(hub: LoopbackHub, value: str) -> None:
    assert reader(hub, TOKENLIGHT_OFFLINE=value).models(HubReference(hub.repository))


@pytest.mark.parametrize(
    "address", ["hub", "ftp://x", "http://", "http://x:99999", "http://ä", "https://x?y", "https://a b"]
)
def test_an_endpoint_that_is_no_address_is_told(address: str) -> None:
    error = refused(HubReader({"HF_ENDPOINT": address}), "org/x")
    assert "which is no web address" in str(error) and error.exit_code == ExitCode.WRONG_USE


@pytest.mark.parametrize("address", ["https://me:secret@hub.test", "me:secret@hub.test", "ftp://secret@hub.test"])
def test_a_login_in_the_address_of_the_hub_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(UserError, match="before the @") as told:
        HubReader({"HF_ENDPOINT": address}).connect()
    assert "secret" not in str(told.value) and told.value.exit_code == ExitCode.WRONG_USE


@pytest.mark.parametrize("token", ["a\r\nX: y", "a b", "ä"])
def test_a_token_that_is_none_is_told(hub: LoopbackHub, token: str) -> None:
    assert "HF_TOKEN holds characters" in str(refused(reader(hub, HF_TOKEN=token), hub.repository))
    assert hub.asked == []


def test_a_hub_that_cannot_be_reached_is_told() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert "cannot be reached" in str(refused(HubReader({"HF_ENDPOINT": f"http://127.0.0.1:{port}"}), "org/x"))


@pytest.mark.parametrize("code", [socket.EAI_NONAME, socket.EAI_AGAIN])
def test_a_name_that_nobody_knows_is_told_apart_from_a_server_that_is_down(
    monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    asked: list[object] = []

    def unknown(host: object, *_given: object, **_named: object) -> None:
        asked.append(host)
        raise socket.gaierror(code, "no such name")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    text = str(refused(HubReader({"HF_ENDPOINT": "https://hub.invalid"}), "org/x"))
    assert text.startswith("hub.invalid, or a proxy on the way to it, is not found by its name: check the internet")
    assert set(asked) == {"hub.invalid"}


def test_a_certificate_without_a_reason_is_told_without_one() -> None:
    error = ssl.SSLCertVerificationError()
    error.verify_message = ""
    text = str(web_sentences.unreachable("hub.invalid", error))
    assert text.startswith("The certificate of hub.invalid cannot be trusted: check this machine's clock")


def test_a_proxy_is_used(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", hub.endpoint)
    monkeypatch.setenv("no_proxy", "")
    hub.listing = lambda request: request.send_text("[]", 200, "application/json")
    refused(HubReader({"HF_ENDPOINT": "http://hub.invalid"}), "org/x")
    assert hub.asked[0][1].startswith("http://hub.invalid/")


def test_what_has_the_form_of_a_name_on_the_hub() -> None:
    assert hub_reference("org/repo-GGUF") == HubReference("org/repo-GGUF")
    assert hub_reference(" org/repo.1:a/b.gguf ") == HubReference("org/repo.1", "a/b.gguf")
    for text in (
        "repo",
        "/org/repo",
        "a/b/c",
        "./a/b",
        "~/a",
        "models/x.gguf",
        "C:\\a\\b",
        "org/..",
        "ö/x",
        "a/b?c",
        "",
    ):
        assert hub_reference(text) is None


def test_the_hub_reads_what_the_environment_says_and_nothing_before_that(hub: LoopbackHub) -> None:
    made = Hub({"HF_ENDPOINT": hub.endpoint + "/"})
    assert made._made is None
    (model,) = made.models(HubReference(hub.repository))
    assert made.headers(model)[0].version == 3
    assert ENDPOINT.startswith("https://")


def test_a_revision_and_a_path_are_parts_of_an_address() -> None:
    assert address_of("https://hub", "org/x", "refs/pr/1", "a b/c.gguf") == (
        "https://hub/org/x/resolve/refs%2Fpr%2F1/a%20b/c.gguf"
    )
