from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.chat_title import LONGEST, is_greeting, next_title, suggested_title


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("Why is the sky blue?", "Why is the sky blue?"),
        ("Explain this. Then do that.", "Explain this"),
        ("\n\n  Why   is\tit? \nsecond line", "Why is it?"),
        ("Hello! can you explain entropy?", "Can you explain entropy?"),
        ("hi, what is a token?", "What is a token?"),
        ("Good morning. Thanks, how do I sort a list", "How do I sort a list"),
        ("Hello", "Hello"),
        ("Hi there!", "Hi there!"),
        ("## Task\nWrite **bold** and `code`", "Task"),
        ("- **Fix** the [parser](https://example.org/a(b)c) now", "Fix the parserc) now"),
        ("1. Compare `a_b` and _c_", "Compare a_b and c"),
        ("```python\ndef f(x):\n    return x\n```\nWhat does this do?", "What does this do?"),
        ("```python\ndef f(x):\n    return x\n```", "def f(x)"),
        ("> quoted\n\nanswer", "quoted"),
        ("---\nReal words", "Real words"),
        ("What does 3.5 mean, e.g. in Dr. Who? Say more.", "What does 3.5 mean, e.g. in Dr. Who?"),
        ("snake_case_name in Python", "snake_case_name in Python"),
        ("2 * 3 * 4 = ?", "2 * 3 * 4 = ?"),
        (
            "I have a list of numbers and I want to find the largest sum of neighbours in it",
            "I have a list of numbers and I want to find the…",
        ),
        (
            "Write a poem about the sea in autumn, with four stanzas and a rhyme in every second line",
            "Write a poem about the sea in autumn",
        ),
        ("x" * 200, "x" * 50 + "…"),
        ("Guten Tag! Wie spät ist es z.B. in Tokio? Danke.", "Wie spät ist es z.B. in Tokio?"),
        ("Bonjour, peux-tu m’expliquer la photosynthèse ?", "Peux-tu m’expliquer la photosynthèse ?"),
        ("¡Hola! ¿Qué es un token?", "¿Qué es un token?"),
        ("Привет! почему небо голубое?", "Почему небо голубое?"),
        ("你好！为什么天空是蓝色的？请解释。", "为什么天空是蓝色的？"),
        ("你好，为什么天空是蓝色的", "为什么天空是蓝色的"),
        ("こんにちは。空はなぜ青いのですか。", "空はなぜ青いのですか"),
        ("안녕하세요! 하늘은 왜 파란가요?", "하늘은 왜 파란가요?"),
        ("天" * 60, "天" * 25 + "…"),
        ("مرحبا، لماذا السماء زرقاء؟", "لماذا السماء زرقاء؟"),
        ("नमस्ते। आकाश नीला क्यों है?", "आकाश नीला क्यों है?"),
        ("!!!", "!!!"),
        ("", ""),
        ("   \n ", ""),
    ],
)
def test_a_title_is_the_first_sentence_that_is_no_greeting(question: str, title: str) -> None:
    assert suggested_title(question) == title


def columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


@given(st.text(max_size=400))
def test_a_title_is_one_line_that_fits(question: str) -> None:
    title = suggested_title(question)
    assert len(title.splitlines()) <= 1 and title == title.strip()
    assert columns(title) <= LONGEST + 1
    assert bool(title) == bool(question.strip()) or not any(map(str.isalnum, question))


@pytest.mark.parametrize("text", ["Hi", "Hello there!", "Good morning, thanks.", "你好！", "Hola", "Danke!"])
def test_a_mere_greeting_is_known(text: str) -> None:
    assert is_greeting(text)
    assert not is_greeting(f"{text} Why?")


@pytest.mark.parametrize(
    ("title", "first", "question", "then"),
    [
        ("Hi", "Hi", "why is the sky blue?", "why is the sky blue?"),
        ("Hi", "Hi", "Thanks!", "Hi"),
        ("My own title", "Hi", "Why is the sky blue?", "My own title"),
        ("Why?", "Why?", "And how?", "Why?"),
    ],
)
def test_only_the_title_of_a_greeting_gives_way_to_the_next_question(
    title: str, first: str, question: str, then: str
) -> None:
    assert next_title(title, first, question) == then
