"""The card behind the sentence on where the time went: its evidence, its button, and how it comes and goes."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton

from app.core.bandwidth import MemorySpeed
from app.core.commands import MeasureBandwidth, SettingsChange
from app.core.events import Finished, Loaded
from app.core.metrics import Metrics
from app.core.model import LoadOptions
from app.core.operations import BandwidthMeasured
from app.core.words import translate
from app.gui.live.diagnosis_card import DiagnosisCard
from app.gui.models.load_dialog import LoadOptionsDialog
from app.gui.widgets.diagnosis_details import DiagnosisDetails
from tests.fake_engine import metrics, model_info
from tests.gui.conftest import Stage
from tests.planner.made_answers import figures
from tests.planner.slow_writing import WRITING

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def answers(stage: Stage, told: Metrics) -> None:
    """Have a question answered with these figures, whatever page is shown."""
    desk = stage.desk
    assert desk.program.chat.send("Why?")
    desk.settle()
    desk.engine.prompt()
    desk.engine.write("a")
    question = desk.engine.question
    settings = (SettingsChange(0, question.settings),)
    desk.engine.say(Finished(question.request, "a", bytes(4), "end", told, 7, settings))
    desk.settle()


def ends(stage: Stage, told: Metrics) -> None:
    """Have a question answered with these figures, and wait until the live panel says what stands out."""
    answers(stage, told)
    stage.bot.waitUntil(lambda: says(stage) in stage.reads("diagnosis_text"))


def says(stage: Stage) -> str:
    """Return the sentence on the answer that is shown, as it is now: the time to the screen is told later."""
    diagnosis = stage.desk.program.live.figures.diagnosis
    assert diagnosis is not None
    return diagnosis.sentence.english()


def opens(stage: Stage) -> DiagnosisCard:
    stage.clicks("diagnosis_text")
    return stage.find_as(DiagnosisCard, "diagnosis_card")


def rows(stage: Stage) -> dict[str, str]:
    return dict(stage.find_as(DiagnosisCard, "diagnosis_card").details.rows)


@pytest.fixture
def slow(ready: Stage) -> Stage:
    """A slow answer of a model with its cache unquantised, most of it the cache's fault."""
    ends(ready, WRITING["a cache that grew"].metrics)
    return ready


def test_the_sentence_opens_its_evidence_and_puts_it_away(slow: Stage) -> None:
    card = opens(slow)
    assert card.isVisibleTo(slow.window) and slow.window.rect().contains(card.geometry())
    assert slow.reads("diagnosis_sentence") in slow.reads("diagnosis_text")
    assert rows(slow)["A token, at the beginning and at the end"] == "40.0 ms, 60.0 ms"
    assert rows(slow)["Written (decode)"] == "200 tokens after the first one in 10.0 s: 20.0 tok/s"
    figure = slow.window.findChild(QLabel, "diagnosis_figure")
    assert figure is not None and ": " in figure.accessibleName()
    opens(slow)
    assert card.isHidden() and slow.find("diagnosis_text").hasFocus()


@pytest.mark.parametrize("way", ["Esc", "button", "question"])
def test_the_card_goes_with_esc_its_button_and_the_next_question(slow: Stage, way: str) -> None:
    card = opens(slow)
    if way == "Esc":
        QTest.keyClick(card, Qt.Key.Key_Escape)
    elif way == "button":
        slow.clicks("diagnosis_close")
    else:
        assert slow.desk.program.chat.send("And then?")
        slow.settle()
        slow.bot.waitUntil(card.isHidden)
    assert card.isHidden()


def test_the_keyboard_alone_reaches_the_remedy(slow: Stage) -> None:
    sentence = slow.find("diagnosis_text")
    sentence.setFocus()
    QTest.keyClick(sentence, Qt.Key.Key_Return)
    card = slow.find_as(DiagnosisCard, "diagnosis_card")
    assert card.hasFocus()
    reached = set()
    for _ in range(4):
        focused = slow.window.focusWidget()
        assert focused is not None
        QTest.keyClick(focused, Qt.Key.Key_Tab)
        reached.add(slow.window.focusWidget().objectName())
    assert {"diagnosis_remedy", "diagnosis_timeline", "diagnosis_close"} <= reached


def test_the_button_opens_the_options_with_the_change(slow: Stage) -> None:
    opens(slow)
    assert slow.reads("diagnosis_remedy") == "Keep the KV cache in 8 bits…"
    slow.clicks("diagnosis_remedy")
    draft = slow.desk.program.load_options
    slow.desk.until(lambda: draft.file is not None)
    assert (draft.options.kv_type_k, draft.options.kv_type_v) == ("q8_0", "q8_0")
    assert msgspec.structs.replace(draft.options, kv_type_k="f16", kv_type_v="f16") == LoadOptions()
    dialog = slow.window.findChild(LoadOptionsDialog)
    assert dialog is not None and dialog.isVisible()
    assert any(
        "8 bit" in box.currentText() or "q8_0" in str(box.currentData()) for box in dialog.findChildren(QComboBox)
    )
    assert slow.find("diagnosis_card").isHidden()
    dialog.close()


