"""What people say of their models: under the model, whatever its file is called, and there again at the next start."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.found_file import FoundFile
from app.core.job_events import ModelsListed
from app.core.model_note import LONGEST_NOTE, ModelNote
from app.core.store_commands import KeepModelNote
from app.core.store_events import StoreRenewed
from app.services.library import Library
from app.services.model_check import check_model
from app.services.model_notes import ModelNotes
from app.services.models import Models
from app.services.wishes import Wish
from app.system.model_search import find_files, found_file
from tests.desk import Desk
from tests.ggufs import write_split_llama, write_tiny_llama, write_vocab_only
from tests.services.asking import say


class Others:
    """Another program with one model."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def find(self) -> tuple[FoundFile, ...]:
        found = found_file(str(self._file), "ollama", "tiny:1b")
        return (found,) if found is not None else ()


@pytest.fixture
def notes(desk: Desk) -> ModelNotes:
    desk.program.conversations.start()
    return desk.program.model_notes


@pytest.fixture
def shelf(desk: Desk, notes: ModelNotes, tmp_path: Path) -> Library:
    """A library of two models, a vocabulary and a file that is none."""
    folder = tmp_path / "mine"
    folder.mkdir()
    write_tiny_llama(folder / "Zebra.gguf", layers=2)
    write_tiny_llama(folder / "apple.gguf", layers=5)
    write_vocab_only(folder / "vocabulary.gguf")
    (folder / "broken.gguf").write_bytes(b"GGUF and nothing of sense")
    desk.program.models._folders = (tmp_path / "own",)
    library = Library(desk.program.models, desk.program.session, desk.program.settings, notes)
    library.add_folder(str(folder))
    desk.until(lambda: len(library.rows) == 4 and not library.is_searching)
    return library


def identity(library: Library, name: str) -> str:
    (found,) = [row.identity for row in library.rows if Path(row.path).stem == name]
    assert found
    return found


def names(library: Library) -> list[str]:
    return [Path(row.path).stem for row in library.rows]


def test_favourites_come_first_and_notes_and_names_are_found(shelf: Library) -> None:
    assert names(shelf)[:2] == ["apple", "Zebra"]
    shelf.notes.star(identity(shelf, "Zebra"), is_favourite=True)
    assert names(shelf)[:2] == ["Zebra", "apple"]
    shelf.order("name")
    assert names(shelf)[:2] == ["apple", "Zebra"]
    shelf.notes.write(identity(shelf, "apple"), "for LETTERS\nto 日本")
    shelf.narrow("日本 letters")
    assert names(shelf) == ["apple"]
    shelf.notes.call(identity(shelf, "apple"), "  Gran Smith ")
    for words in ("gran", "apple gguf", "f16"):
        shelf.narrow(words)
        assert "apple" in names(shelf), words
    assert shelf.rows[0].name == "Gran Smith" and shelf.rows[0].name_before == "apple"


def test_a_name_of_ones_own_is_one_line_and_goes_when_it_is_emptied(shelf: Library, desk: Desk) -> None:
    key, told = identity(shelf, "apple"), []
    desk.program.models.changed.connect(lambda: told.append(1))
    shelf.notes.call(key, "a\nb\u202ec" + "x" * 200)
    assert shelf.rows[0].name.startswith("a bc") and len(shelf.rows[0].name) == 60
    shelf.notes.call(key, " \u3164 ")
    assert shelf.rows[0].name == "apple" and not shelf.rows[0].name_before
    assert len(told) == 2 and shelf.notes.of(key).is_empty
    shelf.notes.write(key, "n" * (LONGEST_NOTE + 5))
    assert len(shelf.notes.of(key).note) == LONGEST_NOTE
    shelf.notes.write(key, " \n ")
    assert shelf.notes.of(key).is_empty


def test_what_cannot_be_chatted_with_has_notes_too(shelf: Library) -> None:
    keys = {identity(shelf, name) for name in ("apple", "Zebra", "vocabulary", "broken")}
    assert len(keys) == 4
    shelf.notes.write(identity(shelf, "broken"), "download it again")
    shelf.narrow("again")
    assert names(shelf) == ["broken"]


def test_a_note_follows_its_file_under_another_name_over_a_restart(
    shelf: Library, desk: Desk, again: Callable[[], Desk], tmp_path: Path
) -> None:
    for name in ("apple", "broken"):
        shelf.notes.write(identity(shelf, name), f"of {name}")
        (tmp_path / "mine" / f"{name}.gguf").rename(tmp_path / "mine" / f"renamed {name}.gguf")
    later = again()
    later.program.models._folders = (tmp_path / "own",)
    models = {Path(each.path).stem: each.identity for each in later.program.models.list_now()}
    assert later.program.model_notes.of(models["renamed apple"]).note == "of apple"
    assert later.program.model_notes.of(models["renamed broken"]).note == "of broken"


