"""Rows of logits of every shape that a model may give, for property tests."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

Row = npt.NDArray[np.float32]

SIZES = (1, 2, 3, 7, 40, 64, 65, 130, 193, 800, 1025, 2000, 5000)


@st.composite
def rows(draw: st.DrawFn, sizes: tuple[int, ...] = SIZES, with_infinity: bool = True) -> Row:
    """Draw a row: flat, spread, spiky, rounded to many ties, or with tokens that are ruled out."""
    size = draw(st.sampled_from(sizes))
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    row = chance.standard_normal(size) * draw(st.sampled_from([0.0, 0.3, 2.0, 6.0]))
    row += draw(st.sampled_from([0.0, -30.0, 15.0, 95.0, -140.0]))
    spikes = draw(st.integers(0, 4))
    row[chance.integers(0, size, spikes)] += chance.uniform(0, 20, spikes)
    if draw(st.booleans()):
        row = row.round(draw(st.integers(0, 2)))
    if with_infinity and draw(st.booleans()):
        row[chance.random(size) < draw(st.sampled_from([0.1, 0.9]))] = -np.inf
        row[chance.integers(size)] = row[np.isfinite(row)].max(initial=-200.0) + 1.5
    return row.astype(np.float32)
