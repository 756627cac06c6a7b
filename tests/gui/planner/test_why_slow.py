"""On the planner's page stands why the last answer of the loaded model was slow, as in the live panel, with its button."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.gui.models.load_dialog import LoadOptionsDialog
from app.gui.planner.why_slow import WhySlow
from tests.ggufs import write_tiny_llama
from tests.gui.conftest import Stage
from tests.gui.test_diagnosis import answers, says
from tests.planner.slow_writing import WRITING

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


@pytest.fixture(scope="module")
def other_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_llama(tmp_path_factory.mktemp("models") / "other.F16.gguf", seed=2)


def block(stage: Stage) -> WhySlow:
    return stage.find_as(WhySlow, "plan_why")


def test_without_an_answer_it_says_what_to_do(stage: Stage, model: Path, other_model: Path) -> None:
    stage.triggers("planner_action")
    assert stage.reads("plan_why_sentence").startswith("No model is loaded: load one and ask it something")
    stage.load(model)
    assert stage.reads("plan_why_sentence") == (
        f"{stage.desk.program.session.name} has finished no answer since Tokenlight started, and there is none in the open "
        "chat: ask it something, or open a chat that it answered in, and this says where the time went."
    )
    sentence = stage.find("plan_why_sentence")
    assert sentence.property("look") == "muted"
    assert not stage.sees("plan_why_details") and not stage.sees("plan_why_model")
    stage.clicks("plan_why_chat")
    assert stage.window.page == "chat"
    answers(stage, WRITING["a cache that grew"].metrics)
    stage.triggers("planner_action")
    assert stage.sees("plan_why_details") and not stage.sees("plan_why_chat")
    assert sentence.property("look") != "muted" and block(stage).accessibleName() == stage.reads("plan_why_head")
    stage.load(other_model)
    assert "has finished no answer" in stage.reads("plan_why_sentence"), "that was another model's"
    assert sentence.property("look") == "muted"


def test_each_model_has_its_own_when_it_is_loaded_again(stage: Stage, model: Path, other_model: Path) -> None:
    stage.load(model)
    answers(stage, WRITING["a cache that grew"].metrics)
    stage.load(other_model)
    stage.desk.program.conversations.new()
    answers(stage, WRITING["a cache that grew"].metrics)
    stage.load(model)
    stage.triggers("planner_action")
    assert stage.reads("plan_why_model") == f"The latest answer of {stage.desk.program.session.name}, which is loaded"
    assert "rereading a long chat" in stage.reads("plan_why_sentence")


def test_it_follows_while_it_is_seen_and_is_let_go_with_the_page(ready: Stage, other_model: Path) -> None:
    ready.triggers("planner_action")
    of_first = ready.reads("plan_why_sentence")
    ready.triggers("chat_page_action")
    ready.load(other_model)
    assert ready.reads("plan_why_sentence") == of_first, "nobody looks at it"
    ready.triggers("planner_action")
    of_other = ready.reads("plan_why_sentence")
    assert of_other != of_first
    block(ready).disconnect_services()
    ready.desk.program.session.unload()
    ready.settle()
    assert ready.reads("plan_why_sentence") == of_other


def test_it_says_what_the_live_panel_says_and_makes_the_same_change(ready: Stage) -> None:
    ready.triggers("planner_action")
    answers(ready, WRITING["a cache that grew"].metrics)
    live = ready.desk.program.live
    ready.bot.waitUntil(lambda: ready.reads("plan_why_sentence") == says(ready))
    assert "rereading a long chat" in ready.reads("plan_why_sentence")
    assert ready.reads("plan_why_model") == f"The latest answer of {ready.desk.program.session.name}, which is loaded"
    diagnosis = live.figures.diagnosis
    assert diagnosis is not None
    assert [figure for _what, figure in block(ready).details.rows] == [
        row.figure.english() for row in diagnosis.evidence
    ]
    assert ready.reads("plan_why_details_remedy") == "Keep the KV cache in 8 bits…"
    ready.clicks("plan_why_details_remedy")
    draft = ready.desk.program.load_options
    ready.desk.until(lambda: draft.file is not None)
    assert draft.options.kv_type_k == "q8_0"
    assert ready.window.findChild(LoadOptionsDialog) is not None


def test_it_stays_with_the_model_whatever_chat_is_shown_and_knows_the_one_that_is_opened(ready: Stage) -> None:
    answers(ready, WRITING["a cache that grew"].metrics)
    said, last = says(ready), ready.desk.program.live.last
    ready.desk.program.conversations.new()
    ready.settle()
    assert ready.desk.program.live.figures.diagnosis is None
    assert last.diagnosis is not None and last.diagnosis.sentence.english() == said
    last._ended.clear()
    assert last.diagnosis is None, "as after a restart: it is another chat's"
    ready.desk.program.conversations.open(ready.desk.program.conversations.heads[0].id)
    ready.settle()
    assert last.diagnosis is not None and last.diagnosis.sentence.english() == said


def test_a_memory_that_is_measured_later_is_told_here_too(ready: Stage) -> None:
    ready.triggers("planner_action")
    case = WRITING["the processor's memory is the limit"]
    answers(ready, case.metrics)
    live = ready.desk.program.live
    live.witness.ceiling = lambda _model: 20.0
    live.know_bandwidth()
    ready.bot.waitUntil(lambda: "memory limits it" in ready.reads("plan_why_sentence"))
