"""Which control tokens say something in an answer: those that are the tags around its thinking.

llama.cpp gives control tokens no text. Of these tags people would miss where the thinking ends, and so would whoever
folds it; every other control token stays silent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from app.core.thinking_tags import tags_of

_CHANNEL_PARTS = frozenset({"<|start|>", "<|channel|>", "<|message|>", "<|end|>"})
"""Tags that are made of several tokens."""


def spoken_tags(specials: Iterable[tuple[int, str, bool]], is_end: Callable[[int], bool]) -> dict[int, bytes]:
    """Return the tokens that are tags around thinking, with what they say; never one that ends the answer."""
    listed = list(specials)
    texts = {text for _, text, _ in listed}
    channels = _CHANNEL_PARTS if {"<|channel|>", "<|message|>"} <= texts else frozenset()
    return {
        token: text.encode()
        for token, text, is_control in listed
        if is_control and (text in channels or _is_tag(text)) and not is_end(token)
    }


def _is_tag(text: str) -> bool:
    return any(text in (pair.opening, pair.closing) for pair in tags_of(text))
