"""The texts of the benchmarks of long chats: Markdown of every kind, different each time, and the script that streams it.

Pure: the same numbers give the same texts.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import count

from app.engine.scripted import Script
from app.engine.scripted_vocabulary import ScriptedVocabulary

TOKENS_PER_S = 300.0
CONTEXT = 1 << 20
"""Cells of the script's context: no conversation here is too long for it."""
PARTS = (
    (
        "## Stage {n}\n\nLight is a mixture of **all colours**, and air scatters the *short* waves most, about {n} times in"
        " a second. What is left of it at the end of the way is `red_{n}`, which is why the evening sky burns.\n\n"
    ),
    (
        "- blue is scattered far more than red, by a factor of {n};\n- violet more still, but the sun sends less of it;\n"
        "  1. the eye sees it less,\n  2. and the air above keeps some of it.\n- the rest is [quiet](https://example.org/{n}).\n\n"
    ),
    (
        '```python\nfor colour, wave in (("red", 700), ("blue", 450)):\n    share = wave ** -4 * {n}  # of the light\n'
        '    print(f"{{colour}}: {{share:.3f}}")\n```\n\n'
    ),
    "| colour | wave | share |\n|---|---:|---:|\n| red | 700 | {n} |\n| green | 530 | 0.31 |\n| blue | 450 | 0.62 |\n\n",
    (
        "The law is short: $$I = I_0 \\cdot \\frac{{{n}}}{{\\lambda^4}}$$ so a wave of half the length is scattered sixteen"
        " times as much, and nobody has to believe it.\n\n"
    ),
)
QUESTION = "What became of the light in stage {n}, and who saw it?"
_WORD = re.compile(r" ?[A-Za-z]{1,12}|\n+|  +|[^A-Za-z0-9\s]{2}")


def part(number: int) -> str:
    """Return the answer to a question: a paragraph, a list, code, a table or a formula."""
    return PARTS[number % len(PARTS)].format(n=number)


def section(number: int, turned: int = 0) -> str:
    """Return an answer that has everything in it, about 270 tokens, beginning with another of its parts."""
    return "".join(each.format(n=number) for each in (*PARTS[turned:], *PARTS[:turned]))


@cache
def pieces() -> tuple[str, ...]:
    """Return the texts that are one token each: the words, as a model's vocabulary has them."""
    return tuple(dict.fromkeys(_WORD.findall(section(0) + QUESTION)))


@cache
def vocabulary() -> ScriptedVocabulary:
    """Return the vocabulary of every script."""
    return ScriptedVocabulary(None, pieces())


def tokens_of(text: str) -> int:
    """Return how many tokens a text has."""
    return len(vocabulary().tokenize(text, special=False))


def answer_of(tokens: int, first: int = 0, turned: int = 0) -> str:
    """Return sections, counted from one on and begun with another part, cut to exactly so many tokens."""
    ids: list[int] = []
    for number in count(first):
        if len(ids) >= tokens:
            break
        ids += vocabulary().tokenize(section(number, turned), special=False)
    return b"".join(map(vocabulary().piece, ids[:tokens])).decode()


def streaming(*answers: str, paced_last: int = 0) -> Script:
    """Return the script that streams these answers one after the other, at the speed of all benchmarks."""
    return Script(answers=answers, tokens_per_s=TOKENS_PER_S, paced_last=paced_last, pieces=pieces(), context=CONTEXT)
