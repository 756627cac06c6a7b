from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings

from app.core.conversation import Conversation, Message, Pieces
from app.core.events import Event
from app.core.store_commands import KeepChat, KeepPieces, ReadChats
from app.core.store_events import ChatsAdded, ChatsRead, Kept
from app.core.whole_chat import WholeChat
from app.core.words import translate
from app.services import importing as importing_module
from app.services.importers.chat_file import ChatLines
from app.services.importers.found import StoppedError, Stops, Unread, look_for_stop
from app.services.importers.taking import renumbered
from app.services.importing import ImportReport
from tests.desk import Desk
from tests.store.shelf import ids, lose
from tests.whole_chats import whole_chats


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    made = Desk(tmp_path / "home", monkeypatch)
    made.program.conversations.start()
    yield made
    made.program.stop()


def _chat(key: int, text: str = "Hello") -> WholeChat:
    head = Conversation(key, f"Chat {key}", key, key, leaf=key + 1)
    return WholeChat(head, (Message(key + 1, key, None, "user", text, key),))


def _keep(desk: Desk, *chats: WholeChat) -> None:
    for chat in chats:
        desk.store.send(KeepChat(0, chat))
    desk.program.conversations.take(ChatsAdded(tuple(chat.head for chat in chats)))


def _export(desk: Desk, path: Path, *heads: Conversation) -> None:
    assert desk.program.chat_export.begin(path, heads, ChatLines())
    desk.until(lambda: not desk.program.chat_export.is_busy)


def _import(desk: Desk, *paths: Path) -> ImportReport:
    assert desk.program.chat_import.begin(paths)
    desk.until(lambda: not desk.program.chat_import.is_busy)
    return desk.program.chat_import.report


def _whole(desk: Desk, *heads: Conversation) -> tuple[WholeChat, ...]:
    found: list[Event] = []
    take, desk.take_from_store = desk.take_from_store, found.append
    desk.store.send(ReadChats(99, heads))
    desk.take_from_store = take
    (read,) = found
    assert isinstance(read, ChatsRead)
    return read.chats


