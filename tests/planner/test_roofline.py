"""The picture of the roof: what bandwidth and arithmetic allow, and where decode and prefill stand under it."""

from __future__ import annotations

import pytest

from app.planner.decode_speed import Part
from app.planner.roofline import roofline
from tests.planner.works import LLAMA_8B, PROCESSOR, TABLE, plain


@pytest.mark.parametrize(
    ("gpu", "expected"), [("rtx-4090", 327), ("h100-sxm", 295), ("l4", 403), ("t4", 203), ("m5-16", None)]
)
def test_ridges(gpu: str, expected: int | None) -> None:
    found = roofline([Part(LLAMA_8B, TABLE[gpu])], 2048, 2048)
    assert found is None if expected is None else found is not None and found.ridge == pytest.approx(expected, abs=1)


def test_decode_stands_under_the_slope_and_prefill_under_the_level() -> None:
    picture = roofline([Part(LLAMA_8B, TABLE["rtx-4090"])], 2048, 2048)
    assert picture is not None and picture.decode is not None and picture.prefill is not None
    assert picture.decode.intensity == pytest.approx(2 * 7.5e9 / 4.96e9, rel=0.1)
    assert picture.decode.intensity < picture.ridge < picture.prefill.intensity
    for dot in (picture.decode, picture.prefill):
        assert 0 < dot.tflops <= dot.roof == picture.roof(dot.intensity)
    assert picture.prefill.roof == picture.peak_tflops == 330
    many = roofline([Part(LLAMA_8B, TABLE["rtx-4090"])], 2048, 2048, 8)
    assert many is not None and many.decode is not None and many.decode.intensity > 3 * picture.decode.intensity


def test_there_is_no_picture_of_a_split_model_or_of_unknown_arithmetic() -> None:
    assert roofline([Part(LLAMA_8B, plain(tflops=None))], 2048, 2048) is None
    assert roofline([Part(LLAMA_8B, TABLE["l4"]), Part(LLAMA_8B, PROCESSOR)], 2048, 2048) is None
