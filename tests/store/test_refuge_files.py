"""The files that hold what could not be written: what can be read of them, and whose they are."""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from msgspec.structs import replace

from app.core.chat import PromptSpan
from app.core.commands import SettingsChange
from app.core.comparison import Comparison
from app.core.conversation import AnswerPrompt, Message, StoredAnswer, Thinking
from app.core.draft import Draft
from app.core.model import ModelRef
from app.core.model_note import ModelNote
from app.core.sampling import SamplingSettings
from app.core.store_commands import (
    CopyBranch,
    EndAnswer,
    EraseTrash,
    KeepChat,
    KeepComparison,
    KeepConversation,
    KeepDraft,
    KeepModelNote,
    KeepPieces,
    KeepPrompt,
    RemoveMessages,
    RestoreMessages,
)
from app.core.whole_chat import WholeChat
from app.core.words import translate
from app.store.changes import Change, EndOpenAnswers, Stretch, TakenOver
from app.store.refuge import NOBODY, Refuge, temporary_folders
from tests.store.lanes import GRID, PLAN, PREFILL, compared
from tests.store.shelf import Shelf, head, ids, question, shelf
from tests.store.unsaved import BACK, connect_full, end_unsaved, left, refused, texts, told


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Wait for no other program; that something was not saved is in the log."""
    monkeypatch.setattr("app.store.keeper.WRITING_S", 0.0)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_a_file_in_which_nothing_can_be_read_promises_nothing_and_is_kept_beside_others(data: Path) -> None:
    with shelf(data) as kept:
        name = Refuge(data)._name
    for number, broken in enumerate((b"\1", b"\2\0\0\0xy", b"\xff" * 9)):
        (data / name).write_bytes(broken)
        with shelf(data) as kept:
            (sentence,) = told(kept)
            assert sentence.startswith(
                "Some of what Tokenlight could not save when it was closed last cannot be read"
            )
        assert len(left(data)) == number + 1
    assert {path.read_bytes() for path in left(data)} == {b"\1", b"\2\0\0\0xy", b"\xff" * 9}


def test_a_line_that_cannot_be_read_costs_only_itself_and_is_kept(data: Path) -> None:
    end_unsaved(data)
    (path,) = left(data)
    later = msgspec.msgpack.encode(("Later", {"words": "of a later version"}))
    path.write_bytes(struct.pack("<I", len(later)) + later + path.read_bytes() + b"\1")
    with shelf(data) as again:
        assert texts(again)[2] == "Question 3"
        (kept,) = left(data)
        assert told(again) == [
            BACK,
            f"Some of what Tokenlight could not save when it was closed last cannot be read, and is kept as {kept}.",
        ]
        assert b"of a later version" in kept.read_bytes()
    with shelf(data) as last:
        assert told(last) == []


@pytest.mark.skipif(os.name == "nt", reason="nobody else can write there")
@pytest.mark.parametrize("trick", ["another user", "link", "pipe", "folder"])
def test_what_somebody_else_put_there_is_left_alone(
    data: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch, trick: str
) -> None:
    with refused(monkeypatch, data):
        end_unsaved(data)
    (path,) = left(elsewhere)
    words = path.rename(elsewhere / "words")
    match trick:
        case "another user":
            path.write_bytes(words.read_bytes())
            monkeypatch.setattr("app.store.refuge.os.geteuid", lambda: os.getuid() + 1)
        case "link":
            path.symlink_to(words)
        case "pipe":
            os.mkfifo(path)
        case _:
            path.mkdir()
    with shelf(data) as again:
        assert texts(again) == ["Question 1", "Half"]
        again.send(question(5, head(), 5, parent=2))
        (sentence,) = told(again)
        assert sentence.startswith(f"{path} was not written by Tokenlight, or cannot be read: it is left alone")
    assert os.path.lexists(path)


KEPT_IN_PART = "Some of what Tokenlight could not save when it was closed last cannot be read, and is kept as {}."
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda whole: whole[:-3],
    "a longer length": lambda whole: whole + struct.pack("<I", 10**6) + b"rest",
    "a length that is cut": lambda whole: whole + b"\1",
    "a frame in the middle": lambda whole: b"\2\0\0\0xy" + whole,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_put_down_behind_a_damaged_file_is_not_lost_nor_is_what_was_there(data: Path, damage: str) -> None:
    data.mkdir()
    Refuge(data).keep([KeepDraft(Draft(1, "old"), 1), KeepDraft(Draft(2, "cut"), 1)])
    (path,) = left(data)
    damaged = DAMAGES[damage](path.read_bytes())
    path.write_bytes(damaged)
    new = KeepDraft(Draft(3, "new"), 1)
    told = Refuge(data).keep([new])
    kept = path.with_suffix(".kept")
    assert kept.read_bytes() == damaged
    assert [sentence.english() for sentence in told[1:]] == [KEPT_IN_PART.format(kept)]
    later = Refuge(data)
    *found, _ = later.take(frozenset())
    assert found[0] == KeepDraft(Draft(1, "old"), 1) and found[-1] == new
    later.forget()
    assert left(data) == [kept]


def test_what_was_taken_out_of_a_damaged_file_is_put_down_once_and_where_the_rest_is_kept_is_told(data: Path) -> None:
    data.mkdir()
    Refuge(data).keep([KeepDraft(Draft(1, "old"), 1)])
    (path,) = left(data)
    path.write_bytes(path.read_bytes() + b"\1")
    refuge = Refuge(data)
    told = refuge.keep(refuge.take(frozenset()))
    kept = path.with_suffix(".kept")
    assert [sentence.english() for sentence in told[1:]] == [KEPT_IN_PART.format(kept)]
    assert [change for change in Refuge(data).take(frozenset()) if isinstance(change, KeepDraft)] == [
        KeepDraft(Draft(1, "old"), 1)
    ]
    assert set(left(data)) == {path, kept}


def test_a_damaged_file_that_finds_no_other_name_stays_and_the_words_go_elsewhere(
    data: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data.mkdir()
    Refuge(data).keep([KeepDraft(Draft(1, "old"), 1)])
    (path,) = left(data)
    path.write_bytes(damaged := path.read_bytes() + b"\1")
    monkeypatch.setattr("app.store.refuge._free", lambda path: path)
    Refuge(data).keep([KeepDraft(Draft(2, "new"), 1)])
    assert (left(data), path.read_bytes()) == ([path], damaged)
    assert len(left(elsewhere)) == 1
    drafts = [change.draft.text for change in Refuge(data).take(frozenset()) if isinstance(change, KeepDraft)]
    assert drafts == ["old", "new"]


def test_a_run_that_keeps_nothing_tells_where_a_damaged_file_of_the_run_before_is(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end_unsaved(data)
    (path,) = left(data)
    path.write_bytes(path.read_bytes() + b"\1")
    with monkeypatch.context() as patch:
        patch.setattr("app.store.opening.connect", connect_full)
        full = Shelf(data)
        full.open()
        full.send(question(5, head(), 5, parent=4))
        full.close()
    assert KEPT_IN_PART.format(path.with_suffix(".kept")) in told(full) and BACK not in told(full)
    with shelf(data) as again:
        assert texts(again)[2:] == ["Question 3", "", "Question 5", ""]


@pytest.mark.skipif(os.name == "nt", reason="links are for administrators")
def test_what_is_no_such_file_is_not_written_over_and_is_told(data: Path, elsewhere: Path) -> None:
    data.mkdir()
    name = Refuge(data)._name
    (data / name).symlink_to(data / "other")
    told = [sentence.english() for sentence in Refuge(data).keep([KeepDraft(Draft(1, "new"), 1)])]
    assert (data / name).is_symlink() and len(left(elsewhere)) == 1
    assert str(left(elsewhere)[0]) in told[0]
    assert told[1].startswith(f"{data / name} was not written by Tokenlight")


def test_a_value_that_no_file_takes_costs_only_itself(data: Path, caplog: pytest.LogCaptureFixture) -> None:
    refuge = Refuge(data)
    data.mkdir()
    impossible = replace(question(2, head(), 3), answer=StoredAnswer(4, "open", seed=2**64))
    refuge.keep([impossible, EndOpenAnswers()])
    assert Refuge(data).take(frozenset())[:-1] == [EndOpenAnswers()]
    assert any("KeepQuestion" in record.getMessage() for record in caplog.records)


ANSWER = StoredAnswer(
    2,
    "done",
    model=ModelRef(5, "digest", "model\udcff.gguf"),
    ids=ids(1, 2),
    settings=(SettingsChange(3, SamplingSettings(temperature=math.inf, stop=("\n",))),),
    seed=2**64 - 1,
    ttft_ms=1.5,
    stop_reason="end",
    reason=translate("Test", "{count} tokens", count=3),
    notes=(translate("Test", "Noted"),),
    thinking=Thinking(True, "thought", 3, 1.5),
)
CHANGES: tuple[Change, ...] = (
    KeepConversation(replace(head(), settings=SamplingSettings(top_k=3), deleted_ms=4)),
    question(NOBODY, head(), 1),
    replace(compared(NOBODY, head(), 11), comparison=replace(compared(NOBODY, head(), 11).comparison, kept=(1, 2))),
    KeepComparison(Comparison(15, 1, None, 11, (12, 13, 14), 1, GRID, (2,), PLAN, PREFILL)),
    KeepPrompt(AnswerPrompt(2, ids(1, 2, 3), (PromptSpan(0, 1, "prompt", 0),), (1,))),
    EndAnswer(Message(2, 1, 1, "assistant", "Line\nline \U0001f600", 5, edited=True), ANSWER),
    RemoveMessages((1, 2), 5),
    RestoreMessages((2,)),
    CopyBranch(NOBODY, head(2), ((1, 3), (2, 4))),
    EraseTrash(1, 2),
    KeepDraft(Draft(1, "text", ("pasted",)), 6),
    KeepModelNote(ModelNote("5-digest", "note", "name", favourite=True), 6),
    Stretch(2, ["a", "b"], [ids(1), b""], [b"\0record", b""], once=True),
    KeepChat(NOBODY, WholeChat(head(30), (Message(31, 30, None, "user", "Whole", 5),))),
    EndOpenAnswers(),
    TakenOver(b"digest"),
)


def test_every_kind_of_change_comes_back_as_it_was(tmp_path: Path) -> None:
    assert {type(change) for change in CHANGES} | {KeepPieces} == set(get_args(Change))
    Refuge(tmp_path).keep(CHANGES)
    later = Refuge(tmp_path)
    *found, taken = later.take(frozenset())
    assert isinstance(taken, TakenOver)
    assert found == [
        replace(change, answer=replace(ANSWER, model=ModelRef(5, "digest", "model\ufffd.gguf")))
        if isinstance(change, EndAnswer)
        else change
        for change in CHANGES
    ]
    later.forget()
    assert left(tmp_path) == []


def test_temporary_folders_are_named_by_the_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", "/somewhere")
    monkeypatch.delenv("TEMP", raising=False)
    assert Path("/somewhere") in temporary_folders()
