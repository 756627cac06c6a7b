"""What a hub refuses and when it may be asked again, and whose certificates are trusted."""

from __future__ import annotations

import datetime as dt
import socket
import ssl
from collections.abc import Iterator
from email.utils import format_datetime
from pathlib import Path

import pytest
import truststore

from app.core.errors import UserError
from app.core.hub_model import HubReference
from app.core.hub_search import HubQuery
from app.hub import retrying, web
from app.hub.limits import Limits
from app.hub.reading import HubReader
from app.hub.web import Refused, Web
from tests.hub.conftest import reader, told
from tests.hub.loopback_hub import LoopbackHub

CERTIFICATE = Path(__file__).with_name("localhost.pem")
"""Of localhost, by itself, and its key."""


def secure(hub: LoopbackHub) -> HubReader:
    return HubReader({"HF_ENDPOINT": hub.encrypted_endpoint}, deadline_s=8)


def refused(hub: LoopbackHub, status: int, headers: dict[str, object], token: str = "") -> Refused:
    hub.listing = lambda request: request.send_text("", status, "text/plain", **headers)
    with pytest.raises(Refused) as caught:
        reader(hub, HF_TOKEN=token).models(HubReference(hub.repository))
    return caught.value


@pytest.mark.parametrize(
    ("headers", "says", "seconds"),
    [
        ({"Retry-After": "7"}, "again in 7 s", 7),
        ({"Retry-After": "90"}, "again in 2 min", 90),
        ({"Retry-After": "7199"}, "again in 120 min", 7199),
        ({"Retry-After": "7201"}, "again in 3 h", 7201),
        ({"Retry-After": "86399"}, "again in 24 h", 86399),
        ({"Retry-After": "86401"}, "for a day or longer: try again tomorrow", 86400),
        ({"Retry-After": "999999999"}, "for a day or longer", 86400),
        ({"Retry-After": "Wed, 02 Dec 2099 10:00:00 GMT"}, "for a day or longer", 86400),
        ({"Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"}, "for a day or longer", 86400),
        ({"Retry-After": "Wed, 02 Dec 1999 10:00:00 GMT"}, "again in 1 s", 1),
        ({"Retry-After": "-5"}, "in some minutes", None),
        ({"Retry-After": "1e9"}, "in some minutes", None),
        ({"Retry-After": "Thu, 99 Foo 2026"}, "in some minutes", None),
        ({"RateLimit": '"api";r=0;t=999999999'}, "for a day or longer", 86400),
        ({"RateLimit": '"api";r=0;t=55'}, "again in 55 s", 55),
        ({"RateLimit": '"api";r=12;t=55'}, "in some minutes", None),
        ({"RateLimit": "r=" + "0" * 9000}, "in some minutes", None),
        ({"Retry-After": "soon"}, "in some minutes", None),
        ({"Retry-After": "9" * 40}, "in some minutes", None),
        ({}, "in some minutes", None),
    ],
)
def test_a_hub_that_wants_fewer_requests_says_when(
    hub: LoopbackHub, headers: dict[str, object], says: str, seconds: float | None
) -> None:
    error = refused(hub, 429, headers)
    assert says in str(error)
    assert retrying.seconds(error.retry_after) == seconds


def test_a_date_to_ask_again_at_is_understood() -> None:
    at = dt.datetime.now(dt.UTC) + dt.timedelta(hours=1)
    told = retrying.seconds(format_datetime(at, usegmt=True))
    assert told is not None and 3500 < told < 3700


@pytest.mark.parametrize(
    ("status", "code", "token", "says"),
    [
        (401, "GatedRepo", "", "give Tokenlight an access token"),
        (403, "GatedRepo", "hf_secret", "with the account of your access token"),
        (401, "RepoNotFound", "", "check the name"),
        (403, "", "hf_secret", "to your access token"),
        (404, "GatedRepo", "", "no such model"),
        (401, "", "hf_secret", "does not accept your access token: replace it with tokenlight models token --set"),
        (401, "RepoNotFound", "hf_secret", "does not accept your access token"),
        (401, "GatedRepo", "hf_secret", "with the account of your access token"),
        (401, "", "", "without permission"),
    ],
)
def test_terms_that_are_to_be_accepted_are_told_apart_from_other_refusals(
    hub: LoopbackHub, status: int, code: str, token: str, says: str
) -> None:
    assert says in str(refused(hub, status, {"X-Error-Code": code}, token))


