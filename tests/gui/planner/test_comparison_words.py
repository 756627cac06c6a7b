"""What the comparison calls things."""

from __future__ import annotations

import pytest

from app.gui.planner.comparison.words import short_gpu


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
