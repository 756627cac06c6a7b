from __future__ import annotations

import pytest

from app.gui.chat import footer
from app.gui.widgets.gauge import Gauge
from tests.gui.conftest import Stage


def reads_soon(stage: Stage, name: str, text: str) -> None:
    stage.bot.waitUntil(lambda: stage.reads(name) == text, timeout=60_000)


def test_the_figures_of_an_answer_are_shown_when_it_has_ended(ready: Stage) -> None:
    ready.sends("Hi")
    ready.desk.answer("Hello", " there")
    reads_soon(ready, "decode_rate_value", "77.6 tok/s")
    assert ready.reads("prefill_rate_value") == "131 tok/s"
    assert ready.reads("kv_value") == "42 / 4,096"
    assert ready.reads("stop_reason_value") == "end of answer"
    assert ready.find_as(Gauge, "kv_gauge").share == pytest.approx(42 / 4096)


def test_what_is_unknown_is_a_dash_with_a_reason(ready: Stage) -> None:
    ready.sends("Hi")
    ready.engine.prompt(20, 12)
    ready.settle()
    reads_soon(ready, "kv_value", "20 / 4,096")
    for name in ("ttft_value", "prefill_rate_value", "decode_rate_value", "stop_reason_value"):
        assert ready.reads(name) == "–"
        row = ready.find(name).parentWidget()
        assert row is not None
        assert row.toolTip()


def test_the_first_token_is_timed_to_its_painting(ready: Stage) -> None:
    ready.sends("Hi")
    ready.engine.write("Hello")
    ready.settle()
    ready.bot.waitUntil(lambda: ready.reads("ttft_value") != "–", timeout=60_000)
    ready.engine.finish()
    ready.settle()
    assert ready.desk.program.chat.turns[1].ttft_ms == ready.desk.program.live.figures.ttft_ms
    assert ready.desk.program.live.figures.ttft_ms != 112.4


def test_the_panel_and_the_line_under_an_answer_name_things_alike(ready: Stage) -> None:
    ready.sends("Hi")
    ready.engine.write("Half")
    ready.engine.finish("cancelled")
    ready.settle()
    reads_soon(ready, "stop_reason_value", "stopped by you")
    said = footer.line(ready.desk.program.chat.turns[1])
    assert "stopped by you" in said.split(" · ")
    assert "TTFT " in said
    row = ready.find("ttft_value").parentWidget()
    assert row is not None
    assert ready.reads("ttft_value_title") == "TTFT"
    assert str(row.property("hint")).startswith("Time to first token")


def test_the_figures_are_those_of_the_chat_that_is_shown(ready: Stage) -> None:
    ready.sends("Blue sky")
    ready.desk.answer("Hello", " there")
    reads_soon(ready, "stop_reason_value", "end of answer")
    first = ready.desk.program.chat.conversation_id
    ready.triggers("new_chat_action")
    reads_soon(ready, "stop_reason_value", "–")
    assert (ready.reads("decode_rate_value"), ready.reads("ttft_value")) == ("–", "–")
    ready.desk.program.conversations.open(first)
    ready.settle()
    reads_soon(ready, "decode_rate_value", "77.6 tok/s")
    assert ready.reads("diagnosis_text") == "Too few tokens to tell where the time went: 2 in 0.1 s. See why."


def test_a_pinned_panel_is_remembered(ready: Stage) -> None:
    ready.window.resize(960, 600)
    ready.clicks("panel_button")
    assert ready.sees("side_panel")
    ready.window.close()
    assert ready.desk.program.settings.values.panel_pinned
