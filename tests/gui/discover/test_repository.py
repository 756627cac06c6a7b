"""The page of a model of the hub: what it is, what it asks for, what fits, and how it is downloaded."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QTreeWidget

from app.core.devices import MainMemory
from app.gui.discover.card_view import CardView
from app.gui.discover.library_words import facts_of
from app.system.paths import Paths
from tests.gui.conftest import Stage
from tests.gui.discover.looking import opens, rests, searches, table
from tests.gui.fitting import cut_off
from tests.hub.loopback_hub import LoopbackHub, Request

# The offscreen platform says this of every dialog and hint.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
GIB = 1 << 30


@pytest.fixture
def addresses(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a browser was opened with."""
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(QUrl(url).toString()))
    return opened


def has_memory(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the machine have some memory and no GPU."""
    devices = stage.desk.program.planner.devices
    monkeypatch.setattr(devices, "_main_memory", lambda: MainMemory(16 * GIB, 8 * GIB, 16 * GIB))
    stage.desk.program.planner.fits.note(())


def fits_known(stage: Stage) -> None:
    """Wait until what fits is judged."""
    stage.desk.until(lambda: all(row[4] not in ("", "looking …") for row in table(stage)[:2]))


def test_before_anything_is_chosen_it_says_what_to_do(discover: Stage) -> None:
    searches(discover)
    assert discover.reads("discover_nothing").startswith("Choose a model on the left")
    assert not discover.sees("discover_page_retry_button") and not discover.sees("discover_gate")


def test_a_page_says_what_the_model_is_and_what_its_quantisations_take(discover: Stage, hub: LoopbackHub) -> None:
    searches(discover)
    opens(discover)
    assert discover.reads("discover_title") == "org/tiny-GGUF" and not discover.sees("discover_gate")
    assert discover.reads("discover_facts").replace("\u00a0", " ").startswith("1.5B · llama · mit · 12 downloads")
    rows = table(discover)
    assert [row[0].partition(" ")[0] for row in rows][:2] == ["F16", "Q8_0"]
    assert rows[2][0].startswith("Projectors") and rows[3][:2] == ["F16", "100 B"]
    assert discover.reads("discover_download_button").startswith("Download F16 (")


def test_entries_that_cannot_be_read_are_counted_beside_the_others(discover: Stage, hub: LoopbackHub) -> None:
    hub.pointers["README.md"] = {"size": "much"}
    hub.found.insert(1, {"id": 3})
    searches(discover)
    assert discover.reads("discover_state").endswith(
        "1 entry of the hub's answer could not be read; the others are shown."
    )
    opens(discover)
    assert "1 entry of the hub's answer could not be read" in discover.reads("discover_page_age")
    assert table(discover)


def test_its_card_has_no_picture_and_no_script_and_a_link_opens_on_a_click_alone(
    discover: Stage, hub: LoopbackHub, addresses: list[str]
) -> None:
    searches(discover)
    opens(discover)
    card = discover.find_as(CardView)
    assert card.isVisible() and not discover.sees("discover_card_problem")
    text = card.turns.blocks[0].text
    assert "See its page. seen" in text and "run()" not in text
    card.link_clicked.emit("file:///etc/passwd")
    assert addresses == []
    card.link_clicked.emit("https://example.org/page")
    assert addresses == ["https://example.org/page"]
    assert all("example.org" not in path for _, path, _ in hub.asked)


def test_a_repository_without_a_card_says_so(discover: Stage, hub: LoopbackHub) -> None:
    hub.card = None
    searches(discover)
    opens(discover)
    assert discover.reads("discover_card_problem").startswith("Its authors have written nothing")
    assert not discover.sees("discover_card")


def test_what_fits_is_judged_and_one_is_recommended(
    discover: Stage, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_memory(discover, monkeypatch)
    searches(discover)
    opens(discover)
    discover.desk.until(lambda: [row[4] for row in table(discover)[:2]] == ["fits", "fits"])
    assert not any("mmproj" in path for _, path, _ in hub.asked)
    tree = discover.find_as(QTreeWidget, "discover_quantisations")
    item = tree.topLevelItem(0)
    assert item is not None and "are free" in item.toolTip(4) and not item.icon(4).isNull()
    assert str(item.data(4, Qt.ItemDataRole.AccessibleTextRole)).startswith("fits. ")
    recommended = [row[0] for row in table(discover) if "recommended" in row[0]]
    assert len(recommended) == 1 and discover.sees("discover_reason")
    assert discover.reads("discover_reason").startswith(f"Recommended: {recommended[0].partition(' ')[0]}. ")
    current = tree.currentItem()
    assert current is not None and current.text(0) == recommended[0], "it is chosen until somebody chooses"
    projector = tree.topLevelItem(3)
    assert projector is not None and projector.text(4) == ""


@pytest.mark.parametrize("by", ["online", "read anew"])
def test_until_a_header_is_read_and_where_none_is_the_judgement_says_so(
    discover: Stage, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    has_memory(discover, monkeypatch)
    hub.delivering = lambda request: request.send_text("", 404)
    searches(discover)
    opens(discover)
    discover.desk.until(lambda: "judged as a dense model" in discover.reads("discover_note"))
    assert "has no such model or file" in discover.reads("discover_note")
    hub.delivering = None
    if by == "online":
        discover.desk.program.planner.recommending.look_again()
    else:
        discover.desk.program.discovering.open("org/tiny-GGUF")
    discover.desk.until(lambda: not discover.sees("discover_note"))
    assert discover.reads("discover_reason").startswith("Recommended: ")


def test_of_an_embedding_model_no_file_is_recommended(
    discover: Stage, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_memory(discover, monkeypatch)
    hub.info["gguf"] = {"total": 1_500_000_000, "architecture": "bert"}
    hub.delivering = lambda request: request.send_text("", 404)
    searches(discover)
    opens(discover)
    discover.desk.until(lambda: "an embedding model" in discover.reads("discover_reason"))
    assert not any("recommended" in row[0] for row in table(discover))
    assert [row[4] for row in table(discover)[:2]] == ["–", "–"]


def test_what_somebody_chose_stays_chosen(discover: Stage, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    has_memory(discover, monkeypatch)
    searches(discover)
    opens(discover)
    fits_known(discover)
    tree = discover.find_as(QTreeWidget, "discover_quantisations")
    other = next(row for row in range(2) if "recommended" not in table(discover)[row][0])
    tree.setCurrentIndex(tree.model().index(other, 0))
    discover.themes.toggle()
    assert tree.currentItem() is tree.topLevelItem(other)
    assert discover.reads("discover_download_button").startswith(f"Download {table(discover)[other][0]} ")


def test_a_gated_model_says_what_to_do(discover: Stage, hub: LoopbackHub, addresses: list[str]) -> None:
    hub.info["gated"] = "auto"
    searches(discover)
    opens(discover)
    assert discover.sees("discover_gate") and "accept its terms" in discover.reads("discover_gate_words")
    discover.clicks("discover_terms_button")
    discover.clicks("discover_web_button")
    assert addresses == [f"{hub.endpoint}/org/tiny-GGUF"] * 2, "the hub that answered, whichever it is"


def test_a_page_that_is_refused_says_why_and_can_be_read_again(discover: Stage, hub: LoopbackHub) -> None:
    searches(discover)
    hub.describing = lambda request: request.send_text("", 401)
    opens(discover)
    assert "without permission" in discover.reads("discover_nothing")
    assert discover.find_as(QLabel, "discover_nothing").property("look") == "problem"
    assert discover.sees("discover_page_token_button")
    hub.describing = None
    discover.clicks("discover_page_retry_button")
    rests(discover)
    assert discover.sees("discover_title") and not discover.sees("discover_nothing")


@pytest.mark.parametrize(("status", "helps"), [(401, True), (403, True), (429, True), (404, False), (503, False)])
def test_an_access_token_is_offered_where_one_may_help(
    discover: Stage, hub: LoopbackHub, status: int, helps: bool
) -> None:
    searches(discover)
    hub.describing = lambda request: request.send_text("", status)
    opens(discover)
    assert discover.sees("discover_page_retry_button")
    assert discover.sees("discover_page_token_button") is helps


def test_offline_no_access_token_is_asked_for(
    discover: Stage, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    searches(discover)
    monkeypatch.setenv("TOKENLIGHT_OFFLINE", "1")
    opens(discover)
    assert "is offline" in discover.reads("discover_nothing")
    assert discover.sees("discover_page_retry_button") and not discover.sees("discover_page_token_button")


def test_the_keyboard_stays_on_the_page_while_it_is_tried_again(discover: Stage, hub: LoopbackHub) -> None:
    searches(discover)
    hub.describing = lambda request: request.send_text("", 503)
    opens(discover)
    retry = discover.find("discover_page_retry_button")
    retry.setFocus()
    for _ in range(2):
        QTest.keyClick(retry, Qt.Key.Key_Space)
        assert discover.desk.program.discovering.is_reading
        assert discover.window.focusWidget() is retry and retry.isVisible()
        rests(discover)
        assert discover.window.focusWidget() is retry
    hub.describing = lambda request: request.send_text("", 401)
    QTest.keyClick(retry, Qt.Key.Key_Space)
    rests(discover)
    token = discover.find("discover_page_token_button")
    token.setFocus()
    discover.desk.program.discovering.open("org/tiny-GGUF")
    assert discover.window.focusWidget() is retry, "the other button is gone"
    rests(discover)
    hub.describing = None
    QTest.keyClick(retry, Qt.Key.Key_Space)
    rests(discover)
    assert discover.window.focusWidget() is discover.find("discover_quantisations")


def test_offline_a_page_of_earlier_is_shown_with_its_age_and_nothing_is_asked(
    discover: Stage, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    searches(discover)
    opens(discover)
    fits_known(discover)
    monkeypatch.setenv("TOKENLIGHT_OFFLINE", "1")
    asked = len(hub.asked)
    discover.desk.program.discovering.open("org/tiny-GGUF")
    assert discover.reads("discover_page_age") == "It is being read anew …"
    rests(discover)
    assert discover.reads("discover_page_age").startswith("Read 1 minute ago. Tokenlight is offline")
    assert len(hub.asked) == asked and len(table(discover)) == 4


def test_a_download_is_begun_shown_and_not_begun_twice(discover: Stage, hub: LoopbackHub, qapp: QApplication) -> None:
    content = hub.files["tiny-Q8_0.gguf"]
    pointer: dict[str, Any] = {"lfs": {"size": len(content), "oid": hashlib.sha256(content).hexdigest()}}
    hub.pointers = {"tiny-Q8_0.gguf": pointer}
    hub.delivering = lambda request: delivers(hub, request)
    searches(discover)
    opens(discover)
    fits_known(discover)
    tree = discover.find_as(QTreeWidget, "discover_quantisations")
    tree.setCurrentIndex(tree.model().index(1, 0))
    downloads = discover.desk.program.downloads
    downloads.start()
    discover.find("discover_download_button").setFocus()
    QTest.keyClick(discover.find("discover_download_button"), Qt.Key.Key_Space)
    discover.desk.until(lambda: downloads.rows)
    assert not discover.find("discover_download_button").isEnabled()
    assert discover.window.focusWidget() is discover.find("discover_downloads_button")
    discover.desk.until(lambda: downloads.rows[0].state == "done")
    assert discover.reads("discover_download_state") == "It is downloaded."
    (path,) = paths_of(discover).models.rglob("tiny-Q8_0.gguf")
    discover.desk.program.models.refresh()
    discover.desk.until(lambda: discover.desk.program.models.entry_of(str(path), None))
    found = discover.desk.program.models.entry_of(str(path), None)
    assert found is not None and found.source == downloads.rows[0].wanted, "where it came from is kept"
    said = next(fact for fact in facts_of(found) if fact.caption == "Downloaded from")
    assert said.value.startswith(f"{hub.repository}, commit ") and pointer["lfs"]["oid"] in said.hint
    assert discover.sees("discover_load_button")
    discover.clicks("discover_downloads_button")
    qapp.processEvents()
    assert discover.sees("downloads_part") and discover.reads("download_name") == "tiny-Q8_0.gguf"


def delivers(hub: LoopbackHub, request: Request) -> None:
    """Send what is asked for: a range for the header, the whole file for a download."""
    content = hub.content_of(request)
    if request.asked_range is not None:
        request.send_part(content)
        return
    request.begin(200, {"Content-Type": "application/octet-stream", "Content-Length": len(content), "ETag": '"one"'})
    request.send(content)
    request.close_connection = True


def paths_of(stage: Stage) -> Paths:
    return stage.desk.program.paths


def test_what_lacks_a_part_is_not_downloaded_and_a_projector_is_told_apart(discover: Stage, hub: LoopbackHub) -> None:
    hub.files["big-Q4_K_M-00001-of-00003.gguf"] = b"x" * 3000
    searches(discover)
    opens(discover)
    assert any(row[0] == "Q4_K_M · 1 of 3 parts" for row in table(discover))
    tree = discover.find_as(QTreeWidget, "discover_quantisations")
    tree.setCurrentIndex(tree.model().index(0, 0))
    assert not discover.find("discover_download_button").isEnabled()
    assert discover.reads("discover_download_state").startswith("The repository does not hold all of its parts")
    tree.setCurrentIndex(tree.model().index(tree.topLevelItemCount() - 1, 0))
    assert discover.reads("discover_download_state").startswith("It sees or hears for a model")
    assert discover.find("discover_download_button").isEnabled()


def test_a_repository_without_a_model_says_what_to_look_for(discover: Stage, hub: LoopbackHub) -> None:
    hub.files.clear()
    searches(discover)
    opens(discover)
    assert discover.reads("discover_download_state").startswith("It holds no GGUF file")
    assert not discover.sees("discover_quantisations") and not discover.sees("discover_download_button")


def test_nothing_of_the_page_is_cut_off(discover: Stage, hub: LoopbackHub, qapp: QApplication) -> None:
    hub.info["gated"] = "manual"
    searches(discover)
    opens(discover)
    for size in (QPoint(1280, 800), QPoint(900, 600)):
        discover.window.resize(size.x(), size.y())
        qapp.processEvents()
        found = cut_off(discover.find("discover_part"))
        assert [each for each in found if each.startswith(("QLabel", "QPushButton"))] == []
        assert discover.find("discover_card").height() >= 60


def test_a_file_that_would_lie_elsewhere_says_why_and_cannot_be_downloaded(
    discover: Stage, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_memory(discover, monkeypatch)
    hub.files = {"../tiny-Q4_K_M.gguf": b"x" * 1_000_000}
    searches(discover)
    opens(discover)
    fits_known(discover)
    assert table(discover)[0][4] == "–" and "recommended" not in table(discover)[0][0]
    assert "cannot be kept safely" in discover.reads("discover_reason")
    assert "cannot be kept safely" in discover.reads("discover_download_state")
    assert not discover.find("discover_download_button").isEnabled()
    tree = discover.find_as(QTreeWidget, "discover_quantisations")
    QTest.keyClick(tree, Qt.Key.Key_Return)
    assert discover.desk.program.downloads.rows == ()
