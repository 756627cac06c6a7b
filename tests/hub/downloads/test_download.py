"""A download ends with the whole file or with a sentence, goes on where it ended, and never offers half a file."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from app.core.download import DownloadChanged, DownloadFile, DownloadWanted
from app.hub import download, download_run
from app.hub.partial_file import PartialFile
from tests.hub.download_hub import CONTENT, HALF, NAME, DownloadHub, downloader
from tests.hub.loopback_hub import Request


def problem(hub: DownloadHub, folder: Path, wanted: DownloadWanted | None = None, **environment: str) -> str:
    """Return what people are told when a download fails; nothing of it looks like a model."""
    with downloader(hub, folder, None, **environment) as made:
        made.queue.add(wanted or hub.wanted())
        told = made.until("failed")
        assert not any(name.endswith(".gguf") for name in made.files())
    assert told.problem is not None
    text = told.problem.english()
    assert text.endswith(".") and "\n" not in text and len(text) < 320
    return text


def test_a_whole_file_has_its_name_and_nothing_lies_beside_it(hub: DownloadHub, tmp_path: Path) -> None:
    with downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted())
        done = made.until("done")
        assert made.goal(hub, NAME).read_bytes() == CONTENT
        assert made.files() == [NAME]
        assert done.path == str(made.goal(hub, NAME)) and done.done == len(CONTENT)
        states = [event.state for event in made.told if isinstance(event, DownloadChanged)]
        assert [state for state, before in zip(states, [None, *states], strict=False) if state != before] == [
            "waiting",
            "running",
            "checking",
            "done",
        ]
    assert hub.ranges() == [""]


def test_what_an_earlier_try_fetched_is_not_fetched_again(hub: DownloadHub, tmp_path: Path) -> None:
    hub.break_at = [HALF]
    with downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted())
        again = made.until("retrying")
        assert again.problem is not None and "was lost" in again.problem.english() and again.again_in_s
        made.until("done")
        assert made.goal(hub, NAME).read_bytes() == CONTENT
    assert hub.ranges() == ["", f"bytes={HALF}-"]
    assert hub.asked[-1][2]["if-range"] == '"one"'
    assert hub.delivered == len(CONTENT)


def test_parts_of_one_model_are_one_download(tmp_path: Path) -> None:
    files = {f"Q8/big-0000{n}-of-00002.gguf": CONTENT[: 1000 * n] for n in (1, 2)}
    with DownloadHub(files) as hub, downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted())
        done = made.until("done")
        assert done.done == 3000 and [made.goal(hub, name).read_bytes() for name in files] == list(files.values())
        figures = [event.done for event in made.told if isinstance(event, DownloadChanged)]
        assert figures == sorted(figures)


def test_a_file_that_changed_on_the_server_is_fetched_anew(hub: DownloadHub, tmp_path: Path) -> None:
    with downloader(hub, tmp_path) as made:
        wanted = hub.wanted()
        hub.break_at = [HALF]
        hub.files[NAME] = b"GGUF" + bytes(len(CONTENT) - 4)
        made.queue.add(wanted)
        made.until("retrying")
        hub.files[NAME], hub.etag = CONTENT, '"two"'
        made.until("done")
        assert made.goal(hub, NAME).read_bytes() == CONTENT


@pytest.mark.parametrize("sha256", [True, False])
def test_a_later_commit_goes_on_with_what_has_the_same_checksum(
    hub: DownloadHub, tmp_path: Path, sha256: bool
) -> None:
    hub.break_at = [HALF]
    first, second = hub.wanted(sha256=sha256, revision="1a" * 20), hub.wanted(sha256=sha256, revision="2b" * 20)
    with downloader(hub, tmp_path) as made:
        made.queue.add(first)
        made.until("retrying")
    with downloader(hub, tmp_path) as made:
        made.queue.add(second)
        made.until("done")
        assert made.goal(hub, NAME).read_bytes() == CONTENT
    assert hub.ranges() == ["", f"bytes={HALF}-" if sha256 else ""]
    assert [path.split("/")[4] for where, path, _ in hub.asked if where == "hub"] == [first.revision, second.revision]


def test_a_server_without_ranges_is_read_from_the_beginning(hub: DownloadHub, tmp_path: Path) -> None:
    hub.break_at, hub.knows_ranges = [HALF], False
    with downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted())
        made.until("done")
        assert made.goal(hub, NAME).read_bytes() == CONTENT


def test_without_a_checksum_and_an_etag_nothing_is_joined(hub: DownloadHub, tmp_path: Path) -> None:
    hub.break_at, hub.etag = [HALF], 'W/"weak"'
    with downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted(sha256=False))
        made.until("done")
    assert hub.ranges() == ["", ""]


def test_damage_is_noticed_and_leaves_nothing(hub: DownloadHub, tmp_path: Path) -> None:
    wanted = hub.wanted()
    hub.files[NAME] = CONTENT[:-1] + b"x"
    assert "arrived damaged" in problem(hub, tmp_path, wanted)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_another_length_is_another_file(hub: DownloadHub, tmp_path: Path) -> None:
    wanted = hub.wanted()
    hub.files[NAME] = CONTENT + b"x"
    assert "was changed on the server" in problem(hub, tmp_path, wanted)


def test_a_range_that_is_not_there_any_more_is_another_file(hub: DownloadHub, tmp_path: Path) -> None:
    wanted = hub.wanted()
    hub.break_at = [HALF]
    with downloader(hub, tmp_path) as made:
        made.queue.add(wanted)
        made.until("retrying")
        hub.files[NAME] = CONTENT[:100]
        told = made.until("failed")
    assert told.problem is not None and "was changed on the server" in told.problem.english()


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "does not show this without permission"),
        (403, "accept its terms"),
        (404, "no such model or file"),
        (416, "status 416"),
        (500, "trouble of its own"),
        (418, "status 418"),
    ],
)
def test_refusals_have_their_sentence(hub: DownloadHub, tmp_path: Path, status: int, words: str) -> None:
    hub.refusals = [(status, {})] * 10
    assert words in problem(hub, tmp_path)
    assert len(hub.ranges()) == (download_run.MOST_TRIES if status == 500 else 1)


def test_a_server_in_trouble_is_asked_again(hub: DownloadHub, tmp_path: Path) -> None:
    hub.refusals = [(503, {}), (502, {})]
    with downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted())
        made.until("retrying")
        made.until("done")


def test_a_server_that_wants_a_pause_gets_it(hub: DownloadHub, tmp_path: Path) -> None:
    hub.refusals = [(429, {"Retry-After": "7"})]
    with downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted())
        again = made.until("retrying")
        assert again.again_in_s == 7.0 and again.problem is not None
        assert "fewer requests" in again.problem.english()


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ("7200", "try again in 2 h; an access token"),
        ("Wed, 02 Dec 2099 10:00:00 GMT", "for a day or longer: try again tomorrow"),
    ],
)
def test_a_pause_of_hours_is_told_instead(hub: DownloadHub, tmp_path: Path, after: str, words: str) -> None:
    hub.refusals = [(429, {"Retry-After": after})]
    assert words in problem(hub, tmp_path)


def test_a_page_of_a_sign_in_is_no_model_and_costs_nothing_of_what_is_there(hub: DownloadHub, tmp_path: Path) -> None:
    def sign_in(request: Request) -> None:
        request.send_text("<html>" + "x" * 5000, kind="text/html; charset=utf-8")

    hub.break_at = [HALF]
    with downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted())
        made.until("retrying")
        hub.delivering = sign_in
        told = made.until("failed")
        assert told.problem is not None and "sign-in" in told.problem.english() and told.done == HALF
        hub.delivering = hub.deliver
        made.queue.resume(told.wanted.key)
        made.until("done")
    assert hub.ranges()[-1] == f"bytes={HALF}-"


def test_what_does_not_begin_as_a_model_is_none(hub: DownloadHub, tmp_path: Path) -> None:
    wanted = hub.wanted()
    hub.files[NAME] = b"<!do" + CONTENT[4:]
    assert "no model in place of tiny.F16.gguf" in problem(hub, tmp_path, wanted)


def test_a_server_that_falls_silent_is_asked_again(
    hub: DownloadHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download.fetch, "__defaults__", (0.1,))
    hub.hang_at = HALF
    with downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted())
        again = made.until("retrying")
        assert again.problem is not None and "sends nothing any more" in again.problem.english()
        hub.hang_at = None
        hub.ended.set()
        made.until("done")


def test_a_server_that_is_waited_for_is_told(
    hub: DownloadHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download_run, "STALL_S", 0.05)
    monkeypatch.setattr(download_run, "LOOK_EVERY_S", 0.02)
    hub.hang_at = HALF
    with downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted())
        while made.until("running").bytes_per_s != 0.0 or made.told[-1].done < HALF:  # type: ignore[union-attr]
            pass


def test_nobody_there_is_told_after_some_tries(hub: DownloadHub, tmp_path: Path) -> None:
    assert "cannot be reached" in problem(hub, tmp_path, HF_ENDPOINT="http://127.0.0.1:9")


def test_a_disk_without_room_is_told_before_anything_is_fetched(hub: DownloadHub, tmp_path: Path) -> None:
    wanted = DownloadWanted(hub.repository, "main", (DownloadFile(NAME, 10**18),))
    assert "too little room" in problem(hub, tmp_path, wanted)
    assert not hub.asked


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "has too little room"),
        (errno.EFBIG, "takes no file as large as tiny.F16.gguf: choose a smaller one"),
        (errno.EIO, "cannot be written to"),
    ],
)
def test_a_disk_that_fails_is_told_and_what_is_there_is_kept(
    hub: DownloadHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    append = PartialFile.append

    def fail(this: PartialFile, content: bytes) -> None:
        if this.size > HALF:
            raise OSError(number, os.strerror(number))
        append(this, content[:1000])

    monkeypatch.setattr(PartialFile, "append", fail)
    monkeypatch.setattr(download, "PIECE", 100_000)
    with downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted())
        told = made.until("failed")
        assert told.problem is not None
        assert words in told.problem.english()
        assert told.done > HALF or not told.done


def test_a_file_of_that_name_is_never_replaced(hub: DownloadHub, tmp_path: Path) -> None:
    with downloader(hub, tmp_path) as made:
        goal = made.goal(hub, NAME)
        goal.parent.mkdir(parents=True)
        goal.write_bytes(b"mine")
        made.queue.add(hub.wanted())
        told = made.until("failed")
        assert told.problem is not None and "another file called tiny.F16.gguf" in told.problem.english()
        goal.write_bytes(CONTENT)
        made.queue.resume(told.wanted.key)
        made.until("done")
    assert not hub.asked


@pytest.mark.parametrize("path", ["../../evil.gguf", "/etc/evil.gguf", "a\\..\\evil.gguf", "C:evil.gguf"])
def test_paths_of_a_listing_stay_inside(hub: DownloadHub, tmp_path: Path, path: str) -> None:
    wanted = DownloadWanted(hub.repository, "main", (DownloadFile(path, 10),))
    assert "cannot be kept safely" in problem(hub, tmp_path / "models", wanted)
    assert not hub.asked and not list(tmp_path.rglob("*evil*"))


def test_offline_asks_nobody(hub: DownloadHub, tmp_path: Path) -> None:
    with downloader(hub, tmp_path, TOKENLIGHT_OFFLINE="1") as made:
        made.queue.add(hub.wanted())
        told = made.until("paused").problem
    assert told is not None and "offline because TOKENLIGHT_OFFLINE" in told.english()
    assert not hub.asked


def test_a_token_is_for_the_hub_alone(hub: DownloadHub, tmp_path: Path) -> None:
    with downloader(hub, tmp_path, HF_TOKEN="hf_secret") as made:
        made.queue.add(hub.wanted())
        made.until("done")
    assert [headers.get("authorization") for _, _, headers in hub.asked] == ["Bearer hf_secret", None]


def test_two_programs_never_write_one_file(hub: DownloadHub, tmp_path: Path) -> None:
    goal = tmp_path / hub.repository / NAME
    other = PartialFile(goal)
    try:
        assert "by another Tokenlight" in problem(hub, tmp_path)
    finally:
        other.close()


def test_what_a_token_may_help_with_says_so_after_a_restart_too(hub: DownloadHub, tmp_path: Path) -> None:
    kept = tmp_path / "queue.json"
    hub.refusals = [(401, {})]
    with downloader(hub, tmp_path / "models", kept) as made:
        made.queue.add(hub.wanted())
        assert made.until("failed").wants_token
    with downloader(hub, tmp_path / "models", kept) as again:
        again.queue.open()
        assert again.until("failed").wants_token
        again.queue.resume(hub.wanted().key)
        assert not again.until("running").wants_token
        assert not again.until("done").wants_token
