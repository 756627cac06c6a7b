"""Files are read beside the window and come into the draft of where they were attached."""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec
import pytest

from app.core.attached_files import framed
from app.core.draft import MAX_CHARACTERS, NEW_CHAT, Draft
from app.core.job_events import DocumentRead
from app.services import attaching as reading_of_files
from app.services.attaching import MOST_TOLD, Attaching
from app.services.drafts import place_of
from app.system.jobs import WORKERS
from tests.desk import WAIT_S, Desk
from tests.services.asking import say


@pytest.fixture
def attaching(desk: Desk) -> Attaching:
    desk.program.conversations.start()
    return desk.program.attaching


def test_files_come_once_each_in_their_frames(desk: Desk, attaching: Attaching, tmp_path: Path) -> None:
    came: list[str] = []
    attaching.attached.connect(came.append)
    files = [tmp_path / "a.txt", tmp_path / "b.md"]
    for file in files:
        file.write_text(file.name, "utf-8")
    attaching.attach([*files, files[0]])
    assert "“a.txt” is attached already." in desk.told
    assert [each.name for each in attaching.reading] == ["a.txt", "b.md"]
    desk.until(lambda: not attaching.reading)
    assert came == [framed("a.txt", "a.txt"), framed("b.md", "b.md")]


def test_files_come_in_the_order_in_which_they_were_given(desk: Desk, attaching: Attaching, tmp_path: Path) -> None:
    came: list[str] = []
    attaching.attached.connect(came.append)
    files = [tmp_path / name for name in ("a.txt", "gone.txt", "c.txt", "d.txt")]
    for file in files:
        if file.stem != "gone":
            file.write_text(file.name, "utf-8")
    attaching.attach(files)
    first, gone, third, fourth = (each.number for each in attaching.reading)
    read = {
        number: DocumentRead(number, framed(name, name))
        for number, name in ((first, "a"), (third, "c"), (fourth, "d"))
    }
    attaching.take(read[fourth])
    attaching.take(read[third])
    assert came == []
    assert len(attaching.reading) == 4  # each still has its row, and nothing is sent without it
    attaching.leave(gone)
    attaching.take(read[first])
    assert came == [framed(name, name) for name in "acd"]
    assert not any(attaching.reading)


