from __future__ import annotations

import pytest

from app.core.conversation import Thinking
from app.core.events import Tokens
from app.core.thinking_tags import DEFAULT_PAIRS, tag_pairs
from app.services.thinking import Thoughts

MS = 1_000_000
SENT_NS = 5_000 * MS


def tokens(text: str, first_ms: int, last_ms: int, count: int = 1) -> Tokens:
    """Return tokens that came between two moments after the question was sent."""
    return Tokens(
        request=1,
        first=0,
        count=count,
        ids=bytes(4 * count),
        text=text,
        record=b"",
        cells_used=0,
        first_ns=SENT_NS + first_ms * MS,
        last_ns=SENT_NS + last_ms * MS,
    )


def followed(*events: Tokens, opened: bool = False) -> Thoughts:
    thoughts = Thoughts(DEFAULT_PAIRS, opened=opened, sent_ns=SENT_NS)
    for event in events:
        thoughts.take(event)
    return thoughts


def test_the_thinking_of_an_answer_is_counted_and_timed() -> None:
    thoughts = followed(
        tokens("<think>", 100, 100),
        tokens("let me see", 140, 300, 5),
        tokens("</think>", 340, 340),
        tokens("\n\n", 380, 380),
        tokens("Yes", 420, 420),
        tokens(", no.", 460, 500, 2),
    )
    thoughts.finish()
    assert thoughts.thinking == Thinking(False, "think", 7, 240.0, 420.0, closed=True)
    assert (thoughts.thought, thoughts.said) == ("let me see", "Yes, no.")
    assert not thoughts.is_thinking


def test_it_is_known_which_tokens_are_thinking() -> None:
    events = (
        tokens("<think>", 100, 100),
        tokens("let me see", 140, 300, 5),
        tokens("</think>", 340, 340),
        tokens("\n\nYes", 380, 420, 2),
    )
    assert followed().token_stretches == () == followed(tokens("Yes", 100, 100)).token_stretches
    assert followed(*events[:2]).token_stretches == ((0, 6),), "it goes on"
    assert followed(*events).token_stretches == ((0, 7),)
    assert followed(tokens("so", 1, 1), tokens("</think>", 2, 2), tokens(".", 3, 3), opened=True).token_stretches == (
        (0, 2),
    )
    later = Thoughts(DEFAULT_PAIRS, sent_ns=SENT_NS)
    later.resume("<think>let me", Thinking(False, "think", 3, 90.0, None, closed=False))
    for event in (tokens(" see", 140, 300, 2), tokens("</think>", 340, 340), tokens("Yes", 420, 420)):
        later.take(event)
    assert later.token_stretches == ((0, 3),), "from the first that came behind the beginning"


def test_thinking_that_the_template_opened_begins_with_the_first_token() -> None:
    thoughts = followed(
        tokens("let", 100, 100), tokens(" me", 140, 180, 2), tokens("</think>\nYes", 200, 220, 3), opened=True
    )
    thinking = thoughts.thinking
    assert thinking is not None
    assert (thinking.opened, thinking.closed, thinking.tokens) == (True, True, 5)
    assert thinking.first_answer_ms == pytest.approx(220)


def test_tokens_that_come_at_once_are_shared_out_by_their_characters() -> None:
    thoughts = followed(tokens("<think>12</think>abcdefgh.", 100, 200, 26))
    thinking = thoughts.thinking
    assert thinking is not None
    assert thinking.tokens == 17
    assert thinking.ms == pytest.approx(100 * 16 / 25)
    assert thinking.first_answer_ms == pytest.approx(100 + 100 * 17 / 25)


def test_while_it_thinks_all_tokens_are_the_thinkings() -> None:
    thoughts = followed(tokens("<think>so", 100, 100), tokens(" </thi", 150, 350, 4))
    assert thoughts.thinking == Thinking(False, "think", 5, 250.0, None, closed=False)
    assert thoughts.is_thinking
    thoughts.finish()
    assert not thoughts.is_thinking
    assert thoughts.thought == "so </thi"
    assert thoughts.thinking is not None
    assert not thoughts.thinking.closed


def test_opened_thinking_has_figures_before_its_first_word() -> None:
    thoughts = Thoughts(DEFAULT_PAIRS, opened=True, sent_ns=SENT_NS)
    assert thoughts.thinking is None
    assert thoughts.is_thinking
    thoughts.take(tokens("\n", 100, 100))
    assert thoughts.thinking == Thinking(True, "think", 1, 0.0, None, closed=False)


def test_several_stretches_are_counted_together() -> None:
    thoughts = followed(
        tokens("<think>a</think>", 100, 200, 3),
        tokens("b\n", 250, 250),
        tokens("<think>", 300, 300),
        tokens("c</think>", 400, 400),
        tokens("d", 500, 500),
    )
    assert thoughts.thinking == Thinking(False, "think", 5, 250.0, 250.0, closed=True)
    assert (thoughts.thought, thoughts.said) == ("a\n\nc", "b\n\nd")


