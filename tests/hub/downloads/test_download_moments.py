"""Every failure of a download at every moment of it: what people are told, whether it goes on, and how it ends."""

from __future__ import annotations

import errno
import hashlib
import itertools
import os
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from app.core.errors import UserError
from app.hub import access_sentences, download, download_run, download_sentences, proxy_sentences, web, web_sentences
from app.hub.partial_file import PartialFile
from tests.hub import failing_hub as fails
from tests.hub.download_hub import downloader
from tests.hub.failing_hub import FailingHub, Step, Witness, listed
from tests.hub.loopback_hub import LoopbackHub, Request

CONTENT = b"GGUF" + bytes(range(256)) * 256
OTHER = b"GGUF" + bytes(reversed(range(256))) * 256
SIZE = len(CONTENT)
SILENCE_S = 0.2
CERTIFICATE = Path(__file__).parents[1] / "localhost.pem"
ONE, PARTS = ("tiny.gguf",), ("big-00001-of-00002.gguf", "big-00002-of-00002.gguf")


@dataclass(frozen=True)
class Moment:
    """When it fails."""

    position: int
    """Bytes of the file that are there by then."""
    names: tuple[str, ...] = ONE
    """The last one is struck."""
    restarts: bool = False
    """Whether an earlier run of the program fetched those bytes."""

    @property
    def in_answer(self) -> int:
        """Where an answer fails that has begun: behind what a restart found."""
        return (self.position + SIZE) // 2 if self.restarts else self.position