@pytest.mark.parametrize("where", ["listing", "delivering"])
def test_an_answer_that_was_compressed_on_the_way_is_told(hub: LoopbackHub, where: str) -> None:
    setattr(hub, where, lambda request: request.send_text("x", Content_Encoding="gzip"))
    assert "compressed (gzip)" in told(hub)


@pytest.fixture
def encrypted(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    hub.encrypt(CERTIFICATE)
    web._certificates.cache_clear()
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    yield hub
    web._certificates.cache_clear()


def test_the_certificates_are_those_of_the_system(encrypted: LoopbackHub) -> None:
    assert isinstance(web._certificates(), truststore.SSLContext)
    with pytest.raises(UserError, match="cannot be trusted"):
        secure(encrypted).models(HubReference(encrypted.repository))


def test_certificates_of_a_company_are_trusted_where_they_are_named(
    encrypted: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    assert len(secure(encrypted).models(HubReference(encrypted.repository))) == 1


def test_certificates_that_the_system_has_taken_in_are_trusted(
    encrypted: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = ssl.get_default_verify_paths()._replace(cafile="", capath="")
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: paths)
    monkeypatch.setattr("truststore._openssl._CA_FILE_CANDIDATES", [str(CERTIFICATE)])
    assert len(secure(encrypted).models(HubReference(encrypted.repository))) == 1


def test_a_server_that_was_told_no_token_is_not_said_to_refuse_one(hub: LoopbackHub) -> None:
    with LoopbackHub({}) as store:
        store.resolving = lambda request: request.send_text("", 401)
        caught = refused(hub, 302, {"Location": f"{store.endpoint}/elsewhere"}, "hf_secret")
    assert "does not show this to your access token" in str(caught)


def test_what_anybody_may_see_is_there_with_a_token_that_is_none(hub: LoopbackHub, tmp_path: Path) -> None:
    query = HubQuery("tiny")
    hub.found = [{"id": hub.repository}]
    environment = {"HF_ENDPOINT": hub.endpoint}
    open_to_all = HubReader(environment, deadline_s=8, cache=tmp_path).search(query)
    hub.searching = lambda request: request.send_text("", 401)
    found = HubReader({**environment, "HF_TOKEN": "hf_ended"}, deadline_s=8, cache=tmp_path).search(query)
    assert found.repositories == open_to_all.repositories and found.wants_token
    assert found.problem is not None and "does not accept your access token" in found.problem.english()


def test_what_one_account_saw_is_not_shown_to_who_has_none(hub: LoopbackHub, tmp_path: Path) -> None:
    environment = {"HF_ENDPOINT": hub.endpoint}
    HubReader({**environment, "HF_TOKEN": "hf_secret"}, deadline_s=8, cache=tmp_path).search(HubQuery("tiny"))
    hub.searching = lambda request: request.send_text("", 401)
    with pytest.raises(Refused):
        HubReader(environment, deadline_s=8, cache=tmp_path).search(HubQuery("tiny"))


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (socket.gaierror(-2, "no such name"), "is not found by its name"),
        (ConnectionRefusedError(111, "refused"), "cannot be reached"),
        (OSError(5, "broken"), "gave no answer that can be read"),
    ],
)
def test_a_window_in_which_no_variable_is_set_is_told_of_none(
    monkeypatch: pytest.MonkeyPatch, error: OSError, says: str
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    monkeypatch.setattr(socket, "getaddrinfo", fails)

    def told() -> str:
        with Limits(8) as limits, pytest.raises(UserError) as caught:
            Web("https://hub.invalid", in_window=True).get("https://hub.invalid/a", limits)
        return str(caught.value)

    assert says in told() and "this system's settings" in told() and "HTTPS_PROXY" not in told()
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.invalid")
    assert says in told() and "HTTPS_PROXY" in told()
