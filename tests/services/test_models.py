from __future__ import annotations

import os
import shutil
import sys
import threading
from pathlib import Path

import pytest

from app.core.commands import Load
from app.core.errors import UserError
from app.core.found_file import FoundFile
from app.core.job_events import ModelsListed
from app.core.model import FoundModel
from app.services.model_check import check_model, model_name
from app.services.models import Models, is_very_small
from app.services.wishes import Wish
from app.system.model_search import found_file
from app.system.settings_file import SettingsFile
from tests.desk import Desk
from tests.ggufs import write_split_llama, write_vocab_only
from tests.ggufs_kinds import write_tiny_encoder
from tests.ordinary_user import ordinary_user


@pytest.fixture
def models(desk: Desk, tmp_path: Path) -> Models:
    (tmp_path / "models").mkdir()
    return Models([tmp_path / "models"], desk.program.settings, desk.program.jobs)


def problem_of(found: FoundModel) -> str:
    assert found.problem is not None
    return found.problem.english()


def test_facts_of_a_usable_model_are_read_from_its_header(model: Path) -> None:
    found, ref = check_model(model)
    assert found.problem is None
    assert (found.name, found.architecture, found.quantisation) == ("tiny", "llama", "F16")
    assert found.size == model.stat().st_size
    assert ref is not None
    assert ref.identity.startswith(f"{model.stat().st_size}-")


def test_a_model_in_parts_counts_all_of_them(tmp_path: Path) -> None:
    parts = write_split_llama(tmp_path)
    found, ref = check_model(parts[0])
    assert found.problem is None
    assert found.size == sum(part.stat().st_size for part in parts)
    assert ref is not None


def test_a_missing_part_is_said(tmp_path: Path) -> None:
    parts = write_split_llama(tmp_path)
    parts[-1].unlink()
    found, ref = check_model(parts[0])
    assert ref is None
    assert parts[-1].name in problem_of(found)


@pytest.mark.parametrize("cut", [0, 3, 1000, -1])
def test_a_truncated_model_is_refused_with_a_reason(model: Path, tmp_path: Path, cut: int) -> None:
    broken = tmp_path / "cut.gguf"
    broken.write_bytes(model.read_bytes()[:cut])
    found, ref = check_model(broken)
    assert ref is None
    assert found.problem is not None


def test_a_vocabulary_is_no_model(tmp_path: Path) -> None:
    found, _ = check_model(write_vocab_only(tmp_path / "vocab.gguf"))
    assert "no weights" in problem_of(found)


def test_a_name_that_is_no_text_is_refused_with_a_way_out(tmp_path: Path) -> None:
    found, ref = check_model(tmp_path / "m\udcff.gguf")
    assert ref is None
    assert "rename" in problem_of(found)


@pytest.mark.parametrize(
    ("file", "own", "quantisation", "name"),
    [
        ("SmolLM2-135M-Instruct.Q4_1.gguf", "Smollm2 Mix1", "Q4_1", "SmolLM2-135M-Instruct"),
        ("qwen2.5-7b-q4_k_m.gguf", None, "Q4_K_M", "qwen2.5-7b"),
        ("big-Q8_0-00001-of-00003.gguf", "Big", "Q8_0", "big"),
        ("sha256-" + "ab12" * 16, "Mistral 7B", "Q4_0", "Mistral 7B"),
        ("Q4_0.gguf", "Mistral", "Q4_0", "Mistral"),
        ("Q4_0.gguf", None, "Q4_0", "Q4_0.gguf"),
    ],
)
def test_a_model_is_called_what_people_recognise(file: str, own: str | None, quantisation: str, name: str) -> None:
    assert model_name(Path(file), own, quantisation) == name


def test_the_model_that_was_used_last_comes_first(desk: Desk, models: Models, model: Path, tmp_path: Path) -> None:
    shutil.copy(model, tmp_path / "models" / "a.gguf")
    assert models.to_start_with() == tmp_path / "models" / "a.gguf"
    desk.program.settings.change(last_model=str(model))
    assert models.to_start_with() == model


def test_a_last_model_that_is_gone_and_broken_files_are_passed_over(
    desk: Desk, models: Models, model: Path, tmp_path: Path
) -> None:
    desk.program.settings.change(last_model=str(tmp_path / "gone.gguf"))
    (tmp_path / "models" / "a.gguf").write_bytes(b"GGUF")
    shutil.copy(model, tmp_path / "models" / "b.gguf")
    assert models.to_start_with() == tmp_path / "models" / "b.gguf"


