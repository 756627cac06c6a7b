"""What tests of the planner share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gui.conftest import Stage
from tests.gui.planner.beside import Beside


@pytest.fixture
def beside(ready: Stage, model: Path) -> Beside:
    """Return the part with the rows that it begins with."""
    return Beside(ready, model)
