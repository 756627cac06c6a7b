"""What people say of their models in the window: kept as they write, found again, and shown wherever models are chosen."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLabel, QLineEdit, QListView, QListWidget, QMenu, QPlainTextEdit, QToolButton

from app.core.devices import MainMemory
from app.core.model import LoadOptions
from app.core.model_note import ModelUse
from app.core.store_events import ModelUseMeasured
from app.gui.application import keep_drafts
from app.gui.discover.library_own import OwnWords
from app.gui.discover.library_settings import load_words
from tests.ggufs import write_split_llama, write_tiny_llama, write_vocab_only
from tests.gui.conftest import Stage
from tests.gui.discover.test_library import chooses, facts, rows
from tests.gui.fitting import cut_off

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
GIB = 1 << 30


@pytest.fixture
def mine(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """The page Models of somebody with two models, a vocabulary, and one whose first part is missing."""
    folder = tmp_path / "mine"
    folder.mkdir()
    write_tiny_llama(folder / "apple.gguf")
    write_tiny_llama(folder / "zebra.gguf", layers=3)
    write_vocab_only(folder / "words.gguf")
    write_split_llama(folder)[0].unlink()
    program = stage.desk.program
    program.conversations.start()
    monkeypatch.setattr(program.planner.devices, "_main_memory", lambda: MainMemory(16 * GIB, 8 * GIB, 16 * GIB))
    program.planner.fits.note(())
    monkeypatch.setattr(program.models, "_folders", (tmp_path / "own",))
    program.settings.change(model_folders=(str(folder), str(tmp_path / "away")))
    program.models.refresh()
    stage.desk.until(lambda: len(program.models.found) == 4 and not program.models.is_reading)
    stage.triggers("models_action")
    stage.desk.until(lambda: sum("fits" in row for row in rows(stage)) == 2)
    stage.settle()
    return stage


def identity(stage: Stage, name: str) -> str:
    (found,) = [each.identity for each in stage.desk.program.models.found if Path(each.path).stem == name]
    return found


def writes(stage: Stage, text: str) -> QPlainTextEdit:
    """Write into the note."""
    note = stage.find_as(QPlainTextEdit, "library_note")
    QTest.keyClicks(note, text)
    return note


def finds(stage: Stage, count: int) -> None:
    """Let a search find so many models."""
    stage.desk.program.models.refresh()
    stage.desk.until(lambda: len(stage.desk.program.models.found) == count)


def kept(stage: Stage) -> dict[str, str]:
    """Return the notes that are on disk, by model."""
    return {note.model: note.note for note in stage.desk.store.look().notes}


def test_a_favourite_comes_first_with_its_star_and_no_longer_when_it_is_taken_away(mine: Stage) -> None:
    star = mine.find_as(QToolButton, "library_star_button")
    assert star.accessibleName() == "Make it a favourite"
    chooses(mine, "zebra")
    mine.clicks("library_star_button")
    assert (
        rows(mine)[0].startswith("★ zebra\n") and star.isChecked() and star.accessibleName().startswith("A favourite")
    )
    listed = mine.find_as(QListView, "library_list").model()
    assert str(listed.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)).startswith("zebra. favourite. ")
    assert mine.reads("library_title") == "zebra", "what was chosen stays chosen"
    mine.clicks("library_star_button")
    assert rows(mine)[0].startswith("apple\n") and not star.isChecked()


def test_a_star_keeps_the_model_that_is_shown_though_nobody_has_chosen_it(mine: Stage) -> None:
    mine.clicks("library_star_button")
    mine.desk.program.model_notes.star(identity(mine, "zebra"), is_favourite=True)
    mine.clicks("library_star_button")
    assert rows(mine)[0].startswith("★ zebra\n") and mine.reads("library_title") == "apple"


def test_a_note_is_kept_while_it_is_written_and_where_somebody_goes_on_to_another(mine: Stage) -> None:
    own = mine.window.findChild(OwnWords)
    assert own is not None
    note = writes(mine, "good")
    assert kept(mine) == {} and own._due.isActive()
    own._due.timeout.emit()
    assert kept(mine) == {identity(mine, "apple"): "good"}
    writes(mine, " at letters")
    chooses(mine, "zebra")
    assert kept(mine) == {identity(mine, "apple"): "good at letters"} and note.toPlainText() == ""
    writes(mine, "of zebra")
    keep_drafts(mine.window)  # as the window closes
    assert kept(mine)[identity(mine, "zebra")] == "of zebra"
    writes(mine, "!")
    mine.window.show_page("chat")
    assert kept(mine)[identity(mine, "zebra")] == "of zebra!"


def test_what_is_being_written_stays_while_the_list_is_told_anew(mine: Stage) -> None:
    writes(mine, "half a wor")
    mine.desk.program.models.changed.emit()
    mine.desk.program.model_notes.star(identity(mine, "zebra"), is_favourite=True)
    note = writes(mine, "d")
    assert note.toPlainText() == "half a word"
    line = mine.find_as(QLineEdit, "library_line")
    keep_drafts(mine.window)
    QTest.keyClicks(line, "half word")
    assert [row.partition("\n")[0] for row in rows(mine)] == ["apple"]


def test_keeping_leaves_the_cursor_and_the_last_space_where_they_are(mine: Stage) -> None:
    name, note = mine.find_as(QLineEdit, "library_name_line"), writes(mine, "two words ")
    QTest.keyClicks(name, "My ")
    keep_drafts(mine.window)
    mine.desk.program.models.changed.emit()
    QTest.keyClicks(name, "own")
    writes(mine, "more")
    assert (name.text(), note.toPlainText()) == ("My own", "two words more")
    keep_drafts(mine.window)
    assert kept(mine) == {identity(mine, "apple"): "two words more"} and mine.reads("library_title") == "My own"
    mine.desk.program.model_notes.write(identity(mine, "apple"), "from elsewhere")
    assert note.toPlainText() == "from elsewhere"


def test_a_note_that_no_longer_holds_what_is_searched_stays_until_another_model_is_chosen(mine: Stage) -> None:
    writes(mine, "letters")
    keep_drafts(mine.window)
    chooses(mine, "zebra")
    writes(mine, "letters of zebra")
    keep_drafts(mine.window)
    QTest.keyClicks(mine.find_as(QLineEdit, "library_line"), "letters")
    assert len(rows(mine)) == 2
    note = mine.find_as(QPlainTextEdit, "library_note")
    note.selectAll()
    writes(mine, "other")
    keep_drafts(mine.window)
    assert len(rows(mine)) == 2 and note.toPlainText() == "other"
    chooses(mine, "apple")
    assert [row.partition("\n")[0] for row in rows(mine)] == ["apple"] and note.toPlainText() == "letters"
    keep_drafts(mine.window)
    assert kept(mine) == {identity(mine, "apple"): "letters", identity(mine, "zebra"): "other"}


def test_an_own_name_is_shown_wherever_models_are_chosen_with_the_file_on_hover(mine: Stage, tmp_path: Path) -> None:
    mine.load(tmp_path / "mine" / "apple.gguf")
    name = mine.find_as(QLineEdit, "library_name_line")
    assert name.placeholderText() == "apple"
    QTest.keyClicks(name, "Letters & more")
    QTest.keyClick(name, Qt.Key.Key_Return)
    assert rows(mine)[0].startswith("Letters & more\nloaded") and mine.reads("library_title") == "Letters & more"
    assert facts(mine)["Name of its file"] == "apple"
    button = mine.find_as(QToolButton, "model_button")
    assert button.text().startswith("Letters && more · ") and button.accessibleName().endswith(", file apple.gguf")
    menu = button.menu()
    assert isinstance(menu, QMenu)
    menu.aboutToShow.emit()
    (entry,) = [action for action in menu.actions() if action.text().startswith("Letters && more")]
    assert "apple.gguf" in entry.toolTip()
    assert "Letters & more" in [each.name for each in mine.desk.program.planner.planning.models.found]
    mine.clicks("library_name_line_clear")
    keep_drafts(mine.window)
    assert button.text().startswith("apple · ") and "Name of its file" not in facts(mine)


def test_what_can_have_no_note_says_why(mine: Stage) -> None:
    broken = next(row for row in rows(mine) if "of 3 parts present" in row)
    chooses(mine, broken.partition("\n")[0])
    for name in ("library_name_line", "library_note", "library_star_button"):
        part = mine.find(name)
        assert not part.isEnabled() and "Once its first file is here" in part.toolTip().replace("<br>", " ")
    chooses(mine, "words")
    assert mine.find("library_note").isEnabled(), "what is not for chat has notes too"
    assert not mine.sees("library_settings")


def test_copies_of_one_model_are_told_where_a_name_is_given_that_holds_for_all(mine: Stage, tmp_path: Path) -> None:
    assert not mine.sees("library_copies") and "Also at" not in facts(mine)
    copies = [tmp_path / "mine" / f"copy {number}.gguf" for number in (1, 2)]
    for number, copy in enumerate(copies, 5):
        shutil.copy(tmp_path / "mine" / "apple.gguf", copy)
        finds(mine, number)
        chooses(mine, "apple")
        said = mine.reads("library_copies")
        assert ("in 1 other place:" if number == 5 else "in 2 other places:") in said
    assert facts(mine)["Also at"] == "\n".join(map(str, copies))
    told = [row.partition("\n")[0] for row in rows(mine) if "one of 3 copies" in row]
    assert sorted(told) == ["apple", "copy 1", "copy 2"]
    mine.clicks("library_star_button")
    assert sum(row.startswith("★") for row in rows(mine)) == 3
    assert cut_off(mine.find("library_part")) == []
    chooses(mine, "zebra")
    assert not mine.sees("library_copies") and "Also at" not in facts(mine)


def test_when_it_was_used_and_how_fast_it_was_and_why_that_is_unknown(mine: Stage) -> None:
    told, hints = facts(mine), {}
    assert (told["Last used"], told["Speed here"], told["Loads with"]) == ("–", "–", "the standard options")
    notes = mine.desk.program.model_notes
    for use in (
        ModelUse(identity(mine, "apple"), 1_000),
        ModelUse(identity(mine, "apple"), 1_000, 12.34, 256.7, 3, 2),
    ):
        notes.take(ModelUseMeasured(notes._request or 0, (use,)))
        labels = mine.window.findChildren(type(mine.find("library_state")), "library_fact")
        hints = {each.accessibleName().partition(": ")[0]: each.toolTip() for each in labels}
        told = facts(mine)
        if use.decode is None:
            assert told["Speed here"] == "–" and "too short to tell" in hints["Speed here"]
    assert told["Speed here"] == "writes 12.3 tok/s · reads 257 tok/s"
    assert "3 that it wrote, 2 prompts" in hints["Speed here"] and "1970" in hints["Last used"]
    assert told["Last used"].endswith("days ago")


def test_settings_of_the_chat_are_taken_for_a_model_shown_and_forgotten(mine: Stage, tmp_path: Path) -> None:
    program = mine.desk.program
    program.sampling.change(temperature=0.25)
    assert "the same sampling settings" in mine.reads("library_sampling")
    mine.clicks("library_sampling_take_button")
    assert "Temperature 0.25" in mine.reads("library_sampling")
    assert not mine.find("library_sampling_take_button").isEnabled()
    own = program.model_sampling.of(identity(mine, "apple"))
    assert own is not None and own.temperature == 0.25
    mine.clicks("library_sampling_forget_button")
    assert "the same sampling settings" in mine.reads("library_sampling")
    assert not mine.find("library_sampling_forget_button").isEnabled()
    assert program.model_sampling.of(identity(mine, "apple")) is None


def test_what_a_model_is_loaded_with_is_told_where_it_is_not_as_usual() -> None:
    assert load_words(LoadOptions())[0] == "the standard options"
    options = LoadOptions(context=4096, gpu_layers=-1, experts_on_cpu=2, kv_type_k="q8_0", threads=3, mmap=False)
    said, _hint = load_words(options)
    assert said == (
        "context 4,096, all layers on the GPU, experts in main memory, cache q8_0 and f16, 3 threads, and others"
    )


def test_a_folder_that_is_away_is_told_from_an_empty_one(mine: Stage, tmp_path: Path) -> None:
    assert "Not here now: " in mine.reads("library_state") and "away" in mine.reads("library_state")
    (tmp_path / "bare").mkdir()
    folders = mine.desk.program.settings.values.model_folders
    mine.desk.program.settings.change(model_folders=(*folders, str(tmp_path / "bare")))
    mine.desk.program.models.refresh()
    mine.desk.until(lambda: len(mine.desk.program.models.folder_states) == 3)
    mine.clicks("library_folders_button")
    listed = mine.find_as(QListWidget, "folders_list")
    said = [listed.item(row).text() for row in range(listed.count())]
    assert said == [
        str(tmp_path / "mine"),
        f"{tmp_path / 'away'} · not here now",
        f"{tmp_path / 'bare'} · no model in it",
    ]
    assert "favourites stay" in listed.item(1).toolTip()
    mine.find_as(QDialog, "folders_dialog").close()


@pytest.mark.parametrize("size", [(1280, 800), (860, 560)])
def test_it_has_room_in_every_window(mine: Stage, size: tuple[int, int]) -> None:
    mine.window.resize(*size)
    writes(mine, "words " * 60)
    keep_drafts(mine.window)
    assert cut_off(mine.find("library_part")) == []
    mine.find("library_sampling_forget_button").setFocus()


def test_what_is_written_and_what_is_known_begin_on_one_line(mine: Stage) -> None:
    chooses(mine, "apple")
    mine.settle()
    shown = [mine.find("library_note"), *mine.window.findChildren(QLabel, "library_fact")]
    assert len({each.mapTo(mine.window, QPoint()).x() for each in shown}) == 1
