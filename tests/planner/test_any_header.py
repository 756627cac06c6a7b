"""Whatever a header says, a plan comes of it: never an error, never a negative size, never a figure that is none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.gguf_entries import Value
from app.core.gguf_header import Header
from app.core.gguf_tensors import Tensor
from app.planner.architectures import PLANNED
from app.planner.memory_plan import MemoryPlan, PlannedDevice
from app.planner.plan_options import PlanOptions
from app.planner.planned_model import PlannedModel, planned_model
from app.planner.planning import plan_memory
from tests.planner.cells import cell_bytes, read_bytes
from tests.sparse_models import ALL

KEYS = sorted({key for make in ALL.values() for key in make().numbers} | {"nextn_predict_layers", "wkv.head_size"})
NUMBERS = st.one_of(
    st.integers(-3, 70),
    st.sampled_from([128, 4096, 131072, 2**31, 2**40, 2**63 - 1, 2**64 - 1, -(2**63)]),
)
VALUES: st.SearchStrategy[Value] = st.one_of(
    NUMBERS,
    st.lists(NUMBERS, max_size=70).map(tuple),
    st.lists(st.booleans(), max_size=70).map(tuple),
    st.sampled_from([True, 0.5, float("nan"), float("inf"), "text", (), ("a",)]),
)
NAMES = st.sampled_from(
    [
        "token_embd.weight",
        "output.weight",
        "output_norm.weight",
        "per_layer_token_embd.weight",
        "blk.0.attn_q.weight",
        "blk.1.ffn_gate.weight",
        "blk.1.ffn_up_exps.weight",
        "blk.0.ffn_down_exps.weight",
        "blk.999999999.ffn_up.weight",
        "blk.99999999999999999999.x",
        "\N{SNOWMAN}",
    ]
)
TENSORS = st.lists(
    st.builds(
        Tensor,
        NAMES,
        st.lists(st.sampled_from([0, 1, 32, 256, 2**20]), min_size=1, max_size=3).map(tuple),
        st.sampled_from([0, 1, 2, 12, 99]),
        st.just(0),
    ),
    max_size=12,
)
SIZES = st.one_of(st.none(), st.sampled_from([0, 1, 2**20, 8 * 2**30, 2**60]))
DEVICES = st.lists(st.builds(PlannedDevice, st.just("X"), st.booleans(), SIZES, SIZES, st.booleans()), max_size=3)
OPTIONS = st.builds(
    PlanOptions,
    st.sampled_from([-5, 0, 1, 256, 8192, 131072, 2**27]),
    st.sampled_from(["f16", "q8_0", "q4_0"]),
    st.sampled_from(["f16", "q8_0", "q4_0"]),
    st.sampled_from([0, 1, 4, 300]),
    st.booleans(),
    st.sampled_from([None, -1, 0, 1, 10_000]),
    st.booleans(),
    st.sampled_from([0, 1, 512, 65536]),
    st.booleans(),
)


@st.composite
def headers(draw: st.DrawFn) -> Header:
    """Return a header with any values in entries that are looked at; most begin as those of a real model."""
    if draw(st.booleans()):
        header = ALL[draw(st.sampled_from(sorted(ALL)))]().header()
        architecture, metadata, tensors = header.text("general.architecture"), dict(header.metadata), header.tensors
    else:
        architecture = draw(st.one_of(st.sampled_from(sorted(PLANNED)), st.text(max_size=5)))
        metadata, tensors = {"general.architecture": architecture}, tuple(draw(TENSORS))
    changes: dict[str, Value] = draw(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=8))
    for key, value in changes.items():
        metadata[f"{architecture}.{key}"] = value
    return Header(3, metadata, tensors, 32, 0)


def numbers_in(value: Any) -> Iterator[float]:
    """Return all numbers of a value made of structs and tuples."""
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from numbers_in(getattr(value, name))
    elif isinstance(value, tuple):
        for each in value:
            yield from numbers_in(each)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def assert_sound(model: PlannedModel, plan: MemoryPlan) -> None:
    for number in numbers_in(model):
        assert 0 <= number < 2**200  # not-a-number is in no range
    sizes = [figure.bytes for device in plan.devices for figure in device.figures]
    sizes += [plan.largest_context, plan.most_sequences, plan.gpu_layers, *(lever.saves for lever in plan.levers)]
    assert_sizes(*sizes)
    assert plan.verdict == "unknown" or model.kind != "unknown"


def assert_sizes(*sizes: object) -> None:
    for size in sizes:
        assert size is None or (type(size) is int and size >= 0)


@settings(max_examples=80)
@given(headers(), OPTIONS, DEVICES, st.booleans())
def test_a_plan_comes_of_any_header(
    header: Header, options: PlanOptions, devices: list[PlannedDevice], may_shorten: bool
) -> None:
    model = planned_model([header], 5)
    assert_sound(model, plan_memory(model, options, devices, may_shorten=may_shorten))
    assert_sizes(cell_bytes(model, options))
    for tokens in (1000, -1):
        read = read_bytes(model, options, tokens)
        assert read is None or read >= 0
