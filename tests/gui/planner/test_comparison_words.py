"""What the comparison calls things."""

from __future__ import annotations

import pytest

from app.gui.planner.comparison.words import answer, need_line, short_gpu
from app.services.plan_values import Wanted
from tests.services.test_plan_comparison import rows_of


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("Intel(R) Xeon(R) Processor @ 2.10GHz", "Intel Xeon"),
        ("Intel(R) Core(TM) i7-8700K CPU @ 3.70GHz", "Intel Core i7-8700K"),
        ("AMD Ryzen 9 7950X 16-Core Processor", "Ryzen 9 7950X 16-Core"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("Processor", "Processor"),
    ],
)
def test_a_device_is_called_by_what_tells_it_from_others(name: str, short: str) -> None:
    assert short_gpu(name) == short


def test_what_hardly_meets_a_need_names_the_slow_end_of_its_band_and_so_does_the_answer() -> None:
    first = next(row for row in rows_of("rtx-3060", context=8192).rows if not row.is_estimate).first_token
    assert first is not None and first.value < first.high
    need = Wanted(first_token_s=(first.value + first.high) / 2)
    hardly = rows_of("rtx-3060", "h100-sxm", context=8192, wanted=need)
    assert need_line(hardly.rows[0]) == "✓ meets what you need, but only just: the slow end of its band misses it"
    assert "On the smallest GPU: " in answer(hardly) and answer(hardly).endswith(
        " on RTX 3060, but only just: the slow end of its band misses it."
    )
    surely = rows_of("rtx-3060", "h100-sxm", context=8192, wanted=Wanted(first_token_s=first.high * 4))
    assert need_line(surely.rows[0]) == "✓ meets what you need" and answer(surely).endswith(" on RTX 3060.")
