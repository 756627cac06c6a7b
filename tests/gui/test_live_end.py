"""How an answer ended, what is shown of a chat that is opened again, and what is said of an answer in another chat."""

from __future__ import annotations

import pytest

from app.core.words import translate
from app.gui.widgets.paragraph import Paragraph
from app.gui.widgets.words import render
from app.planner.diagnosis import diagnose
from app.services.live import MOST_KEPT
from tests.fake_engine import metrics
from tests.gui.live_panel import PanelStage, live
from tests.planner.slow_writing import CASES

__all__ = ["live"]

LONGEST = (
    *(diagnose(case.metrics, case.circumstances).sentence for case in CASES.values()),
    translate("Test", "Reading 12,345 tokens (prefill) took 123.4 of 125.6 s; a shorter chat or a GPU helps."),
)


NARROW_PX = 241
"""Of the panel in a window of 900 pixels."""


def test_the_sentence_is_whole_with_and_without_details_and_nothing_moves_for_it(live: PanelStage) -> None:
    text = live.find_as(Paragraph, "diagnosis_text")
    for shown in (True, False):
        live.panel.show_details(shown)
        live.tokens(0, [100])
        before = live.needs_px()
        assert live.sees("diagnosis_text") and text.shown_lines == ()
        live.finish(metrics(201))
        assert " ".join(text.shown_lines) == live.reads("diagnosis_text")
        assert live.reads("diagnosis_text").startswith("Nothing stands out: first text after 0.1 s")
        assert live.hint("diagnosis_text").endswith("\nend of answer")
        assert live.needs_px() == before
        live.ask()
        live.settle()
        assert live.reads("diagnosis_text") == ""


@pytest.mark.parametrize("width", [241, 273])
def test_every_sentence_has_the_room_that_is_kept_for_it(live: PanelStage, width: int) -> None:
    live.panel.resize(width, live.panel.height())
    text = live.find_as(Paragraph, "diagnosis_text")
    assert text.width() == width
    for sentence in LONGEST:
        told = render(sentence)
        text.set_text(told)
        assert " ".join(text.shown_lines) == told


def test_an_answer_in_another_chat_is_one_quiet_line_with_its_rate(live: PanelStage) -> None:
    live.finish(metrics(201))
    chat, panel = live.desk.program.chat, live.panel
    assert chat.send("Blue sky")
    live.prompt(40)
    live.tokens(0, [100, 120, 140])
    assert not live.sees("elsewhere_text")
    panel.show_details(False)
    before = live.needs_px()
    live.desk.program.conversations.new()
    live.settle()
    assert live.sees("elsewhere_text")
    assert (live.reads("elsewhere_text"), live.reads("elsewhere_rate")) == (
        "Answering in another chat: Blue sky",
        "50.0 tok/s",
    )
    assert (live.reads("decode_rate_value"), live.reads("ttft_value")) == ("–", "–")
    assert live.reads("kv_value") == "50 / 4,096"
    assert live.hint("kv_value").endswith("It holds another chat now: Blue sky")
    assert live.hint("kv_gauge").endswith("It holds another chat now: Blue sky")
    assert live.needs_px() == before
    live.finish()
    assert not live.sees("elsewhere_text") and live.reads("stop_reason_value") == "–"


def test_the_line_on_another_chat_is_whole_and_the_sentence_of_this_one_comes_back(live: PanelStage) -> None:
    program, title = live.desk.program, "Give me a long list of words that begin with a"
    live.panel.setFixedWidth(NARROW_PX)
    live.finish()
    assert program.chat.send("One")
    live.desk.answer("a", "b")
    first = program.chat.conversation_id
    program.conversations.new()
    assert program.chat.send(title)
    live.tokens(0, [100, 120])
    program.conversations.open(first)
    live.settle()
    live.needs_px()
    line = live.find_as(Paragraph, "elsewhere_text")
    assert live.sees("elsewhere_text") and not live.sees("diagnosis_text")
    assert " ".join(line.shown_lines) == f"Answering in another chat: {title}"
    live.finish()
    assert not live.sees("elsewhere_text") and live.sees("diagnosis_text") and live.reads("diagnosis_text")


def test_a_chat_that_is_opened_again_shows_its_last_answer(live: PanelStage) -> None:
    program = live.desk.program
    live.finish()
    assert program.chat.send("Blue sky")
    live.desk.answer("a", "b")
    live.settle()
    first = program.chat.conversation_id
    seen = {name: live.reads(name) for name in ("ttft_value", "decode_rate_value", "prefill_rate_value")}
    said = live.reads("diagnosis_text"), live.reads("stop_reason_value")
    assert "–" not in (*seen.values(), *said)
    program.conversations.new()
    live.settle()
    assert {live.reads(name) for name in seen} == {"–"}
    assert live.reads("diagnosis_text") == "No figures: no answer has ended here yet."
    assert live.reads("stop_reason_value") == "–" and "unknown" in live.hint("stop_reason_value")
    program.conversations.open(first)
    live.settle()
    assert {name: live.reads(name) for name in seen} == seen
    assert (live.reads("diagnosis_text"), live.reads("stop_reason_value")) == said


def test_a_last_answer_that_was_cut_off_says_so(live: PanelStage) -> None:
    program = live.desk.program
    live.finish()
    assert program.chat.send("Blue sky")
    live.desk.answer("a", "b")
    assert program.chat.send("And then?")
    live.prompt(40)
    program.session.unload()
    live.settle()
    unknown = "The last answer was interrupted: its figures are not known."
    assert live.reads("diagnosis_text") == unknown
    assert "interrupted" in live.hint("stop_reason_value")
    program.conversations.new()
    live.settle()
    assert live.reads("diagnosis_text") == "No figures: no answer has ended here yet."


def test_what_was_seen_of_an_answer_that_was_cut_off_is_its_beginning(live: PanelStage) -> None:
    live.finish()
    assert live.desk.program.chat.send("Blue sky")
    live.tokens(0, [100, 120, 140])
    live.engine.die(live.engine.question.request)
    live.settle()
    assert live.reads("decode_rate_value") == "50.0 tok/s"
    said = "The last answer was interrupted: the figures are those of its beginning."
    assert live.reads("diagnosis_text") == said


def test_gaps_that_are_not_kept_any_more_are_explained(live: PanelStage) -> None:
    live.finish()
    assert live.desk.program.chat.send("Blue sky")
    live.prompt(40)
    live.finish()  # an answer whose tokens nobody followed, like one of an earlier day
    hint = live.hint("itl_chart")
    assert hint.endswith(f" The line itself is kept of the last {MOST_KEPT} answers, until Tokenlight ends.")
