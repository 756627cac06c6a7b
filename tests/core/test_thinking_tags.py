from __future__ import annotations

import pytest

from app.core.thinking_tags import (
    DEFAULT_PAIRS,
    LONGEST_NAME,
    THINK,
    TagPair,
    ends_inside,
    pair_named,
    pairs_for,
    tag_pairs,
    tags_of,
)

FORMS = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("◁think▷", "◁/think▷"),
]


@pytest.mark.parametrize(("opening", "closing"), FORMS)
def test_a_template_names_a_pair_by_either_half(opening: str, closing: str) -> None:
    pair = TagPair(opening, closing)
    assert tags_of("{{ '<|im_start|>assistant\\n" + opening + "\\n' }}") == (pair,)
    assert tags_of("{% set content = content.split('" + closing + "')[-1] %}") == (pair,)
    assert tags_of(f"{opening}{{{{ message.thinking }}}}{closing}{opening}") == (pair,)


def test_a_template_names_what_leads_from_thinking_to_the_answer() -> None:
    source = "{{ '<|start|>assistant<|channel|>analysis<|message|>' + message.thinking + '<|end|>' }}"
    first, *marks = tags_of(source)
    assert first == TagPair("<|channel|>analysis<|message|>", "<|end|>")
    assert all(not mark.closing and mark.opening.endswith("<|channel|>final<|message|>") for mark in marks)
    assert tags_of("{{ '<|channel|>final<|message|>' }}") == ()


@pytest.mark.parametrize(
    "source",
    [
        "",
        "{{ messages[0]['thinking'] }}{{ message['reasoning_content'] }}",
        "{% if enable_thinking %}{{ thinking }}{% endif %}",
        "<tool_call></tool_call><answer>[INST] <|im_start|>",
    ],
)
def test_other_words_of_a_template_are_no_tags(source: str) -> None:
    assert tags_of(source) == ()


@pytest.mark.parametrize(("opening", "closing"), [*FORMS, ("<mytag>", "</mytag>")])
def test_people_name_a_tag_as_it_is_written(opening: str, closing: str) -> None:
    assert pair_named(f" {opening} ") == TagPair(opening, closing)


def test_a_bare_name_is_that_of_an_angled_tag() -> None:
    assert pair_named("mytag") == TagPair("<mytag>", "</mytag>")
    assert pair_named("seed:think") == TagPair("<seed:think>", "</seed:think>")


@pytest.mark.parametrize("name", ["", "  ", "a b", "`x`", "</x>", "<a><b>", "<", "x" * (LONGEST_NAME + 1), "<\n>"])
def test_what_cannot_be_a_tag_names_none(name: str) -> None:
    assert pair_named(name) is None


def test_all_pairs_are_the_usual_one_the_templates_and_those_of_people() -> None:
    pairs = tag_pairs("[THINK] </think>", ("mytag", "`no`", "[THINK]"))
    assert pairs == (THINK, TagPair("[THINK]", "[/THINK]"), TagPair("<mytag>", "</mytag>"))
    assert tag_pairs(None) == DEFAULT_PAIRS


def test_a_stored_tag_gives_the_pairs_to_look_for() -> None:
    assert pairs_for("[THINK]") == (THINK, TagPair("[THINK]", "[/THINK]"))
    assert pairs_for("<think>") == pairs_for("") == DEFAULT_PAIRS
    assert set(tags_of("<|channel|>analysis")) < set(pairs_for("<|channel|>analysis<|message|>"))


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        ("<|im_start|>assistant\n<think>", True),
        ("<|im_start|>assistant\n<think>\n\n ", True),
        ("assistant\n<|channel|>analysis<|message|>", True),
        ("<think>\n\n</think>\n\n", False),
        ("assistant\n", False),
        ("assistant\n<think>\nOkay", False),
        ("<|channel|>final<|message|>", False),
        ("", False),
    ],
)
def test_a_prompt_that_ends_with_an_opening_tag_ends_inside_thinking(end: str, expected: bool) -> None:
    assert ends_inside(end, tag_pairs("<|channel|>analysis")) is expected
