"""All settings that shape a draw can be moved for an answer, and what cannot be told exactly, or only in numbers, is said."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget

from app.core.sampling import BOUNDS, STAGES, SamplingSettings
from app.gui.compare.marks import UNLIKELY, Marks, what_if_marks
from app.gui.compare.what_if_strip import WhatIfStrip
from app.gui.compare.what_if_words import exactness_words, likelihood_words
from app.gui.widgets.boxes import NumberBox
from app.services.lane_analysis import LaneWhatIf, TextSpan, WhatIfToken
from app.services.turns import Turn
from tests.gui.compare.conftest import desk, model, stage
from tests.gui.compare.what_if_looker import USUAL, Looker, looker

__all__ = ["desk", "looker", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("typical_p", 0.2),
        ("frequency_penalty", 1.5),
        ("presence_penalty", 1.5),
        ("repeat_penalty", 1.8),
        ("dry_multiplier", 2.0),
        ("xtc_probability", 1.0),
    ],
)
def test_every_stage_can_be_moved_and_changes_the_answer(looker: Looker, name: str, value: float) -> None:
    looker.answers()
    before = looker.opens()
    fold = looker.find(QPushButton, "what_if_more_button")
    QTest.keyClick(fold, Qt.Key.Key_Space)
    assert looker.find(QWidget, "what_if_more").isVisibleTo(looker.dialog)
    if name == "dry_multiplier":
        looker.sets("dry_allowed_length", 1)
        looker.sets("dry_base", 4.0)
    if name == "xtc_probability":
        looker.sets("xtc_threshold", 0.02)
    made = looker.sets(name, value)
    assert getattr(made.settings, name) == value and made.problem is None
    if name != "dry_multiplier":  # nothing that was written repeats a sequence
        assert [token.after for token in made.tokens] != [token.after for token in before.tokens]
    if name != "repeat_penalty":
        assert fold.accessibleName().startswith("More · ")


def test_every_setting_that_shapes_a_draw_is_offered(looker: Looker) -> None:
    looker.answers().opens()
    offered = {name for name in BOUNDS if looker.dialog.findChild(NumberBox, f"what_if_{name}_box") is not None}
    assert offered == BOUNDS.keys() - {"max_tokens"}
    assert looker.dialog.findChild(QWidget, "what_if_dry_breakers_box") is not None
    names = {box.accessibleName() for box in looker.dialog.findChildren(NumberBox)}
    assert len(names) == len(offered) and "" not in names


def test_what_cannot_be_replayed_exactly_is_said_in_a_sentence(looker: Looker) -> None:
    looker.answers().opens()
    assert looker.reads("what_if_exactness") == ""
    looker.sets("presence_penalty", 1.0)
    assert looker.reads("what_if_exactness").startswith("What penalties do is worked out on the candidates")
    looker.sets("dry_multiplier", 1.0)
    assert looker.reads("what_if_exactness").startswith("What penalties, DRY do")
    assert looker.reads("what_if_exactness").count(".") == 1
    turn = Turn(1, "assistant")
    chance = msgspec.structs.replace(USUAL, xtc_probability=0.5)
    assert exactness_words(chance, turn, None).startswith("XTC: the seed was not kept")
    assert exactness_words(msgspec.structs.replace(chance, off=("xtc",)), turn, None).endswith("; off: XTC.")
    turn.seed = 3
    assert exactness_words(chance, turn, None) == ""
    hot = msgspec.structs.replace(USUAL, order=("temperature", *STAGES[:-1]))
    assert exactness_words(hot, turn, None).startswith("Order: temperature → penalties → DRY → top-k")


@pytest.mark.parametrize(
    ("log_probability", "tokens", "said"),
    [
        (-0.5, 2, "a probability of 61 % (log-probability −0.5); a token had −0.25 on average, which is 78 %."),
        (-46.0, 40, "a probability of 1.1 × 10⁻²⁰ (log-probability −46.0); a token had −1.15 on average"),
        (-23.0258509, 10, "a probability of 1.0 × 10⁻¹⁰ (log-probability −23.0)"),
        (-43.7521, 10, "a probability of 1.0 × 10⁻¹⁹ (log-probability"),
        (0.0, 3, "a probability of 100 % (log-probability 0.0); a token had 0.00 on average, which is 100 %."),
    ],
)
def test_the_probability_of_an_answer_is_said_however_small(log_probability: float, tokens: int, said: str) -> None:
    token = WhatIfToken("known", 0.5, None, 3, is_exact=True, unseen=0.0)
    found = LaneWhatIf(1, 0, USUAL, (token,) * tokens, known=tokens, log_probability=log_probability)
    assert said in likelihood_words(found)


def test_tokens_left_with_little_probability_are_marked_apart_from_cuts() -> None:
    tokens = tuple(
        WhatIfToken(state, after, stage, 3, is_exact=True, unseen=0.0)  # type: ignore[arg-type]
        for state, after, stage in (
            ("known", UNLIKELY, None),
            ("known", UNLIKELY / 2, None),
            ("cut", 0.0, "top_k"),
            ("left", None, None),
            ("unknown", None, None),
        )
    )
    spans = tuple(TextSpan(number, number + 1) for number in range(5))
    marks = what_if_marks(LaneWhatIf(1, 0, SamplingSettings(), tokens, spans, greedy_leaves_at=3))
    assert marks.unlikely == (spans[1],) and marks.greedy == spans[3]
    assert [(mark.span, mark.is_certain) for mark in marks.stages] == [(spans[2], True), (spans[4], False)]
    assert what_if_marks(LaneWhatIf(1, 0, SamplingSettings(), tokens, greedy_leaves_at=3)) == Marks()


def test_thousands_of_tokens_share_the_pixels_and_no_cut_is_lost_from_sight(looker: Looker) -> None:
    plain = WhatIfToken("known", 0.9, None, 3, is_exact=True, unseen=0.0)
    cut = WhatIfToken("cut", 0.0, "top_k", 3, is_exact=True, unseen=0.0)
    tokens = [plain] * 2_000
    tokens[1_002] = WhatIfToken("unknown", None, None, 3, is_exact=False, unseen=0.1)
    tokens[1_003] = cut
    strip = WhatIfStrip(looker.stage.themes, "stage_sampling")
    strip.resize(500, strip.height())
    strip.show_found(LaneWhatIf(1, 0, USUAL, tuple(tokens), cut=1), "")
    image = strip.grab().toImage()
    danger = looker.stage.themes.current.colour("danger").name()
    ratio = image.devicePixelRatio()
    columns = {
        int(x / ratio)
        for x in range(image.width())
        for y in range(image.height())
        if image.pixelColor(x, y).name() == danger
    }
    assert columns and all(abs(column - 1_003 / 4) <= 2 for column in columns)
    strip.deleteLater()
