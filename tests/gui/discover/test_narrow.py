"""The page Models in a small window: every button is in sight, and whether a model fits; what is cut is said on hover."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QPushButton, QScrollArea, QTreeWidget

from app.core.download import DownloadChanged, wanted_of
from app.core.found_file import FileOrigin
from app.core.model import FoundModel
from app.core.words import translate
from app.gui.discover.library_rows import LibraryRows
from app.gui.icons import Icons
from app.gui.widgets.fit_badge import FitLook
from app.services.fit_verdict import Fit
from tests.gui.conftest import Stage
from tests.gui.discover.looking import opens, rests, searches, table
from tests.gui.fitting import cut_off
from tests.hub.loopback_hub import LoopbackHub

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
GIB = 1 << 30


def narrows(stage: Stage, wide: int) -> None:
    """Give the window another size, and let what is in it find its place."""
    stage.window.resize(wide, 700)
    stage.settle()
    for _ in range(3):  # what is laid out tells what lies around it
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)


def test_all_that_can_be_done_with_a_model_is_in_sight(stage: Stage) -> None:
    models = stage.desk.program.models
    models._found = (FoundModel("/m/a.gguf", 4 * GIB, "A Model With A Rather Long Name Instruct 2507"),)
    models.changed.emit()
    stage.triggers("models_action")
    area = stage.find_as(QScrollArea, "library_area")
    for wide in (1280, 1000, 900):
        narrows(stage, wide)
        seen = [each for each in area.findChildren(QPushButton) if each.isVisible()]
        assert len(seen) >= 7
        for each in seen:
            right = each.mapTo(area.viewport(), each.rect().topRight()).x()
            assert right < area.viewport().width(), f"{each.text()} at {wide}"


def test_whether_a_quantisation_fits_is_in_sight_and_what_gives_way_is_said_on_hover(
    hub: LoopbackHub, stage: Stage
) -> None:
    stage.triggers("models_action")
    searches(stage)
    opens(stage)
    rests(stage)
    tree = stage.find_as(QTreeWidget, "discover_quantisations")
    head = tree.header()
    narrows(stage, 1280)
    assert [head.isSectionHidden(column) for column in range(5)] == [False] * 5
    for wide in (1000, 990, 1000):  # the widths of what is away are known still
        narrows(stage, wide)
    assert [head.isSectionHidden(column) for column in range(5)] == [False, False, True, False, False]
    assert head.sectionViewportPosition(4) + head.sectionSize(4) <= tree.viewport().width()
    item = tree.topLevelItem(0)
    assert item is not None and f"{item.text(0)}<br>" in item.toolTip(0).replace("\n", "<br>")
    _, _, bits, loss, _ = table(stage)[0]
    assert f"Bits per weight: {bits}" in item.toolTip(0) and f"Expected loss: {loss}" in item.toolTip(0)
    note = tree.topLevelItem(2)
    assert note is not None and note.text(0).startswith("Projectors") and note.toolTip(0)


@pytest.mark.parametrize(("origin", "said"), [("own", []), ("hub_cache", ["Hugging Face"])])
def test_a_row_says_whether_it_fits_before_where_it_lies(
    stage: Stage, icons: Icons, monkeypatch: pytest.MonkeyPatch, origin: FileOrigin, said: list[str]
) -> None:
    fits = stage.desk.program.planner.fits
    reason = translate("FitBadges", "It is being found out.")
    monkeypatch.setattr(fits, "get", lambda _path: Fit("less_context", reason))
    rows = LibraryRows(FitLook(fits, icons, stage.themes))
    rows.show((FoundModel("/m/a.gguf", 4 * GIB, "Apple", quantisation="Q4_K_M", origin=origin),), "")
    text = str(rows.index(0).data()).replace("\u00a0", " ")
    assert text == "Apple\n" + " · ".join(["Q4_K_M", "4.0 GiB", "fits with less context", *said])
    hint = str(rows.index(0).data(Qt.ItemDataRole.ToolTipRole))
    assert all(part in hint for part in ("Apple", "fits with less context", *said, "/m/a.gguf", "It is being found"))


@pytest.mark.parametrize("wide", [1280, 1000, 900])
def test_what_is_said_beside_the_buttons_goes_below_them_where_it_has_no_room(
    hub: LoopbackHub, stage: Stage, wide: int
) -> None:
    stage.triggers("models_action")
    searches(stage)
    opens(stage)
    page = stage.desk.program.discovering.page
    assert page is not None
    failed = wanted_of(page.model(page.quantisations[0]))
    failed = msgspec.structs.replace(failed, revision="e" * 40)
    stage.desk.program.downloads.take(DownloadChanged(failed, "failed", 1))
    narrows(stage, wide)
    words, button = stage.find("discover_download_state"), stage.find("discover_download_button")
    assert words.isVisible() and words.width() >= 176 and cut_off(stage.find("discover_part")) == []
    left = words.mapTo(stage.window, words.rect().topLeft()).x()
    is_beside = left > button.mapTo(stage.window, button.rect().topRight()).x()
    assert is_beside is (wide != 1000), "at 900 the chats beside are away"