def test_a_note_of_another_programs_model_leaves_its_file_alone(
    desk: Desk, notes: ModelNotes, model: Path, tmp_path: Path
) -> None:
    blob = tmp_path / ("sha256-" + "ab" * 32)
    shutil.copy(model, blob)
    before = blob.stat()
    models = Models([tmp_path / "none"], desk.program.settings, desk.program.jobs, Others(blob))
    (found,) = models.list_now()
    notes.call(found.identity, "Mine")
    models.own_name = desk.program.models.own_name
    models.take(ModelsListed((found,)))
    library = Library(models, desk.program.session, desk.program.settings, notes)
    library.narrow("tiny:1b mine")
    assert [row.name for row in library.rows] == ["Mine"]
    assert desk.store.look().notes == (ModelNote(found.identity, name="Mine"),)
    after = blob.stat()
    assert (after.st_mtime_ns, after.st_size, after.st_ino) == (before.st_mtime_ns, before.st_size, before.st_ino)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["home", blob.name])


def test_a_model_in_parts_keeps_its_note_when_the_missing_part_arrives(tmp_path: Path) -> None:
    parts = write_split_llama(tmp_path)
    whole, _ = check_model(parts[0])
    content = parts[-1].read_bytes()
    parts[-1].unlink()
    lacking, ref = check_model(parts[0])
    assert ref is None and lacking.problem is not None and lacking.identity == whole.identity
    parts[-1].write_bytes(content)
    assert check_model(parts[0])[0].identity == whole.identity


def test_what_holds_nothing_or_cannot_be_read_has_no_key(tmp_path: Path) -> None:
    (tmp_path / "empty.gguf").touch()
    (tmp_path / "nowhere.gguf").symlink_to(tmp_path / "gone.gguf")
    assert [check_model(tmp_path / f"{name}.gguf")[0].identity for name in ("empty", "nowhere")] == ["", ""]
    assert len(find_files([tmp_path])) == 2


def test_what_people_do_goes_before_what_was_read_and_a_renewed_file_gets_all_of_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = desk.program.model_notes
    kept.write("1-a", "before anything was read")
    desk.program.conversations.start()
    kept.star("2-b", is_favourite=True)
    sent: list[ModelNote] = []
    monkeypatch.setattr(
        desk.store, "send", lambda each: sent.append(each.note) if isinstance(each, KeepModelNote) else None
    )
    kept.star("2-b", is_favourite=True)
    assert sent == []
    desk.program.dispatch(StoreRenewed())
    assert sent == [ModelNote("1-a", "before anything was read"), ModelNote("2-b", favourite=True)]
    kept.write("", "of nothing")
    assert len(sent) == 2


def test_what_was_used_last_comes_first_with_how_fast_it_was(
    shelf: Library, desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    zebra = identity(shelf, "Zebra")
    assert shelf.notes.use_of(zebra) is None
    desk.load(tmp_path / "mine" / "Zebra.gguf")
    say(desk, "One", "1")
    told: list[int] = []
    shelf.notes.changed.connect(lambda: told.append(1))
    shelf.refresh()
    desk.settle()
    use = shelf.notes.use_of(zebra)
    assert use is not None and use.last_ms > 0
    shelf.order("used")
    assert names(shelf)[0] == "Zebra"
    shelf.notes.refresh()
    desk.settle()
    assert len(told) == 1, "the same is no news"
    for is_watched in (False, True):
        shelf.is_watched = is_watched
        say(desk, "More", *("word " * 20).split())
    desk.settle()
    later = shelf.notes.use_of(zebra)
    assert len(told) == 2 and later is not None and later.decode_answers == use.decode_answers + 2


def test_answers_and_notices_call_a_model_what_people_call_it(
    desk: Desk, notes: ModelNotes, shelf: Library, tmp_path: Path
) -> None:
    desk.load(tmp_path / "mine" / "apple.gguf")
    say(desk, "One", "1")
    notes.call(identity(shelf, "apple"), "Letters")
    say(desk, "Two", "2")
    assert [turn.author for turn in desk.program.chat.turns if turn.author] == ["apple", "Letters"]
    desk.program.session.unload()
    assert desk.told.startswith("Letters was unloaded")
    notes.call(identity(shelf, "apple"), "")
    assert desk.program.session.name == "apple"


def test_a_model_is_called_so_already_while_it_is_looked_at(
    desk: Desk, notes: ModelNotes, shelf: Library, tmp_path: Path
) -> None:
    notes.call(identity(shelf, "apple"), "Letters")
    desk.program.session.use(Wish(tmp_path / "mine" / "apple.gguf"))
    assert (desk.program.session.phase, desk.program.session.name) == ("starting", "Letters")
