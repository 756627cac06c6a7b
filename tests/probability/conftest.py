"""The starter model's vocabulary and rows, loaded once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

from tests.probability import native

PROMPT = b"<|im_start|>user\nWhy is the sky blue?<|im_end|>\n<|im_start|>assistant\n"
ANSWER = (
    b"The sky is blue because of a process known as Rayleigh scattering. It's a natural phenomenon that occurs when"
    b" light encounters molecules in the atmosphere. When sunlight enters the Earth's"
)
"""What the starter model itself once answered at temperature 0.8."""


@pytest.fixture(scope="session")
def starter() -> Iterator[native.StarterVocabulary]:
    vocabulary = native.StarterVocabulary()
    yield vocabulary
    vocabulary.close()


@pytest.fixture(scope="session")
def rows() -> npt.NDArray[np.float32]:
    return native.real_rows(PROMPT, ANSWER)
