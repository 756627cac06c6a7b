"""A computation taken apart: every node is counted once, each in its kind, and the kinds together are all of it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field

import numpy as np
import pytest

from app.core.commands import TimeOperations
from app.core.errors import UserError
from app.core.events import Event, Failed
from app.core.operations import (
    LEAST_TOKENS,
    WATCHED_STEPS,
    OperationsProgress,
    OperationsTimed,
    OperationTime,
)
from app.engine.backend import Backend, TokenIds
from app.engine.control import Control
from app.engine.inspection import LlamaInspection
from app.engine.llama_model import LlamaBackend
from app.engine.operations import (
    Kind,
    Node,
    OperationsWatcher,
    _Found,
    kind_of,
    quickest,
    summed,
    time_operations,
)
from tests.engine.exchanges import tokens
from tests.engine.test_graph_watch import Watching
from tests.engine.test_loop import scripted


@dataclass
class Made:
    """A tensor of a graph that nobody computes."""

    op: str
    name: str = ""
    type: str = "f32"
    sources: tuple[Made, ...] = field(default_factory=tuple)


def weights(name: str, kind: str = "q4_1") -> Made:
    return Made("NONE", name, kind)


def timed(backend: Backend, ids: list[int], control: Control | None = None) -> list[Event]:
    command = TimeOperations(1, np.asarray(ids, "<i4").tobytes())
    return list(time_operations(backend, command, control or Control(1)))


def found(events: list[Event]) -> OperationsTimed:
    assert isinstance(events[-1], OperationsTimed), events[-1]
    return events[-1]


@pytest.mark.parametrize(
    ("tensor", "kind"),
    [
        (Made("MUL_MAT", "Qcur-0", sources=(weights("blk.0.attn_q.weight"),)), Kind("weights", "Q4_1", "attention")),
        (
            Made("MUL_MAT", "ffn_out-3", sources=(weights("blk.3.ffn_down.weight", "q6_K"),)),
            Kind("weights", "Q6_K", "feed_forward"),
        ),
        (
            Made("MUL_MAT_ID", "ffn_moe_up-3", sources=(weights("blk.3.ffn_up_exps.weight", "f16"),)),
            Kind("weights", "F16", "feed_forward"),
        ),
        (
            Made("MUL_MAT", "result_output", sources=(weights("token_embd.weight"),)),
            Kind("weights", "Q4_1", "output"),
        ),
        (Made("MUL_MAT", "x", sources=(weights("blk.0.ssm_in.weight"),)), Kind("weights", "Q4_1", "other")),
        (
            Made("MUL_MAT", "kq-0", sources=(Made("PERMUTE", "cache_k_l0 (view) (permuted)", "f16"),)),
            Kind("attention"),
        ),
        (Made("MUL_MAT", "kqv-0", sources=(weights("cache_v_l0", "f16"),)), Kind("attention")),
        (Made("SOFT_MAX", "kq_soft_max-0"), Kind("attention")),
        (Made("FLASH_ATTN_EXT", "__fattn__-0"), Kind("attention")),
        (Made("SOFT_MAX", "ffn_moe_probs-0"), Kind("feed_forward")),
        (Made("RMS_NORM", "norm-0"), Kind("norm")),
        (Made("MUL", "ffn_norm-0", sources=(Made("RMS_NORM"), weights("blk.0.ffn_norm.weight"))), Kind("norm")),
        (Made("SWIGLU", "ffn_swiglu-0"), Kind("feed_forward")),
        (Made("ADD", "ffn_inp-0"), Kind("rest")),
        (Made("ROPE", "Qcur-0"), Kind("rest")),
        (Made("SET_ROWS", "cache_k_l0 (view)"), Kind("rest")),
        (Made("GET_ROWS", "embd", sources=(weights("token_embd.weight"),)), Kind("rest")),
    ],
)
def test_each_node_is_of_the_kind_that_its_operation_and_its_weights_say(tensor: Made, kind: Kind) -> None:
    assert kind_of(tensor) == kind  # type: ignore[arg-type]  # it has what is looked at


def check(times: tuple[OperationTime, ...], nodes: int) -> None:
    """Hold what was found against itself."""
    total = sum(each.ns for each in times)
    assert total > 0 and sum(each.ns / total for each in times) == pytest.approx(1)
    assert all(each.ns >= 0 and each.nodes > 0 for each in times)
    assert 0 < sum(each.nodes for each in times) <= nodes
    assert len({(each.kind, each.weight, each.place) for each in times}) == len(times)


def nodes_of(backend: LlamaBackend, ids: list[int]) -> Watching:
    """Return all nodes of one step, watched by somebody else."""
    watching = Watching("")
    watching.take = lambda *_: None  # type: ignore[method-assign]
    with closing(backend.inspect(len(ids), None, watching)) as context:
        for start in range(0, len(ids) - 1, context.batch):
            assert context.read(ids[start : min(start + context.batch, len(ids) - 1)], start)
        assert context.read(ids[-1:], len(ids) - 1, watched=True)
    return watching


def test_every_node_of_a_real_model_is_counted_once(quick_backend: LlamaBackend) -> None:
    ids = tokens(150, 1)
    event = found(timed(quick_backend, ids))
    for times, nodes in ((event.decode, event.decode_nodes), (event.prefill, event.prefill_nodes)):
        check(times, nodes)
    assert event.decode_nodes == len(nodes_of(quick_backend, ids).asked)
    assert event.chunk == 64 and event.cells == 150


def test_the_starter_model_is_taken_apart_by_the_types_of_its_weights(starter_backend: LlamaBackend) -> None:
    event = found(timed(starter_backend, tokens(100, 1)))
    layers = starter_backend.info.layers
    for times in (event.decode, event.prefill):
        counts = {(each.kind, each.weight, each.place): each.nodes for each in times}
        assert counts["weights", "Q4_1", "attention"] == 4 * layers
        assert counts["weights", "Q4_1", "feed_forward"] == 3 * layers
        assert counts["weights", "Q8_0", "output"] == 1
        assert counts["attention", "", ""] == 4 * layers, "scores, softmax, weighted sum, and what joins the heads"
        assert counts["norm", "", ""] == 2 * (2 * layers + 1)
        assert counts["feed_forward", "", ""] == layers
        heaviest = max(times, key=lambda each: each.ns)
        assert heaviest.kind == "weights"
    assert event.slowdown is not None and event.slowdown > 0


@pytest.mark.parametrize("count", [LEAST_TOKENS, 64, 65 + 2 * WATCHED_STEPS, 200])
def test_any_number_of_tokens_is_read_whole(quick_backend: LlamaBackend, count: int) -> None:
    events = timed(quick_backend, tokens(count, 1))
    told = [event.done for event in events if isinstance(event, OperationsProgress)]
    assert told[-1] == count and told == sorted(set(told))
    assert found(events).chunk == min(count - 2 * WATCHED_STEPS - 1, 64)


def test_watched_steps_are_measured_against_such_as_differ_in_nothing_else(
    quick_backend: LlamaBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[tuple[int, bool, bool]] = []
    evaluate = LlamaInspection._evaluate

    def noted(inspection: LlamaInspection, ids: TokenIds, position: int, *, watched: bool = False) -> bool:
        read.append((len(ids), watched, bool(inspection._outputs[len(ids) - 1])))
        return evaluate(inspection, ids, position, watched=watched)

    monkeypatch.setattr(LlamaInspection, "_evaluate", noted)
    timed(quick_backend, tokens(150, 1))
    chunk, warm_up, *steps = read[-2 * WATCHED_STEPS - 2 :]
    assert chunk == (64, True, True) and warm_up == (1, False, True)
    assert steps == [(1, False, True), (1, True, True)] * WATCHED_STEPS


def test_the_slowdown_is_that_of_the_best_steps_behind_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr("app.engine.operations.time.perf_counter_ns", lambda: clock.now)
    inspection, found, watcher = Slow(clock), _Found(), OperationsWatcher()
    inspection.watcher = watcher
    list(found.measure(inspection, watcher, np.arange(40, dtype=np.int32), Control(1)))  # type: ignore[arg-type]
    assert found.told(1).slowdown == pytest.approx(150 / 100)


class Clock:
    """Stands still until somebody lets it go on."""

    now = 0


class Slow:
    """An inspection whose steps take 100, 150 where they are watched, and much longer the first and every other time."""

    batch = 64

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.watcher = OperationsWatcher()
        self.calls = 0

    def read(self, ids: TokenIds, position: int, *, watched: bool = False, row: bool = False) -> bool:
        """Take its time."""
        self.calls += 1
        took = (150 if watched else 100 if row else 60) + (900 if self.calls in (2, 3, 4) else 0)
        self.clock.now += took
        if watched:
            self.watcher.take(Made("ROPE", "x"), 0, took)  # type: ignore[arg-type]
        return True


def test_too_few_tokens_are_refused_in_words(quick_backend: LlamaBackend) -> None:
    with pytest.raises(UserError, match="too few to take apart"):
        timed(quick_backend, tokens(LEAST_TOKENS - 1, 1))


def test_it_can_be_stopped_and_the_chat_is_as_it_was(quick_backend: LlamaBackend) -> None:
    control = Control(1)
    before = quick_backend.memory
    command = TimeOperations(1, np.asarray(tokens(300, 1), "<i4").tobytes())
    events: list[Event] = []
    for event in time_operations(quick_backend, command, control):
        events.append(event)
        control.cancel()
    assert isinstance(events[-1], Failed) and events[-1].kind == "cancelled" and len(events) == 2
    assert quick_backend.memory == before


def test_a_script_has_nothing_to_watch() -> None:
    assert found(timed(scripted(), list(range(1, 40)))).decode == ()


def test_the_quickest_time_of_each_node_counts_and_what_watching_costs_is_taken_off() -> None:
    one, other = Kind("norm"), Kind("rest")
    steps = [[Node(one, 30), Node(other, 12)], [Node(one, 25), Node(other, 90)], [Node(one, 40), Node(other, 15)]]
    assert quickest(steps) == [Node(one, 25), Node(other, 12)]
    assert quickest([[Node(one, 5)], *steps]) == [Node(one, 25), Node(other, 12)], (
        "another graph says nothing of this one"
    )
    assert summed([Node(one, 25), Node(other, 12), Node(one, 15)]) == (
        OperationTime("norm", 16, 2),
        OperationTime("rest", 0, 1),
    )


def test_what_only_looks_is_counted_and_not_computed_apart() -> None:
    watcher = OperationsWatcher()
    assert not watcher.wants(Made("VIEW", "x"))  # type: ignore[arg-type]
    assert watcher.wants(Made("ROPE", "x"))  # type: ignore[arg-type]
    watcher.take(Made("ROPE", "x"), 10, 25)  # type: ignore[arg-type]
    assert watcher.taken() == ([Node(Kind("rest"), 15)], 2)
    assert watcher.taken() == ([], 0)
