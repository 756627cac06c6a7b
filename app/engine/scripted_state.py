"""What a script has to keep outside of its context: nothing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from app.engine.state_file import Maker


class ScriptedState:
    """Has no bytes, so that nobody saves it."""

    def state_bytes(self) -> int:
        """Return that there is nothing."""
        return 0

    def save(self) -> npt.NDArray[np.uint8]:
        """Return nothing."""
        return np.zeros(0, np.uint8)

    def restore(self, state: npt.NDArray[np.uint8]) -> bool:
        """Take nothing back."""
        return False

    def maker(self, model: str) -> Maker:
        """Return that it is a script."""
        return Maker(model, "scripted", ("f16", "f16"), "off", (), "plain")