def test_a_new_chat_is_a_remedy_too(ready: Stage) -> None:
    long = figures(tokens=21, prefill=6000, prompt=2000, cached=100)
    ends(ready, metrics(2))
    ends(ready, long)
    opens(ready)
    assert ready.reads("diagnosis_remedy") == "Begin a new chat"
    before = ready.desk.program.chat.conversation_id
    ready.clicks("diagnosis_remedy")
    assert ready.desk.program.chat.conversation_id != before


def test_top_k_is_switched_on_where_draws_are_costly(ready: Stage) -> None:
    program = ready.desk.program
    program.sampling.change(top_k=0)
    ends(ready, figures(sampling_ms=4020.0))
    assert "choosing tokens" in ready.reads("diagnosis_text")
    opens(ready)
    ready.clicks("diagnosis_remedy")
    assert program.sampling.values.top_k == 40


def test_where_nothing_stands_out_there_is_no_button_but_the_timeline(ready: Stage) -> None:
    ends(ready, metrics(201))
    opens(ready)
    remedy = ready.window.findChild(QPushButton, "diagnosis_remedy")
    assert remedy is not None and not remedy.isVisibleTo(ready.window)
    assert ready.reads("diagnosis_sentence").startswith("Nothing stands out")
    ready.clicks("diagnosis_timeline")
    assert ready.window.page == "inside" and ready.find("diagnosis_card").isHidden()


def test_the_same_button_is_on_the_page_of_the_time(slow: Stage) -> None:
    opens(slow)
    slow.clicks("diagnosis_timeline")
    slow.settle()
    assert slow.reads("time_why_remedy") == "Keep the KV cache in 8 bits…"
    slow.clicks("time_why_remedy")
    draft = slow.desk.program.load_options
    slow.desk.until(lambda: draft.file is not None)
    assert draft.options.kv_type_k == "q8_0"
    dialog = slow.window.findChild(LoadOptionsDialog)
    assert dialog is not None
    dialog.close()


def test_a_gpu_that_is_used_in_part_has_its_layers_changed(stage: Stage, model: Path) -> None:
    desk = stage.desk
    desk.begin_load(model)
    info = msgspec.structs.replace(model_info(desk.engine.load.path), gpu_layers=12)
    desk.engine.say(Loaded(desk.engine.load.request, info))
    desk.settle()
    ends(stage, figures())
    opens(stage)
    assert stage.reads("diagnosis_remedy") == "Put more layers on the GPU…"
    assert rows(stage)["Layers on the GPU"] == "12 of 31, the output layer counted"


def test_the_memory_is_measured_from_the_card_and_the_share_is_shown(slow: Stage) -> None:
    desk = slow.desk
    opens(slow)
    assert slow.reads("memory_speed_value") == "Main memory: – (not measured yet)"
    assert "2 seconds" in slow.find("memory_speed_button").property("hint")
    slow.clicks("memory_speed_button")
    assert slow.reads("memory_speed_button") == "Stop" and "being measured" in slow.reads("memory_speed_value")
    request = desk.engine.all(MeasureBandwidth)[-1].request
    desk.engine.say(BandwidthMeasured(request, (MemorySpeed("CPU", "A processor", "read", 8.0, 2),)))
    desk.settle()
    assert slow.reads("memory_speed_value") == "Main memory: 8.00 GB/s, read by 2 threads"
    assert slow.reads("memory_speed_button") == "Measure again"
    slow.bot.waitUntil(lambda: rows(slow).get("Memory traffic") == "5.0 of 8.0 GB/s: 62 %")
    slow.bot.waitUntil(lambda: slow.reads("traffic_value_beside") == "62 % of 8.00")


@pytest.mark.parametrize(("card", "row"), [("plan_why_details", "plan_why_memory"), ("time_why", "time_memory")])
def test_the_memory_is_measured_wherever_a_figure_asks_for_it(slow: Stage, card: str, row: str) -> None:
    desk = slow.desk
    if card == "time_why":
        opens(slow)
        slow.clicks("diagnosis_timeline")
    else:
        slow.triggers("planner_action")
    slow.settle()
    evidence = slow.find_as(DiagnosisDetails, card)
    assert "not measured yet" in dict(evidence.rows)["Memory traffic"]
    assert slow.reads(f"{row}_button") == "Measure" and slow.sees(f"{row}_button")
    slow.clicks(f"{row}_button")
    request = desk.engine.all(MeasureBandwidth)[-1].request
    desk.engine.say(BandwidthMeasured(request, (MemorySpeed("CPU", "A processor", "read", 8.0, 2),)))
    desk.settle()
    slow.bot.waitUntil(lambda: dict(evidence.rows).get("Memory traffic") == "5.0 of 8.0 GB/s: 62 %")


def test_while_an_answer_is_written_the_memory_is_not_measured(slow: Stage) -> None:
    opens(slow)
    assert slow.desk.program.chat.send("And then?")
    slow.settle()
    button = slow.find("memory_speed_button")
    assert not button.isEnabled() and "answer is being written" in button.property("hint")


def test_why_a_memory_could_not_be_measured_stands_under_it(slow: Stage) -> None:
    opens(slow)
    slow.clicks("memory_speed_button")
    request = slow.desk.engine.all(MeasureBandwidth)[-1].request
    why = translate("Test", "It is too full.")
    slow.desk.engine.say(BandwidthMeasured(request, (MemorySpeed("CPU", "", "read", None, 2, why),)))
    slow.desk.settle()
    assert slow.reads("memory_speed_problem") == "It is too full."
