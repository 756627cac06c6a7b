"""What stands beside a token is of that token: nothing of another can be chosen, nothing jumps, what is missing is said."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from app.core.commands import Generate
from app.core.events import Failed
from app.core.grammar import NOT_ALLOWED, Grammar
from app.gui.inside.token_card import TokenCard
from app.gui.inside.token_sentences import log_words
from app.services import token_insights
from app.services.inspection import TokenInsight
from tests.gui.inside.conftest import Inspector, desk, inspector, model, stage
from tests.gui.inside.test_going_on import CUT, choose_other

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
DIGITS = Grammar("gbnf", "root ::= [0-9]+")


def button(looker: Inspector) -> QPushButton:
    return looker.stage.find_as(QPushButton, "go_on_from_token")


def card(looker: Inspector) -> TokenCard:
    return looker.stage.find_as(TokenCard, "token_card")


def test_nothing_can_be_chosen_of_a_token_that_is_looked_at_no_more(inspector: Inspector) -> None:
    choose_other(inspector)
    asked = len(inspector.stage.engine.all(Generate))
    assert button(inspector).isEnabled()
    QTest.keyClick(inspector.flow, Qt.Key.Key_Right)  # and at once, before the job has answered:
    assert inspector.token == CUT + 1 and not button(inspector).isEnabled() and inspector.rows.chosen is None
    inspector.rows.setCurrentIndex(inspector.rows.rows.index(1))
    QTest.keyClick(inspector.rows, Qt.Key.Key_Return)
    inspector.stage.clicks("go_on_from_token")
    assert len(inspector.stage.engine.all(Generate)) == asked
    inspector.known()
    row = next(row for row, each in enumerate(inspector.rows.rows.rows) if not each.is_taken)
    inspector.rows.setCurrentIndex(inspector.rows.rows.index(row))
    assert button(inspector).isEnabled()
    inspector.stage.clicks("go_on_from_token")
    inspector.stage.settle()
    assert inspector.stage.engine.question.first_token == CUT + 1


def test_a_choice_stays_where_more_becomes_known_of_the_same_token(inspector: Inspector) -> None:
    token = choose_other(inspector)
    insight = inspector.service.insight
    assert insight is not None
    renamed = tuple(msgspec.structs.replace(each, text=f"{each.text}!") for each in insight.alternatives)
    inspector.service._take_insight(msgspec.structs.replace(insight, alternatives=renamed))
    chosen = inspector.rows.chosen
    assert chosen is not None and chosen.token == token and (chosen.text or "").endswith("!")
    assert button(inspector).text().endswith("!”")


def test_what_could_not_be_worked_out_is_said_where_it_would_stand(
    inspector: Inspector, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    inspector.answers()
    with monkeypatch.context() as broken:
        broken.setattr(token_insights, "inspected", lambda _inputs: 1 // 0)
        inspector.opens()
        assert "could not be worked out" in inspector.reads("inside_remark") and inspector.stage.sees("inside_remark")
        assert not inspector.stage.sees("inside_record_button")
    inspector.stage.clicks("inside_to_chat")
    inspector.opens()
    assert not inspector.stage.sees("inside_remark")
    inspector.clicks(3)
    with monkeypatch.context() as broken:
        broken.setattr(token_insights, "insight", lambda _inputs, _token: 1 // 0)
        inspector.presses("Right")
        assert "look at another token" in inspector.reads("alternatives_hint")
        assert not inspector.stage.sees("alternatives_list") and not inspector.rows.rows.rows
    inspector.presses("Right")
    assert inspector.stage.sees("alternatives_list") and not inspector.stage.sees("alternatives_hint")
    assert {record.name for record in caplog.records} == {"app.system.jobs"}
    caplog.clear()


def test_a_token_that_the_grammar_of_today_forbids_is_refused_where_one_stands_and_not_offered_again(
    inspector: Inspector,
) -> None:
    token = choose_other(inspector)
    first, place = inspector.turns[-1], inspector.service.token
    inspector.stage.desk.program.sampling.change(grammar=DIGITS)
    assert "may forbid" in inspector.reads("alternatives_hint") and "Switch the grammar off" in button(
        inspector
    ).toolTip().replace("<br>", " ")
    inspector.stage.clicks("go_on_from_token")
    inspector.stage.settle()
    inspector.stage.engine.say(Failed(inspector.stage.engine.question.request, "wrong_use", NOT_ALLOWED))
    inspector.stage.settle()
    inspector.known()
    assert inspector.service.turn is first and inspector.service.token == place
    row = next(row for row, each in enumerate(inspector.rows.rows.rows) if each.token == token)
    inspector.rows.setCurrentIndex(inspector.rows.rows.index(row))
    assert not button(inspector).isEnabled() and "does not allow this token" in button(inspector).toolTip()
    assert "cut by grammar" in inspector.rows.rows.sentence(row)
    inspector.stage.desk.program.sampling.change(grammar=None)
    assert button(inspector).isEnabled() and "cut by grammar" not in inspector.rows.rows.sentence(row)


@pytest.mark.parametrize("token", [2, None])
def test_who_looks_elsewhere_is_not_fetched_back_where_nothing_comes_of_it(
    inspector: Inspector, token: int | None
) -> None:
    inspector.answers(question="And before?")
    before = inspector.turns[-1]
    choose_other(inspector)
    inspector.stage.clicks("go_on_from_token")
    inspector.stage.settle()
    inspector.service.open(before, token)
    inspector.stage.engine.say(Failed(inspector.stage.engine.question.request, "wrong_use", NOT_ALLOWED))
    inspector.stage.settle()
    inspector.known()
    assert inspector.service.turn is before and inspector.service.token == token


def test_what_stands_beside_and_below_does_not_move_with_what_the_card_says(
    inspector: Inspector, monkeypatch: pytest.MonkeyPatch
) -> None:
    inspector.stage.window.resize(1280, 700)
    inspector.answers()
    inspector.opens()
    inspector.stage.bot.waitUntil(lambda: inspector.stage.window.findChild(QWidget, "laboratory") is not None)
    answer = inspector.service.answer
    assert answer is not None
    lacking = {name: (*getattr(answer, name)[:5], None, *getattr(answer, name)[6:]) for name in _FIGURES}
    inspector.service._answer = msgspec.structs.replace(answer, **lacking)
    work = token_insights.insight
    monkeypatch.setattr(
        token_insights,
        "insight",
        lambda inputs, token: TokenInsight(answer.message, 5) if token == 5 else work(inputs, token),
    )
    seen = []
    for token in (3, 5, 3):
        inspector.clicks(token)
        inspector.stage.settle()
        beside = card(inspector)
        wants = (beside.sizeHint(), beside.minimumSizeHint(), beside.hasHeightForWidth())
        seen.append((inspector.flow.geometry(), *wants))
        assert ("Nothing was recorded" in inspector.reads("alternatives_hint")) == (token == 5)
    assert seen[0] == seen[1] == seen[2] and not seen[0][-1], "words that wrap would ask for more"


_FIGURES = ("log_probabilities", "after", "ranks", "entropies")


def test_each_figure_says_what_it_means(inspector: Inspector) -> None:
    inspector.answers()
    inspector.opens()
    inspector.clicks(3)
    means = {"probability": "softmax", "log": "logit", "after": "chain", "rank": "likeliest", "entropy": "nat"}
    for name, word in means.items():
        value = inspector.stage.find_as(QLabel, f"token_{name}_value")
        assert word in value.toolTip() and word in value.accessibleDescription(), name
    hinted = [each for each in card(inspector).findChildren(QLabel) if each.text() in ("raw", "after the chain")]
    assert len(hinted) == 2 and all(each.toolTip() and each.accessibleDescription() for each in hinted)


@pytest.mark.parametrize(
    ("value", "said"),
    [(None, "–"), (0.0, "0.000"), (-0.0, "0.000"), (-0.00003, "0.000"), (-0.0004, "-0.0004"), (-1.5, "-1.500")],
)
def test_a_logarithm_is_never_less_than_nothing_of_nothing(value: float | None, said: str) -> None:
    assert log_words(value) == said
