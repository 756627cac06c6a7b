"""What is read of a computation is what llama.cpp computed; whatever a watcher does, llama.cpp never meets an exception."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import numpy as np
import numpy.typing as npt
import pytest

from app.engine import inspection as inspection_module
from app.engine.backend import NoInspection, Tensor
from app.engine.ggml_tensor import GgmlTensor, layout_is_known
from app.engine.inspection import LlamaInspection
from app.engine.llama_model import LlamaBackend
from tests.engine.exchanges import tokens
from tests.engine.test_loop import scripted

CELLS = 300


class Watching:
    """Wants the tensors whose names begin so, and keeps copies."""

    def __init__(self, *prefixes: str, broken: str | None = None) -> None:
        self._prefixes = prefixes
        self._broken = broken
        self.asked: list[str] = []
        self.arrays: dict[str, npt.NDArray[np.float32]] = {}
        self.scales: dict[str, float] = {}
        """The first parameter of each operation: that of a softmax is its scale."""
        self.sources: dict[str, list[tuple[str, str]]] = {}
        self.times: list[tuple[int, int]] = []

    def wants(self, tensor: Tensor) -> bool:
        self.asked.append(tensor.name)
        if self._broken == "wants":
            raise KeyError(tensor.name)
        return tensor.name.startswith(self._prefixes)

    def take(self, tensor: Tensor, asked_ns: int, computed_ns: int) -> None:
        if self._broken == "take":
            raise KeyError(tensor.name)
        self.arrays[tensor.name] = tensor.array()
        self.sources[tensor.name] = [(source.name, source.type) for source in tensor.sources]
        assert isinstance(tensor, GgmlTensor)
        self.scales[tensor.name] = float(np.frombuffer(bytes(tensor._fields.parameters), "<f4")[0])
        self.times.append((asked_ns, computed_ns))


def inspected(backend: LlamaBackend, watching: Watching) -> LlamaInspection:
    made = backend.inspect(CELLS, None, watching)
    assert isinstance(made, LlamaInspection)
    return made


def test_the_fields_of_a_tensor_lie_where_they_are_read() -> None:
    assert layout_is_known()


def test_a_build_with_other_tensors_is_refused_before_anything_is_read(
    quick_backend: LlamaBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspection_module, "layout_is_known", lambda: False)
    with pytest.raises(NoInspection, match="keeps its tensors in another way"):
        quick_backend.inspect(CELLS, None, Watching("kq"))
    quick_backend.inspect(CELLS, None).close()


def test_the_tensors_that_are_wanted_come_with_their_shapes_and_sources(quick_backend: LlamaBackend) -> None:
    watching = Watching("kq_soft_max-")
    with closing(inspected(quick_backend, watching)) as context:
        assert context.read(tokens(40, 1), 0)
        assert watching.asked == [], "who does not watch is not asked"
        assert context.read(tokens(3, 2), 40, watched=True)
    heads = watching.arrays["kq_soft_max-0"].shape[1]
    assert list(watching.arrays) == [f"kq_soft_max-{layer}" for layer in range(quick_backend.info.layers)]
    assert {array.shape[:3] for array in watching.arrays.values()} == {(1, heads, 3)}
    assert watching.sources["kq_soft_max-1"][0] == ("kq-1", "f32")
    assert all(asked <= computed for asked, computed in watching.times)
    assert "result_output" in watching.asked, "the row of the last token is worked out as well"


def test_attention_is_the_softmax_of_the_scaled_products_of_keys_and_queries(quick_backend: LlamaBackend) -> None:
    watching = Watching("kq-", "kq_soft_max-")
    with closing(inspected(quick_backend, watching)) as context:
        assert context.read(tokens(40, 1), 0) and context.read(tokens(3, 2), 40, watched=True)
    scale = watching.scales["kq_soft_max-0"]
    products, attention = watching.arrays["kq-0"][0], watching.arrays["kq_soft_max-0"][0]
    for place in range(3):
        known = products[:, place, : 41 + place].astype(np.float64) * scale
        expected = np.exp(known - known.max(axis=-1, keepdims=True))
        expected /= expected.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(attention[:, place, : 41 + place], expected, atol=1e-6)
        assert not attention[:, place, 41 + place :].any()


@pytest.mark.parametrize("broken", ["wants", "take"])
def test_what_a_watcher_raises_is_raised_behind_the_evaluation(quick_backend: LlamaBackend, broken: str) -> None:
    watching = Watching("kq-", broken=broken)
    with closing(inspected(quick_backend, watching)) as context:
        with pytest.raises(KeyError):
            context.read(tokens(4, 1), 0, watched=True)
        asked = len(watching.asked)
        assert context.read(tokens(4, 1), 4), "the context is as good as before"
        assert len(watching.asked) == asked


def test_a_watched_evaluation_stops_too(quick_backend: LlamaBackend) -> None:
    watching = Watching("")
    with closing(inspected(quick_backend, watching)) as context:
        context.set_abort(lambda: len(watching.arrays) > 5)
        assert not context.read([5, 6], 0, watched=True)
    assert len(watching.arrays) < len(set(watching.asked)) + 5


def test_values_of_blocks_are_refused(starter_backend: LlamaBackend) -> None:
    refused: list[str] = []

    class Reading(Watching):
        def take(self, tensor: Tensor, asked_ns: int, computed_ns: int) -> None:
            for source in tensor.sources:
                if source.type not in ("f32", "f16", "i32"):
                    _refused(source.array, refused)

    with closing(inspected(starter_backend, Reading("attn_out-0"))) as context:
        context.read([5, 6], 0, watched=True)
    assert len(refused) == 1 and "not read one by one" in refused[0]


def _refused(read: Callable[[], object], into: list[str]) -> None:
    with pytest.raises(ValueError, match=r"bytes, not|not read one by one") as error:
        read()
    into.append(str(error.value))


def test_a_script_takes_a_watcher_and_has_nothing_for_it() -> None:
    watching = Watching("")
    with closing(scripted().inspect(CELLS, None, watching)) as context:
        assert context.read([70, 71], 0, watched=True)
    assert not watching.asked
