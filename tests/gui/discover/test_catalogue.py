"""Before anybody searches, the page Models shows what Tokenlight knows itself, and what suits this machine first."""

from __future__ import annotations

import hashlib

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListWidget

from app.core.catalogue import CatalogueModel, read_catalogue
from app.core.devices import MainMemory
from app.core.download import DownloadChanged, wanted_of
from app.core.words import translate
from app.gui.discover.catalogue_words import PURPOSES, facts_of, language, languages_of
from app.system.resources import find_resources
from tests.gui.conftest import Stage
from tests.gui.discover.looking import found_by, opens, rests, searches
from tests.gui.fitting import cut_off
from tests.hub.loopback_hub import LoopbackHub, Request

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
GIB = 1 << 30
MODELS = {model.name: model for model in read_catalogue(find_resources().catalogue()).models}


@pytest.fixture
def known(hub: LoopbackHub, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """The page Models on a machine with 8 GiB free and no GPU."""
    program = stage.desk.program
    monkeypatch.setattr(program.planner.devices, "_main_memory", lambda: MainMemory(16 * GIB, 8 * GIB, 16 * GIB))
    program.planner.fits.note(())
    stage.triggers("models_action")
    stage.desk.until(lambda: program.planner.recommending.models.recommended)
    return stage


def rows(stage: Stage) -> list[str]:
    """Return what the list says."""
    listed = stage.find_as(QListWidget, "catalogue_list")
    return [listed.item(row).text().replace("\u00a0", " ") for row in range(listed.count())]


def chooses(stage: Stage, name: str) -> None:
    """Choose a model of the catalogue."""
    names = [row.partition("\n")[0] for row in rows(stage)]
    stage.find_as(QListWidget, "catalogue_list").setCurrentRow(names.index(name))


def test_the_recommended_one_comes_first_and_is_shown_with_its_reason(known: Stage, hub: LoopbackHub) -> None:
    best = known.desk.program.planner.recommending.models.recommended
    assert best is not None
    first, *others = rows(known)
    assert first.startswith(f"{best.name}\nrecommended · ") and first.endswith(" · fits")
    assert sorted(row.partition("\n")[0] for row in (first, *others)) == sorted(MODELS)
    assert "Qwen3 32B" in " ".join(row for row in others if row.endswith("too large"))
    assert known.reads("catalogue_title") == best.name
    assert known.reads("catalogue_purpose") == best.purpose
    reason = known.reads("catalogue_reason")
    assert (
        reason.startswith("Recommended for this machine: Of the models that Tokenlight knows, ")
        and best.name in reason
    )
    assert known.reads("catalogue_fit").startswith("Fits. With a context of ")
    assert known.reads("catalogue_download_button").startswith(f"Download {best.quantisation} (")
    assert hub.asked == [], "nothing is asked of the hub before somebody wants something of it"
    assert cut_off(known.find("discover_part")) == []


def test_another_one_says_what_it_is_and_that_it_does_not_fit(known: Stage) -> None:
    chooses(known, "Llama 3.3 70B")
    assert known.reads("catalogue_title") == "Llama 3.3 70B"
    assert known.reads("catalogue_fit").startswith("Too large. ")
    assert not known.sees("catalogue_reason")
    assert "Deutsch" in known.reads("catalogue_languages")
    before = known.find_as(QListWidget, "catalogue_list").currentRow()
    known.desk.program.planner.recommending.changed.emit()
    assert known.find_as(QListWidget, "catalogue_list").currentRow() == before, "what somebody chose stays chosen"


def test_a_search_takes_its_place_until_somebody_goes_back(known: Stage, hub: LoopbackHub) -> None:
    assert not known.sees("discover_back_button")
    searches(known)
    assert found_by(known) and not known.sees("catalogue_list") and not known.sees("catalogue_title")
    opens(known)
    assert known.sees("discover_title")
    known.clicks("discover_back_button")
    assert known.sees("catalogue_list") and known.sees("catalogue_title") and not known.sees("discover_title")
    assert known.reads("discover_line") == "" and known.desk.program.discovering.query is None
    assert known.window.focusWidget() is known.find("catalogue_list")


def test_its_page_on_the_hub_is_a_click_away_and_so_is_the_way_back(known: Stage, hub: LoopbackHub) -> None:
    known.clicks("catalogue_repository_button")
    rests(known)
    assert hub.asked and known.sees("catalogue_list") and not known.sees("catalogue_title")
    item = known.find_as(QListWidget, "catalogue_list")
    QTest.mouseClick(item.viewport(), Qt.MouseButton.LeftButton, pos=item.visualItemRect(item.item(0)).center())
    assert known.sees("catalogue_title")


def test_a_chat_is_not_offered_with_what_was_downloaded_and_cannot_have_one(known: Stage) -> None:
    downloads, best = known.desk.program.downloads, known.desk.program.planner.recommending.models.recommended
    assert best is not None
    wanted = wanted_of(best.hub_model)
    downloads.take(DownloadChanged(wanted, "done", wanted.size, path="/m/a.gguf"))
    assert known.sees("catalogue_load_button") and known.reads("catalogue_download_state") == "It is downloaded."
    downloads.say_unusable(wanted.key, translate("Download", "It is damaged."))
    assert not known.sees("catalogue_load_button")
    assert known.reads("catalogue_download_state") == "It is downloaded, but there is no chat with it."


def served(hub: LoopbackHub, request: Request) -> None:
    """Send a whole file."""
    content = hub.content_of(request)
    request.begin(200, {"Content-Type": "application/octet-stream", "Content-Length": len(content), "ETag": '"one"'})
    request.send(content)
    request.close_connection = True


def test_it_is_downloaded_loaded_and_the_chat_begins(known: Stage, hub: LoopbackHub) -> None:
    program = known.desk.program
    content = hub.files["tiny-Q8_0.gguf"]
    assert isinstance(content, bytes)
    hub.delivering = lambda request: served(hub, request)
    best = program.planner.recommending.models
    made = msgspec.structs.replace(
        MODELS["SmolLM2 135M"],
        repository="org/tiny-GGUF",
        file="tiny-Q8_0.gguf",
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )
    judged = msgspec.structs.replace(best.models[0], model=made)
    program.planner.recommending.models = msgspec.structs.replace(best, models=(judged,), recommended=made)
    program.planner.recommending.changed.emit()
    program.downloads.start()
    known.clicks("catalogue_download_button")
    known.desk.until(lambda: program.downloads.rows and program.downloads.rows[0].state in ("done", "failed"))
    assert program.downloads.rows[0].problem is None
    assert known.reads("catalogue_download_state") == "It is downloaded."
    assert not known.sees("catalogue_download_button")
    known.clicks("catalogue_load_button")
    assert known.window.page == "chat"
    known.desk.until(lambda: program.session.name == "tiny-Q8_0")


def test_all_purposes_can_be_translated_and_languages_are_called_by_their_own_names() -> None:
    assert tuple(model.purpose for model in MODELS.values()) == PURPOSES
    assert [language(code) for code in ("en", "de", "xx-none")] == ["English", "Deutsch", "xx-none"]
    assert languages_of(("en", "fr", "many")) == "English, Français and dozens more"
    assert languages_of(("en", "de", "fr", "it", "pt", "hi", "es", "th", "nl")).endswith(" …")
    mixture: CatalogueModel = MODELS["Qwen3 30B-A3B Instruct 2507"]
    assert facts_of(mixture)[:2] == ["30.5B, of which 3.3B work on a token", "Q4_K_M, 4.9 bits per weight"]
