"""The header cuts no page's name: the model's name gives way, then the words of the pages, of which icons stay."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt, QTranslator
from PySide6.QtWidgets import QApplication, QToolButton

from app.gui.widgets.header import Header
from tests.gui.conftest import Stage, desk, icons, model, ready, stage
from tests.gui.fitting import BUTTON_SLACK_PX

__all__ = ["desk", "icons", "model", "ready", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
TABS = ("chat_button", "compare_button", "inside_button", "planner_button", "models_button")


class Lengthener(QTranslator):
    """Another language: each word of the window is half as long again."""

    def translate(self, context: str, source: str, disambiguation: str | None = None, n: int = -1) -> str | None:
        return source + "n" * (len(source) // 2) if context == "MainWindow" else None

    def isEmpty(self) -> bool:  # noqa: N802 (Qt's name)
        return False


@pytest.fixture(params=["as written", "longer"])
def language(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[str]:
    translator = Lengthener(qapp)
    if request.param == "longer":
        QCoreApplication.installTranslator(translator)
    yield request.param
    QCoreApplication.removeTranslator(translator)


def tabs(stage: Stage) -> list[QToolButton]:
    return [stage.find_as(QToolButton, name) for name in TABS]


def has_words(stage: Stage) -> bool:
    styles = {each.toolButtonStyle() for each in tabs(stage)}
    assert len(styles) == 1
    return styles == {Qt.ToolButtonStyle.ToolButtonTextOnly}


def cut(stage: Stage) -> list[str]:
    """Return what is narrower than it asks for, sticks out, or lies over what stands beside it."""
    stage.settle()
    for _ in range(3):  # what is laid out tells what lies around it
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
    header, found, right = stage.find_as(Header), [], 0
    shown = [each for each in header.findChildren(QToolButton) if each.isVisible()]
    for each in sorted(shown, key=lambda one: one.mapTo(header, one.rect().topLeft()).x()):
        left = each.mapTo(header, each.rect().topLeft()).x()
        needed = each.minimumSizeHint() if each.objectName() == "model_button" else each.sizeHint()
        slack = 0 if each.objectName() in TABS else BUTTON_SLACK_PX
        if each.width() + slack < needed.width() or left < right or left + each.width() > header.width():
            found.append(f"{each.objectName()} at {left} is {each.width()} and needs {needed.width()}")
        right = left + each.width()
    return found


@pytest.mark.parametrize("width", [800, 900, 960, 1000, 1280])
def test_nothing_in_the_header_is_cut(language: str, ready: Stage, width: int) -> None:
    ready.window.panes.moves = False
    ready.window.setMinimumSize(600, 400)
    ready.window.resize(width, 700)
    for _ in range(2):
        assert cut(ready) == [], language
        assert {each.objectName() for each in tabs(ready) if each.isVisible()} == set(TABS)
        ready.clicks("panel_button")
    assert has_words(ready) or language == "longer", "English words find their place where no model is loaded"


def test_where_words_have_no_room_icons_stay_and_say_what_they_are(
    qapp: QApplication, language: str, ready: Stage
) -> None:
    ready.window.panes.moves = False
    ready.window.resize(1060, 700)
    ready.clicks("panel_button")
    assert cut(ready) == []
    assert has_words(ready) is (language == "as written")
    for button, name in zip(tabs(ready), ("Chat", "Compare", "Inside", "Planner", "Models"), strict=True):
        assert button.accessibleName().startswith(name) and not button.icon().isNull()
        assert (name in button.property("hint")) or has_words(ready)
    ready.window.resize(1480, 700)
    assert cut(ready) == []
    assert has_words(ready), "and the words are there again"


def test_the_model_gives_way_to_the_pages_and_is_said_on_hover(ready: Stage) -> None:
    button = ready.find_as(QToolButton, "model_button")
    button.setText("a-model-with-a-very-long-name-for-once · Q4_K_M")
    whole = button.sizeHint().width()
    ready.window.resize(1280, 700)
    assert cut(ready) == []
    ready.window.panes.moves = False
    ready.window.resize(1060, 700)
    ready.clicks("panel_button")
    assert cut(ready) == [] and has_words(ready)
    assert button.width() < whole == button.sizeHint().width() and button.accessibleName() in button.property("hint")


def test_a_load_finds_its_place_in_a_narrow_header(ready: Stage) -> None:
    ready.window.panes.moves = False
    ready.window.resize(900, 700)
    ready.clicks("panel_button")
    ready.desk.begin_load(ready.desk.program.session.model.path)  # type: ignore[union-attr, arg-type]
    ready.engine.progress(45)
    assert cut(ready) == []
    for name in ("load_progress", "cancel_load_button"):
        each = ready.find(name)
        assert each.isVisible() and each.width() + BUTTON_SLACK_PX >= each.minimumSizeHint().width(), name
