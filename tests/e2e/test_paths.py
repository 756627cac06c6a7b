"""Model files and homes wherever people keep them: any alphabet, any locale, behind links, and names that are no text."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.e2e.inside import Inside
from tests.e2e.program import Program, is_one_plain_sentence
from tests.ggufs import write_split_llama, write_tiny_llama

EVERYTHING = "sp ace ümläut ß 日本 😀 50% #1 'one' {path} $HOME `id` ;&"
NO_TEXT = os.fsdecode(b"no\xff text")
LOCALES: dict[str, dict[str, str]] = {
    "C": {"LC_ALL": "C", "LANG": "C"},
    "POSIX": {"LC_ALL": "POSIX", "LANG": ""},
    "none": {},
}

needs_bytes = pytest.mark.skipif(sys.platform != "linux", reason="names are text there")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_llama(tmp_path_factory.mktemp("models") / "tiny.gguf")


def program_in(home: Path, locale: str = "none") -> Program:
    """Return the program in an environment that says nothing of UTF-8."""
    program = Program(home)
    for name in ("PYTHONUTF8", "PYTHONIOENCODING", "LC_ALL", "LC_CTYPE", "LANG"):
        program.environment.pop(name, None)
    program.environment.update(LOCALES[locale])
    return program


def answer(home: Path, model: Path | str, locale: str = "none") -> tuple[int, str, str]:
    """Ask a model on the command line; return exit code, answer and errors."""
    words = ("ask", "Grüße 日本", "--model", str(model), "--context", "256", "--threads", "1", "--max-tokens", "4")
    done = program_in(home, locale).run(*words, "--seed", "1")
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("locale", LOCALES)
def test_a_model_of_any_name_in_a_home_of_any_name_answers_in_any_locale(
    tmp_path: Path, tiny: Path, locale: str
) -> None:
    folder = tmp_path / EVERYTHING
    folder.mkdir()
    model = folder / f"{EVERYTHING}.gguf"
    shutil.copy(tiny, model)
    code, text, errors = answer(folder / "home", model, locale)
    assert (code, errors) == (0, "")
    assert text.strip()


@pytest.mark.skipif(os.name == "nt", reason="links need a permission there")
def test_models_behind_links_answer_as_the_files_do(tmp_path: Path, tiny: Path) -> None:
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "0a1b"
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    shutil.copy(tiny, blobs / ("ab12" * 16))
    (snapshot / "tiny.gguf").symlink_to(Path("..", "..", "blobs", "ab12" * 16))
    for number, part in enumerate(write_split_llama(tmp_path)):
        part.rename(blobs / f"{number:064}")
        (snapshot / part.name).symlink_to(Path("..", "..", "blobs", f"{number:064}"))
    expected = answer(tmp_path / "home", tiny)
    assert expected[0] == 0 and expected[1].strip()
    for model in (snapshot / "tiny.gguf", blobs / ("ab12" * 16), next(snapshot.glob("split-00001-of-*.gguf"))):
        assert answer(tmp_path / "home", model) == expected


@pytest.mark.skipif(os.name == "nt", reason="links need a permission there")
@pytest.mark.parametrize("target", ["nowhere.gguf", "link.gguf"])
def test_a_link_that_leads_nowhere_is_one_sentence(tmp_path: Path, target: str) -> None:
    (tmp_path / "link.gguf").symlink_to(target)
    code, text, errors = answer(tmp_path / "home", tmp_path / "link.gguf")
    assert (code, text) == (3, "")
    assert "link.gguf" in errors and "check" in errors and is_one_plain_sentence(errors)


@needs_bytes
def test_a_name_that_is_no_text_is_refused_with_a_way_out_and_a_home_of_such_a_name_works(
    tmp_path: Path, tiny: Path
) -> None:
    folder = tmp_path / NO_TEXT
    folder.mkdir()
    for model in (tmp_path / f"{NO_TEXT}.gguf", folder / "model.gguf"):
        shutil.copy(tiny, model)
        code, text, errors = answer(tmp_path / "home", model)
        assert (code, text) == (3, "")
        assert "rename" in errors and "no\ufffd text" in errors and is_one_plain_sentence(errors)
    assert answer(folder / "home", tiny)[0] == 0


@needs_bytes
def test_what_a_file_of_such_a_name_holds_is_shown(tmp_path: Path, tiny: Path) -> None:
    model = tmp_path / f"{NO_TEXT}.gguf"
    shutil.copy(tiny, model)
    done = program_in(tmp_path / "home", "C").run("models", "inspect", str(model))
    assert (done.returncode, done.stderr) == (0, "") and "general.architecture" in done.stdout


@pytest.mark.parametrize("locale", ["C", "none"])
def test_models_of_any_name_are_listed(tmp_path: Path, tiny: Path, locale: str) -> None:
    folder = tmp_path / "home" / "models"
    folder.mkdir(parents=True)
    shutil.copy(tiny, folder / f"{EVERYTHING}.gguf")
    if sys.platform == "linux":
        shutil.copy(tiny, folder / f"{NO_TEXT}.gguf")
    done = program_in(tmp_path / "home", locale).run("models", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    listed = json.loads(done.stdout)
    listed = {Path(each["path"]).stem: each for each in listed if Path(each["path"]).parent == folder}
    assert listed[EVERYTHING]["problem"] is None
    assert sys.platform != "linux" or "rename" in listed["no\ufffd text"]["problem"]


def test_a_model_of_any_name_is_opened_again_at_the_next_start(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / f"{EVERYTHING}.gguf"
    shutil.copy(tiny, model)
    with Inside(tmp_path / EVERYTHING, monkeypatch, scripted=False) as inside:
        inside.load(model)
    with Inside(tmp_path / EVERYTHING, monkeypatch, scripted=False) as inside:
        inside.program.start(None)
        inside.until(lambda: inside.phase == "ready")
        assert inside.program.session.model is not None
        assert inside.program.session.model.path == str(model)
        assert inside.ask("Grüße").finished is not None
