from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.chat import PromptMessage
from app.engine.template import Rendered, render
from tests.engine.chat_examples import CHATML, OUR_TEMPLATES, answer, user

CHANGED_NOTE = "changes the texts of messages"


def rendered(source: str, *messages: PromptMessage) -> Rendered:
    return render(source, messages, bos="", eos="")


def held(prompt: Rendered) -> list[tuple[int, str]]:
    return [(span.message, prompt.text[span.start : span.end]) for span in prompt.spans]


def doubtful(prompt: Rendered) -> list[tuple[tuple[int, ...], str]]:
    return [(each.messages, prompt.text[each.start : each.end]) for each in prompt.doubtful]


def notes(prompt: Rendered) -> str:
    return " ".join(note.english() for note in prompt.notes)


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("<{{ messages[0].content }}>", " a b ", [(0, " a b ")]),
        ("<{{ messages[0].content | trim }}>", " a b ", [(0, "a b")]),
        ("<\n{{ messages[0].content | trim }}\n>", "\n a\n\n", [(0, "a")]),
        ("<{{ messages[0].content.lstrip() }}>", " a b ", [(0, "a b ")]),
        ("<{{ messages[0].content.rstrip('\n') }}\n>", " a \n\n", [(0, " a ")]),
        ("<{{ (' ' + messages[0].content) | trim }} >", " a ", [(0, "a")]),
        ("{{ messages[0].content | trim }}", " a ", [(0, "a")]),
        ("<{{ messages[0].content | upper }}>", "a b", [(0, "A B")]),
        ("<{{ messages[0].content }}|{{ messages[0].content }}>", "a", [(0, "a"), (0, "a")]),
        ("{{ messages[0].content }}{{ messages[0].content }}", "a ", [(0, "a "), (0, "a ")]),
        ("<{% set x %}{{ messages[0].content }}{% endset %}{{ x }}>", "a", [(0, "a")]),
    ],
)
def test_a_text_is_found_whatever_is_done_to_its_edges(
    source: str, text: str, expected: list[tuple[int, str]]
) -> None:
    prompt = rendered(source, user(text))
    assert held(prompt) == expected
    assert (prompt.doubtful, prompt.notes) == ((), ())


def test_equal_texts_are_told_apart_and_the_templates_own_words_are_not_taken_for_theirs() -> None:
    prompt = rendered("user: {% for m in messages %}[{{ m.content }}]{% endfor %}", user("user"), answer("user"))
    assert prompt.text == "user: [user][user]"
    assert [(span.start, span.end, span.message) for span in prompt.spans] == [(7, 11, 0), (13, 17, 1)]


def test_private_use_characters_in_a_text_are_not_taken_for_marks() -> None:
    text = "".join(map(chr, range(0xF0000, 0xF0010)))
    prompt = rendered(CHATML, user(text), answer("\U000f0003"), user("\U0010fffd\ue000"))
    assert held(prompt) == [(0, text), (1, "\U000f0003"), (2, "\U0010fffd\ue000")]
    assert rendered("\U000f0000{{ messages[0].content }}\U000f0001", user("a")).text == "\U000f0000a\U000f0001"


