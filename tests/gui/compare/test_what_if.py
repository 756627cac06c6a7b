from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QMenu

from app.core.sampling import SamplingSettings
from app.gui.compare.marks import StageMark, stage_marks
from app.gui.compare.stage_legend import StageLegend
from app.gui.compare.what_if_settings import WhatIfSettings
from app.gui.compare.what_if_strip import WhatIfStrip
from app.gui.compare.what_if_words import cut_words, token_state
from app.gui.widgets.boxes import NumberBox
from app.services.lane_analysis import LaneWhatIf, TextSpan, WhatIfToken
from tests.gui.compare.conftest import desk, model, stage
from tests.gui.compare.insight import COUNT, InsightStage, insight

__all__ = ["desk", "insight", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def found(insight: InsightStage) -> LaneWhatIf:
    insight.known()
    made = insight.desk.program.comparison_analysis.what_if
    assert made is not None
    return made


def sets(insight: InsightStage, name: str, value: float) -> LaneWhatIf:
    insight.stage.find_as(NumberBox, f"what_if_{name}_box").setValue(value)
    return found(insight)


def opened(insight: InsightStage, lane: int) -> LaneWhatIf:
    insight.stage.clicks("compare_what_if_tab")
    box = insight.stage.find_as(QComboBox, "what_if_lane_box")
    box.setCurrentIndex(box.findData(lane))
    return found(insight)


def test_a_lane_under_its_own_settings_would_have_been_the_same(insight: InsightStage) -> None:
    insight.asked().ran("a", "c")
    made = opened(insight, 1)
    assert made.cut == 0 and made.settings == insight.lead.asked.lanes[1]
    assert insight.reads("what_if_cuts").startswith(f"None of the {COUNT} tokens would have been cut")
    assert [mark for mark in insight.overlay(1).marks.stages if mark.is_certain] == []


def test_tokens_that_would_have_been_cut_are_counted_marked_and_named_by_stage(insight: InsightStage) -> None:
    insight.asked().ran("a", "e")
    before = opened(insight, 1)
    made = sets(insight, "top_k", 1)
    assert made.settings.top_k == 1 and made.cut > before.cut
    assert insight.reads("what_if_cuts").startswith(f"{made.cut} of {COUNT} tokens would have been cut.")
    said = insight.reads("what_if_likelihood")
    assert said.startswith("Under these settings the answer could not have been written.")
    assert (f"The {made.known} tokens that are left and known had" in said) == bool(made.known)
    marked = [mark.span for mark in insight.overlay(1).marks.stages if mark.is_certain]
    assert marked == [span for span, token in zip(made.spans, made.tokens, strict=True) if token.state == "cut"]
    assert {mark.stage for mark in insight.overlay(1).marks.stages} == {"top_k"}
    assert f"cut by top-k: {made.cuts['top_k']}" in insight.stage.find("what_if_legend").accessibleName()
    assert insight.overlay(0).marks.stages == ()
    insight.stage.clicks("compare_figures_tab")
    assert insight.overlay(1).marks.stages == ()


def test_what_the_record_does_not_say_is_never_called_a_cut(insight: InsightStage) -> None:
    insight.asked().ran("a", "c")
    opened(insight, 1)
    made = sets(insight, "temperature", 2.0)
    made = sets(insight, "top_k", 0)
    made = sets(insight, "min_p", 0.0)
    made = sets(insight, "top_p", 0.999)
    unsure = [number for number, token in enumerate(made.tokens) if token.state in ("unknown", "left")]
    certain = {mark.span for mark in insight.overlay(1).marks.stages if mark.is_certain}
    assert certain == {made.spans[number] for number, token in enumerate(made.tokens) if token.state == "cut"}
    strip = insight.stage.find_as(WhatIfStrip, "what_if_strip")
    strip.setFocus()
    for number in range(COUNT):
        said = strip.accessibleDescription()
        assert made.tokens[number].left.english().split(",")[0] in said
        assert (number in unsure) == ("not known" in said)
        QTest.keyClick(strip, Qt.Key.Key_Right)


def test_only_what_is_certain_is_marked_as_a_cut_and_how_much_is_unseen_is_said(insight: InsightStage) -> None:
    tokens = (
        WhatIfToken("known", 0.25, None, 4, is_exact=True, unseen=0.0),
        WhatIfToken("unknown", None, None, 3, is_exact=False, unseen=0.02),
        WhatIfToken("cut", 0.0, "top_p", 2, is_exact=True, unseen=0.0),
        WhatIfToken("left", None, None, 5, is_exact=False, unseen=0.5),
    )
    spans = tuple(TextSpan(number, number + 1) for number in range(4))
    made = LaneWhatIf(
        1, 0, SamplingSettings(), tokens, spans, cuts={"top_k": 0, "top_p": 1}, cut=1, unknown=1, known=1
    )
    marks = stage_marks(made)
    assert marks == (StageMark(spans[1], "", is_certain=False), StageMark(spans[2], "top_p", is_certain=True))
    said = [token_state(made, number, "abcd") for number in range(4)]
    assert said[0] == "Token 1 “a”: 25 % after the chain; 4 left to draw from"
    assert said[1].endswith("not known whether it would have been cut; at least 3 survive, 2 % unseen")
    assert said[2].startswith("Token 3 “c”: cut by top-p") and "at least 5 survive" in said[3]
    assert cut_words(made).startswith("1 of 4 tokens would have been cut. Of 1 the record does not say")
    legend = StageLegend(insight.stage.themes)
    legend.show_cuts(made.cuts, made.unknown)
    assert legend.accessibleName() == "cut by top-p: 1, not known: 1"


def test_where_greedy_would_have_left_it_is_said(insight: InsightStage) -> None:
    insight.asked().ran("a", "e")
    assert opened(insight, 0).greedy_leaves_at is None
    assert insight.reads("what_if_greedy") == "Greedy would have written the same answer."
    place = opened(insight, 1).greedy_leaves_at
    assert place is not None
    assert insight.reads("what_if_greedy") == f"Greedy would have left it at token {place + 1}."


def test_a_lane_is_replayed_under_every_setting_and_what_is_unfolded_comes_into_view(insight: InsightStage) -> None:
    insight.asked().ran("a", "c")
    before = opened(insight, 1)
    area = insight.stage.find_as(WhatIfSettings, "what_if_settings")
    height = area.height()
    QTest.keyClick(insight.stage.find("what_if_more_button"), Qt.Key.Key_Space)
    row = insight.stage.find("what_if_typical_p_box")
    much = 1.5 * height
    insight.stage.bot.waitUntil(lambda: area.height() > much, timeout=60_000)
    insight.stage.bot.waitUntil(lambda: row.visibleRegion().boundingRect() == row.rect(), timeout=60_000)
    strip, page = insight.stage.find("compare_strip"), insight.page._run_page
    insight.stage.bot.waitUntil(lambda: strip.visibleRegion().boundingRect().bottom() == strip.rect().bottom())
    assert strip.mapTo(page, strip.rect().bottomLeft()).y() <= page.height()
    for name, value in (("typical_p", 0.3), ("presence_penalty", 1.0), ("xtc_probability", 1.0), ("dry_base", 2.0)):
        after = sets(insight, name, value)
        assert getattr(after.settings, name) == value and after.problem is None
    assert [token.after for token in after.tokens] != [token.after for token in before.tokens]
    assert "What penalties, typical-p do" in insight.reads("what_if_exactness")
    assert insight.stage.find("what_if_more_button").accessibleName() == "More · 4 changed"


def test_as_it_was_takes_the_settings_back(insight: InsightStage) -> None:
    insight.asked().ran("a", "e")
    opened(insight, 1)
    assert not insight.stage.find("what_if_reset_button").isEnabled()
    sets(insight, "top_k", 3)
    insight.stage.clicks("what_if_reset_button")
    assert found(insight).settings == insight.lead.asked.lanes[1]
    assert not insight.stage.find("what_if_reset_button").isEnabled()


def test_the_menu_of_a_lane_leads_to_it(insight: InsightStage) -> None:
    insight.asked().ran("a", "c")
    menu = QMenu(insight.stage.window)
    insight.differences._add_to(menu, 1)
    next(action for action in menu.actions() if action.objectName() == "what_if_action").trigger()
    assert found(insight).lane == 1 and insight.is_there("what_if_panel")


def test_while_a_lane_is_written_it_cannot_be_replayed(insight: InsightStage) -> None:
    insight.asked().begun("a", "b").planned()
    insight.writes(0, "one")
    insight.stage.clicks("compare_what_if_tab")
    assert not insight.stage.find("what_if_lane_box").isEnabled()
    assert "has ended" in insight.reads("what_if_cuts")
