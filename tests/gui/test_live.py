"""What the live panel shows of an answer, from the first token to the sentence on where the time went."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.core.chat import PromptSpan
from app.core.metrics import TtftParts
from app.gui.charts.gap_chart import GapChart
from app.gui.widgets.figure_row import FigureRow
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.gauge import Gauge
from tests.desk import Desk
from tests.fake_engine import CONTEXT, metrics
from tests.gui.live_panel import MARGIN_PX, WIDTH_PX, PanelStage, live

__all__ = ["live"]

SPANS = (
    PromptSpan(0, 10, "template", -1),
    PromptSpan(10, 30, "system", 0),
    PromptSpan(30, 2030, "history", 1),
    PromptSpan(2030, 2050, "prompt", 2),
)


def test_the_time_to_the_first_token_has_its_parts_in_colours_and_in_words(live: PanelStage) -> None:
    assert (live.reads("ttft_value"), live.find_as(Gauge, "ttft_bar").segments) == ("–", ())
    live.tokens(0, [100])
    live.live.first_text_painted(None, live.engine.question.sent_ns + 115_400_000)
    parts = TtftParts(0.1, 0.8, 96.0, 12.0, 0.0, save=0.4)
    live.finish(msgspec.structs.replace(metrics(3), ttft_parts_ms=parts))
    assert live.reads("ttft_value") == "115 ms"
    assert live.reads("ttft_value_beside") == "prefill 96 ms"
    legend = "TTFT 115 ms: save 0.0, queue 0.1, tokens 0.8, prefill 96, first sample 12, held back 0.0, paint 3.0"
    assert live.names("ttft_bar") == live.hint("ttft_bar") == legend
    segments = live.find_as(Gauge, "ttft_bar").segments
    look = live.themes.current
    colours = [segment.colour.name() for segment in segments]
    for token in ("stage_tokens", "stage_prefill", "stage_sampling"):
        assert look.colour(token).name() in colours
    assert sum(segment.share for segment in segments) == pytest.approx(1.0)


def test_the_decode_rate_is_that_of_now_with_the_mean_beside_it(live: PanelStage) -> None:
    live.tokens(0, [0, 100, 200, 300])
    live.tokens(4, [320 + 20 * number for number in range(100)])
    assert live.reads("decode_rate_value") == "50.0 tok/s"
    assert live.reads("decode_rate_value_beside") == "mean 44.8"
    live.finish()
    assert (live.reads("decode_rate_value"), live.reads("decode_rate_value_beside")) == ("77.6 tok/s", "")
    assert live.names("decode_rate_value") == "Decode: 77.6 tok/s"


def test_the_gaps_between_tokens_are_drawn_and_told(live: PanelStage) -> None:
    chart = live.find_as(GapChart, "itl_chart")
    assert chart.gaps == () and "unknown" in chart.accessibleName()
    live.tokens(0, [100])
    live.tokens(1, [110, 120, 130])
    assert chart.gaps == pytest.approx((10.0, 10.0, 10.0))
    told = "Time between neighbouring tokens, over the last 3: p50 10.0 ms, p95 10.0 ms"
    assert chart.accessibleName() == told
    assert live.hint("itl_chart").startswith(f"{told}\nHow evenly the answer flows.")
    live.finish()
    assert chart.accessibleName() == "Time between neighbouring tokens: p50 13.0 ms, p95 15.0 ms, p99 19.0 ms"


def test_the_prefill_says_how_much_came_from_the_cache(live: PanelStage) -> None:
    live.prompt(40, 12)
    assert live.reads("prefill_reused") == "12 of 40 from cache"
    live.finish()
    assert live.reads("prefill_rate_value") == "131 tok/s"


def test_too_short_a_prefill_is_a_dash_with_its_reason(live: PanelStage) -> None:
    live.prompt(20, 12)
    live.finish(metrics(3, 20, 12))
    assert live.reads("prefill_rate_value") == "–"
    assert live.hint("prefill_rate_value").endswith("below 16 it cannot be told how fast.")


def test_the_speed_of_an_answer_in_parts_is_a_dash_with_its_reason(live: PanelStage) -> None:
    live.prompt(40, 12)
    live.finish(msgspec.structs.replace(metrics(3), decode_tokens_per_s=None))
    assert live.reads("decode_rate_value") == "–" and "in parts" in live.hint("decode_rate_value")
    assert "in parts" in live.reads("diagnosis_text")


def test_every_unknown_figure_is_a_dash_with_a_reason(live: PanelStage) -> None:
    live.prompt(20, 12)
    for name in ("ttft", "prefill_rate", "decode_rate", "traffic", "stop_reason"):
        assert live.reads(f"{name}_value") == "–"
        assert "unknown" in live.hint(f"{name}_value").lower()


def test_the_cache_shows_its_parts(live: PanelStage) -> None:
    live.prompt(2060, 12, SPANS)
    live.tokens(0, [100, 110], used=2062)
    assert live.reads("kv_value") == "2,062 / 4,096"
    told = "chat template 20, system 20, history 2,000, prompt 20, answer 2, free 2,034"
    assert live.names("kv_gauge") == live.hint("kv_gauge") == f"KV cache: 2,062 of 4,096 tokens. {told}"
    assert live.reads("kv_bytes") == "45.3 MiB of 90.0 MiB reserved"
    gauge = live.find_as(Gauge, "kv_gauge")
    assert [segment.share * CONTEXT for segment in gauge.segments] == pytest.approx([20, 20, 2000, 20, 2])
    assert len({segment.colour.name() for segment in gauge.segments}) == 5
    assert "does not grow while the model writes" in live.hint("kv_value")


@pytest.mark.parametrize(
    ("used", "word", "token"),
    [
        (3276, "", "stage_kv"),
        (3277, "filling up", "amber"),
        (3891, "filling up", "amber"),
        (3892, "nearly full", "red"),
        (4096, "nearly full", "red"),
    ],
)
def test_a_cache_that_fills_says_so_in_words_and_colour(live: PanelStage, used: int, word: str, token: str) -> None:
    live.prompt(2000, 0, (PromptSpan(0, 2000, "history", 0),))
    live.finish(metrics(used - 2000, 2000, 0), used=used)
    assert live.reads("kv_value_beside") == word
    assert live.names("kv_gauge").endswith(f". {word}" if word else f"free {CONTEXT - used:,}")
    first = live.find_as(Gauge, "kv_gauge").segments[0]
    assert first.colour.name() == live.themes.current.colour(token).name()


def test_an_unloaded_model_leaves_nothing_in_the_cache(live: PanelStage) -> None:
    live.prompt(40)
    live.finish()
    live.desk.program.session.unload()
    live.settle()
    assert live.reads("kv_value") == "–"
    assert live.find_as(Gauge, "kv_gauge").share == 0
    assert live.reads("kv_bytes") == "no model loaded, nothing reserved"
    assert live.reads("computing_value") == "–"


def test_the_traffic_has_its_formula_on_hover(live: PanelStage) -> None:
    live.finish()
    assert live.reads("traffic_value") == "7.60 GB/s"
    assert "× tokens per second" in live.hint("traffic_value")
    assert live.reads("traffic_value_beside") == "" and "is not measured" in live.hint("traffic_value")


def test_the_traffic_is_a_share_of_what_the_memory_was_measured_to_give(live: PanelStage) -> None:
    live.finish()
    live.live.witness.ceiling = lambda _model: 20.0
    live.ask()
    live.tokens(0, [100, 120, 140])
    assert live.reads("traffic_value_beside") == "25 % of 20.0"
    live.finish(metrics(201))
    assert (live.reads("traffic_value"), live.reads("traffic_value_beside")) == ("7.60 GB/s", "38 % of 20.0")
    beside = live.find_as(FixedText, "traffic_value_beside")
    assert beside.shown == "38 % of 20.0", "there is room for it"
    assert "At most 20.0 GB/s" in live.hint("traffic_value")


def test_the_end_says_why_and_where_the_time_went(live: PanelStage) -> None:
    live.tokens(0, [100])
    assert live.reads("diagnosis_text") == ""
    live.finish(metrics(201))
    assert live.reads("stop_reason_value") == "end of answer"
    assert live.reads("diagnosis_text").startswith("Nothing stands out: first text after")
    live.ask()
    live.settle()
    assert (live.reads("stop_reason_value"), live.reads("diagnosis_text")) == ("–", "")


def test_nothing_moves_while_an_answer_is_written(live: PanelStage) -> None:
    names = ("decode_rate_value", "kv_value", "kv_gauge", "traffic_value", "stop_reason_value", "diagnosis_text")

    def places() -> list[tuple[int, int]]:
        tops = [live.find(name).mapTo(live.panel, live.find(name).rect().topRight()) for name in names]
        return [(top.x(), top.y()) for top in tops]

    live.prompt(900, 0, SPANS)
    live.tokens(0, [100, 110], used=902)
    before = places()
    for number in range(2, 40):
        live.tokens(number, [100 + 13 * number], used=902 + 50 * number)
    assert places() == before


def test_everything_is_within_the_column(live: PanelStage) -> None:
    live.prompt(2060, 12, SPANS)
    live.tokens(0, [100, 110], used=2062)
    live.finish(metrics(2001))

    def outside() -> list[str]:
        widgets = [each for each in live.panel.findChildren(QWidget) if each.isVisible()]
        lefts = [(each, each.mapTo(live.column, each.rect().topLeft()).x()) for each in widgets]
        right = WIDTH_PX - MARGIN_PX
        return [each.objectName() for each, left in lefts if left < MARGIN_PX or left + each.width() > right]

    live.bot.waitUntil(lambda: outside() == [], timeout=60_000)
    for text in live.panel.findChildren(FixedText):
        assert text.fontMetrics().horizontalAdvance(text.property("text")) <= text.width(), text.objectName()


def test_an_answer_that_is_over_leaves_no_timer(live: PanelStage) -> None:
    live.tokens(0, [100])
    live.finish()
    assert live.timers() == 0


def test_a_hidden_panel_rests_and_catches_up_when_it_is_seen(live: PanelStage) -> None:
    live.window.hide()
    live.prompt(40, 12)
    live.desk.settle()
    assert live.timers() == 0 and live.reads("kv_value") == "0 / 4,096"
    live.window.show()
    assert live.reads("kv_value") == "40 / 4,096"


def test_the_machine_is_sampled_only_while_somebody_can_see_it(desk: Desk, qtbot: QtBot, qapp: QApplication) -> None:
    stage = PanelStage(desk, qtbot, qapp)
    assert stage.sampler.watched == []
    stage.show()
    assert stage.sampler.watched == [True]
    stage.panel.hide()
    assert stage.sampler.watched == [True, False]
    stage.panel.show()
    stage.panel.disconnect_services()
    stage.window.hide()
    assert stage.sampler.watched == [True, False, True, False]
    qapp.setStyleSheet("")


def test_both_themes_give_every_bar_its_colours(live: PanelStage) -> None:
    live.prompt(2060, 12, SPANS)
    seen = set()
    for name in ("light", "dark"):
        live.themes.choose(name)
        seen.add(live.find_as(Gauge, "kv_gauge").segments[2].colour.name())
        assert live.themes.current.colour("stage_kv").name() in seen
    assert len(seen) == 2


def shown_names(stage: PanelStage) -> set[str]:
    return {each.objectName() for each in stage.panel.findChildren(QWidget) if each.isVisible() and each.objectName()}


FIVE = ("ttft_value", "decode_rate_value", "prefill_rate_value", "kv_value", "vram_value")


def test_without_details_five_figures_and_their_bars_are_left(live: PanelStage) -> None:
    live.prompt(2060, 12, SPANS)
    live.sample()
    live.tokens(0, [100, 110], used=2062)
    with_details = live.needs_px()
    live.panel.show_details(False)
    bars = {"ttft_bar", "itl_chart", "kv_gauge", "vram_gauge"}
    beside = {f"{name}_beside" for name in FIVE}
    titles = {f"{name}_title" for name in FIVE}
    assert shown_names(live) - beside - titles == {*FIVE, *bars, "diagnosis_text"}
    assert live.reads("kv_value") == "2,062 / 4,096"
    assert "chat template 20, system 20" in live.hint("kv_gauge")
    assert live.needs_px() < 0.55 * with_details
    live.panel.show_details(True)
    assert live.sees("kv_bytes") and live.sees("prefill_reused") and live.sees("diagnosis_text")
    assert live.needs_px() == with_details


def test_without_details_each_figure_is_one_low_line(live: PanelStage) -> None:
    live.prompt(2060, 12, SPANS)
    live.sample()
    live.panel.show_details(False)
    live.needs_px()
    rows = [live.find(name).parentWidget() for name in FIVE]
    assert all(row is not None and row.sizeHint().height() <= 26 for row in rows)
    assert {live.find(name).height() for name in ("ttft_bar", "kv_gauge", "vram_gauge")} <= {6, 7, 8}


def test_the_gaps_can_be_read_without_details_too(live: PanelStage) -> None:
    live.tokens(0, [100])
    live.tokens(1, [110, 120, 130])
    chart = live.find_as(GapChart, "itl_chart")
    live.panel.show_details(False)
    assert live.sees("itl_chart") and chart.height() >= 30
    assert chart.accessibleName() == "Time between neighbouring tokens, over the last 3: p50 10.0 ms, p95 10.0 ms"


def test_titles_are_words_beside_their_icons(live: PanelStage) -> None:
    for name, title in (("ttft", "TTFT"), ("decode_rate", "Decode"), ("prefill_rate", "Prefill"), ("kv", "KV cache")):
        assert live.reads(f"{name}_value_title") == title


def test_a_title_gives_way_before_a_value_is_cut(live: PanelStage) -> None:
    row = live.find("vram_value").parentWidget()
    assert isinstance(row, FigureRow)
    row.show_title("A GPU with a very long name of its own and of its maker")
    row.show_value("124.0 / 256 GiB", "")
    assert row.minimumSizeHint().width() <= 200


def test_in_a_narrow_panel_a_quiet_figure_is_whole_or_gone_and_a_title_is_whole(live: PanelStage) -> None:
    live.panel.setFixedWidth(241)
    live.sample()
    live.needs_px()
    title, value = live.find_as(FixedText, "vram_value_title"), live.find_as(FixedText, "vram_value")
    assert (title.shown, value.shown.replace("\u00a0", " ")) == ("Main memory", "4.0 / 16 GiB")
    beside = live.find_as(FixedText, "ttft_value_beside")
    for words, shown in (("paint 3.0 ms", "paint 3.0 ms"), ("queue and tokens 377 ms", "")):
        beside.set_text(words)
        assert beside.shown == shown
    row = title.parentWidget()
    assert isinstance(row, FigureRow)
    row.show_value("124.0 / 256.0 GiB", "")
    live.needs_px()
    assert title.shown == "Memory"


def test_what_is_said_of_the_gaps_follows_with_every_fifth_picture(live: PanelStage) -> None:
    chart = live.find_as(GapChart, "itl_chart")
    live.tokens(0, [100])
    told = []
    for picture in range(1, 13):
        live.tokens(picture, [100 + 10 * picture])
        told.append(chart.accessibleName())
    changes = [number for number in range(1, 12) if told[number] != told[number - 1]]
    assert "over the last 1:" in told[0] and changes == [5, 10]
