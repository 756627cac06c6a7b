"""What a hub refuses and when it may be asked again, and whose certificates are trusted."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
from collections.abc import Iterator
from email.utils import format_datetime
from pathlib import Path

import pytest
import truststore

from app.core.errors import UserError
from app.core.hub_model import HubReference
from app.hub import retrying, web
from app.hub.web import Refused
from tests.hub.conftest import reader
from tests.hub.loopback_hub import LoopbackHub


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
    ],
)
def test_terms_that_are_to_be_accepted_are_told_apart_from_other_refusals(
    hub: LoopbackHub, status: int, code: str, token: str, says: str
) -> None:
    assert says in str(refused(hub, status, {"X-Error-Code": code}, token))


@pytest.fixture
def own_certificate(tmp_path: Path) -> Path:
    """Return a file with a certificate of this machine for itself, and its key."""
    from cryptography import x509  # noqa: PLC0415
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415

    key, now = ec.generate_private_key(ec.SECP256R1()), dt.datetime.now(dt.UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "loopback")])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "own.pem"
    file.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return file


@pytest.fixture
def encrypted(hub: LoopbackHub, own_certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    hub.encrypt(own_certificate)
    web._certificates.cache_clear()
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    yield hub
    web._certificates.cache_clear()


def test_the_certificates_are_those_of_the_system(encrypted: LoopbackHub) -> None:
    assert isinstance(web._certificates(), truststore.SSLContext)
    with pytest.raises(UserError, match="cannot be trusted"):
        reader(encrypted).models(HubReference(encrypted.repository))


def test_certificates_of_a_company_are_trusted_where_they_are_named(
    encrypted: LoopbackHub, own_certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(own_certificate))
    assert len(reader(encrypted).models(HubReference(encrypted.repository))) == 1


def test_certificates_that_the_system_has_taken_in_are_trusted(
    encrypted: LoopbackHub, own_certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = ssl.get_default_verify_paths()._replace(cafile="", capath="")
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: paths)
    monkeypatch.setattr("truststore._openssl._CA_FILE_CANDIDATES", [str(own_certificate)])
    assert len(reader(encrypted).models(HubReference(encrypted.repository))) == 1