def test_without_any_model_the_sentence_says_where_to_put_one(models: Models, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="models"):
        models.to_start_with()


def test_a_search_in_the_background_lists_what_is_there(desk: Desk, model: Path) -> None:
    folder = desk.program.paths.models
    folder.mkdir(parents=True)
    shutil.copy(model, folder / "tiny.gguf")
    (folder / "broken.gguf").touch()
    desk.program.models.refresh()
    desk.until(lambda: desk.program.models.found)
    by_name = {Path(found.path).name: found for found in desk.program.models.found}
    assert by_name["tiny.gguf"].problem is None
    assert by_name["broken.gguf"].problem is not None


def test_a_file_that_changed_is_looked_at_again(models: Models, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "models" / "a.gguf"
    path.write_bytes(b"GGUF")
    assert models.list_now()[0].problem is not None
    shutil.copy(model, path)
    assert models.list_now()[0].problem is None


@pytest.mark.skipif(sys.platform == "win32", reason="there rights are other ones")
def test_a_file_that_may_be_read_again_is_so_without_another_change(
    desk: Desk, models: Models, model: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copy(model, tmp_path / "models" / "m.gguf"))
    path.chmod(0)
    with ordinary_user():
        (found,) = listed(models)
        assert found.is_lost and "cannot be read" in problem_of(found)
        assert not models._has_changed(), "nothing is other than it was"
        path.chmod(0o644)
        assert models._has_changed()
        (found,) = listed(models)
    assert found.is_usable and not models._has_changed()


def listed(models: Models) -> tuple[FoundModel, ...]:
    """Search, and return what is told."""
    with pytest.MonkeyPatch.context() as patched:
        told: list[ModelsListed] = []
        patched.setattr(models._jobs, "submit", lambda _name, work: told.append(work()))
        models.refresh()
    models.take(told[0])
    return models.found


def test_folders_of_the_settings_are_searched_too(tmp_path: Path, model: Path, desk: Desk) -> None:
    settings = SettingsFile(tmp_path / "settings.json", lambda _name, _work: None)
    settings.change(model_folders=(str(model.parent),))
    models = Models([tmp_path / "none"], settings, desk.program.jobs)
    assert [Path(found.path) for found in models.list_now()] == [model]


@pytest.mark.parametrize(
    ("parameters", "small"),
    [(134_515_008, True), (299_999_999, True), (300_000_000, False), (7_000_000_000, False), (None, False)],
)
def test_only_a_model_that_is_known_to_be_very_small_is_called_so(parameters: int | None, small: bool) -> None:
    assert is_very_small(parameters) is small


def test_a_model_that_was_used_last_and_is_gone_is_named_with_the_way_on(models: Models, tmp_path: Path) -> None:
    gone = str(tmp_path / "Gone-7B.Q4_0.gguf")
    assert gone in models.gone(gone).english()
    long = f"/{'folder/' * 40}Gone-7B.Q4_0.gguf"
    assert "at …/Gone-7B.Q4_0.gguf." in models.gone(long).english()


def test_the_last_model_is_looked_for_in_the_background(
    desk: Desk, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []
    is_file = os.path.isfile

    def look(path: str) -> bool:
        threads.append(threading.current_thread())
        return is_file(path)

    monkeypatch.setattr(os.path, "isfile", look)
    desk.program.settings.change(last_model=str(model))
    desk.program.start(None)
    desk.until(lambda: desk.engine.sent)
    assert threads and threading.main_thread() not in threads


def test_a_model_that_was_chosen_before_the_last_one_was_found_stays(
    desk: Desk, model: Path, other_model: Path
) -> None:
    desk.program.settings.change(last_model=str(model))
    desk.program.start(None)
    desk.program.session.use(Wish(other_model))
    desk.until(lambda: desk.engine.sent)
    desk.engine.loaded()
    desk.until(lambda: desk.program.models.folder)
    desk.settle()
    assert desk.loaded_path == str(other_model)
    assert len(desk.engine.all(Load)) == 1


def test_the_same_model_is_found_under_its_path_first_and_else_elsewhere(
    desk: Desk, models: Models, model: Path, tmp_path: Path
) -> None:
    for name in ("a.gguf", "b.gguf"):
        shutil.copy(model, tmp_path / "models" / name)
    models.take(ModelsListed(models.list_now()))
    ref = check_model(model)[1]
    second = models.entry_of(str(tmp_path / "models" / "b.gguf"), ref)
    elsewhere = models.entry_of(str(model), ref)
    assert second is not None and Path(second.path).name == "b.gguf"
    assert elsewhere is not None and Path(elsewhere.path).name == "a.gguf"
    assert models.entry_of(str(model), None) is None


def test_a_start_whose_last_model_is_gone_says_so_and_opens_the_next_usable_one(
    desk: Desk, model: Path, tmp_path: Path
) -> None:
    folder = desk.program.paths.models
    folder.mkdir(parents=True)
    (folder / "broken.gguf").write_bytes(b"GGUF")
    shutil.copy(model, folder / "next.gguf")
    desk.program.settings.change(last_model=str(tmp_path / "Gone-7B.Q4_0.gguf"))
    desk.program.start(None)
    desk.until(lambda: desk.engine.sent)
    assert str(tmp_path / "Gone-7B.Q4_0.gguf") in desk.told
    assert desk.engine.load.path.endswith(".gguf")
    assert desk.engine.load.path != str(folder / "broken.gguf")


class Others:
    """Another program that keeps models here."""

    def __init__(self, *files: FoundFile) -> None:
        self._files = files

    def find(self) -> tuple[FoundFile, ...]:
        return self._files


def found_at(path: Path, name: str = "") -> FoundFile:
    found = found_file(str(path), "ollama", name)
    assert found is not None
    return found


def test_models_of_other_programs_follow_peoples_own_and_are_told_by_their_names(
    desk: Desk, model: Path, other_model: Path, tmp_path: Path
) -> None:
    blob = tmp_path / ("sha256-" + "ab" * 32)
    shutil.copy(other_model, blob)
    models = Models([model.parent], desk.program.settings, desk.program.jobs, Others(found_at(blob, "tiny:1b")))
    own, other = models.list_now()
    assert (own.origin, Path(own.path)) == ("own", model)
    assert (other.origin, other.name, other.problem) == ("ollama", "tiny:1b", None)


def test_a_file_that_is_also_in_a_folder_of_ones_own_is_ones_own(desk: Desk, model: Path, tmp_path: Path) -> None:
    (tmp_path / "link.gguf").symlink_to(model)
    others = Others(found_at(model, "tiny:1b"), found_at(tmp_path / "link.gguf"))
    models = Models([model.parent], desk.program.settings, desk.program.jobs, others)
    assert [(found.origin, Path(found.path)) for found in models.list_now()] == [("own", model)]


def test_without_a_model_of_ones_own_that_of_another_program_is_one_to_start_with(
    desk: Desk, model: Path, tmp_path: Path
) -> None:
    models = Models([tmp_path], desk.program.settings, desk.program.jobs, Others(found_at(model)))
    assert models.to_start_with() == model


def test_a_model_whose_first_part_is_missing_is_listed_with_the_reason(models: Models, tmp_path: Path) -> None:
    parts = write_split_llama(tmp_path / "models")
    parts[0].unlink()
    (found,) = models.list_now()
    assert parts[0].name in problem_of(found)
    assert (found.parts, found.parts_wanted) == (len(parts) - 1, len(parts))
    assert found.size == sum(part.stat().st_size for part in parts[1:])
    assert "-of-" not in found.name


def test_a_model_whose_later_part_is_missing_tells_how_many_are_there(models: Models, tmp_path: Path) -> None:
    parts = write_split_llama(tmp_path / "models")
    parts[-1].unlink()
    (found,) = models.list_now()
    assert parts[-1].name in problem_of(found)
    assert (found.path, found.parts, found.parts_wanted) == (str(parts[0]), len(parts) - 1, len(parts))
    assert found.kind is None
    assert found.size == sum(part.stat().st_size for part in parts[:-1])


def test_a_part_that_arrives_is_noticed(models: Models, tmp_path: Path) -> None:
    parts = write_split_llama(tmp_path / "models")
    content = parts[-1].read_bytes()
    parts[-1].unlink()
    assert models.list_now()[0].problem is not None
    parts[-1].write_bytes(content)
    assert models.list_now()[0].problem is None


def test_what_a_file_is_for_is_kept_with_it(model: Path, tmp_path: Path) -> None:
    assert check_model(model)[0].kind == "chat"
    assert check_model(write_vocab_only(tmp_path / "vocab.gguf"))[0].kind == "vocabulary"
    assert check_model(write_tiny_encoder(tmp_path / "encoder.gguf"))[0].kind == "embedding"
    (tmp_path / "broken.gguf").write_bytes(b"GGUF")
    assert check_model(tmp_path / "broken.gguf")[0].kind is None
