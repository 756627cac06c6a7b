from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.parted_answer import PartedAnswer
from app.core.thinking_tags import DEFAULT_PAIRS
from tests.core.test_thinking import PAIRS, TEXTS


def parted(*pieces: str, opened: bool = False) -> PartedAnswer:
    answer = PartedAnswer(PAIRS, opened=opened)
    for piece in pieces:
        answer.append(piece)
    answer.finish()
    return answer


@pytest.mark.parametrize(
    ("text", "thought", "said"),
    [
        ("<think>\nhm\n\nso\n</think>\n\nYes.", "hm\n\nso", "Yes."),
        ("<think></think>\n\n    code", "", "    code"),
        ("<think>\n\n</think>\n \n Yes", "", " Yes"),
        ("<think>a</think>b\n\n<think>c</think>\n\nd\n", "a\n\nc", "b\n\nd"),
        ("Wait.\n<think>a</think>Yes", "a", "Wait.\n\nYes"),
        ("\n  <think>a</think>Yes", "a", "Yes"),
        ("<think>a", "a", ""),
        ("a\n\n</think>\n\nYes", "a", "Yes"),
        ("  Yes\n\nno", "", "  Yes\n\nno"),
        ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b", "a", "b"),
        ("", "", ""),
    ],
)
def test_an_answer_is_parted_without_the_white_space_around_its_parts(text: str, thought: str, said: str) -> None:
    answer = parted(text)
    assert (answer.thought, answer.said) == (thought, said)


def test_where_the_answer_begins_is_told() -> None:
    assert parted("<think>a</think>\n\n Yes").said_from == 19
    assert parted("  Yes").said_from == 2
    assert parted("<think>a</think>\n\n").said_from is None
    assert parted("a\n</think>\n\nYes").said_from == 12


def test_white_space_waits_for_what_follows() -> None:
    answer = PartedAnswer(DEFAULT_PAIRS, opened=True)
    shown = []
    for piece in ("\nhm", "\n\n", "so", "\n</think>\n", "\n", "Yes ", " no"):
        answer.append(piece)
        shown.append((answer.thought, answer.said))
    assert shown == [
        ("hm", ""),
        ("hm", ""),
        ("hm\n\nso", ""),
        ("hm\n\nso", ""),
        ("hm\n\nso", ""),
        ("hm\n\nso", "Yes"),
        ("hm\n\nso", "Yes  no"),
    ]
    assert not answer.is_thinking


@given(TEXTS, st.booleans(), st.data())
def test_both_parts_only_grow_and_do_not_depend_on_the_cuts(text: str, opened: bool, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    answer = PartedAnswer(PAIRS, opened=opened)
    before: tuple[str, str, int] = ("", "", 0)
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        answer.append(text[start:end])
        if answer.restarts == before[2]:
            assert answer.thought.startswith(before[0])
            assert answer.said.startswith(before[1])
        before = answer.thought, answer.said, answer.restarts
    answer.finish()
    whole = parted(text, opened=opened)
    assert (answer.thought, answer.said, answer.said_from) == (whole.thought, whole.said, whole.said_from)
    assert answer.segments == whole.segments
    assert whole.restarts <= 1
    if whole.said_from is not None:
        assert whole.said.lstrip().startswith(text[whole.said_from])