MOMENTS = {
    "before the first byte": Moment(0),
    "in the first part": Moment(100),
    "in the middle": Moment(SIZE // 2),
    "at the last byte": Moment(SIZE - 1),
    "on resume": Moment(SIZE // 2, restarts=True),
    "between two parts": Moment(0, PARTS),
}


def kind(error: UserError) -> str:
    """Return what tells the sentence of an error apart from others, whatever host or file it names."""
    return error.sentence.template


LOST = kind(download_sentences.lost("h"))
NO_ANSWER = kind(web_sentences.unreachable("h", OSError()))
PASSWORD = kind(proxy_sentences.password_wanted())
STALLED = kind(download_sentences.stalled("h"))
DAMAGED = kind(download_sentences.damaged("n"))
CHANGED = kind(download_sentences.changed("n"))
PAGE = kind(web_sentences.web_page("h"))
TROUBLE = kind(web_sentences.refused("h", 500, has_token=True))
NO_ROOM = kind(download_sentences.no_room("f", 1))
TOO_LARGE = kind(download_sentences.too_large("f", "n"))
ENCODED = kind(web_sentences.encoded("h", "gzip"))
UNWRITABLE = kind(download_sentences.unwritable("f", OSError()))
UNSAFE = kind(web_sentences.unsafe_redirect("h"))
NOT_TRUSTED = ssl.SSLCertVerificationError()
NOT_TRUSTED.verify_message = "self-signed"
UNTRUSTED = kind(web_sentences.unreachable("h", NOT_TRUSTED))
UNREACHABLE = kind(web_sentences.unreachable("h", ConnectionRefusedError()))


def refused(status: int, why: str = "", wait_s: float | None = None) -> str:
    return kind(web_sentences.refused("h", status, True, why, wait_s))


@dataclass(frozen=True)
class Failure:
    """What goes wrong, once."""

    says: str
    """The kind of its sentence; empty where nothing is to be told."""
    step: Step | None = None
    """The answer in place of the file; what is there by then came over a connection that was lost."""
    goes_on: bool = False
    """Whether it tries again by itself."""
    never: dict[str, str] = field(default_factory=dict)
    """Moments at which it cannot happen, and why."""


def to_untrusted(hub: FailingHub) -> str:
    return f"{hub.beside.encrypted_endpoint}/{hub.struck}"


FAILURES = {
    "connection lost": Failure(LOST, goes_on=True),
    "end too soon": Failure(LOST, goes_on=True),
    "stall": Failure(STALLED, goes_on=True),
    "500": Failure(TROUBLE, fails.status(500), goes_on=True),
    "503 of the store": Failure(TROUBLE, fails.at_store(fails.status(503)), goes_on=True),
    "401": Failure(kind(access_sentences.not_accepted("h", in_window=False)), fails.status(401)),
    "403 of the store": Failure(refused(403), fails.at_store(fails.status(403))),
    "403, gated": Failure(refused(403, "GatedRepo"), fails.status(403, X_Error_Code="GatedRepo")),
    "404": Failure(refused(404), fails.status(404)),
    "416": Failure(refused(416), fails.at_store(fails.status(416))),
    "429 for seconds": Failure(refused(429, wait_s=7), fails.status(429, Retry_After=7), goes_on=True),
    "429 for hours": Failure(refused(429, wait_s=7200), fails.status(429, Retry_After=7200)),
    "damage": Failure(DAMAGED, never={"before the first byte": "there is no byte yet that could be wrong"}),
    "another length": Failure(CHANGED, fails.replaced(OTHER + b"more")),
    "another content": Failure(DAMAGED, fails.replaced(OTHER)),
    "another content, joined whatever": Failure(DAMAGED, fails.replaced(OTHER, ignores_if_range=True)),
    "compressed on its way": Failure(ENCODED, fails.at_store(fails.status(200, Content_Encoding="gzip"))),
    "sign-in page": Failure(PAGE, fails.page(200)),
    "sign-in page of the store": Failure(PAGE, fails.at_store(fails.page(200))),
    "sign-in required": Failure(PAGE, fails.page(511)),
    "another host that has it": Failure("", fails.elsewhere(lambda hub: f"{hub.nickname}/blobs/{hub.struck}")),
    "no web address": Failure(UNSAFE, fails.elsewhere(lambda _: "file:///etc/passwd")),
    "disk full": Failure(NO_ROOM),
    "disk for small files": Failure(TOO_LARGE),
    "disk broken": Failure(UNWRITABLE),
    "proxy wants a password": Failure(PASSWORD, fails.elsewhere(lambda _: "https://files.invalid/1")),
    "no proxy there": Failure(UNREACHABLE, fails.elsewhere(lambda _: "https://files.invalid/1"), goes_on=True),
    "unknown certificate": Failure(UNTRUSTED, fails.elsewhere(to_untrusted)),
}
FULL_DISKS = {"disk full": errno.ENOSPC, "disk for small files": errno.EFBIG, "disk broken": errno.EIO}
CELLS = [
    pytest.param(failure, moment, id=f"{failure}, {moment}")
    for failure, moment in itertools.product(FAILURES, MOMENTS)
    if moment not in FAILURES[failure].never
]


@pytest.fixture(scope="module")
def untrusted() -> Iterator[LoopbackHub]:
    """A server behind a certificate that nobody trusts."""
    made = LoopbackHub({})
    made.encrypt(CERTIFICATE)
    web._certificates.cache_clear()
    with made:
        yield made
    web._certificates.cache_clear()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download_run, "FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr(download_run, "TELL_EVERY_S", 0.0)


def break_disk(monkeypatch: pytest.MonkeyPatch, hub: FailingHub, number: int, position: int) -> None:
    """Let the disk take no byte of the file that is struck beyond one, once."""
    append, once = PartialFile.append, [number]

    def fail(this: PartialFile, content: bytes) -> None:
        if once and this.goal.name == hub.struck and this.size + len(content) > position:
            append(this, content[: position - this.size])
            raise OSError(once[0], os.strerror(once.pop()))
        append(this, content)

    monkeypatch.setattr(PartialFile, "append", fail)


def fall_silent(monkeypatch: pytest.MonkeyPatch, step: Step) -> Step:
    """Let silence be noticed soon, until there was one."""
    monkeypatch.setattr(download.fetch, "__defaults__", (SILENCE_S,))

    def silent(hub: FailingHub, request: Request) -> None:
        monkeypatch.setattr(download.fetch, "__defaults__", (download.SILENCE_S,))
        step(hub, request)

    return silent


def steps_of(monkeypatch: pytest.MonkeyPatch, hub: FailingHub, failure: str, moment: Moment) -> list[Step]:
    """Return what the hub does, request for request, until it has failed."""
    match failure:
        case "connection lost":
            return [fails.lost(moment.in_answer)]
        case "end too soon":
            return [fails.ended(moment.in_answer)]
        case "stall":
            return [fall_silent(monkeypatch, fails.stalled(moment.in_answer))]
        case "damage":
            return [fails.damaged(max(moment.in_answer, len(b"GGUF")))]
        case _ if failure in FULL_DISKS:
            break_disk(monkeypatch, hub, FULL_DISKS[failure], moment.in_answer)
            return []
    step = FAILURES[failure].step
    assert step is not None
    fetched = [fails.lost(moment.position)] if moment.position and not moment.restarts else []
    return [*fetched, step]


def expected(failure: str, moment: Moment) -> list[tuple[str, str]]:
    """Return what people are to be told, one after another: the state, and the kind of the sentence."""
    this = FAILURES[failure]
    told = [("retrying", LOST)] if this.step is not None and moment.position and not moment.restarts else []
    says = NO_ANSWER if failure == "connection lost" and not moment.position else this.says
    if failure == "416" and moment.position:
        says = ""  # what is here is more than there is: it begins anew
    return [*told, ("retrying" if this.goes_on else "failed", says)] if says else told


def kept(failure: str, moment: Moment) -> int:
    """Return how many bytes of the file are there once it has failed."""
    if FAILURES[failure].says == DAMAGED or failure == "416":
        return 0
    return moment.in_answer if FAILURES[failure].step is None else moment.position


def fetch_until_restart(hub: FailingHub, folder: Path, moment: Moment) -> None:
    with downloader(hub, folder) as made:
        hub.steps = [fails.lost(moment.position)]
        made.queue.add(hub.wanted())
        made.until("retrying")
        made.queue.pause(hub.wanted().key)
        made.until("paused")


@pytest.mark.parametrize(("failure", "when"), CELLS)
def test_a_download_that_fails_says_why_and_ends_well_later(
    untrusted: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: str, when: str
) -> None:
    moment = MOMENTS[when]
    with FailingHub(dict.fromkeys(moment.names, CONTENT), moment.names[-1]) as hub:
        hub.beside = untrusted
        monkeypatch.setenv("https_proxy", "http://127.0.0.1:9" if failure == "no proxy there" else hub.endpoint)
        monkeypatch.setenv("no_proxy", "localhost,127.0.0.1")
        if moment.restarts:
            fetch_until_restart(hub, tmp_path, moment)
        hub.steps = steps_of(monkeypatch, hub, failure, moment)
        with Witness(hub, tmp_path) as made:
            wanted = hub.wanted()
            made.queue.add(wanted)
            event = made.until_it_ends()
            assert made.problems() == expected(failure, moment)
            if event.state != "done":
                others = SIZE * (len(moment.names) - 1)
                assert event.done == others + kept(failure, moment), "what came before it failed is kept"
                assert event.again_in_s == (7.0 if failure == "429 for seconds" else None)
                if hub.wanted() == wanted:
                    made.queue.resume(wanted.key)
                else:
                    made.anew(wanted, hub.wanted())
                event = made.until_it_ends()
            assert event.state == "done" and made.problems() == expected(failure, moment)
            assert not made.listed_early
            assert made.files() == sorted(moment.names) and len(listed(tmp_path)) == 1
        for name in moment.names:
            assert hashlib.sha256(made.goal(hub, name).read_bytes()).hexdigest() == hub.digest(name)
        position = kept(failure, moment) if hub.files[hub.struck] == CONTENT else 0
        assert hub.asked[-1][2].get("range", "") == (f"bytes={position}-" if position else "")
        assert not hub.strangers()