def test_a_file_that_takes_long_holds_up_no_other_work(
    desk: Desk, attaching: Attaching, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_read, works = threading.Event(), threading.Event()
    monkeypatch.setattr(reading_of_files, "document_text", lambda path: is_read.wait(WAIT_S) and path.name)
    attaching.attach(tmp_path / f"{number}.pdf" for number in range(2 * WORKERS))
    desk.program.jobs.submit("work", works.set)
    try:
        assert works.wait(WAIT_S)
        assert len(attaching.reading) == 2 * WORKERS
    finally:
        is_read.set()
    desk.until(lambda: not attaching.reading)


def test_each_file_that_cannot_be_read_is_told(desk: Desk, attaching: Attaching, tmp_path: Path) -> None:
    (tmp_path / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    (tmp_path / "empty.txt").write_text("", "utf-8")
    (tmp_path / "good.txt").write_text("x", "utf-8")
    attaching.attach(tmp_path / name for name in ("image.png", "empty.txt", "good.txt", "gone.txt"))
    desk.until(lambda: not attaching.reading)
    notice = desk.notice
    assert (notice.level, notice.apart) == ("error", True)
    assert sorted(each.values["name"] for each in (notice.sentence, *notice.more)) == [
        "empty.txt",
        "gone.txt",
        "image.png",
    ]
    attaching.attach([tmp_path / "gone.txt"])
    assert desk.program.notices.latest is None  # what was said of the files before is over
    desk.until(lambda: not attaching.reading)
    assert (desk.notice.sentence.values["name"], desk.notice.more) == ("gone.txt", ())


def test_of_very_many_it_is_told_how_many(desk: Desk, attaching: Attaching, tmp_path: Path) -> None:
    attaching.attach(tmp_path / f"{n}.txt" for n in range(20))
    desk.until(lambda: not attaching.reading)
    notice = desk.notice
    assert len(notice.more) == MOST_TOLD - 1
    assert notice.more[-1].english().startswith("And 13 more")


def test_what_is_attached_twice_is_told_beside_what_cannot_be_read(
    desk: Desk, attaching: Attaching, tmp_path: Path
) -> None:
    attaching.attach([tmp_path / "gone.txt"])
    desk.until(lambda: not attaching.reading)
    attaching.tell_again("a.txt")
    attaching.tell_again("a.txt")
    assert [each.values["name"] for each in (desk.notice.sentence, *desk.notice.more)] == ["gone.txt", "a.txt"]


def test_one_that_cannot_be_read_is_told_with_its_name(desk: Desk, attaching: Attaching, tmp_path: Path) -> None:
    came: list[str] = []
    attaching.attached.connect(came.append)
    attaching.attach([tmp_path / "gone.txt"])
    desk.until(lambda: not attaching.reading)
    assert came == []
    assert "“gone.txt”" in desk.told


def test_one_that_is_wanted_no_more_does_not_come(desk: Desk, attaching: Attaching, tmp_path: Path) -> None:
    came: list[str] = []
    attaching.attached.connect(came.append)
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(name, "utf-8")
    attaching.attach([tmp_path / "a.txt"])
    attaching.leave(attaching.reading[0].number)
    attaching.attach([tmp_path / "b.txt"])
    desk.until(lambda: not attaching.reading)
    assert came == [framed("b.txt", "b.txt")]


def test_a_file_stays_with_the_chat_that_it_was_attached_in(
    desk: Desk, attaching: Attaching, model: Path, tmp_path: Path
) -> None:
    desk.load(model)
    say(desk, "One", "1")
    place = place_of(desk.program.chat.shown)
    came: list[str] = []
    attaching.attached.connect(came.append)
    (tmp_path / "a.txt").write_text("x", "utf-8")
    attaching.attach([tmp_path / "a.txt"])
    desk.program.conversations.new()
    assert place_of(desk.program.chat.shown) == NEW_CHAT
    drafts = desk.program.chat.drafts
    desk.until(lambda: not drafts.of(place).is_empty)
    assert drafts.of(place).pasted == (framed("a.txt", "x"),)
    assert came == []


def test_one_that_the_draft_of_another_chat_has_already_comes_once_and_that_is_said(
    desk: Desk, attaching: Attaching, model: Path, tmp_path: Path
) -> None:
    desk.load(model)
    say(desk, "One", "1")
    place, drafts = place_of(desk.program.chat.shown), desk.program.chat.drafts
    (tmp_path / "a.txt").write_text("x", "utf-8")
    drafts.write(Draft(place, "", (framed("a.txt", "x"),)))
    attaching.attach([tmp_path / "a.txt"])
    desk.program.conversations.new()
    desk.until(lambda: desk.program.notices.latest is not None)
    assert "“a.txt” is attached already." in desk.told
    assert drafts.of(place).pasted == (framed("a.txt", "x"),)


def test_one_that_the_draft_of_another_chat_has_no_room_for_is_left_and_that_is_said(
    desk: Desk, attaching: Attaching, model: Path, tmp_path: Path
) -> None:
    desk.load(model)
    say(desk, "One", "1")
    place, drafts = place_of(desk.program.chat.shown), desk.program.chat.drafts
    there = Draft(place, "word", ("x" * (MAX_CHARACTERS - len(framed("a.txt", "x")) - len("word") - 3),))
    drafts.write(there)
    (tmp_path / "a.txt").write_text("x", "utf-8")
    attaching.attach([tmp_path / "a.txt"])
    desk.program.conversations.new()
    desk.until(lambda: desk.program.notices.latest is not None)
    assert "“a.txt” does not fit into the message" in desk.told
    assert drafts.of(place) == there
    drafts.write(msgspec.structs.replace(there, pasted=(there.pasted[0][1:],)))
    desk.program.conversations.open(place)
    attaching.attach([tmp_path / "a.txt"])
    desk.program.conversations.new()
    desk.until(lambda: len(drafts.of(place).pasted) == 2)
