"""What people say of models is there at the next start, whatever the disk did meanwhile; and how fast models answered."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.core.model import ModelRef
from app.core.model_note import ModelNote, ModelUse
from app.core.store_commands import KeepModelNote, MeasureModelUse, OpenStore, Settle
from app.core.store_events import Kept, ModelUseMeasured, StoreOpened
from app.store.model_notes import read_notes
from app.store.opening import SUSPECT_NAME
from app.store.read_only import open_read_only
from tests.fake_engine import metrics
from tests.store.shelf import Shelf, break_pages, end, head, locked, question, shelf
from tests.store.unsaved import BACK, left, told

NOTE = ModelNote("12-ab", "writes good letters\nin Japanese: 日本語", "Letters ✉", favourite=True)
ONE, OTHER = ModelRef(12, "ab", "/models/one.gguf"), ModelRef(13, "cd", "/models/other.gguf")


def keep(note: ModelNote) -> KeepModelNote:
    return KeepModelNote(note, 1)


def test_a_note_stays_until_nothing_is_said_any_more(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(keep(NOTE), keep(ModelNote("13-cd", favourite=True)))
    with shelf(tmp_path) as again:
        assert set(again.open().notes) == {NOTE, ModelNote("13-cd", favourite=True)}
        again.send(keep(msgspec.structs.replace(NOTE, note="other")), keep(ModelNote("13-cd")))
        assert again.open().notes == (msgspec.structs.replace(NOTE, note="other"),)
        assert again.sql("SELECT COUNT(*) FROM model_note") == [(1,)]


def test_words_that_no_database_takes_cost_only_themselves(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(keep(ModelNote("1-a", "a\ud800b\x00c", "\udfff")))
        kept.sql("INSERT INTO model_note (model, changed_ms, note, favourite) VALUES ('2-b', 1, x'00ff', 'many')")
        assert kept.open().notes == (ModelNote("1-a", "a\ufffdbc", "\ufffd"),)


@pytest.mark.usefixtures("_impatient")
def test_while_nothing_can_be_written_the_newest_note_waits_and_holds_the_window_open(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(keep(NOTE), keep(ModelNote("13-cd", "goes")))
        with locked(kept.path):
            for number in range(4):
                kept.send(keep(ModelNote("12-ab", f"{number}")), keep(ModelNote("13-cd")))
            waiting = [each for each in kept.store.work._waiting.changes if isinstance(each, KeepModelNote)]
            assert [each.note for each in waiting] == [ModelNote("12-ab", "3"), ModelNote("13-cd")]
            (settled,) = [event for event in kept.send(Settle(5)) if isinstance(event, Kept)]
            assert not settled.on_disk and settled.problem is not None
        assert kept.send(Settle(6))[-1] == Kept(6, on_disk=True)
        assert kept.sql("SELECT note FROM model_note") == [("3",)]


@pytest.mark.usefixtures("_impatient")
def test_a_note_that_could_not_be_written_is_there_at_the_next_start_unless_a_newer_one_is(tmp_path: Path) -> None:
    data = tmp_path / "data"
    kept = Shelf(data)
    kept.open()
    with locked(kept.path):
        kept.send(keep(NOTE), keep(ModelNote("13-cd", "older")))
        kept.close()
    assert len(left(data)) == 1
    again = Shelf(data)
    again.store.work._must_open = True  # chats that are being opened
    (opened,) = [event for event in again.send(keep(ModelNote("13-cd", "newer"))) if isinstance(event, StoreOpened)]
    assert set(opened.notes) == {NOTE, ModelNote("13-cd", "newer")}
    assert set(again.open().notes) == {NOTE, ModelNote("13-cd", "newer")}
    assert told(again) == [BACK] and not left(data)
    again.close()


def test_notes_are_taken_over_from_a_damaged_database(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), *(keep(ModelNote(f"{number}-a", "said")) for number in range(40)))
        path = kept.path
    break_pages(path, "piece")
    (tmp_path / SUSPECT_NAME).touch()
    with shelf(tmp_path) as again:
        assert list(tmp_path.glob("tokenlight-damaged-*"))
        assert len(again.open().notes) == 40


def test_another_program_reads_notes_without_touching_the_file(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(keep(NOTE))
        opened = open_read_only(kept.path)
        assert opened is not None
        assert read_notes(opened[0]) == (NOTE,)
        opened[0].close()


def answered(
    kept: Shelf, first: int, model: ModelRef | None, speed: float | None, evaluated: int, took_s: float
) -> None:
    """Keep an answer of 40 tokens at a speed, to a prompt that was read in so many seconds."""
    figures = msgspec.structs.replace(
        metrics(40, evaluated + 5),
        prompt_tokens_from_cache=5,
        prefill_tokens_per_s=evaluated / took_s,
        decode_tokens_per_s=speed,
    )
    ended = end(first + 1, "a")
    answer = msgspec.structs.replace(ended.answer, metrics=figures, model=model)
    asked = question(first, msgspec.structs.replace(head(), model=model), first)
    kept.send(asked, msgspec.structs.replace(ended, answer=answer))


def test_how_fast_each_model_was_is_its_tokens_over_their_time(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        assert kept.ask(MeasureModelUse(1), ModelUseMeasured) == ModelUseMeasured(1, ())
        answered(kept, 1, ONE, 10.0, 100, 1.0)
        answered(kept, 3, ONE, 40.0, 300, 1.0)
        answered(kept, 5, OTHER, None, 10, 1.0)
        answered(kept, 7, None, 99.0, 100, 1.0)
        told = {use.model: use for use in kept.ask(MeasureModelUse(2), ModelUseMeasured).uses}
    assert told == {
        ONE.identity: ModelUse(ONE.identity, 3, 16.0, 200.0, 2, 2),
        OTHER.identity: ModelUse(OTHER.identity, 5),
    }


def test_only_the_newest_answers_tell_how_fast_and_what_is_no_figure_tells_nothing(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        answered(kept, 1, ONE, 1.0, 100, 100.0)
        for number in range(10):
            answered(kept, 3 + 2 * number, ONE, 20.0, 100, 1.0)
        answered(kept, 101, ONE, 5.0, 100, 1.0)
        answered(kept, 103, ONE, 5.0, 100, 1.0)
        kept.sql("UPDATE answer SET metrics = json_set(metrics, '$.decode_tokens_per_s', -5) WHERE message = 102")
        kept.sql("UPDATE answer SET metrics = 'none' WHERE message = 104")
        (use,) = kept.ask(MeasureModelUse(1), ModelUseMeasured).uses
    assert use == ModelUse(ONE.identity, 101, 20.0, 100.0, 10, 10)


def test_a_conversation_knows_when_its_model_answered_before_all_answers_that_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.store.model_use.MOST_ANSWERS", 1)
    with shelf(tmp_path) as kept:
        answered(kept, 1, ONE, 10.0, 100, 1.0)
        kept.send(question(9, msgspec.structs.replace(head(2), model=OTHER, changed_ms=77), 9))
        answered(kept, 11, ONE, 10.0, 100, 1.0)
        uses = kept.ask(MeasureModelUse(1), ModelUseMeasured).uses
    assert set(uses) == {ModelUse(ONE.identity, 11, 10.0, 100.0, 1, 1), ModelUse(OTHER.identity, 77)}


def test_without_a_store_nothing_is_known(tmp_path: Path) -> None:
    folder = tmp_path / "file"
    folder.write_text("no folder", encoding="utf-8")
    kept = Shelf(folder)
    (opened,) = [event for event in kept.send(OpenStore()) if isinstance(event, StoreOpened)]
    assert not opened.usable and opened.notes == ()
    assert kept.ask(MeasureModelUse(3), ModelUseMeasured) == ModelUseMeasured(3, ())
    kept.close()


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Wait for no other program; that something was not saved is in the log."""
    monkeypatch.setattr("app.store.keeper.WRITING_S", 0.0)
