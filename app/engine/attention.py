"""Which earlier tokens one token looked at: read from the softmax of every layer, in a watched inspection context.

The tokens before it are read as any prompt is, unwatched; the last one apart and watched, so that the softmax of each layer
has one row a head. Must not know who asks, and touches nothing of the chat's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing

import numpy as np
import numpy.typing as npt

from app.core.attention import (
    MOST_ROW_BYTES,
    AttentionProgress,
    AttentionRead,
    LayerAttention,
    NoAttention,
)
from app.core.commands import ReadAttention
from app.core.errors import UserError
from app.core.events import Event, Failed
from app.core.words import translate
from app.engine.backend import Backend, Tensor
from app.engine.control import Control
from app.engine.inspected_ids import STOPPED, Ids, refuse_unfit

SOFTMAX = re.compile(r"kq_soft_max-(\d+)$")
STATE = re.compile(r"cache_[rs]_l(\d+)\b")
"""What llama.cpp calls the state that a recurrent layer keeps."""
EMBEDDINGS = "token_embd.weight"

Rows = npt.NDArray[np.float32]
"""Attention, shape (heads, tokens)."""


class AttentionWatcher:
    """Keeps the attention of the last token that is evaluated, and its embedding."""

    def __init__(self, tokens: int) -> None:
        """`tokens` is how many there are, the last one included: each cell lies at its token's position."""
        self._tokens = tokens
        self.rows: dict[int, Rows] = {}
        """By layer."""
        self.recurrent: set[int] = set()
        """Layers that keep a state."""
        self.embedding = np.empty(0, np.float32)
        """Shape (width,)."""

    def wants(self, tensor: Tensor) -> bool:
        """Want the softmax of keys and queries, and the look-up of the embedding."""
        if SOFTMAX.match(tensor.name):
            return tensor.op == "SOFT_MAX"
        sources = tensor.sources
        for source in sources:
            if found := STATE.match(source.name):
                self.recurrent.add(int(found[1]))
        return tensor.op == "GET_ROWS" and sources[0].name == EMBEDDINGS

    def take(self, tensor: Tensor, _asked_ns: int, _computed_ns: int) -> None:
        """Copy the last token's rows, shape (streams, heads, tokens of the batch, cells)."""
        values = tensor.array()
        if found := SOFTMAX.match(tensor.name):
            self.rows[int(found[1])] = np.asarray(values[0, :, -1, : self._tokens], np.float32)
        else:
            self.embedding = np.asarray(values[0, 0, -1], np.float32)

    def told(self, request: int, layers: int) -> AttentionRead:
        """Return what was read of a model with so many layers, as it is sent."""
        is_whole = sum(rows.nbytes for rows in self.rows.values()) <= MOST_ROW_BYTES
        about, sent = [], []
        for layer in range(layers):
            rows = self.rows.get(layer)
            if rows is None:
                lacks: NoAttention = "recurrent" if layer in self.recurrent else "not_told"
                about.append(LayerAttention(lacks=lacks))
                continue
            average = rows.mean(axis=0, keepdims=True)
            sent.append(np.concatenate((average, rows)) if is_whole else average)
            about.append(LayerAttention(len(rows), len(sent[-1])))
        return AttentionRead(
            request,
            tuple(about),
            rows=b"".join(rows.astype("<f4").tobytes() for rows in sent),
            strongest=b"".join(rows.argmax(axis=1).astype("<i4").tobytes() for rows in sent),
            mean=np.mean([rows[0] for rows in sent], axis=0).astype("<f4").tobytes() if sent else b"",
            embedding=self.embedding.astype("<f4").tobytes(),
        )


def read_attention(backend: Backend, command: ReadAttention, control: Control) -> Iterator[Event]:
    """Yield progress, and `AttentionRead` or `Failed` once the memory is given back.

    Raises `PromptTooLong`, `NoInspection`, and `UserError` for no ids and for those that the vocabulary lacks.
    """
    ids: Ids = np.frombuffer(command.ids, "<i4")
    refuse_unfit(ids, backend)
    if not len(ids):
        raise UserError(
            translate("Engine", "There is no token to read the attention of. Choose one, then try again.")
        )
    watcher, is_done = AttentionWatcher(len(ids)), False
    if not control.is_cancelled():
        with closing(backend.inspect(len(ids), command.main_memory, watcher)) as inspection:
            inspection.set_abort(control.is_cancelled)
            last = len(ids) - 1
            starts = [*range(0, last, inspection.batch), last]
            for start, end in zip(starts, [*starts[1:], len(ids)], strict=True):
                is_done = not control.is_cancelled() and inspection.read(ids[start:end], start, watched=start == last)
                if not is_done:
                    break
                yield AttentionProgress(command.request, end, len(ids))
    if is_done and not control.is_cancelled():
        yield watcher.told(command.request, backend.info.layers)
    else:
        yield Failed(command.request, "cancelled", STOPPED)