@settings(max_examples=10, deadline=None)
@given(one=whole_chats(first=5), other=whole_chats(first=100))
def test_conversations_go_through_a_file_into_another_program(
    one: WholeChat, other: WholeChat, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("moved")
    with pytest.MonkeyPatch.context() as patch:
        first, second = Desk(folder / "one", patch), Desk(folder / "two", patch)
        for each in (first, second):
            each.program.conversations.start()
        _keep(first, one, other)
        _export(first, folder / "all.json", one.head, other.head)
        assert first.program.chat_export.saved == folder / "all.json"
        report = _import(second, folder / "all.json")
        there = _whole(second, *sorted(second.program.conversations.heads, key=lambda head: head.id))
        for each in (first, second):
            each.program.stop()

    distinct = [one] if _same(one, other) else [one, other]
    assert (report.imported, report.already_here, report.unread) == (len(distinct), 2 - len(distinct), [])
    assert [renumbered(chat, 1) for chat in there] == [renumbered(chat, 1) for chat in distinct]


def _same(one: WholeChat, other: WholeChat) -> bool:
    """Return whether two conversations have the same title and times, and the same was said in them."""
    heads = {(each.head.title, each.head.created_ms, each.head.changed_ms) for each in (one, other)}
    return len(heads) == 1 and _said(one) == _said(other)


def _said(chat: WholeChat) -> tuple[str, list[tuple[str, str, int | None]]]:
    first = chat.head.id
    above = [each.parent and each.parent - first for each in chat.messages]
    return chat.head.system_prompt, [
        (each.role, each.text, parent) for each, parent in zip(chat.messages, above, strict=True)
    ]


@settings(max_examples=10, deadline=None)
@given(one=whole_chats(first=5), other=whole_chats(first=100))
def test_chats_of_one_title_and_time_are_told_apart_by_what_was_said(
    one: WholeChat, other: WholeChat, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder, head = tmp_path_factory.mktemp("alike"), one.head
    alike = msgspec.structs.replace(
        other.head, title=head.title, created_ms=head.created_ms, changed_ms=head.changed_ms
    )
    other = msgspec.structs.replace(other, head=alike)
    lines = ChatLines()
    content = [lines.begin(()), lines.add(one), lines.add(other), lines.begin_vocabularies(), lines.end()]
    (folder / "a.json").write_bytes(b"".join(content))
    with pytest.MonkeyPatch.context() as patch:
        desk = Desk(folder / "home", patch)
        desk.program.conversations.start()
        report = _import(desk, folder / "a.json")
        count = 1 if _same(one, other) else 2
        assert (report.imported, report.already_here) == (count, 2 - count)
        again = _import(desk, folder / "a.json")
        assert (again.imported, again.already_here) == (0, 2)
        desk.program.stop()


@pytest.mark.parametrize("together", [True, False])
def test_a_chat_of_another_program_is_lost_to_no_other_of_its_title_and_time(
    together: bool, desk: Desk, tmp_path: Path
) -> None:
    rows = [
        {"title": "New Chat", "messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "1"}]}
        for text in ("one", "two")
    ]
    paths = [tmp_path / f"{number}.json" for number in range(1 if together else 2)]
    for number, path in enumerate(paths):
        path.write_text(json.dumps(rows if together else [rows[number]]))
    for wanted in ((2, 0), (0, 2)):
        reports = [_import(desk, path) for path in paths]
        assert tuple(map(sum, zip(*((each.imported, each.already_here) for each in reports), strict=True))) == wanted
    said = sorted(chat.messages[0].text for chat in _whole(desk, *desk.program.conversations.heads))
    assert said == ["one", "two"]


def test_chats_of_which_a_part_could_not_be_read_are_known_by_their_titles(desk: Desk, tmp_path: Path) -> None:
    _keep(desk, _chat(10), _chat(20))
    _export(desk, tmp_path / "a.json", *desk.program.conversations.heads)
    assert not desk.program.chat_export.unread
    lose(tmp_path, "attachment")
    _export(desk, tmp_path / "a.json", *desk.program.conversations.heads)
    assert list(desk.program.chat_export.unread) == ["Chat 20", "Chat 10"]
    _export(desk, tmp_path / "a.json")
    assert not desk.program.chat_export.unread


def test_what_is_here_already_is_counted_and_left(desk: Desk, tmp_path: Path) -> None:
    _keep(desk, _chat(10), _chat(20))
    _export(desk, tmp_path / "a.json", *desk.program.conversations.heads)
    report = _import(desk, tmp_path / "a.json")
    assert (report.imported, report.already_here) == (0, 2)
    assert len(desk.program.conversations.heads) == 2


def test_many_conversations_come_step_by_step(desk: Desk, tmp_path: Path) -> None:
    lines = ChatLines()
    chats = [_chat(10 * number) for number in range(1, 121)]
    content = [lines.begin(()), *map(lines.add, chats), lines.begin_vocabularies(), lines.end()]
    (tmp_path / "a.json").write_bytes(b"".join(content))
    report = _import(desk, tmp_path / "a.json")
    assert (report.imported, len(desk.program.conversations.heads)) == (120, 120)
    assert len({head.id for head in desk.program.conversations.heads}) == 120


def test_broken_ones_are_told_and_the_next_file_is_read(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "no.json").write_bytes(b"[1, 2]")
    good = tmp_path / "good.json"
    _keep(desk, _chat(10), _chat(20))
    _export(desk, good, *desk.program.conversations.heads)
    good.write_bytes(good.read_bytes().replace(b'"parent":null', b'"parent":7,,', 1).replace(b"Chat 10", b"Other"))
    report = _import(desk, tmp_path / "gone.json", tmp_path / "no.json", good)
    assert report.imported == 1
    assert [path.name for path, _ in report.unread] == ["gone.json", "no.json", "good.json"]
    assert [each.title for _, each in report.unread] == ["", "", "Chat 20"]


def test_vocabularies_go_with_the_answers(desk: Desk, tmp_path: Path) -> None:
    pieces = Pieces("tok", 0, ids(1, 3), b"abc")
    desk.store.send(KeepPieces(pieces, 2))
    lines = ChatLines()
    lines._tokenizers["tok"] = None
    assert desk.program.chat_export.begin(tmp_path / "a.json", (), lines)
    desk.until(lambda: not desk.program.chat_export.is_busy)
    assert b'"tokenizer":"tok"' in (tmp_path / "a.json").read_bytes()
    assert _import(desk, tmp_path / "a.json").unread == []


def test_a_place_that_cannot_be_written_is_told(desk: Desk, tmp_path: Path) -> None:
    _export(desk, tmp_path / "none" / "a.json")
    problem = desk.program.chat_export.problem
    assert problem is not None and "a.json could not be saved" in problem.english()


def test_a_cancelled_file_leaves_what_was_there_and_another_follows(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("before")
    _keep(desk, _chat(10))
    exporting = desk.program.chat_export
    assert exporting.begin(path, desk.program.conversations.heads, ChatLines())
    assert not exporting.begin(path, (), ChatLines())
    exporting.cancel()
    assert path.read_text() == "before" and not exporting.is_busy
    _export(desk, path, *desk.program.conversations.heads)
    assert path.read_bytes().startswith(b'{"format"') and [each.name for each in tmp_path.glob("*.new")] == []


def test_a_program_that_ends_leaves_no_half_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(tmp_path / "home", monkeypatch)
    desk.program.conversations.start()
    _keep(desk, _chat(10))
    exporting = desk.program.chat_export
    assert exporting.begin(tmp_path / "a.json", desk.program.conversations.heads, ChatLines())
    desk.until(lambda: list(tmp_path.glob("*.new")))
    desk.program.stop()
    assert not exporting.is_busy and [each.name for each in tmp_path.iterdir()] == ["home"]


def test_an_import_can_be_stopped(desk: Desk, tmp_path: Path) -> None:
    _keep(desk, _chat(10))
    _export(desk, tmp_path / "a.json", msgspec.structs.replace(_chat(10).head, title="Other"))
    importing = desk.program.chat_import
    importing.begin([tmp_path / "a.json"])
    importing.cancel()
    assert importing.report.is_cancelled and not importing.is_busy
    importing.take_kept(Kept(1, on_disk=True))
    assert importing.report.imported == 0


def test_what_was_read_before_an_import_was_stopped_does_not_come(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(_path: Path, _stops: Stops) -> Iterator[WholeChat | Unread]:
        return iter((_chat(1), Unread("Chat 2", "", translate("Importing", "It was torn."))))

    monkeypatch.setattr(importing_module, "read_chats_of", read)
    importing = desk.program.chat_import
    importing.begin([tmp_path / "a.json"])
    importing.cancel()
    desk.until(lambda: importing._reading._working is None)
    assert not importing._moving.is_busy and not importing.is_busy
    assert (importing.report.imported, importing.report.unread, desk.program.conversations.heads) == (0, [], ())


def test_what_is_read_hears_that_it_is_not_wanted_any_more(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Stops] = []

    def read(_path: Path, stops: Stops) -> Iterator[WholeChat]:
        asked.append(stops)
        look_for_stop(stops)
        return iter(())

    monkeypatch.setattr(importing_module, "read_chats_of", read)
    importing = desk.program.chat_import
    importing.begin([tmp_path / "a.json"])
    assert not asked[0]()
    importing.cancel()
    importing.begin([tmp_path / "b.json"])
    assert [stops() for stops in asked] == [True, False]
    desk.until(lambda: not importing.is_busy)


def test_a_file_that_is_left_in_the_middle_tells_nothing(desk: Desk) -> None:
    def parts() -> Iterator[WholeChat]:
        yield _chat(1)
        raise StoppedError

    step = importing_module._read(parts())
    assert ([chat.head.id for chat in step.chats], step.unread, step.is_end) == ([1], [], True)
