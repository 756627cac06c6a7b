from __future__ import annotations

import codecs
import json
import zipfile
from pathlib import Path

import pytest

from app.core.errors import UserError
from app.core.whole_chat import WholeChat
from app.services.importers import chatgpt, elements, foreign_chats, open_webui
from app.services.importers.chat_file import ChatLines, Part
from app.services.importers.foreign_chats import found_in
from app.services.importers.formats import read_chats_of
from app.services.importers.found import StoppedError
from tests.services.importers.reading import EXPORTS, reasons, whole

CHATGPT = (EXPORTS / "chatgpt.json").read_bytes()
OPEN_WEBUI = (EXPORTS / "open_webui.json").read_bytes()


def _read(path: Path) -> tuple[list[str], list[tuple[str, str]]]:
    found = whole(foreign_chats.foreign_chats(path))
    told = [(each.place, each.reason.english()) for each in found.unread if not each.title]
    return [chat.head.title for chat in found.chats], told


def _zip(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"deep/{name}.json", content)
    return path


def _torn(middle: bytes) -> bytes:
    """Return an export of two conversations with something else between them."""
    one, other = (json.dumps(each).encode() for each in json.loads(CHATGPT))
    return b"[" + one + b"," + middle + b"," + other + b"]"


def test_each_format_knows_its_own_and_nothing_else() -> None:
    for name, own in (("chatgpt", chatgpt.is_own), ("open_webui", open_webui.is_own)):
        for form in ("chatgpt", "open_webui"):
            values = json.loads((EXPORTS / f"{form}.json").read_bytes())
            assert [own(value) for value in values] == [name == form] * len(values)
        others: tuple[object, ...] = (
            None,
            3,
            [],
            {},
            "mapping",
            {"mapping": {}},
            {"mapping": 1, "current_node": "a"},
            {"messages": [1]},
        )
        assert not any(own(value) for value in others)
        assert not own({"format": "tokenlight-chats", "version": 1, "chats": [{"messages": []}]})
        assert not own({"mapping": {"a": {"message": {"fragments": []}}}})


@pytest.mark.parametrize("content", [b"", b"  ", b"3", b"[]", b"[1, 2]", b"{}", b"hello", b"\x00\xff", b'{"a": [1'])
def test_where_no_format_is_known_nothing_is_found(content: bytes) -> None:
    assert list(found_in(content)) == []


@pytest.mark.parametrize("mark", [codecs.BOM_UTF8, codecs.BOM_UTF16_LE])
def test_marks_of_encodings_are_passed_over(mark: bytes) -> None:
    text = CHATGPT.decode()
    content = mark + (CHATGPT if mark == codecs.BOM_UTF8 else text.encode("utf-16-le"))

    assert whole(found_in(content)) == whole(found_in(CHATGPT))


@pytest.mark.parametrize(
    ("middle", "reason"),
    [
        (b'{"title": nope}', elements.BROKEN),
        (b'{"mapping": [1}', elements.BROKEN),
        (b'{"title": "\\x"}', elements.BROKEN),
        (b'{"mapping": ' + b"[" * 50_000 + b"]" * 50_000 + b"}", elements.TOO_DEEP),
        (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, elements.TOO_DEEP),
        (b'{"title": ' + b"9" * 5000 + b"}", elements.BROKEN),
    ],
)
def test_a_broken_conversation_costs_itself_alone(middle: bytes, reason: object) -> None:
    found = whole(found_in(_torn(middle)))

    assert [chat.head.title for chat in found.chats] == ["Bread without kneading", "What is a qubit?"]
    assert [(each.place, each.reason) for each in found.unread if not each.title] == [("[1]", reason)]


def test_values_of_other_kinds_cost_themselves_alone() -> None:
    found = whole(found_in(_torn(b'null,NaN,3,"x",[]')))

    assert len(found.chats) == 2
    assert [each.place for each in found.unread if not each.title] == ["[1]", "[2]", "[3]", "[4]", "[5]"]


@pytest.mark.parametrize("end", [-1, -3, -40, -200])
def test_a_file_that_was_cut_off_has_what_is_whole(end: int) -> None:
    found = whole(found_in(_torn(b"null")[:end]))

    assert [chat.head.title for chat in found.chats][:1] == ["Bread without kneading"]
    assert len(found.chats) == 2 or found.unread[-1].reason == elements.CUT_OFF


def test_behind_what_is_nested_too_deep_nothing_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elements, "MOST_NESTED", 1000)
    found = whole(found_in(_torn(b"[" * 2000 + b"]" * 2000)))

    assert len(found.chats) == 1
    assert found.unread[-1].reason == elements.TOO_DEEP


def test_an_export_comes_out_of_a_zip_whatever_it_is_called(tmp_path: Path) -> None:
    first, second = (json.dumps([each]).encode() for each in json.loads(CHATGPT))
    path = _zip(tmp_path / "x.bin", **{"conversations-001": second, "conversations-000": first, "user": b"{}"})

    assert _read(path) == (["Bread without kneading", "What is a qubit?"], [])


def test_no_name_in_a_zip_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../conversations.json", CHATGPT)
        archive.writestr("/conversations-1.json", b"[null, " + CHATGPT[1:])
    before = sorted(tmp_path.rglob("*"))

    titles, told = _read(path)
    assert len(titles) == 4
    assert told == [
        ("conversations-1.json[0]", "It is not written as a conversation is: nothing of it was taken over.")
    ]
    assert sorted(tmp_path.rglob("*")) == before


