"""Files of every unusable kind: each has a sentence with a next step, and none costs the model that is loaded."""

from __future__ import annotations

from pathlib import Path

from app.core.commands import Load
from app.services.file_names import short_name
from app.services.wishes import Wish
from tests.desk import Desk
from tests.engine.test_opening import bad_files
from tests.ggufs import copy_with
from tests.services.asking import End, ask, phase

NEXT_STEPS = ("download", "choose", "open", "get", "run", "check", "rename", "unpack")


def test_no_unusable_file_costs_the_model_that_is_loaded(
    desk: Desk, model: Path, tmp_path: Path, starter_model: Path, ends: list[End]
) -> None:
    desk.load(model)
    files = bad_files(tmp_path, starter_model)
    sizes = {"llama.block_count": 0}
    files["no layers.gguf"] = copy_with(model, tmp_path / "no layers.gguf", set=sizes)
    for kind in ("t5", "nomic-bert", "dream", "clip"):
        files[kind] = copy_with(model, tmp_path / f"{kind}.gguf", set={"general.architecture": kind})
    files["embedding with weights"] = copy_with(model, tmp_path / "pooling.gguf", set={"llama.pooling_type": 1})
    sentences = []
    for name, path in files.items():
        desk.program.notices.dismiss()
        desk.program.session.use(Wish(path))
        desk.until(lambda: desk.program.notices.latest)
        sentences.append(desk.told)
        assert any(step in desk.told.lower() for step in NEXT_STEPS), (name, desk.told)
        assert desk.notice.remedy == "open_model", name
        assert desk.notice.file == short_name(path) or path.name in desk.told, (name, desk.told)
        assert (phase(desk), desk.loaded_path, desk.program.session.name) == ("ready", str(model), "tiny"), name
    assert len(set(sentences)) >= len(sentences) - 1
    assert len(desk.engine.all(Load)) == 1
    ask(desk)
    desk.answer("Still here")
    assert [end.text for end in ends] == ["Still here"]


def test_the_reason_of_llama_is_told_with_its_lines_and_the_next_model_loads(
    desk: Desk, model: Path, other_model: Path
) -> None:
    desk.begin_load(model)
    desk.engine.fail("model", desk.engine.load.request, "llama.cpp could not load it: wrong shape.")
    desk.settle()
    assert "wrong shape" in desk.told
    assert desk.notice.details == ("a line of a log",)
    desk.load(other_model)
    assert desk.loaded_path == str(other_model)


def test_a_question_that_waited_for_a_bad_file_takes_its_name_out_of_no_notice(desk: Desk, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_text("<html>")
    desk.program.session.use(Wish(broken))
    desk.program.chat.send("Hi")
    desk.until(lambda: desk.program.notices.latest)
    assert desk.notice.file == "broken.gguf"
    assert not desk.program.chat.busy


def test_a_second_unusable_file_is_told_under_its_own_name(desk: Desk, tmp_path: Path) -> None:
    names = ("a.gguf", "b.gguf")
    for name in names:
        (tmp_path / name).touch()
        desk.program.session.use(Wish(tmp_path / name))
        assert desk.program.notices.latest is None, "what is said of the file before it is over"
        desk.until(lambda: desk.program.notices.latest)
        assert desk.notice.file == name
