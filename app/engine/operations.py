"""Where the time of a computation goes, kind by kind: one decode step and one chunk of a prefill, watched node by node.

The tokens before them are read unwatched, in an inspection context. Each node is computed apart where it is watched, which
costs about the same for each: the time of the quickest is taken off all. Must not know who asks.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import NamedTuple

import numpy as np

from app.core.commands import TimeOperations
from app.core.errors import UserError
from app.core.events import Event, Failed
from app.core.operations import (
    LEAST_TOKENS,
    WATCHED_STEPS,
    OperationKind,
    OperationsProgress,
    OperationsTimed,
    OperationTime,
    WeightPlace,
)
from app.core.words import translate
from app.engine.backend import Backend, Inspection, Tensor
from app.engine.control import Control
from app.engine.inspected_ids import STOPPED, Ids, refuse_unfit

_LOOKS = frozenset({"NONE", "VIEW", "RESHAPE", "PERMUTE", "TRANSPOSE"})
"""Operations that compute nothing: they look at what is there in another way."""
_PRODUCTS = frozenset({"MUL_MAT", "MUL_MAT_ID"})
_NORMS = frozenset({"RMS_NORM", "NORM", "GROUP_NORM", "L2_NORM"})


class Kind(NamedTuple):
    """What a node belongs to."""

    kind: OperationKind
    weight: str = ""
    place: WeightPlace = ""


class Node(NamedTuple):
    """A node that was computed, and how long that took."""

    kind: Kind
    ns: int


class OperationsWatcher:
    """Takes down every node of the evaluations that it watches."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.looks = 0
        """Nodes that compute nothing."""

    def wants(self, tensor: Tensor) -> bool:
        """Want what computes something."""
        if tensor.op in _LOOKS:
            self.looks += 1
            return False
        return True

    def take(self, tensor: Tensor, asked_ns: int, computed_ns: int) -> None:
        """Note the time of one node."""
        self.nodes.append(Node(kind_of(tensor), computed_ns - asked_ns))

    def taken(self) -> tuple[list[Node], int]:
        """Return the nodes since the last time, and how many there were with those that compute nothing."""
        nodes, count = self.nodes, len(self.nodes) + self.looks
        self.nodes, self.looks = [], 0
        return nodes, count


def kind_of(tensor: Tensor) -> Kind:
    """Return what a node belongs to, by its operation, its name and what it reads."""
    name, op, sources = tensor.name, tensor.op, tensor.sources
    if op in _PRODUCTS:
        weights = sources[0]
        if weights.op == "NONE" and not weights.name.startswith("cache_"):
            return Kind("weights", weights.type.upper(), _place_of(weights.name))
        return Kind("attention")
    if op in ("FLASH_ATTN_EXT", "SOFT_MAX") or name.startswith(("kq", "kqv", "attn_pregate", "fattn")):
        return Kind("attention") if not name.startswith("ffn_") else Kind("feed_forward")
    if op in _NORMS or (op in ("MUL", "ADD") and any("norm" in each.name for each in sources if each.op == "NONE")):
        return Kind("norm")
    if name.startswith("ffn_") and not name.startswith("ffn_inp"):
        return Kind("feed_forward")
    return Kind("rest")


def _place_of(weights: str) -> WeightPlace:
    """Return where a matrix is, by what GGUF files call it."""
    if "ffn_" in weights:
        return "feed_forward"
    if "attn_" in weights:
        return "attention"
    return "output" if weights.startswith(("output.", "token_embd.")) else "other"


def time_operations(backend: Backend, command: TimeOperations, control: Control) -> Iterator[Event]:
    """Yield progress, and `OperationsTimed` or `Failed` once the memory is given back.

    Raises `PromptTooLong`, `NoInspection`, and `UserError` for too few ids and for those that the vocabulary lacks.
    """
    ids: Ids = np.frombuffer(command.ids, "<i4")
    refuse_unfit(ids, backend)
    if len(ids) < LEAST_TOKENS:
        raise UserError(
            translate(
                "Engine",
                "There are only {tokens} tokens, too few to take apart how they are read. Choose a longer chat.",
                tokens=len(ids),
            )
        )
    watcher, found = OperationsWatcher(), _Found()
    if not control.is_cancelled():
        with closing(backend.inspect(len(ids), command.main_memory, watcher)) as inspection:
            inspection.set_abort(control.is_cancelled)
            for done in found.measure(inspection, watcher, ids, control):
                yield OperationsProgress(command.request, done, len(ids))
    if found.is_whole and not control.is_cancelled():
        yield found.told(command.request)
    else:
        yield Failed(command.request, "cancelled", STOPPED)


class _Found:
    """What a pass found."""

    def __init__(self) -> None:
        self.is_whole = False
        self._chunk: tuple[list[Node], int] = ([], 0)
        self._chunk_tokens = self._cells = 0
        self._steps: list[list[Node]] = []
        self._step_nodes = 0
        self._watched_ns: list[int] = []
        self._plain_ns: list[int] = []

    def measure(
        self, inspection: Inspection, watcher: OperationsWatcher, ids: Ids, control: Control
    ) -> Iterator[int]:
        """Read the tokens, the last chunk and every other one of the last steps watched; yields how many were read.

        The first step behind the chunk warms up. Those after it work out a row of logits each, so that watched ones and
        the others between them are the same but for the watching.
        """
        last = len(ids) - 2 * WATCHED_STEPS - 1
        first = max(last - inspection.batch, 0)
        starts = [*range(0, first, inspection.batch), first, *range(last, len(ids))]
        for start, end in zip(starts, [*starts[1:], len(ids)], strict=True):
            is_watched = start == first or (start > last and (len(ids) - start) % 2 == 1)
            began = time.perf_counter_ns()
            if control.is_cancelled() or not inspection.read(
                ids[start:end], start, watched=is_watched, row=start >= first
            ):
                return
            took = time.perf_counter_ns() - began
            if start == first:
                self._chunk, self._chunk_tokens = watcher.taken(), end - start
            elif is_watched:
                nodes, self._step_nodes = watcher.taken()
                self._steps.append(nodes)
                self._watched_ns.append(took)
            elif start > last:
                self._plain_ns.append(took)
            yield end
        self._cells, self.is_whole = len(ids), True

    def told(self, request: int) -> OperationsTimed:
        """Return what is sent of it."""
        step = quickest(self._steps)
        watched, plain = min(self._watched_ns, default=0), min(self._plain_ns, default=0)
        return OperationsTimed(
            request,
            summed(step),
            summed(self._chunk[0]),
            self._step_nodes,
            self._chunk[1],
            self._chunk_tokens,
            self._cells,
            watched / plain if plain and watched and step else None,
        )


def quickest(steps: Sequence[list[Node]]) -> list[Node]:
    """Return the nodes of the last step, each with its quickest time in all steps of the same graph."""
    last = steps[-1] if steps else []
    kinds = [node.kind for node in last]
    alike = [step for step in steps if [node.kind for node in step] == kinds]
    return [Node(kind, min(step[place].ns for step in alike)) for place, kind in enumerate(kinds)]


def summed(nodes: Sequence[Node]) -> tuple[OperationTime, ...]:
    """Return the nodes kind by kind, the longest first, without what watching adds to each."""
    added = min((node.ns for node in nodes), default=0)
    times: dict[Kind, list[int]] = {}
    for node in nodes:
        times.setdefault(node.kind, []).append(node.ns - added)
    made = [OperationTime(kind.kind, sum(ns), len(ns), kind.weight, kind.place) for kind, ns in times.items()]
    return tuple(sorted(made, key=lambda each: -each.ns))