def test_an_answer_that_does_not_think_has_none() -> None:
    thoughts = followed(tokens("Yes <think>", 100, 100))
    thoughts.finish(" no")
    assert thoughts.thinking is None
    assert thoughts.said == "Yes <think> no"


def test_what_turned_out_to_be_thinking_is_counted_from_its_first_token() -> None:
    thoughts = followed(tokens("hm", 100, 100), tokens("\n</think>\n", 150, 200, 2), tokens("Yes", 260, 260))
    assert thoughts.restarts == 1
    thinking = thoughts.thinking
    assert thinking is not None
    assert (thinking.tokens, thinking.opened) == (3, False)
    assert thinking.first_answer_ms == 260.0


def test_an_answer_that_goes_on_thinks_on() -> None:
    before = Thinking(True, "think", 40, 900.0, None, closed=False)
    thoughts = Thoughts(DEFAULT_PAIRS, opened=True, sent_ns=SENT_NS)
    thoughts.resume("let me", before)
    assert thoughts.thinking == before
    thoughts.take(tokens(" see", 100, 100))
    thoughts.take(tokens("</think>", 150, 150))
    thoughts.take(tokens("Yes", 200, 200))
    thoughts.finish()
    assert thoughts.thinking == Thinking(True, "think", 42, 950.0, 200.0, closed=True)
    assert thoughts.thought == "let me see"


def test_an_answer_that_goes_on_after_its_thinking_keeps_its_figures() -> None:
    before = Thinking(False, "think", 40, 900.0, 1234.0, closed=True)
    thoughts = Thoughts(DEFAULT_PAIRS, sent_ns=SENT_NS)
    thoughts.resume("<think>a</think>Yes", before)
    thoughts.take(tokens(", no", 100, 150, 2))
    assert thoughts.thinking == before
    assert thoughts.said == "Yes, no"


@pytest.mark.parametrize(
    ("text", "thinking", "thought", "said"),
    [
        ("hm</think>Yes", Thinking(opened=True, tokens=2, ms=10.0, first_answer_ms=99.0), "hm", "Yes"),
        ("[THINK]hm[/THINK]Yes", Thinking(tag="[THINK]", tokens=2), "hm", "Yes"),
        ("<mytag>hm</mytag>Yes", Thinking(tag="mytag", tokens=2), "hm", "Yes"),
        ("<think>hm", Thinking(tokens=2, closed=False), "hm", ""),
    ],
)
def test_a_kept_answer_is_read_as_it_was_written(text: str, thinking: Thinking, thought: str, said: str) -> None:
    thoughts = Thoughts.kept(text, thinking)
    assert thoughts is not None
    assert (thoughts.thought, thoughts.said) == (thought, said)
    assert thoughts.thinking == thinking
    assert thoughts.is_whole
    assert not thoughts.is_thinking
    assert [text[each.text_start : each.text_end] for each in thoughts.segments] == [
        part for part in (thought, said) if part
    ]


def test_an_old_answer_has_the_usual_tags_and_one_without_any_is_not_read() -> None:
    old = Thoughts.kept("<think>hm</think>Yes", None)
    assert old is not None
    assert (old.thought, old.said, old.thinking) == ("hm", "Yes", Thinking())
    assert Thoughts.kept("Yes, <b>no</b>", None) is None
    assert Thoughts.kept("", None) is None
    literal = Thoughts.kept("Write `<think>` first.", None)
    assert literal is None or (literal.said, literal.thinking) == ("Write `<think>` first.", None)


def test_the_tag_is_kept_under_the_name_that_finds_it_again() -> None:
    thoughts = Thoughts(tag_pairs("[THINK]", ("mytag",)), sent_ns=SENT_NS)
    thoughts.take(tokens("[THINK]a[/THINK]b", 100, 100))
    assert thoughts.thinking is not None
    assert thoughts.thinking.tag == "[THINK]"


@pytest.mark.parametrize(
    ("text", "before", "thought", "said"),
    [
        ("<mytag>so</mytag>No", Thinking(tag="mytag", tokens=5, ms=9.0), "so", "No"),
        ("so</think>No", Thinking(opened=True, tokens=5), "so", "No"),
        ("No", Thinking(opened=True, tokens=5), "", "No"),
        ("let me see", Thinking(opened=True, tokens=5, closed=False), "let me see", ""),
        ("No", Thinking(tag="mytag", tokens=5), "", "No"),
        ("<think>so</think>No", None, "so", "No"),
        ("No", None, "", "No"),
    ],
)
def test_the_thinking_of_an_edited_answer_is_read_with_the_tags_that_it_had(
    text: str, before: Thinking | None, thought: str, said: str
) -> None:
    thoughts = Thoughts.edited(text, before)
    assert (thoughts.thought if thoughts else "", thoughts.said if thoughts else text) == (thought, said)
    thinking = thoughts.thinking if thoughts is not None else None
    assert (thinking is not None) == bool(thought)
    assert thinking is None or (thinking.tokens, thinking.ms, thinking.first_answer_ms) == (0, 0.0, None)
    kept = Thoughts.kept(text, thinking)
    assert (kept.thought if kept else "", kept.said if kept else text) == (thought, said)
