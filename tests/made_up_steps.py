"""Steps that no model made: rows of logits shaped like a real model's, and what an engine would say with them."""

from __future__ import annotations

from array import array

import msgspec
import numpy as np
import numpy.typing as npt

from app.core.chat import PromptSpan
from app.core.conversation import Pieces
from app.core.events import Loaded, PiecesListed, PromptReady, Step, Tokens
from app.core.store_commands import StoreCommand
from app.core.store_events import PiecesRead
from app.probability.row import RowReader
from tests.fake_engine import model_info

Row = npt.NDArray[np.float32]
LIVE = 1024
"""So many of the largest logits come along while an answer is being written."""


class NoStore:
    """Keeps nothing, and notes what it was asked."""

    def __init__(self) -> None:
        self.sent: list[StoreCommand] = []

    def send(self, command: StoreCommand) -> None:
        self.sent.append(command)

    def close(self) -> None:
        pass


def row_of(vocabulary: int, seed: int = 1, likely: int = 60) -> Row:
    """Return a row as models give them: a wide low hill of everything, and a few dozen tokens that stand out."""
    chance = np.random.default_rng(seed)
    row = chance.standard_normal(vocabulary).astype(np.float32) * np.float32(2.2) - np.float32(4)
    row[chance.choice(vocabulary, likely, replace=False)] = (
        17 - 2.4 * np.log1p(np.arange(likely)) - chance.random(likely)
    )
    return row


def step_of(row: Row, request: int, token: int, *, whole: bool = True) -> Step:
    """Return the step that tells a row, whole or by its largest logits."""
    facts = RowReader(row.size, LIVE).read(row)
    if whole:
        return Step(request, token, b"", row.tobytes(), facts.log_sum_exp)
    return Step(request, token, facts.ids.tobytes(), facts.logits.tobytes(), facts.log_sum_exp)


def loaded(request: int, path: str, vocabulary: int, tokenizer: str = "made-up") -> Loaded:
    """Return the load of a model with so many tokens."""
    model = msgspec.structs.replace(model_info(path), vocabulary=vocabulary, tokenizer=tokenizer)
    return Loaded(request, model)


def prompt_of(request: int, ids: list[int], answer: int = 0, seed: int | None = None) -> PromptReady:
    """Return a prompt, of which the last `answer` tokens begin an answer that goes on."""
    spans = [PromptSpan(0, len(ids) - answer, "prompt", 0)]
    if answer:
        spans.append(PromptSpan(len(ids) - answer, len(ids), "answer", 1))
    return PromptReady(request, array("i", ids).tobytes(), tuple(spans), 0, 0, seed=seed)


def tokens_of(request: int, first: int, ids: list[int]) -> Tokens:
    """Return sampled tokens."""
    return Tokens(request, first, len(ids), array("i", ids).tobytes(), "", b"", 0, 0, 0)


def pieces_of(texts: list[bytes], first: int = 0, tokenizer: str = "made-up") -> Pieces:
    """Return what tokens say."""
    ends = array("I", np.cumsum([len(text) for text in texts], dtype=np.uint32).tolist())
    return Pieces(tokenizer, first, ends.tobytes(), b"".join(texts))


def listed(request: int, texts: list[bytes], first: int = 0, tokenizer: str = "made-up") -> PiecesListed:
    """Return the engine's answer to a question for pieces."""
    return PiecesListed(request, pieces_of(texts, first, tokenizer))


def read(request: int, texts: list[bytes] | None, tokenizer: str = "made-up") -> PiecesRead:
    """Return the store's answer to a question for pieces."""
    return PiecesRead(request, tokenizer, None if texts is None else pieces_of(texts, 0, tokenizer))
