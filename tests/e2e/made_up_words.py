"""The candidates of a scene: what its tokens say, and which the model would have weighed beside the one it took."""

from __future__ import annotations

import numpy as np

from app.core.commands import ListPieces
from app.core.events import PiecesListed, Step
from tests.made_up_steps import pieces_of, step_of

TOKENIZER = "made-up"
_OTHERS = 1_000
"""The first of the tokens that are weighed beside the one that was taken."""
_WORDS = (
    " the",
    " light",
    " a",
    " blue",
    " because",
    " sun",
    "\n\n",
    " colours",
    " when",
    " air",
    " of",
    " it",
    " small",
    " and",
    " waves",
    ".",
    " sky",
    " more",
    " all",
    " us",
    " this",
    " which",
    " red",
    " as",
)
_TOP, _STEP = 12.0, 1.1
"""The largest logit, and by how much each of the next ones is smaller, less and less."""


def listed(command: ListPieces, words: list[str], vocabulary: int) -> PiecesListed:
    """Return what tokens say: first the words of the answer, one after the other."""
    texts = [f" w{token}".encode() for token in range(command.first, min(command.first + command.count, vocabulary))]
    known = dict(enumerate(words)) | {_OTHERS + place: word for place, word in enumerate(_WORDS)}
    for token, text in known.items():
        if command.first <= token < command.first + len(texts):
            texts[token - command.first] = text.encode()
    return PiecesListed(command.request, pieces_of(texts, command.first, TOKENIZER))


def weighed(request: int, taken: int, vocabulary: int) -> Step:
    """Return a step in which a token was taken that stood on the second place."""
    row = np.full(vocabulary, -8, np.float32)
    order = [_OTHERS + (taken + place) % len(_WORDS) for place in range(len(_WORDS))]
    order.insert(1, taken)
    row[order] = _TOP - _STEP * np.arange(len(order), dtype=np.float32) ** 0.8
    return step_of(row, request, taken)
