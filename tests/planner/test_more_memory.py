"""More memory of the same class never holds less."""

from __future__ import annotations

import itertools
from operator import attrgetter

import pytest
from msgspec.structs import replace

from app.planner.comparison import Usage, compare
from app.planner.gpu import Gpu
from tests.planner.planned_models import planned
from tests.planner.works import PROCESSOR, TABLE

ORDER = ("too_large", "partly", "less_context", "fits")


def classes() -> list[list[Gpu]]:
    """Return GPUs of one class from the least memory to the most, those alone left out."""
    sorted_by = sorted(TABLE.values(), key=attrgetter("memory_kind", "family", "speed_class", "usable"))
    groups = itertools.groupby(sorted_by, key=attrgetter("memory_kind", "family", "speed_class"))
    return [group for _, each in groups if len(group := list(each)) > 1]


@pytest.mark.parametrize("name", ["llama-3.1-8b", "gemma-3-12b", "qwen3-30b-a3b", "qwen3-32b"])
@pytest.mark.parametrize("context", [4096, 32_768])
@pytest.mark.parametrize("gib", [23, 256])
def test_more_memory_of_a_class_never_fits_less(name: str, context: int, gib: int) -> None:
    host = replace(PROCESSOR, usable=gib << 30, memory=gib << 30)
    for group in classes():
        rows = compare([planned(name)], group, Usage(context=context), host)
        for less, more in itertools.pairwise(rows):
            named = (less.gpu.id, more.gpu.id)
            assert ORDER.index(less.verdict) <= ORDER.index(more.verdict), named
            assert (less.plan.gpu_layers or 0) <= (more.plan.gpu_layers or 0) or more.verdict != "partly", named
            if less.verdict == "too_large":
                assert not less.speed, named


def test_a_chip_that_shares_memory_borrows_none_of_this_machine() -> None:
    apple = next(gpu for gpu in TABLE.values() if gpu.id == "m1-8")
    rich = replace(PROCESSOR, usable=512 << 30, memory=512 << 30)
    alone, beside = (compare([planned("qwen3-32b")], [apple], Usage(context=8192), host)[0] for host in (None, rich))
    assert alone.verdict == beside.verdict == "too_large" and beside.speed is None


def test_a_chip_with_more_memory_needs_no_more_of_it() -> None:
    chips = [gpu for gpu in TABLE.values() if gpu.id in ("m3-max-64", "m3-max-128", "m4-max-128", "m3-ultra-512")]
    needs = {compare([planned("llama-3.1-8b")], [chip], Usage(context=8192))[0].needed for chip in chips}
    assert len(chips) == 4 and len(needs) == 1
