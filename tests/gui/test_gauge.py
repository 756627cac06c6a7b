"""What a bar paints of parts that are hardly there: nothing that looks like noise, and nothing that looks like more."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from app.gui.widgets.gauge import GAP_PX, LEAST_PX, Gauge, Segment, pieces

WEIGHTS, CACHE, COMPUTE, OTHERS, TRACK = (
    QColor(name) for name in ("#1A5FA8", "#2B7A3B", "#7A2E93", "#888888", "#D9D9D2")
)
WIDTH_PX = 280
LEAST = (LEAST_PX + GAP_PX) / WIDTH_PX


def drawn(qtbot: QtBot, *segments: Segment) -> list[tuple[str, int]]:
    """Return the colours along the bar with how many pixels each takes."""
    gauge = Gauge("bar")
    qtbot.addWidget(gauge)
    gauge.set_track(TRACK)
    gauge.set_segments(segments)
    gauge.resize(WIDTH_PX, gauge.height())
    image = QImage(gauge.size(), QImage.Format.Format_ARGB32)
    gauge.render(image)
    runs: list[tuple[str, int]] = []
    for x in range(2, WIDTH_PX - 2):  # without the round corners
        name = image.pixelColor(x, 4).name()
        if runs and runs[-1][0] == name:
            runs[-1] = (name, runs[-1][1] + 1)
        else:
            runs.append((name, 1))
    return runs


def test_slivers_side_by_side_are_one_piece_in_the_colour_of_the_largest(qtbot: QtBot) -> None:
    slivers = (Segment(0.004, WEIGHTS), Segment(0.008, CACHE), Segment(0.001, COMPUTE))
    runs = drawn(qtbot, *slivers, Segment(0.3, OTHERS))
    assert [name for name, _ in runs] == [CACHE.name(), TRACK.name(), OTHERS.name(), TRACK.name()]
    assert dict(runs)[OTHERS.name()] == pytest.approx(0.3 * WIDTH_PX - GAP_PX, abs=1)


def test_every_piece_is_wide_enough_to_be_seen_and_has_sharp_edges(qtbot: QtBot) -> None:
    colours = {WEIGHTS.name(), CACHE.name(), COMPUTE.name(), OTHERS.name(), TRACK.name()}
    for share in (0.0001, 0.003, 0.0137, 0.0412, 0.2003):
        runs = drawn(
            qtbot, Segment(0.05, OTHERS), Segment(share, WEIGHTS), Segment(0.1, CACHE), Segment(share, COMPUTE)
        )
        assert {name for name, _ in runs} <= colours
        assert all(pixels >= LEAST_PX for name, pixels in runs if name != TRACK.name())


def test_parts_that_can_be_seen_by_themselves_stay_apart_with_a_gap(qtbot: QtBot) -> None:
    runs = drawn(qtbot, Segment(0.02, WEIGHTS), Segment(0.03, CACHE))
    assert [name for name, _ in runs] == [WEIGHTS.name(), TRACK.name(), CACHE.name(), TRACK.name()]
    assert runs[1][1] == GAP_PX


def test_many_small_parts_become_several_pieces_of_no_more_than_they_are() -> None:
    made = pieces([Segment(0.006, WEIGHTS)] * 10, WIDTH_PX)
    assert len(made) > 1 and all(piece.share >= LEAST for piece in made)
    assert sum(piece.share for piece in made) == pytest.approx(0.06)


def test_a_full_bar_stays_within_its_frame() -> None:
    made = pieces((Segment(0.0001, WEIGHTS), Segment(0.9998, OTHERS), Segment(0.0001, CACHE)), WIDTH_PX)
    assert [piece.colour for piece in made] == [WEIGHTS, OTHERS, CACHE]
    assert sum(piece.share for piece in made) == pytest.approx(1.0)
