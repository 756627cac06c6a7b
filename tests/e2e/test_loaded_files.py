"""What becomes of a model's file while it is loaded: another one in its place, another name, the trash, or half of it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.inside import Inside
from tests.ggufs import write_tiny_llama

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Windows moves no file that is in use")


@pytest.fixture
def loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, starter_model: Path) -> Iterator[tuple[Inside, Path]]:
    """The program with a copy of the starter model in its own folder, loaded, whose answers are always the same."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with Inside(tmp_path / "home", monkeypatch, scripted=False) as inside:
        path = inside.program.paths.models / "copy.gguf"
        path.parent.mkdir(parents=True)
        shutil.copyfile(starter_model, path)
        monkeypatch.setattr(inside.program.models, "_folders", (path.parent,))
        inside.program.sampling.change(temperature=0.0, max_tokens=8)
        inside.load(path)
        yield inside, path


def answer(inside: Inside) -> str:
    """Ask the same in a new chat."""
    inside.program.conversations.new()
    turn = inside.ask("What is the capital of France?")
    assert turn.finished is not None, turn
    return turn.text


def look(inside: Inside, path: Path) -> None:
    """Look at a model as a dialog does."""
    program = inside.program
    program.models.refresh()
    inside.until(lambda: any(each.path == str(path) and each.is_read for each in program.models.found))
    program.library_files.begin(next(each for each in program.models.found if each.path == str(path)))
    inside.until(lambda: program.library_files.is_ready)


def test_another_file_in_its_place_or_none_changes_no_answer(loaded: tuple[Inside, Path], tmp_path: Path) -> None:
    inside, path = loaded
    first = answer(inside)
    other = write_tiny_llama(tmp_path / "other.gguf")
    os.replace(other, path)  # noqa: PTH105
    assert answer(inside) == first
    path.unlink()
    assert answer(inside) == first
    engine = inside.engine
    assert engine is not None and engine.is_running()


def test_a_new_name_and_the_trash_free_it_first_and_the_chat_goes_on(
    loaded: tuple[Inside, Path], tmp_path: Path
) -> None:
    inside, path = loaded
    first, program, engine = answer(inside), inside.program, inside.engine
    look(inside, path)
    assert engine is not None
    told = "\n".join(each.english() for each in program.library_files.uses("rename"))
    assert "loaded again under its new name" in told
    program.library_files.rename("über 日本 100%")
    inside.until(lambda: not program.library_files.is_busy)
    assert program.library_files.problem is None and not engine.is_running()
    inside.until(lambda: inside.phase == "ready")
    new = path.with_name("über 日本 100%.gguf")
    assert program.session.model is not None and program.session.model.path == str(new) and new.is_file()
    assert answer(inside) == first
    look(inside, new)
    second = inside.engine
    assert second is not None
    program.library_files.move_to_trash()
    inside.until(lambda: not program.library_files.is_busy)
    assert not second.is_running()
    assert (tmp_path / "data" / "Trash" / "files" / new.name).is_file() and not new.exists()
    assert inside.phase == "no_model"


def test_a_file_that_is_cut_off_while_it_is_loaded_ends_the_engine_alone(loaded: tuple[Inside, Path]) -> None:
    inside, path = loaded
    os.truncate(path, 4096)
    inside.program.conversations.new()
    turn = inside.ask("What is the capital of France?")
    inside.until(lambda: inside.phase in ("gone", "ready"))
    if inside.phase == "gone":  # else all that is read was in memory already
        notice = inside.program.notices.latest
        assert turn.finished is None and notice is not None
        assert "lost the model's file" in notice.sentence.english()
    assert inside.program.chat.turns[0].text == "What is the capital of France?"
