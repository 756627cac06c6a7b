from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import (
    QApplication,
)
from pytestqt.qtbot import QtBot

from tests.desk import Desk
from tests.gui.looking import take_away
from tests.gui.sampling.stand import Stand


@pytest.fixture
def stand(desk: Desk, qtbot: QtBot, qapp: QApplication) -> Iterator[Stand]:
    made = Stand(desk, qtbot, qapp)
    yield made
    made.panel.disconnect_services()
    take_away(made.window, qapp)


@pytest.fixture
def locale(request: pytest.FixtureRequest) -> Iterator[QLocale]:
    """Return a language of which Qt writes numbers."""
    before, wanted = QLocale(), QLocale(request.param)
    QLocale.setDefault(wanted)
    yield wanted
    QLocale.setDefault(before)
