from __future__ import annotations

from pathlib import Path

import pytest

from app.core.chat import TextPrompt
from app.core.commands import Generate, Load
from app.core.model import LoadOptions
from app.core.sampling import SamplingSettings
from app.core.words import translate
from app.services.notices import Notice
from app.services.questions import AnswerEvent
from app.services.wishes import Question, Wish
from app.system.hardware import decode_threads
from tests.desk import Desk
from tests.services.asking import End, ask, phase


def test_a_model_goes_through_its_phases(desk: Desk, model: Path) -> None:
    session, phases = desk.program.session, []
    session.changed.connect(lambda: phases.append((session.phase, round(session.percent))))
    assert phase(desk) == "no_model"
    desk.begin_load(model)
    desk.engine.progress(40)
    desk.engine.loaded()
    desk.settle()
    assert phases == [("starting", 0), ("loading", 0), ("loading", 40), ("ready", 40)]
    assert session.name == "tiny"


def test_a_file_that_is_no_model_never_reaches_the_engine(desk: Desk, tmp_path: Path) -> None:
    broken = tmp_path / "page.gguf"
    broken.write_text("<!doctype html><html></html>")
    desk.program.session.use(Wish(broken))
    desk.until(lambda: desk.program.notices.latest)
    assert desk.engine.sent == []
    assert "web page" in desk.told
    assert desk.notice.remedy == "open_model"
    assert phase(desk) == "no_model"


def test_a_bad_file_leaves_the_loaded_model_usable(desk: Desk, model: Path, tmp_path: Path, ends: list[End]) -> None:
    desk.load(model)
    broken = tmp_path / "empty.gguf"
    broken.touch()
    desk.program.session.use(Wish(broken))
    desk.until(lambda: desk.program.notices.latest)
    assert phase(desk) == "ready"
    assert desk.loaded_path == str(model)
    assert desk.program.session.name == "tiny"
    ask(desk)
    desk.answer("Still here")
    assert [end.text for end in ends] == ["Still here"]
    desk.engine.die()
    desk.settle()
    ask(desk)
    desk.until(lambda: len(desk.engine.all(Load)) == 2)
    assert desk.engine.load.path == str(model)


def test_after_a_load_that_failed_the_next_question_goes_to_the_model_that_gave_way(
    desk: Desk, model: Path, other_model: Path, ends: list[End]
) -> None:
    desk.load(model)
    desk.begin_load(other_model)
    desk.engine.fail("model", desk.engine.load.request)
    desk.settle()
    assert phase(desk) == "no_model"
    assert desk.program.session.name == "tiny"
    ask(desk)
    desk.until(lambda: len(desk.engine.all(Load)) == 3)
    assert desk.engine.load.path == str(model)
    desk.engine.loaded()
    desk.settle()
    desk.answer("Here again")
    assert [end.text for end in ends] == ["Here again"]


def test_the_last_of_several_wishes_wins(desk: Desk, model: Path, other_model: Path) -> None:
    desk.begin_load(model)
    first = desk.engine.load.request
    desk.begin_load(other_model)
    assert desk.engine.cancelled == [first]
    desk.engine.loaded(first)
    desk.settle()
    assert phase(desk) == "loading"
    desk.engine.fail("cancelled", first)
    desk.engine.loaded()
    desk.settle()
    assert phase(desk) == "ready"
    assert desk.loaded_path == str(other_model)


def test_wishes_in_quick_succession_load_only_the_last(desk: Desk, model: Path, other_model: Path) -> None:
    for path in (model, other_model, model):
        desk.program.session.use(Wish(path))
    desk.until(lambda: desk.engine.sent)
    desk.settle()
    assert [load.path for load in desk.engine.all(Load)] == [str(model)]


def test_a_wish_that_was_given_up_tells_nothing(desk: Desk, model: Path, tmp_path: Path) -> None:
    broken = tmp_path / "empty.gguf"
    broken.touch()
    desk.program.session.use(Wish(broken))
    desk.program.session.use(Wish(model))
    desk.until(lambda: desk.engine.sent)
    desk.settle()
    assert desk.program.notices.latest is None
    assert desk.engine.load.path == str(model)


