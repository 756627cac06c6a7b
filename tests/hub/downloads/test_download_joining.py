"""What is joined to what is here: of no file that is another one now, and of nothing that does not begin as a model."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import msgspec
import pytest

from app.core.gguf_magic import GGUF_MAGIC
from app.hub.partial_file import PART, STATE, PartialFile, PartState
from tests.hub.download_hub import CONTENT, HALF, NAME, DownloadHub, downloader
from tests.hub.loopback_hub import Answer, Request

OTHER = b"GGUF" + bytes(range(255, -1, -1)) * 4_000
PAGE = (b"<html>" * len(CONTENT))[: len(CONTENT)]
assert len(OTHER) == len(PAGE) == len(CONTENT)


def part_of(content: bytes, etag: str, total: object = len(CONTENT)) -> Answer:
    """Answer with the rest of a file whatever If-Range says, as some servers do; the whole where nothing else is asked."""

    def send(request: Request) -> None:
        asked = request.headers.get("Range", "")
        first = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        told: dict[str, object] = {"ETag": etag} if etag else {}
        if asked:
            told["Content-Range"] = f"bytes {first}-{len(content) - 1}/{total}"
        request.begin(206 if asked else 200, {**told, "Content-Length": len(content) - first})
        request.send(content[first:])

    return send


@pytest.mark.parametrize("sha256", [True, False])
@pytest.mark.parametrize("etag", ['"two"', 'W/"one"', "one", ""])
def test_a_part_of_another_file_is_not_joined_to_what_is_here(
    hub: DownloadHub, tmp_path: Path, sha256: bool, etag: str
) -> None:
    """With a checksum only an ETag that says it is another file makes it begin anew: else the checksum tells."""
    hub.break_at, is_known = [HALF], sha256 and etag != '"two"'
    with downloader(hub, tmp_path) as made:
        if sha256 and not is_known:
            hub.files[NAME] = OTHER  # what is here is of an older file
        made.queue.add(hub.wanted(sha256=False) if not sha256 else hub.wanted())
        made.until("retrying")
        now = CONTENT if is_known else OTHER
        hub.delivering = part_of(now, etag)
        made.until("done")
        assert made.goal(hub, NAME).read_bytes() == now
    assert hub.ranges() == ["", f"bytes={HALF}-", *([] if is_known else [""])]


@pytest.mark.parametrize("sha256", [True, False])
def test_a_part_of_the_same_file_is_joined(hub: DownloadHub, tmp_path: Path, sha256: bool) -> None:
    hub.break_at = [HALF]
    with downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted(sha256=sha256))
        made.until("retrying")
        hub.delivering = part_of(CONTENT, '"one"', "*")
        made.until("done")
        assert made.goal(hub, NAME).read_bytes() == CONTENT
    assert hub.ranges() == ["", f"bytes={HALF}-"]


def test_what_is_here_is_kept_until_the_other_file_comes(hub: DownloadHub, tmp_path: Path) -> None:
    hub.break_at = [HALF]
    with downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted(sha256=False))
        made.until("retrying")
        hub.refusals = []
        answer = part_of(OTHER, '"two"')

        def deliver(request: Request) -> None:
            if request.headers.get("Range"):
                answer(request)
            else:
                request.begin(404, {"Content-Length": 0})

        hub.delivering = deliver
        assert made.until("failed").done == HALF


def unasked(content: bytes) -> Answer:
    """Answer with a part that nobody asked for: all of it."""

    def send(request: Request) -> None:
        told = f"bytes 0-{len(content) - 1}/{len(content)}"
        request.begin(206, {"ETag": '"one"', "Content-Range": told, "Content-Length": len(content)})
        request.send(content)

    return send


@pytest.mark.parametrize("sha256", [True, False])
def test_a_part_that_nobody_asked_for_is_looked_at_like_a_whole_file(
    hub: DownloadHub, tmp_path: Path, sha256: bool
) -> None:
    wanted = hub.wanted(sha256=sha256)
    hub.delivering = unasked(PAGE)
    with downloader(hub, tmp_path) as made:
        made.queue.add(wanted)
        told = made.until("failed")
        assert told.problem is not None and "no model in place of" in told.problem.english() and told.done == 0
        hub.delivering = unasked(CONTENT)
        made.queue.resume(wanted.key)
        made.until("done")
        assert made.goal(hub, NAME).read_bytes() == CONTENT


def test_such_a_part_is_gone_on_with_by_its_etag(hub: DownloadHub, tmp_path: Path) -> None:
    def deliver(request: Request) -> None:
        hub.delivering = hub.deliver
        told = f"bytes 0-{HALF - 1}/{len(CONTENT)}"
        request.begin(206, {"ETag": '"one"', "Content-Range": told, "Content-Length": HALF})
        request.send(CONTENT[:HALF])

    hub.delivering = deliver
    with downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted(sha256=False))
        made.until("done")
        assert made.goal(hub, NAME).read_bytes() == CONTENT
    assert hub.ranges() == ["", f"bytes={HALF}-"]


@pytest.mark.parametrize("there", [CONTENT[:2], PAGE])
def test_a_partial_file_that_does_not_begin_as_a_model_never_becomes_one(
    hub: DownloadHub, tmp_path: Path, there: bytes
) -> None:
    goal = tmp_path / hub.repository / NAME
    goal.parent.mkdir(parents=True)
    goal.with_name(NAME + PART).write_bytes(there)
    state = PartState(hub.repository, "main", NAME, len(CONTENT), "", '"one"')
    goal.with_name(NAME + STATE).write_bytes(msgspec.json.encode(state))
    wanted = hub.wanted(sha256=False)
    with downloader(hub, tmp_path) as made:
        made.queue.add(wanted)
        if len(there) == len(CONTENT):
            told = made.until("failed")
            assert (
                told.problem is not None and "no model in place of" in told.problem.english() and made.files() == []
            )
            made.queue.resume(wanted.key)
        made.until("done")
    assert goal.read_bytes() == CONTENT and goal.read_bytes().startswith(GGUF_MAGIC)
    assert hub.ranges() == [""]


def test_a_file_of_that_length_that_is_no_model_is_not_the_one_that_is_wanted(
    hub: DownloadHub, tmp_path: Path
) -> None:
    goal = tmp_path / hub.repository / NAME
    goal.parent.mkdir(parents=True)
    goal.write_bytes(PAGE)
    with downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted(sha256=False))
        told = made.until("failed")
        assert told.problem is not None and "another file called" in told.problem.english()


@pytest.mark.parametrize("content", [CONTENT, OTHER])
def test_what_another_program_has_made_whole_meanwhile_is_taken_or_left_as_it_is(
    hub: DownloadHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    goal, opening = tmp_path / hub.repository / NAME, PartialFile._open

    def whole_meanwhile(this: PartialFile) -> BinaryIO:
        this.goal.parent.mkdir(parents=True, exist_ok=True)
        this.goal.write_bytes(content)
        return opening(this)

    monkeypatch.setattr(PartialFile, "_open", whole_meanwhile)
    with downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted())
        made.until("done" if content == CONTENT else "failed")
        assert goal.read_bytes() == content and made.files() == [NAME] and not hub.asked
