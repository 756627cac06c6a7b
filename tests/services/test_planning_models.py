"""What models can be planned: read from their headers in the background, kept while the file is the same."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from app.core.errors import UserError
from app.core.job_events import ModelsListed
from app.planner.planned_model import PlannedModel
from app.services import planning_models
from app.services.planning_models import PlannedFile, read_planned
from tests.desk import Desk
from tests.ggufs import write_split_llama, write_tiny_llama


def read(desk: Desk, path: Path) -> PlannedFile:
    """Return what is known of a model once it was read."""
    models = desk.program.planner.models
    desk.until(lambda: models.get(str(path)))
    known = models.get(str(path))
    assert known is not None
    return known


def reason(path: Path) -> str:
    with pytest.raises(UserError) as caught:
        read_planned(path)
    return caught.value.sentence.english()


def test_a_model_is_read_in_the_background_once(desk: Desk, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    desk.program.planner.models.changed.connect(told.append)
    assert desk.program.planner.models.get(str(model)) is None
    known = read(desk, model)
    assert known.problem is None and known.model is not None
    assert (known.model.name, known.model.kind, known.model.layers) == ("tiny", "dense", 2)
    assert known.model.file_bytes == model.stat().st_size
    assert told == [str(model)]

    def fail(_path: Path) -> PlannedModel:
        raise AssertionError

    monkeypatch.setattr(planning_models, "read_planned", fail)
    desk.program.planner.models.want(str(model))
    desk.until(lambda: not desk.program.planner.models._reading)
    assert read(desk, model) is known and told == [str(model)]


def test_another_file_of_the_same_name_is_read_anew(desk: Desk, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "one.gguf"
    shutil.copy(model, path)
    read(desk, path)
    write_tiny_llama(path, layers=3)
    os.utime(path, (1, 1))
    desk.program.planner.models.want(str(path))
    desk.until(lambda: not desk.program.planner.models._reading)
    again = read(desk, path)
    assert again.model is not None and again.model.layers == 3


def test_what_is_wrong_with_a_file_is_a_sentence(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF and nothing else")
    known = read(desk, path)
    assert known.model is None and known.problem is not None and known.problem.english().endswith(".")
    assert "no file" in (read(desk, tmp_path / "gone.gguf").problem or pytest.fail("no problem")).english()


def test_a_look_that_breaks_is_told(
    desk: Desk, model: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_path: Path) -> PlannedModel:
        raise ZeroDivisionError

    monkeypatch.setattr(planning_models, "read_planned", fail)
    known = read(desk, model)
    assert known.problem is not None and "nobody expected" in known.problem.english()
    assert "planned model" in caplog.text


def test_models_that_were_found_can_be_chosen(desk: Desk, model: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF")
    told: list[str] = []
    desk.program.planner.models.changed.connect(told.append)
    listed = desk.program.models.list_now([model.parent, tmp_path])
    desk.program.dispatch(ModelsListed(listed))
    assert [found.path for found in desk.program.planner.models.found] == [str(model)] and told == [""]


def test_a_folder_of_one_model_in_parts_is_that_model(tmp_path: Path) -> None:
    parts = write_split_llama(tmp_path)
    planned = read_planned(tmp_path)
    assert planned.file_bytes == sum(part.stat().st_size for part in parts)
    assert planned == read_planned(parts[0])


def test_a_folder_of_several_or_none_says_what_to_name(tmp_path: Path, model: Path) -> None:
    assert "no model" in reason(tmp_path)
    shutil.copy(model, tmp_path / "a.gguf")
    shutil.copy(model, tmp_path / "b.gguf")
    assert "2 models" in reason(tmp_path) and "a.gguf, b.gguf" in reason(tmp_path)


class CountedPath(str):
    """Counts how often it is compared."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other: object) -> bool:
        CountedPath.compared += 1
        return super().__eq__(other)

    __hash__ = str.__hash__


def test_thousands_are_wanted_without_comparing_each_with_all(desk: Desk) -> None:
    many = [CountedPath(f"/nowhere/{number}.gguf") for number in range(300)]
    for path in (*many, *many):
        desk.program.planner.models.want(path)
    assert len(desk.program.planner.models._reading) == len(many), "each is read once"
    assert CountedPath.compared <= 4 * len(many)
    desk.until(lambda: not desk.program.planner.models._reading)
    assert not desk.program.planner.models._paths_read