def test_a_load_that_worked_is_remembered_for_the_model(desk: Desk, model: Path) -> None:
    desk.program.session.use(Wish(model, {"context": 512, "kv_type_k": "q8_0"}))
    desk.until(lambda: desk.engine.sent)
    desk.engine.loaded()
    desk.settle()
    assert desk.program.settings.values.last_model == str(model)
    desk.load(model)
    assert desk.engine.load.options == LoadOptions(context=512, kv_type_k="q8_0", threads=decode_threads())


def test_options_follow_the_model_and_not_the_name_of_its_file(desk: Desk, model: Path, tmp_path: Path) -> None:
    desk.program.session.use(Wish(model, {"context": 512}))
    desk.until(lambda: desk.engine.sent)
    desk.engine.loaded()
    desk.settle()
    renamed = tmp_path / "sp ace ümlaut 日本.gguf"
    renamed.write_bytes(model.read_bytes())
    desk.load(renamed)
    assert desk.engine.load.options.context == 512


def test_a_path_from_here_is_kept_as_one_from_anywhere(
    desk: Desk, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(model.parent)
    desk.load(Path(model.name))
    assert desk.engine.load.path == str(model)
    assert desk.program.settings.values.last_model == str(model)


def test_a_load_that_failed_is_not_remembered(desk: Desk, model: Path) -> None:
    desk.program.session.use(Wish(model, {"context": 1_000_192}))
    desk.until(lambda: desk.engine.sent)
    desk.engine.fail("model", desk.engine.load.request, "There is not enough memory.")
    desk.settle()
    assert desk.program.settings.values.models == {}
    assert desk.notice.details == ("a line of a log",)
    desk.begin_load(model)
    assert desk.engine.load.options == LoadOptions(threads=decode_threads())


def test_a_question_waits_for_the_model_and_its_clock_starts_when_it_is_sent(desk: Desk, model: Path) -> None:
    sent: list[tuple[int, int]] = []
    desk.program.session.sent.connect(lambda request, now: sent.append((request, now)))
    desk.begin_load(model)
    request = ask(desk)
    assert desk.engine.all(Generate) == []
    desk.engine.loaded()
    desk.settle()
    assert desk.engine.question.request == request
    assert sent == [(request, desk.engine.question.sent_ns)]
    assert phase(desk) == "busy"


def test_a_question_without_any_model_fails_with_a_sentence(desk: Desk, ends: list[End]) -> None:
    request = ask(desk)
    assert [(end.request, end.kind) for end in ends] == [(request, "model")]


def test_a_question_whose_model_cannot_be_loaded_fails_with_the_reason(
    desk: Desk, model: Path, ends: list[End]
) -> None:
    desk.begin_load(model)
    request = ask(desk)
    desk.engine.fail("model", desk.engine.load.request, "There is not enough memory.")
    desk.settle()
    assert [(end.request, end.text) for end in ends] == [(request, "There is not enough memory.")]


def test_a_dead_engine_ends_what_was_open_and_the_next_question_starts_it_again(
    desk: Desk, model: Path, ends: list[End]
) -> None:
    desk.load(model)
    request = ask(desk)
    desk.engine.write("half an ans")
    desk.engine.die(request)
    desk.settle()
    assert [(end.request, end.kind) for end in ends] == [(request, "engine")]
    assert phase(desk) == "gone"
    assert desk.notice.remedy == "restart_engine"
    again = ask(desk, "And now?")
    desk.until(lambda: len(desk.engine.all(Load)) == 2)
    desk.engine.loaded()
    desk.settle()
    assert desk.engine.question.request == again


def test_a_death_that_is_told_late_does_not_end_the_load_of_its_successor(
    desk: Desk, model: Path, other_model: Path
) -> None:
    desk.load(model)
    desk.begin_load(other_model)
    desk.engine.die()
    desk.settle()
    assert phase(desk) == "loading"
    desk.engine.loaded()
    desk.settle()
    assert phase(desk) == "ready"


def test_restarting_loads_the_same_model_again(desk: Desk, model: Path) -> None:
    desk.load(model)
    desk.engine.die()
    desk.settle()
    desk.program.session.restart()
    desk.until(lambda: len(desk.engine.all(Load)) == 2)
    desk.engine.loaded()
    desk.settle()
    assert phase(desk) == "ready"


def test_cancelling_a_question_that_waits_for_its_model_needs_no_engine(
    desk: Desk, model: Path, ends: list[End]
) -> None:
    desk.begin_load(model)
    request = ask(desk)
    desk.program.session.cancel(request)
    desk.engine.loaded()
    desk.settle()
    assert [end.kind for end in ends] == ["cancelled"]
    assert desk.engine.all(Generate) == []
    assert phase(desk) == "ready"


def test_cancelling_a_load_says_nothing_wrong(desk: Desk, model: Path) -> None:
    desk.begin_load(model)
    desk.program.session.cancel_load()
    assert desk.engine.cancelled == [desk.engine.load.request]
    desk.engine.fail("cancelled", desk.engine.load.request)
    desk.settle()
    assert phase(desk) == "no_model"
    assert desk.program.notices.latest is None


def test_unloading_ends_the_process_and_the_open_question(desk: Desk, model: Path, ends: list[End]) -> None:
    desk.load(model)
    request = ask(desk)
    desk.program.session.unload()
    desk.settle()
    assert desk.engine.unloaded == 1
    assert [(end.request, end.kind) for end in ends] == [(request, "cancelled")]
    assert desk.program.session.model is None
    ask(desk)
    desk.until(lambda: len(desk.engine.all(Load)) == 2)


def test_what_belongs_to_no_open_question_is_ignored(desk: Desk, model: Path) -> None:
    desk.load(model)
    request = ask(desk)
    desk.answer("one")
    told: list[AnswerEvent] = []
    desk.program.session.answer_told.connect(told.append)
    desk.engine.write("late")
    desk.engine.fail("engine", request)
    desk.settle()
    assert told == []


def test_the_chosen_template_of_the_model_goes_with_every_chat(desk: Desk, model: Path) -> None:
    desk.load(model)
    loaded = desk.program.session.ref
    assert loaded is not None
    desk.program.templates.choose(loaded, "chatml")
    ask(desk)
    assert desk.engine.chat.template == desk.program.resources.template("chatml")
    desk.answer("x")
    request = desk.program.session.new_request()
    desk.program.session.ask(Question(request, TextPrompt("plain"), SamplingSettings()))
    assert desk.engine.question.prompt == TextPrompt("plain")


def test_moved_settings_reach_only_the_answer_that_is_being_written(desk: Desk, model: Path) -> None:
    desk.load(model)
    hot = SamplingSettings(temperature=2.0)
    desk.program.session.change_settings(hot)
    request = ask(desk)
    desk.program.session.change_settings(hot)
    assert [(change.request, change.settings) for change in desk.engine.moved_settings] == [(request, hot)]


def test_threads_that_nobody_chose_are_the_machines_and_are_not_remembered(desk: Desk, model: Path) -> None:
    desk.program.session.use(Wish(model, {"context": 512}))
    desk.until(lambda: desk.engine.sent)
    assert desk.engine.load.options.threads == decode_threads()
    desk.engine.loaded()
    desk.settle()
    (remembered,) = desk.program.settings.values.models.values()
    assert remembered.options == LoadOptions(context=512)


def test_there_are_never_more_threads_than_cores_that_can_be_used(
    desk: Desk, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.services.engine_session.usable_cores", lambda: 3)
    desk.program.session.use(Wish(model, {"threads": 1024}))
    desk.until(lambda: desk.engine.all(Load))
    assert desk.engine.load.options.threads == 3
    desk.program.session.use(Wish(model, {"threads": 2}))
    desk.until(lambda: len(desk.engine.all(Load)) == 2)
    assert desk.engine.load.options.threads == 2
    desk.program.session.use(Wish(model, {"threads": -3}))
    desk.until(lambda: len(desk.engine.all(Load)) == 3)
    assert desk.engine.load.options.threads == 1


def test_what_people_should_know_of_a_load_is_a_hint_until_another_model_is_loaded(
    desk: Desk, model: Path, other_model: Path
) -> None:
    layers, context = translate("Test", "12 of 33 layers."), translate("Test", "A long context.")
    desk.begin_load(model)
    desk.engine.loaded(remarks=(layers, context))
    desk.settle()
    assert desk.notice == Notice(layers, level="hint", more=(context,))
    desk.begin_load(other_model)
    desk.engine.loaded()
    desk.settle()
    assert desk.program.notices.latest is None


def test_what_is_shown_otherwise_stays_when_a_model_needs_no_words(desk: Desk, model: Path) -> None:
    other = Notice(translate("Test", "Something else."))
    desk.begin_load(model)
    desk.engine.loaded(remarks=(translate("Test", "12 of 33 layers."),))
    desk.settle()
    desk.program.notices.post(other)
    desk.load(model)
    assert desk.notice == other
