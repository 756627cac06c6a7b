"""The tokens of the prompt as chips: what each belongs to, keys and clicks, and what is said where it was not kept."""

from __future__ import annotations

import sqlite3
from array import array
from contextlib import closing
from typing import Literal

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.core.chat import PromptSpan
from app.core.conversation import AnswerPrompt
from app.core.events import PrefillProgress, PromptReady
from app.core.store_commands import KeepPrompt
from app.gui.inside.prompt_chips import LAID_AT_ONCE, PromptChips
from app.gui.theme import Themes
from app.services.inspection import InspectedPrompt, TokenKind
from app.services.scored_prompt import columns_of
from app.services.token_insights import with_texts
from app.store.opening import FILE_NAME
from tests.gui.conftest import Stage
from tests.gui.inside.conftest import COUNT, Inspector, desk, inspector, model, stage

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")

IDS = (1, 50, 34, 60, 61, 2, 34, 1, 51, 34, 70, 71, 72, 34, 2)
SPANS = (
    PromptSpan(0, 3, "template", -1),
    PromptSpan(3, 5, "system", 0),
    PromptSpan(5, 10, "template", -1),
    PromptSpan(10, 14, "prompt", 1),
    PromptSpan(14, 15, "template", -1),
)


def keep(looker: Inspector) -> None:
    """Have the answer that is there be written behind another prompt, as the store has it."""
    prompt = AnswerPrompt(looker.turns[-1].message, array("i", IDS).tobytes(), SPANS)
    looker.stage.desk.store.send(KeepPrompt(prompt))


def opened(looker: Inspector) -> InspectedPrompt:
    looker.answers()
    keep(looker)
    looker.opens()
    looker.stage.clicks("inside_prompt_tab")
    prompt = looker.chips.prompt
    assert prompt is not None and looker.page.part == "prompt"
    return prompt


def test_each_token_is_a_chip_with_its_id_and_what_it_belongs_to(inspector: Inspector) -> None:
    prompt = opened(inspector)
    assert prompt.ids == IDS
    runs: tuple[tuple[TokenKind, int], ...] = (
        ("template", 3),
        ("system", 2),
        ("template", 5),
        ("asked", 4),
        ("template", 1),
    )
    assert prompt.kinds == tuple(kind for kind, length in runs for _ in range(length))
    assert inspector.reads("prompt_about") == "The whole prompt, 15 tokens: chat template 9 · system 2 · prompt 4"
    assert inspector.stage.find("prompt_legend").accessibleName() == "chat template · system · prompt"
    tops = [inspector.chips.place_of(token).top() for token in range(len(IDS))]
    assert tops[2] < tops[3] and tops[6] < tops[7] and tops[3] == tops[4], "a line end ends the row"


