"""What a model file holds: read in a job, sorted as people want it, and one sentence where it cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.events import Event
from app.core.gguf_view import EntryView, PlaceSize
from app.core.job_events import LanesAnalysed
from app.services import model_viewing
from app.services.model_viewing import VIEW_JOB, ModelViewing, ViewedFiles, view_files
from app.services.viewed_whole import ShownTokens
from app.services.viewing_words import MOST_SHOWN, length_words, place_words, value_text
from app.system.jobs import Jobs
from tests.desk import Desk
from tests.ggufs import copy_with


@pytest.fixture
def viewing(desk: Desk) -> ModelViewing:
    return desk.program.planner.viewing


def names(viewing: ModelViewing, file: int = 0) -> list[str]:
    return [tensor.name for tensor in viewing.shown.views[file].tensors]


def sizes(viewing: ModelViewing) -> list[int | None]:
    return [tensor.size for tensor in viewing.shown.views[0].tensors]


def test_a_file_is_read_in_a_job(desk: Desk, viewing: ModelViewing, model: Path) -> None:
    told: list[bool] = []
    viewing.changed.connect(lambda: told.append(viewing.is_reading))
    viewing.open(model)
    assert viewing.is_reading and viewing.shown.views == () and viewing.shown.paths == (model,)
    desk.until(lambda: not viewing.is_reading)
    assert told == [True, False]
    assert viewing.shown.problem is None and viewing.shown.difference is None
    assert names(viewing)[0] == "token_embd.weight"
    viewing.close()
    assert not viewing.shown.paths and told == [True, False, False]


def test_tensors_are_sorted_without_reading_the_file_again(
    desk: Desk, viewing: ModelViewing, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    viewing.open(model)
    desk.until(lambda: not viewing.is_reading)
    as_in_file = names(viewing)
    monkeypatch.setattr(model_viewing, "view_files", lambda *_paths: pytest.fail("the file is read again"))
    viewing.sort("size", descending=True)
    desk.until(lambda: not viewing.is_reading)
    assert viewing.order == ("size", True)
    assert sizes(viewing) == sorted(sizes(viewing), key=lambda size: size or 0, reverse=True)
    viewing.sort("file")
    desk.until(lambda: not viewing.is_reading)
    assert names(viewing) == as_in_file


def test_tensors_are_looked_for_by_name_in_the_order_that_was_wished_for(
    desk: Desk, viewing: ModelViewing, model: Path
) -> None:
    viewing.open(model)
    viewing.sort("size", descending=True)
    viewing.narrow("blk.1. ffn")
    desk.until(lambda: not viewing.is_reading)
    assert len(names(viewing)) == 4 and all("blk.1.ffn" in name for name in names(viewing))
    assert sizes(viewing) == sorted(sizes(viewing), key=lambda size: size or 0, reverse=True)
    viewing.narrow("")
    desk.until(lambda: not viewing.is_reading)
    assert len(names(viewing)) == 21 and viewing.order == ("size", True)


def test_all_of_an_entry_is_read_when_somebody_wants_to_see_it(
    desk: Desk, viewing: ModelViewing, model: Path, tmp_path: Path
) -> None:
    path = copy_with(model, tmp_path / "evil.gguf", chat_template="one\ttwo\u202e\nthree\x00")
    viewing.open(path)
    viewing.value.open(path, "tokenizer.chat_template")
    assert viewing.value.shown.whole is None
    desk.until(lambda: viewing.value.shown.whole is not None)
    shown = viewing.value.shown
    assert shown.whole is not None and shown.whole.text == "one\ttwo\u202e\nthree\x00"
    assert shown.shown == "one    two\ufffd\nthree\ufffd" and shown.problem is None
    path.unlink()
    viewing.value.open(path, "tokenizer.chat_template")
    desk.until(lambda: viewing.value.shown.problem is not None)
    viewing.open(model)
    assert viewing.value.shown.key == ""


def test_tokens_are_read_once_and_found_by_words_and_by_number(
    desk: Desk, viewing: ModelViewing, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    viewing.open(model)
    tokens = viewing.tokens
    tokens.open(model)
    desk.until(lambda: not tokens.is_reading)
    assert len(tokens.shown.table.texts) == 473 and list(tokens.shown.rows) == list(range(473))
    monkeypatch.setattr("app.services.viewed_whole.token_table", lambda *_given: pytest.fail("it is read again"))
    tokens.open(model)
    tokens.search("IM_END")
    desk.until(lambda: not tokens.is_reading)
    assert list(tokens.shown.rows) == [2]
    tokens.search("q")
    desk.until(lambda: not tokens.is_reading)
    assert {"Q", "q"} <= {tokens.shown.table.texts[row] for row in tokens.shown.rows}
    tokens.search("4")
    desk.until(lambda: not tokens.is_reading)
    assert tokens.shown.rows[0] == 4 and tokens.shown.table.texts[tokens.shown.rows[1]].count("4")
    tokens.search("nothing is called so")
    desk.until(lambda: not tokens.is_reading)
    assert not tokens.shown.rows
    viewing.close()
    assert tokens.shown == ShownTokens()


def test_an_order_wished_for_while_a_file_is_read_holds(desk: Desk, viewing: ModelViewing, model: Path) -> None:
    viewing.sort("name")
    assert not viewing.is_reading
    viewing.open(model)
    viewing.sort("size")
    desk.until(lambda: not viewing.is_reading)
    assert sizes(viewing) == sorted(sizes(viewing), key=lambda size: size or 0)


def test_of_two_files_what_differs_is_told(desk: Desk, viewing: ModelViewing, model: Path, tmp_path: Path) -> None:
    other = copy_with(model, tmp_path / "other.gguf", chat_template="{{ messages }}")
    viewing.open(model, other)
    desk.until(lambda: not viewing.is_reading)
    assert viewing.shown.difference is not None
    assert [each.key for each in viewing.shown.difference.entries] == ["tokenizer.chat_template"]
    assert len(viewing.shown.views) == 2


def test_the_newest_file_counts(desk: Desk, viewing: ModelViewing, model: Path, tmp_path: Path) -> None:
    viewing.open(model)
    viewing.open(tmp_path / "gone.gguf")
    desk.until(lambda: not viewing.is_reading)
    assert viewing.shown.views == () and viewing.shown.problem is not None
    assert "There is no file “gone.gguf” here" in viewing.shown.problem.english()
    viewing.open(model)
    desk.until(lambda: not viewing.is_reading)
    assert viewing.shown.problem is None


class _Jobs(Jobs):
    """Keeps what is submitted until the test does it."""

    def __init__(self) -> None:
        super().__init__(lambda _event: None)
        self.kept: list[Callable[[], Event | None]] = []

    def submit(
        self,
        name: str,
        work: Callable[[], Event | None],
        on_error: Callable[[], Event] | None = None,
        *,
        after_s: float = 0.0,
    ) -> None:
        assert (name, after_s) == (VIEW_JOB, 0.0)
        self.kept.append(work)


def test_what_is_read_after_people_have_closed_it_is_not_shown(model: Path) -> None:
    jobs = _Jobs()
    viewing = ModelViewing(jobs)
    viewing.open(model)
    viewing.close()
    event = jobs.kept.pop()()
    assert isinstance(event, LanesAnalysed)
    viewing.take(event)
    assert viewing.shown == ViewedFiles() and not viewing.is_reading
    viewing.sort("size")
    assert not jobs.kept


@pytest.mark.usefixtures("caplog")
def test_a_fault_of_the_program_is_one_sentence(
    desk: Desk, viewing: ModelViewing, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_viewing, "view_files", lambda *_paths: 1 // 0)
    viewing.open(model)
    desk.until(lambda: not viewing.is_reading)
    assert viewing.shown.problem is not None and viewing.shown.paths == (model,)
    assert "could not be shown" in viewing.shown.problem.english()


def test_a_damaged_file_is_one_sentence(tmp_path: Path, model: Path) -> None:
    path = tmp_path / "half.gguf"
    path.write_bytes(model.read_bytes()[:-1_000])
    told = view_files(model, path)
    assert told.problem is not None and told.broken == path and told.views == ()
    assert "is not complete" in told.problem.english()
    folder = view_files(tmp_path)
    assert folder.problem is not None and "is a folder" in folder.problem.english()


def test_a_disk_that_fails_is_one_sentence(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_given: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(model_viewing, "read_view", fail)
    told = view_files(model)
    assert told.problem is not None and "Input/output error" in told.problem.english()


@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        (EntryView("k", "bool", True), "true"),
        (EntryView("k", "u32", 32_768), "32768"),
        (EntryView("k", "f32", 9.999999747378752e-06), "1e-05"),
        (EntryView("k", "text", "a\r\nb\tc\u202ed", 7), "a⏎b c\ufffdd"),
        (EntryView("k", "text", "abc", 900, True), "abc…"),
        (EntryView("k", "u32[]", (1, 2), 2), "[1, 2]"),
        (EntryView("k", "u32[]", (1, 2), 9, True), "[1, 2, …]"),
        (EntryView("k", "text", "x" * 200, 200), "x" * (MOST_SHOWN - 1) + "…"),
    ],
)
def test_a_value_reads_on_one_line(entry: EntryView, shown: str) -> None:
    assert value_text(entry) == shown


def test_lengths_and_places_have_words() -> None:
    lengths = [EntryView("k", "u32[]", (1,), 9_000, True), EntryView("k", "text", "a", 900, True)]
    assert [words.english() for each in lengths if (words := length_words(each))] == [
        "9,000 values",
        "900 characters",
    ]
    assert length_words(EntryView("k", "u32", 1)) is None
    rows = [PlaceSize(place, None, 1, 1) for place in ("input", "further", "output")]
    assert [place_words(row).english() for row in (PlaceSize("layer", 7, 1, 1), *rows)] == [
        "Layer 7",
        "Before the layers",
        "Further layers",
        "After the layers",
    ]
