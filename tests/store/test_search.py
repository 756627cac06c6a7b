"""What is found in the conversations: exactly the messages that hold what was typed, whatever the index knows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.core.attached_files import framed
from app.core.chat import clean_text
from app.core.conversation import Message
from app.core.errors import UserError
from app.core.search import FoundMessage, SearchPlace
from app.core.store_commands import (
    EraseTrash,
    FindMessages,
    KeepComparison,
    KeepQuestion,
    OpenStore,
    RemoveMessages,
    RestoreMessages,
)
from app.core.store_events import MessagesFound, SearchReady
from app.store.search_index import FILE_NAME
from app.store.side_look import find
from tests.examples import examples
from tests.store.lanes import compared, end_lane
from tests.store.shelf import Shelf, chunk, end, head, question, shelf

LETTERS = "aAbB ß+%\"'*^{}()-:\n\0ςΣσİıé世界你好吗々カナ한글🦙ไทย"
TEXTS = st.one_of(
    st.text(LETTERS, min_size=1, max_size=24),
    st.sampled_from(["C++ AND 50%", 'say "no" NOT', "NEAR(a b)", "Straße", "STRASSE", "Ünï", "𠀀𠀁"]),
)


def asked(key: int, texts: Sequence[str], chat: int = 1) -> list[KeepQuestion]:
    """Ask a question for each text, one message after the other from a number on."""
    made = []
    for number, text in enumerate(texts):
        first = key + 2 * number
        kept = question(first, head(chat), first)
        message = Message(first, chat, None, "user", text, first)
        made.append(KeepQuestion(first, kept.conversation, (message, kept.messages[1]), kept.answer))
    return made


def found(kept: Shelf, text: str, limit: int = 50) -> list[FoundMessage]:
    """Return all that is found, page by page."""
    place: SearchPlace | None = None
    hits: list[FoundMessage] = []
    while True:
        page = kept.ask(FindMessages(1, text, place, limit), MessagesFound)
        hits += page.found
        place = page.rest
        if place is None:
            assert page.is_whole
            return hits


def numbers(kept: Shelf, text: str) -> list[int]:
    """Return the messages that are found."""
    return [hit.message for hit in found(kept, text)]


@examples(150)
@given(st.lists(TEXTS, min_size=1, max_size=12), st.lists(TEXTS, min_size=1, max_size=5), st.integers(1, 4))
def test_what_is_found_is_what_a_literal_search_finds(texts: list[str], typed: list[str], limit: int) -> None:
    with TemporaryDirectory() as folder, shelf(Path(folder)) as kept:
        kept.send(*asked(10, texts))
        for wanted in [*typed, *(text[1:4] for text in texts), *(text[:2] for text in texts)]:
            plain = clean_text(wanted).strip().casefold()
            holding = [10 + 2 * n for n, text in enumerate(texts) if plain and plain in clean_text(text).casefold()]
            assert [hit.message for hit in found(kept, wanted, limit)] == holding[::-1], wanted


@pytest.mark.parametrize("typed", ['"', "C++", "50%", "AND", "a*", "NEAR(a b)", "世界", "界", "x:y", "^start", "--"])
def test_what_is_typed_means_nothing_but_itself(tmp_path: Path, typed: str) -> None:
    with shelf(tmp_path) as kept:
        kept.send(*asked(10, [f"before{typed}after", "C 50 and near ab 世 x y start -"]))
        assert numbers(kept, typed) == ([10] if typed.casefold() not in "c 50 and near ab" else [12, 10])
        assert numbers(kept, f"before{typed}after") == [10]


def test_marks_are_where_the_matches_are_in_the_snippet(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(*asked(10, [f"{'word ' * 100}first LLAMA\n\n  and a llama {'more ' * 100}"]))
        (hit,) = found(kept, "llama")
    marked = [hit.snippet.text[begin:until] for begin, until in hit.snippet.marks]
    assert marked == ["LLAMA", "llama"]
    assert hit.snippet.text.startswith("…word") and hit.snippet.text.endswith("…")
    assert "LLAMA and a llama" in hit.snippet.text
    assert (hit.conversation, hit.title, hit.is_answer) == (1, "Chat 1", False)


def test_an_answer_is_found_while_it_is_written_once_it_ended_and_by_its_new_text(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), chunk(2, "half a lla", 7), chunk(2, "ma", 8))
        assert numbers(kept, "llama") == [2]
        kept.send(end(2, "a whole alpaca"))
        assert (numbers(kept, "llama"), numbers(kept, "alpaca")) == ([], [2])
        kept.send(end(2, "now a vicuña"))
        assert (numbers(kept, "alpaca"), numbers(kept, "VICUÑA")) == ([], [2])


def test_what_is_deleted_is_not_found_until_it_is_back(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(*asked(10, ["a llama", "another llama"]))
        kept.send(RemoveMessages((12, 13), 99))
        assert numbers(kept, "llama") == [10]
        kept.send(RestoreMessages((12, 13)))
        assert numbers(kept, "llama") == [12, 10]


def test_what_is_erased_leaves_no_word_in_the_file_of_the_index(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(*asked(10, ["zqxjkvbw forever", "what stays"]))
        kept.send(RemoveMessages((10, 11), 99), EraseTrash(1, 10))
        assert kept.sql("SELECT COUNT(*) FROM message WHERE id = 10") == [(0,)]
    written = b"".join(path.read_bytes() for path in tmp_path.glob(f"{FILE_NAME}*"))
    assert b"what stays" in written
    assert b"zqxjkvbw" not in written and b"zqx" not in written


def test_a_lane_that_nobody_kept_is_not_found(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        begun = compared(1, head(), 1)
        kept.send(begun, *(end_lane(begun, number, "a llama") for number in range(3)))
        assert numbers(kept, "llama") == []
        kept.send(KeepComparison(replace(begun.comparison, kept=(1,))))
        assert numbers(kept, "llama") == [begun.comparison.lanes[1]]


def test_an_index_that_is_gone_garbled_or_of_other_chats_is_made_anew(tmp_path: Path) -> None:
    texts = [f"llama {number}" for number in range(30)]
    with shelf(tmp_path) as kept:
        kept.send(*asked(10, texts))
    index = tmp_path / FILE_NAME
    whole = index.read_bytes()
    with shelf(tmp_path / "other") as other:
        other.send(*asked(10, ["something else"]))
    strange = (tmp_path / "other" / FILE_NAME).read_bytes()
    for content in (None, b"", b"no database at all" * 300, strange, whole[: len(whole) // 2], whole):
        index.unlink()
        if content is not None:
            index.write_bytes(content)
        with shelf(tmp_path) as kept:
            assert numbers(kept, "llama 1") == [*range(48, 28, -2), 12]


def test_chats_that_went_back_to_an_earlier_copy_are_searched_as_they_are(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), end(2, "a llama"))
    copy = kept.path.read_bytes()
    with shelf(tmp_path) as kept:
        kept.send(end(2, "an alpaca"), *asked(12, ["another llama"]))
        assert numbers(kept, "llama") == [12]
    kept.path.write_bytes(copy)
    with shelf(tmp_path) as kept:
        assert (numbers(kept, "llama"), numbers(kept, "alpaca")) == ([2], [])


def test_while_an_index_is_made_it_is_said_that_not_all_was_looked_at(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(*asked(10, ["old llama", "new llama"]), end(11, ""), end(13, ""))
    (tmp_path / FILE_NAME).unlink()
    kept = Shelf(tmp_path)
    work = kept.store.work
    work.do((OpenStore(), FindMessages(1, "llama")))
    with patch("app.store.indexing._CHARACTERS", 1):
        while work.rest():
            work.do((FindMessages(2, "llama"),))
    work.do((FindMessages(3, "llama"),))
    pages = [event for event in kept.events if isinstance(event, MessagesFound)]
    told = dict.fromkeys((len(page.found), page.is_whole) for page in pages)
    assert list(told) == [(0, False), (1, False), (2, False), (2, True)]
    assert sum(isinstance(event, SearchReady) for event in kept.events) == 1
    kept.close()


def test_a_search_that_takes_long_says_what_it_found_so_far_and_goes_on_there(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept, patch("app.store.searching.SLICE_S", 0.0):
        kept.send(*asked(10, ["a llama"] * 5))
        for text in ("llama", "ll"):
            page = kept.ask(FindMessages(1, text), MessagesFound)
            assert len(page.found) < 5 and page.rest is not None
            assert numbers(kept, text) == [18, 16, 14, 12, 10]


def test_nothing_typed_finds_nothing(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(*asked(10, ["a llama"]))
        assert found(kept, " \n ") == found(kept, "") == []


def test_from_the_side_the_same_is_found_with_the_index_and_without(tmp_path: Path) -> None:
    assert find(tmp_path, "llama", 5) == ()
    with shelf(tmp_path) as kept:
        kept.send(*asked(10, ["a llama", "an alpaca", "LLAMA"]), chunk(15, "an open llama"))
        assert [hit.message for hit in find(tmp_path, "llama", 5)] == [15, 14, 10]
        assert [hit.message for hit in find(tmp_path, "llama", 2)] == [15, 14]
    for path in tmp_path.glob(f"{FILE_NAME}*"):
        path.unlink()
    assert [hit.message for hit in find(tmp_path, "llama", 5)] == [15, 14, 10]
    assert not list(tmp_path.glob(f"{FILE_NAME}*"))


def test_chats_that_cannot_be_read_from_the_side_are_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "tokenlight.sqlite3").write_bytes(b"no database at all" * 300)
    with pytest.raises(UserError, match="cannot be read now"):
        find(tmp_path, "llama", 5)


def test_of_a_file_its_name_and_what_it_says_is_found_and_never_its_frame(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(*asked(10, [f"{framed('notes.md', 'rain falls')}\n\nWhy?"]))
        assert [hit.snippet.text for hit in found(kept, "rain")] == ["notes.md rain falls Why?"]
        assert [hit.snippet.text for hit in found(kept, "notes")] == ["notes.md rain falls Why?"]
        assert found(kept, "characters=") == []