def test_a_click_and_keys_go_from_token_to_token(inspector: Inspector) -> None:
    opened(inspector)
    chips = inspector.chips
    place: QPoint = chips.place_of(4).center().toPoint()
    QTest.mouseClick(chips.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert chips.current == 4
    assert inspector.reads("prompt_token") == "Token 5 of 15 of the whole prompt: “␣w61”, id 61, system"
    assert chips.accessibleName() == inspector.reads("prompt_token")
    for keys, expected in (("Right", 5), ("Left", 4), ("Home", 0), ("End", 14), ("Up", 10), ("PgUp", 0)):
        QTest.keyClick(chips, getattr(Qt.Key, f"Key_{ {'PgUp': 'PageUp'}.get(keys, keys) }"))
        assert chips.current == expected, keys


@pytest.mark.parametrize(("part", "kind"), [("history", "answer"), ("thinking", "thinking")])
def test_control_tokens_and_the_beginning_are_told_by_what_they_are(
    part: Literal["history", "thinking"], kind: TokenKind
) -> None:
    spans = (PromptSpan(0, 3, "template", -1), PromptSpan(3, 4, "history", 0), PromptSpan(4, 5, part, 1))
    texts = ("<s>", "<|im_start|>", "<b>", "<b>", "<b>")

    class Pieces:
        def text(self, token: int) -> str:
            return texts[token]

    asked = InspectedPrompt(1, (0, 1, 2, 3, 4), (), spans, written=(1,), begin_token=0)
    made = with_texts(asked, Pieces())  # type: ignore[arg-type]
    assert made is not None and made.begins
    assert made.kinds == ("special", "special", "special", "question", kind), "people's text never is one"


def test_who_knows_more_of_the_tokens_colours_them(inspector: Inspector) -> None:
    opened(inspector)
    before = inspector.chips.viewport().grab().toImage()
    inspector.chips.colour([5] * len(IDS), "probability")
    assert inspector.chips.viewport().grab().toImage() != before


def test_the_legend_explains_no_grounds_that_the_colours_took(inspector: Inspector) -> None:
    opened(inspector)
    part, legend = inspector.page.prompt_part, inspector.stage.find("prompt_legend")
    before = legend.grab().toImage()
    prompt = inspector.chips.prompt
    assert prompt is not None
    part._scored = columns_of(prompt, None)
    part.colour_by("rank")
    assert legend.grab().toImage() != before
    part.colour_by("none")
    assert legend.grab().toImage() == before


def test_the_counts_of_the_answer_and_of_its_prompt_say_what_they_count(inspector: Inspector) -> None:
    opened(inspector)
    assert inspector.reads("prompt_about").startswith(f"The whole prompt, {len(IDS)} tokens: ")
    assert f"answer of {COUNT} tokens" in inspector.page.head.about.text()


def test_a_prompt_that_was_not_kept_is_said_to_be_so(inspector: Inspector) -> None:
    inspector.answers()
    with closing(sqlite3.connect(inspector.stage.desk.program.paths.data / FILE_NAME)) as chats, chats:
        assert chats.execute("DELETE FROM answer_prompt").rowcount == 1
    inspector.opens()
    inspector.stage.clicks("inside_prompt_tab")
    assert inspector.service.answer is not None and inspector.service.prompt is None
    assert inspector.reads("prompt_about") == "The prompt of this answer was not kept."
    assert not inspector.stage.sees("prompt_chips")


@pytest.mark.parametrize("look", ["light", "dark"])
def test_chips_are_painted_in_the_colours_of_the_theme(inspector: Inspector, look: str) -> None:
    themes: Themes = inspector.stage.themes
    opened(inspector)
    themes.choose("light" if look == "light" else "dark")
    picture = inspector.chips.viewport().grab().toImage()
    ratio = picture.devicePixelRatio()
    point = inspector.chips.place_of(3).center().toPoint() * ratio
    seen = picture.pixelColor(round(point.x()), round(inspector.chips.place_of(3).top() + 4))
    assert seen == themes.current.colour("hint_surface")


_KINDS: tuple[TokenKind, ...] = ("question",)


def long_prompt(count: int, message: int = 1) -> InspectedPrompt:
    texts = tuple(f" word{token % 700}" + ("\n" if token % 90 == 0 else "") for token in range(count))
    return InspectedPrompt(message, tuple(range(count)), texts, (), _KINDS * count)


def test_a_long_prompt_is_laid_out_in_parts_and_only_while_it_is_seen(stage: Stage) -> None:
    chips, count = PromptChips(stage.themes), 4 * LAID_AT_ONCE + 7
    stage.bot.addWidget(chips)
    chips.resize(700, 400)
    chips.show_prompt(long_prompt(count))
    assert len(chips._layout) == 0, "nobody looks"
    chips.show()
    assert len(chips._layout) == LAID_AT_ONCE
    stage.bot.waitUntil(lambda: len(chips._layout) == count)
    assert not chips._rest.isActive()
    most, last = chips.verticalScrollBar().maximum(), chips.place_of(count - 1)
    chips.verticalScrollBar().setValue(most)
    chips.resize(710, 400)
    assert len(chips._layout) == LAID_AT_ONCE and chips.verticalScrollBar().value() == most, "one stays where one was"
    chips.resize(700, 400)
    stage.bot.waitUntil(lambda: len(chips._layout) == count)
    assert chips.verticalScrollBar().maximum() == most
    assert chips.place_of(count - 1) == last.translated(0, -most)
    chips.hide()
    chips.show_prompt(long_prompt(2 * count, message=2))
    assert len(chips._layout) == 0 and not chips._rest.isActive()


def test_a_token_that_is_not_laid_out_yet_can_be_gone_to(stage: Stage) -> None:
    chips, count = PromptChips(stage.themes), 3 * LAID_AT_ONCE
    stage.bot.addWidget(chips)
    chips.resize(700, 400)
    chips.show()
    chips.show_prompt(long_prompt(count))
    assert len(chips._layout) == LAID_AT_ONCE
    chips.look_at(LAID_AT_ONCE - 1)
    QTest.keyClick(chips, Qt.Key.Key_Down)
    assert chips.current is not None and chips.current > LAID_AT_ONCE - 1
    QTest.keyClick(chips, Qt.Key.Key_End)
    assert chips.current == count - 1
    assert chips.viewport().rect().contains(chips.place_of(count - 1).toAlignedRect())


def test_parts_have_one_name_and_one_count_wherever_they_are_told(inspector: Inspector) -> None:
    stage = inspector.stage
    assert stage.desk.program.chat.send("And the sea?")
    stage.settle()
    request = stage.engine.question.request
    stage.engine.say(PromptReady(request, array("i", IDS).tobytes(), SPANS, 0, 0))
    stage.engine.say(PrefillProgress(request, len(IDS), len(IDS), 0, 1))
    stage.engine.write("So", 2)
    stage.engine.finish()
    stage.settle()
    inspector.opens()
    stage.clicks("inside_prompt_tab")
    names = ["chat template 9", "system 2", "prompt 4"]
    assert inspector.reads("prompt_about") == f"The whole prompt, 15 tokens: {' · '.join(names)}"
    stage.clicks("inside_cache_tab")
    assert stage.find("kv_legend").accessibleName().startswith(" · ".join(names))
    stage.clicks("inside_loop_tab")
    stage.clicks("loop_tokens")
    assert inspector.reads("loop_number").startswith(f"The whole prompt is 15 tokens: {', '.join(names)}. ")
    stage.clicks("chat_button")
    assert ", ".join(names) in stage.find("kv_gauge").accessibleName()


def test_parts_of_a_later_turn_have_one_name_and_one_count_too(inspector: Inspector) -> None:
    stage = inspector.stage
    inspector.answers()
    assert stage.desk.program.chat.send("And the sea?")
    stage.settle()
    request, ids = stage.engine.question.request, tuple(range(40, 60))
    spans = (
        PromptSpan(0, 2, "template", -1),
        PromptSpan(2, 5, "history", 0),
        PromptSpan(5, 9, "thinking", 1),
        PromptSpan(9, 14, "history", 1),
        PromptSpan(14, 16, "template", -1),
        PromptSpan(16, 20, "prompt", 2),
    )
    stage.engine.say(PromptReady(request, array("i", ids).tobytes(), spans, 0, 0))
    stage.engine.say(PrefillProgress(request, len(ids), len(ids), 0, 1))
    stage.engine.write("So", 2)
    stage.engine.finish()
    stage.settle()
    inspector.opens()
    stage.clicks("inside_prompt_tab")
    parts = inspector.reads("prompt_about").removeprefix("The whole prompt, 20 tokens: ").split(" · ")
    names = ["chat template 4", "history 8", "thinking 4", "prompt 4"]
    assert [part.split(" (")[0] for part in parts] == names
    assert parts[1].endswith("(questions 3, answers 5)")
    stage.clicks("inside_cache_tab")
    assert stage.find("kv_legend").accessibleName().startswith(" · ".join(names))
    assert all(name in stage.find("kv_grid").accessibleName() for name in names)
    stage.clicks("inside_loop_tab")
    stage.clicks("loop_tokens")
    assert inspector.reads("loop_number").startswith(f"The whole prompt is 20 tokens: {', '.join(names)}. ")