@pytest.mark.parametrize(
    ("around", "text", "expected", "in_doubt"),
    [
        # Cut in front, behind, and on both sides of the thinking.
        ("<{{ c.split('</think>')[-1] }}>", "hm</think>\nYes.", "\nYes.", []),
        ("<{{ c.split('</think>')[-1].lstrip('\n') }}>", "hm</think>\n\nYes. ", "Yes. ", []),
        ("<{{ c.split('##')[0] }}>", "one ##two", "one ", []),
        # What is left begins or ends like the template's own text beside it.
        ("<a|t>{{ c.split('</t>')[-1] }}<", "hm</t>\nYes", "\nYes", []),
        ("<{{ c.split('##')[0] }}#|", "one##two", "one", []),
        # Nothing is left, or the template says the rest in another place.
        ("<{{ c.split('</think>')[-1] }}>", "hm</think>", "", []),
        ("<{{ c.split('#')[0] }}|{{ c.split('#')[1] }}>", "one#two", "one|two", []),
        ("<{{ c.split('#')[1] }}|{{ c.split('#')[2] }}>", "one#two#three", "three", ["]<two|"]),
        # The template always says what it cuts at.
        ("<t></t>{{ c.split('</t>')[-1] }}<", "hm</t>Yes", "</t>Yes", ["]<t>"]),
    ],
)
def test_what_is_left_of_a_text_is_found_and_the_rest_is_in_doubt_only_if_it_came_out(
    around: str, text: str, expected: str, in_doubt: list[str]
) -> None:
    source = "{% for m in messages %}{% set c = m.content %}{% if m.role == 'assistant' %}" + around
    prompt = rendered(source + "{% else %}[{{ c }}]{% endif %}{% endfor %}", user("q"), answer(text), user("more"))
    assert prompt.text.startswith("[q]")
    assert (held(prompt)[0], held(prompt)[-1]) == ((0, "q"), (2, "more"))
    answers = [(span.start, span.end) for span in prompt.spans if span.message == 1]
    assert prompt.text[answers[0][0] : answers[-1][1]] == expected if answers else expected == ""
    assert [held_text for _, held_text in doubtful(prompt)] == in_doubt
    assert CHANGED_NOTE not in notes(prompt)


def test_where_the_template_changes_a_text_the_whole_stretch_is_in_doubt_and_people_are_told() -> None:
    source = "<{% for m in messages %}[{{ 'long' if m.content | length > 2 else m.content }}]{% endfor %}>"
    prompt = rendered(source, user("a"), user("bc"), user("d"))
    assert prompt.text == "<[a][bc][d]>"
    assert CHANGED_NOTE in notes(prompt)
    covered = {number for each in prompt.doubtful for number in each.messages} | {
        each.message for each in prompt.spans
    }
    assert covered == {0, 1, 2}


def test_what_is_found_before_and_after_a_changed_text_stays_found() -> None:
    source = (
        "{% for m in messages %}[{{ m.content.replace('b', 'X') if m.content[0] == 'b' else m.content }}]{% endfor %}"
    )
    prompt = rendered(source, user("aaa"), user("bbb"), user("ccc"))
    assert prompt.text == "[aaa][XXX][ccc]"
    assert held(prompt) == [(0, "aaa"), (2, "ccc")]
    assert doubtful(prompt) == [((1,), "[XXX]")] or doubtful(prompt) == [((1,), "XXX")]
    assert CHANGED_NOTE in notes(prompt)


def test_what_the_template_makes_of_a_text_beside_it_is_in_doubt() -> None:
    prompt = rendered(
        "<{{ messages[0].content | upper if messages[0].content == 'a' }}{{ messages[0].content }}>",
        user("a"),
    )
    assert prompt.text == "<Aa>"
    assert doubtful(prompt) == [((0,), "Aa")]


def test_a_template_that_fails_on_marked_texts_still_gives_its_prompt() -> None:
    source = "{% if messages[0].content != 'a' %}{{ raise_exception('b') }}{% endif %}<{{ messages[0].content }}>"
    prompt = rendered(source, user("a"))
    assert prompt.text == "<a>"
    assert doubtful(prompt) == [((0,), "<a>")]
    assert CHANGED_NOTE in notes(prompt)


def test_a_message_that_seems_left_out_may_lie_between_its_neighbours() -> None:
    source = "{% for m in messages %}<{{ m.content[1:-1] if loop.index0 == 1 else m.content }}>{% endfor %}"
    prompt = rendered(source, user("aa"), answer("bbb"), user("cc"))
    assert prompt.text == "<aa><b><cc>"
    assert ((1,), "><b><") in doubtful(prompt)


@given(st.lists(st.text("ab \n<>|", max_size=6), min_size=1, max_size=4), st.sampled_from(sorted(OUR_TEMPLATES)))
def test_spans_hold_each_text_once_in_our_templates(texts: list[str], name: str) -> None:
    messages = [answer(text) if number % 2 else user(text) for number, text in enumerate(texts)]
    prompt = rendered(OUR_TEMPLATES[name], *messages)
    spans = sorted(prompt.spans, key=lambda span: span.start)
    assert all(left.end <= right.start for left, right in pairwise(spans))
    assert {span.message: prompt.text[span.start : span.end].strip() for span in spans} == {
        number: text.strip() for number, text in enumerate(texts) if text.strip()
    }
