from __future__ import annotations

import re

import pytest
from PySide6.QtWidgets import QApplication

from app.core.conversation import Thinking
from app.gui.chat.answer_text import AnswerText
from app.gui.chat.thoughtful_text import ThoughtfulText
from app.gui.markdown.colouring import Lexers
from app.services.thinking import Thoughts

PARTS = {
    "paragraph": "The **sky** is *blue* \N{CLOUD}\N{SUN WITH FACE} because of `scattering` and more than fits a line.",
    "right to left": "\u05d4\u05e9\u05de\u05d9\u05d9\u05dd \u05db\u05d7\u05d5\u05dc\u05d9\u05dd \u05d1\u05d9\u05d5\u05dd",
    "list": "- one two\n- three **four**\n  1. five",
    "code": "```python\nfirst = 1\n\nsecond = first + 1\n```",
    "table": "| left | right side | c | d | e | zz |\n|---|---:|--|--|--|--|\n| some words | 12 | 3 | 4 | 5 | yy |",
    "heading": "# A long heading of several words",
}


def laid_out(source: str, width: float = 220) -> AnswerText:
    text = AnswerText(Lexers(), 23)
    text.set_text(source, is_open=False)
    text.lay_out(width)
    text.reach(0, text.height)
    return text


@pytest.mark.parametrize("source", [*PARTS.values(), "\n\n".join(PARTS.values())], ids=[*PARTS, "all of them"])
def test_where_characters_are_seen_is_where_they_are_found_again(qapp: QApplication, source: str) -> None:
    answer = laid_out(source, 420)
    said = "".join(answer.texts())
    words = list(re.finditer(r"[^\W\d]+", said))
    assert len(words) > 2
    for word in words:
        rects = answer.rects(*word.span())
        assert rects, word.group()
        for rect in rects:
            middle = rect.center()
            assert word.start() <= answer.offset_at(middle.x(), middle.y()) <= word.end(), word.group()


def test_a_stretch_over_several_lines_has_a_place_in_each(qapp: QApplication) -> None:
    answer = laid_out(PARTS["paragraph"])
    said = "".join(answer.texts())
    tops = [rect.top() for rect in answer.rects(0, len(said))]
    assert len(tops) == len(set(tops)) > 1 and tops == sorted(tops)


def test_code_that_is_scrolled_out_of_view_has_no_place(qapp: QApplication) -> None:
    answer = laid_out("```\n" + "x" * 200 + " end\n```")
    said = "".join(answer.texts())
    start = said.index(" end") + 1
    assert answer.rects(start, start + 3) == [] and answer.rects(0, 5)


def test_characters_of_the_answer_lie_below_its_thinking(qapp: QApplication) -> None:
    text = "<think>Hm.</think>Blue it is"
    whole, alone = ThoughtfulText(AnswerText(Lexers(), 23)), laid_out("Blue it is", 300)
    whole.follow(Thoughts.kept(text, Thinking(tokens=3)))
    whole.set_text(text, is_open=False)
    whole.lay_out(300)
    found, plain = whole.rects(whole.lead, whole.lead + 4)[0], alone.rects(0, 4)[0]
    assert found.top() > plain.top() and found.left() == plain.left()
    assert whole.offset_at(found.center().x(), found.center().y()) - whole.lead in range(5)