def test_a_part_of_a_zip_that_is_damaged_or_something_else_is_told(tmp_path: Path) -> None:
    path = _zip(
        tmp_path / "x.zip", **{"conversations-0": CHATGPT, "conversations-1": b"[3]", "conversations-2": b"[]"}
    )
    content = bytearray(path.read_bytes())
    content[120:140] = b"\xff" * 20
    path.write_bytes(content)

    titles, told = _read(path)
    assert titles == []
    assert told == [
        ("conversations-0.json", "This file in the ZIP cannot be unpacked: export or download the ZIP once more."),
        ("conversations-1.json", "This file in the ZIP holds no conversations of a kind that is known here."),
    ]


def test_a_zip_that_unpacks_to_more_than_may_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _zip(tmp_path / "x.zip", conversations=b"[" + b" " * (8 << 20) + b"]")
    content = path.read_bytes()
    told = (8 << 20) + 2
    path.write_bytes(content.replace(told.to_bytes(4, "little"), (10).to_bytes(4, "little")))
    monkeypatch.setattr(foreign_chats, "MOST_BYTES", 2 << 20)

    with pytest.raises(UserError, match="holds more than"):
        _read(_zip(tmp_path / "y.zip", **{"conversations-1": b"[" + b" " * (8 << 20) + b"]"}))
    titles, reasons_told = _read(path)
    assert (titles, len(reasons_told)) == ([], 1)


def test_a_plain_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign_chats, "MOST_BYTES", 1000)
    path = tmp_path / "x.json"
    path.write_bytes(CHATGPT)

    with pytest.raises(UserError, match="holds more than"):
        _read(path)


def test_a_list_of_a_zip_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign_chats, "MOST_DIRECTORY", 70_000)
    path = _zip(tmp_path / "x.zip", **{f"{number}": b"" for number in range(2000)})

    with pytest.raises(UserError, match="holds more than"):
        _read(path)


def test_a_file_that_is_missing_or_no_zip_at_all_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        _read(tmp_path / "x.json")
    (tmp_path / "y.zip").write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(UserError, match="damaged ZIP"):
        _read(tmp_path / "y.zip")


def test_both_formats_come_out_of_plain_files(tmp_path: Path) -> None:
    for name, content in (("a", CHATGPT), ("b", OPEN_WEBUI)):
        (tmp_path / name).write_bytes(content)

    assert _read(tmp_path / "a")[0] == ["Bread without kneading", "What is a qubit?"]
    assert _read(tmp_path / "b")[0] == ["Colours of leaves", "Sums", "Old one"]
    assert reasons(whole(foreign_chats.foreign_chats(tmp_path / "a")))[0].startswith("Messages to tools")


class Asked:
    """Wants no more after some questions."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.count = 0

    def __call__(self) -> bool:
        self.count += 1
        return self.count > self.most


CHAT = json.dumps(json.loads(OPEN_WEBUI)[0]).encode()


@pytest.mark.parametrize("kind", ["list", "torn", "zip", "ours"])
def test_nothing_is_read_any_more_soon_after_somebody_stops(kind: str, tmp_path: Path) -> None:
    path, content = tmp_path / "many.json", b"[" + b",".join([CHAT] * 40) + b"]"
    if kind == "torn":
        content = content[:-1] + b"," + CHAT[:-40]
    elif kind == "ours":
        lines = ChatLines()
        chats = whole(found_in(content)).chats
        content = lines.begin(()) + b"".join(map(lines.add, chats)) + lines.begin_vocabularies() + lines.end()
    if kind == "zip":
        _zip(path, conversations=content)
    else:
        path.write_bytes(content)
    assert len(list(read_chats_of(path, Asked(10**9)))) >= 40
    asked, read = Asked(8), list[Part]()
    with pytest.raises(StoppedError):
        read.extend(read_chats_of(path, asked))
    assert len([part for part in read if isinstance(part, WholeChat)]) < 10 and asked.count == asked.most + 1


@pytest.mark.parametrize("end", [b"]", b""])
def test_a_file_in_which_no_chat_is_found_is_left_as_soon(end: bytes) -> None:
    content = b"[" + b",".join([b'{"a": "b"}'] * 40_000) + end
    with pytest.raises(StoppedError):
        list(found_in(content, stops=Asked(3)))


@pytest.mark.parametrize("content", [CHATGPT[:2000], CHATGPT[:40], OPEN_WEBUI[:300]])
def test_a_file_that_ends_before_its_format_is_known_is_said_to_be_cut_off(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "conversations.json"
    path.write_bytes(content)
    titles, told = _read(path)
    assert titles == []
    assert [reason for _place, reason in told] == ["The file ends in the middle of it: export it once more."]
    assert _read(_zip(tmp_path / "x.zip", conversations=content))[1][0][1] == told[0][1]


@pytest.mark.parametrize("content", [b'[1, {"a": 2}, {"b', b"{broken}", b'"text', b"[3]"])
def test_what_is_of_no_known_format_is_not_said_to_be_cut_off(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    assert _read(path) == ([], [])
