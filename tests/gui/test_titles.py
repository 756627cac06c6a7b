"""Titles in the list: a fork keeps the number that tells it apart."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication

from app.gui import theme
from app.gui.history.delegate import elided

TITLE = "Explain why the sky is blue"


@pytest.fixture
def metrics(qapp: QApplication) -> QFontMetrics:
    assert qapp.font() is not None
    return QFontMetrics(theme.font(theme.BASE_PX))


def test_a_number_behind_a_title_is_never_cut(metrics: QFontMetrics) -> None:
    width = metrics.horizontalAdvance(TITLE) - 10
    assert elided(TITLE, metrics, width).endswith("…")
    shown = elided(f"{TITLE} (2)", metrics, width)
    assert shown.endswith("… (2)") and shown.startswith("Explain")
    assert metrics.horizontalAdvance(shown) <= width
    assert shown != elided(f"{TITLE} (3)", metrics, width)


def test_a_title_that_fits_is_whole(metrics: QFontMetrics) -> None:
    assert elided(f"{TITLE} (2)", metrics, 10_000) == f"{TITLE} (2)"


def test_a_year_is_no_number(metrics: QFontMetrics) -> None:
    width = metrics.horizontalAdvance(TITLE)
    assert elided(f"{TITLE} (1984)", metrics, width).endswith("…")
