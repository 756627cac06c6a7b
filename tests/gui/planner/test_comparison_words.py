"""What the comparison calls things."""

from __future__ import annotations

import pytest

from app.gui.planner.comparison.words import answer, band_of, drawn_line, need_line, roofless_line, short_gpu
from app.services.plan_values import Band, Wanted
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


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(0.0012, 0.0014, "1 ms"), (0.0001, 0.0002, "1 ms"), (0.009, 0.019, "9–19 ms"), (0.6, 1.2, "0.60–1.20 s")],
)
def test_a_band_of_one_figure_is_that_figure(low: float, high: float, words: str) -> None:
    assert band_of(Band((low + high) / 2, low, high), is_time=True) == words


def test_it_is_said_where_the_roofline_shows_fewer_rows_than_the_lines() -> None:
    fewer = drawn_line(8, 17, 5, is_selected=False)
    assert fewer.startswith("Drawn below: 8 of 17 rows, those with letters.")
    assert fewer.endswith(" The roofline shows the first one of each GPU.")
    assert drawn_line(8, 17, 8, is_selected=False) == fewer.removesuffix(
        " The roofline shows the first one of each GPU."
    )


def test_a_row_that_the_roofline_lacks_says_why() -> None:
    rows = rows_of("m5-32", "h100-sxm").rows
    told = [("A", next(row for row in rows if row.gpu_id == "m5-32")), ("B", next(row for row in rows if row.roof))]
    assert roofless_line(told) == (
        "Not in the roofline. A: How much Apple M5 32 GB computes in a second is not known."
    )
    assert roofless_line(told[1:]) == ""
