"""The tags that a model puts around its thinking: which ones a chat template names, and which ones people name.

Pure: knows texts of templates and of prompts, and nothing of how an answer is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec


class TagPair(msgspec.Struct, frozen=True, gc=False):
    """What opens and closes a stretch of thinking."""

    opening: str
    closing: str
    """Empty where the opening is all there is: it says where the answer begins, and nobody reads it."""


THINK = TagPair("<think>", "</think>")
DEFAULT_PAIRS = (THINK,)
_CHANNEL = (
    TagPair("<|channel|>analysis<|message|>", "<|end|>"),
    TagPair("<|start|>assistant<|channel|>final<|message|>", ""),
    TagPair("<|channel|>final<|message|>", ""),
)
"""One after the other: the thinking, then what leads to the answer."""
_NAME = "think|thought|reason"
_ANGLE = re.compile(rf"</?([a-z0-9_:-]*(?:{_NAME})[a-z0-9_:-]*)>")
_SQUARE = re.compile(r"\[/?([A-Z_]*(?:THINK|THOUGHT|REASON)[A-Z_]*)\]")
_START = re.compile(r"<\|(?:START|END)_([A-Z_]*(?:THINK|THOUGHT|REASON)[A-Z_]*)\|>")
_BEGIN = re.compile(rf"<\|(?:begin|end)_of_([a-z_]*(?:{_NAME})[a-z_]*)\|>")
_TRIANGLE = re.compile(rf"◁/?([a-z_]*(?:{_NAME})[a-z_]*)▷")
_FORMS = (
    (_ANGLE, "<{}>", "</{}>"),
    (_SQUARE, "[{}]", "[/{}]"),
    (_START, "<|START_{}|>", "<|END_{}|>"),
    (_BEGIN, "<|begin_of_{}|>", "<|end_of_{}|>"),
    (_TRIANGLE, "◁{}▷", "◁/{}▷"),
)
_WRITTEN = tuple(
    (re.compile(re.escape(opening).replace(r"\{\}", r"([^\s`<>\[\]|/◁▷]+)")), opening, closing)
    for _, opening, closing in reversed(_FORMS)
)
LONGEST_NAME = 64
"""Characters of a tag that people name."""


def tags_of(template: str) -> tuple[TagPair, ...]:
    """Return the pairs of tags that a chat template names, in the order of their kinds; one half of a pair is enough."""
    found: list[TagPair] = []
    for pattern, opening, closing in _FORMS:
        names = dict.fromkeys(pattern.findall(template))
        found += [TagPair(opening.format(name), closing.format(name)) for name in names]
    if "<|channel|>" in template and "analysis" in template:
        found += _CHANNEL
    return tuple(found)


def pair_named(name: str) -> TagPair | None:
    """Return the pair for a tag as people write it, with its brackets or without; None where it cannot be a tag."""
    name = name.strip()
    if not name or len(name) > LONGEST_NAME:
        return None
    if name == _CHANNEL[0].opening:
        return _CHANNEL[0]
    for pattern, opening, closing in _WRITTEN:
        if written := pattern.fullmatch(name):
            return TagPair(opening.format(written[1]), closing.format(written[1]))
    is_bare = re.fullmatch(r"[\w:.-]+", name) is not None
    return TagPair(f"<{name}>", f"</{name}>") if is_bare else None


def name_of(tag: str) -> str:
    """Return a tag as it is kept: its bare name where that says all."""
    bare = tag[1:-1]
    pair = pair_named(bare)
    return bare if pair is not None and pair.opening == tag else tag


def tag_pairs(template: str | None, named: Iterable[str] = ()) -> tuple[TagPair, ...]:
    """Return all pairs to look for: the usual one, those of the chat template, and those that people name."""
    chosen = (pair for pair in map(pair_named, named) if pair is not None)
    return tuple(dict.fromkeys((*DEFAULT_PAIRS, *tags_of(template or ""), *chosen)))


def pairs_for(tag: str) -> tuple[TagPair, ...]:
    """Return the pairs to look for in an answer whose thinking is known to have begun with a tag."""
    pair = pair_named(tag)
    more = _CHANNEL if pair == _CHANNEL[0] else (pair,) if pair is not None else ()
    return tuple(dict.fromkeys((*DEFAULT_PAIRS, *more)))


def ends_inside(prompt_end: str, pairs: Sequence[TagPair]) -> bool:
    """Return whether a prompt opens the thinking itself: it ends with an opening tag, up to white space."""
    end = prompt_end.rstrip()
    return any(pair.closing and end.endswith(pair.opening) for pair in pairs)
