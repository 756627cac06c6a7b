"""A row that goes on below: every button has its room, in the order and from the side in which one reads."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.gui.widgets.flow import Flow

WIDE, HIGH, GAP = 60, 30, 8


@pytest.fixture
def row(qtbot: QtBot) -> QWidget:
    """Four buttons of one size."""
    made = QWidget()
    flow = Flow()
    for _ in range(4):
        button = QPushButton()
        button.setFixedSize(WIDE, HIGH)
        flow.addWidget(button)
    made.setLayout(flow)
    qtbot.addWidget(made)
    return made


def places(row: QWidget, width: int) -> list[tuple[int, int]]:
    """Return where each button begins when there is so much room."""
    row.resize(width, 200)
    layout = row.layout()
    assert layout is not None
    layout.activate()
    return [(each.x(), each.y()) for each in row.findChildren(QPushButton) if not each.isHidden()]


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (4 * WIDE + 3 * GAP, [(0, 0), (68, 0), (136, 0), (204, 0)]),
        (4 * WIDE + 3 * GAP - 1, [(0, 0), (68, 0), (136, 0), (0, 38)]),
        (2 * WIDE + GAP, [(0, 0), (68, 0), (0, 38), (68, 38)]),
        (WIDE, [(0, 0), (0, 38), (0, 76), (0, 114)]),
        (10, [(0, 0), (0, 38), (0, 76), (0, 114)]),
    ],
)
def test_what_has_no_room_goes_on_below(row: QWidget, width: int, expected: list[tuple[int, int]]) -> None:
    flow = row.layout()
    assert flow is not None
    assert places(row, max(width, WIDE)) == expected
    assert flow.heightForWidth(width) == expected[-1][1] + HIGH
    assert (flow.sizeHint().width(), flow.minimumSize().width()) == (4 * WIDE + 3 * GAP, WIDE)


def test_from_right_to_left_it_begins_at_the_right(row: QWidget) -> None:
    row.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    assert places(row, 200) == [(140, 0), (72, 0), (4, 0), (140, 38)]


def test_what_is_hidden_takes_no_room(row: QWidget) -> None:
    row.findChildren(QPushButton)[0].hide()
    assert places(row, 3 * WIDE + 2 * GAP) == [(0, 0), (68, 0), (136, 0)]
