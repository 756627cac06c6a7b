from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter
from PySide6.QtWidgets import QApplication

from tests.e2e.pictures import MOST_SHARE, TILE_PX, VISIBLE_STEP, difference
from tests.e2e.screenshots import ACCEPTED, compare, scene_of
from tests.e2e.states import STATES, State

pytestmark = pytest.mark.usefixtures("qapp")
MOST_FILES = 78
WIDTH, HEIGHT = 1280, 800


def picture(width: int = WIDTH, height: int = HEIGHT, grey: int = 200) -> QImage:
    """Return a made-up picture in one colour."""
    made = QImage(width, height, QImage.Format.Format_RGB32)
    made.fill(QColor(grey, grey, grey))
    return made


def painted(paint: Callable[[QPainter], None], base: QImage | None = None) -> QImage:
    """Return a picture on which something is painted."""
    made = picture() if base is None else base.copy()
    painter = QPainter(made)
    paint(painter)
    painter.end()
    return made


def lines_of_text(x: float) -> QImage:
    """Return a picture full of text that begins at a place between two pixels."""

    def write(painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        painter.setFont(QFont("DejaVu Sans", 10))
        painter.setPen(Qt.GlobalColor.black)
        for line in range(30):
            painter.drawText(QRect(int(x), 26 * line, WIDTH, 26), 0, "the quick brown fox jumps over the lazy dog")

    return painted(write)


def test_the_same_picture_does_not_differ() -> None:
    found = difference(lines_of_text(20), lines_of_text(20).convertToFormat(QImage.Format.Format_ARGB32))
    assert (found.share, found.worst_tile, found.is_small) == (0.0, 0.0, True)


@pytest.mark.parametrize(("step", "same"), [(VISIBLE_STEP, True), (VISIBLE_STEP + 1, False)])
def test_a_colour_that_people_cannot_tell_apart_is_the_same(step: int, same: bool) -> None:
    found = difference(picture(grey=100), picture(grey=100 + step))
    assert found.is_small is same
    assert found.share == (0.0 if same else 1.0)
    assert difference(picture(grey=100 + step), picture(grey=100)).is_small is same


@pytest.mark.parametrize("channel", [0, 1, 2])
def test_one_channel_is_enough_to_be_another_colour(channel: int) -> None:
    colour = [200, 200, 200]
    colour[channel] = 100
    made = picture()
    made.fill(QColor(*colour))
    assert difference(picture(), made).share == 1.0


def test_scattered_pixels_are_let_pass_up_to_the_share() -> None:
    few, many = picture(), picture()
    allowed = int(WIDTH * HEIGHT * MOST_SHARE)
    step = WIDTH * HEIGHT // (allowed + 64)
    for number in range(allowed + 64):
        y, x = divmod(number * step, WIDTH)
        many.setPixelColor(x, y, Qt.GlobalColor.black)
        if number < allowed - 64:
            few.setPixelColor(x, y, Qt.GlobalColor.black)
    assert 0 < difference(picture(), few).share < MOST_SHARE and difference(picture(), few).is_small
    assert difference(picture(), many).share >= MOST_SHARE and not difference(picture(), many).is_small


@pytest.mark.parametrize(("left", "top"), [(500, 300), (512, 320), (0, 0), (WIDTH - 24, HEIGHT - 24), (505, 313)])
def test_a_button_that_is_gone_is_seen_although_it_is_little_of_the_window(left: int, top: int) -> None:
    with_button = painted(lambda painter: painter.fillRect(left, top, 24, 24, Qt.GlobalColor.black))
    found = difference(with_button, picture())
    assert found.share < MOST_SHARE / 2
    assert found.worst_tile > 0.25 and not found.is_small


def test_text_that_moved_is_seen() -> None:
    assert not difference(lines_of_text(20), lines_of_text(23)).is_small


@pytest.mark.parametrize(("width", "height"), [(WIDTH + 1, HEIGHT), (WIDTH, HEIGHT - 1), (TILE_PX, TILE_PX)])
def test_a_picture_of_another_size_is_another_picture(width: int, height: int) -> None:
    assert not difference(picture(), picture(width, height)).is_small


def test_what_differs_is_marked_in_red() -> None:
    found = difference(
        picture(101, 50), painted(lambda p: p.fillRect(10, 5, 4, 4, Qt.GlobalColor.black), picture(101, 50))
    )
    assert found.marked.pixelColor(12, 7) == QColor(255, 0, 0)
    assert found.marked.pixelColor(9, 7) == QColor(200, 200, 200)
    assert found.marked.size() == picture(101, 50).size()


def test_a_picture_that_differs_is_kept_beside_what_differs(tmp_path: Path) -> None:
    accepted, differing = tmp_path / "accepted", tmp_path / "differing"
    accepted.mkdir()
    picture().save(str(accepted / "a.png"))
    assert compare("a.png", picture(), accepted, differing) is None
    assert not differing.exists()
    problem = compare("a.png", picture(grey=10), accepted, differing)
    assert problem is not None and problem.startswith("a.png: 100.00% differs")
    assert {file.name for file in differing.iterdir()} == {"a.png", "a-marked.png"}
    assert QImage(str(differing / "a.png")) == picture(grey=10)


def test_a_picture_that_nobody_accepted_yet_is_kept_to_be_looked_at(tmp_path: Path) -> None:
    problem = compare("b.png", picture(), tmp_path, tmp_path / "differing")
    assert problem == "b.png: no picture was accepted yet"
    assert [file.name for file in (tmp_path / "differing").iterdir()] == ["b.png"]


def test_there_are_not_too_many_pictures_and_each_has_a_name_of_its_own() -> None:
    names = [name for state in STATES for name, _theme in state.files()]
    assert len(set(names)) == len(names) <= MOST_FILES
    assert {"window-light.png", "window-dark.png"} <= set(names)
    stored = {file.name for file in ACCEPTED.iterdir()}
    assert stored <= set(names)


@pytest.mark.qt_log_ignore("^This plugin does not support")
@pytest.mark.parametrize("state", STATES, ids=lambda state: f"{state.name}-{state.themes[0]}")
def test_every_state_comes_about_and_shows_what_it_is_named_for(
    state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qapp: QApplication
) -> None:
    with scene_of(state, state.themes[0], tmp_path / "home", monkeypatch, qapp) as scene:
        shown = scene.picture()
        assert shown.size() == scene.window.size() * scene.window.devicePixelRatio()
        assert {name for name in state.sees if not scene.sees(name)} == set()
        assert {name for name in state.hides if scene.sees(name)} == set()
        assert len({shown.pixel(x, y) for x in range(0, shown.width(), 7) for y in range(0, shown.height(), 7)}) > 5
