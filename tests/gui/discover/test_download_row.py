"""The button that downloads: what it says of a file that comes already, in whatever version, or is here, or was."""

from __future__ import annotations

import msgspec
import pytest

from app.core.devices import MainMemory
from app.core.download import DownloadChanged, DownloadGone, DownloadState, DownloadWanted, wanted_of
from app.core.model import FoundModel
from app.core.words import translate
from app.gui.discover.find_part import FindPart
from tests.gui.conftest import Stage
from tests.gui.fitting import cut_off
from tests.hub.loopback_hub import LoopbackHub

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
GIB = 1 << 30


@pytest.fixture
def known(hub: LoopbackHub, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """The page Models with a model that is recommended."""
    program = stage.desk.program
    monkeypatch.setattr(program.planner.devices, "_main_memory", lambda: MainMemory(16 * GIB, 8 * GIB, 16 * GIB))
    program.planner.fits.note(())
    stage.triggers("models_action")
    stage.desk.until(lambda: program.planner.recommending.models.recommended)
    return stage


def offered(stage: Stage) -> DownloadWanted:
    """Return what the button downloads."""
    best = stage.desk.program.planner.recommending.models.recommended
    assert best is not None
    return wanted_of(best.hub_model)


def another(wanted: DownloadWanted) -> DownloadWanted:
    """Return another version of it."""
    file = msgspec.structs.replace(wanted.files[0], sha256="f" * 64)
    return DownloadWanted(wanted.repository, "e" * 40, (file,))


def path_of(stage: Stage, wanted: DownloadWanted) -> str:
    return str(stage.desk.program.paths.models.joinpath(*wanted.place.split("/")))


def says(stage: Stage) -> tuple[str, list[str]]:
    """Return what stands beside the buttons, and which of them are there."""
    names = [f"catalogue_{name}_button" for name in ("download", "load", "downloads")]
    assert cut_off(stage.find("discover_part")) == []
    return stage.reads("catalogue_download_state"), [name.split("_")[1] for name in names if stage.sees(name)]


def test_while_another_version_comes_none_is_offered(known: Stage) -> None:
    wanted, downloads = offered(known), known.desk.program.downloads
    assert says(known) == ("", ["download"])
    downloads.take(DownloadChanged(another(wanted), "running", wanted.size // 2))
    assert says(known) == ("Another version of the same file is among the downloads: 50 % are here.", ["downloads"])
    downloads.take(DownloadChanged(another(wanted), "failed", wanted.size // 2))
    assert says(known) == ("The download of another version of it has failed.", ["download", "downloads"])
    downloads.take(DownloadGone(another(wanted).key))
    downloads.take(DownloadChanged(msgspec.structs.replace(wanted, revision="e" * 40), "paused", wanted.size // 4))
    assert says(known)[0].startswith("It is among the downloads: 25 % are here.")


@pytest.mark.parametrize(
    ("state", "bytes_per_s", "again_in_s", "words"),
    [
        ("retrying", None, 16.0, "It tries again in 16 s. hub.example is away: wait."),
        ("retrying", None, None, "hub.example is away: wait."),
        ("waiting", None, None, "It waits for its turn."),
        ("running", 0.0, None, "It waits for the server."),
        ("running", None, None, ""),
        ("paused", None, None, "It is paused: go on with it under “Show downloads”."),
    ],
)
def test_what_keeps_a_download_from_going_on_is_said_where_it_is_offered(
    known: Stage, state: DownloadState, bytes_per_s: float | None, again_in_s: float | None, words: str
) -> None:
    wanted, downloads = offered(known), known.desk.program.downloads
    problem = translate("Hub", "{host} is away: wait.", host="hub.example") if state == "retrying" else None
    downloads.take(DownloadChanged(wanted, state, wanted.size // 4, bytes_per_s, problem, again_in_s))
    assert says(known)[0] == f"It is among the downloads: 25 % are here. {words}".strip()


def test_what_failed_is_tried_again_where_it_is_offered(known: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted, downloads = offered(known), known.desk.program.downloads
    before = known.reads("catalogue_download_button")
    problem = translate("Hub", "{host} is away: wait.", host="hub.example")
    downloads.take(DownloadChanged(wanted, "failed", 1, None, problem))
    assert says(known) == ("Its download has failed. hub.example is away: wait.", ["download", "downloads"])
    assert known.reads("catalogue_download_button") == "Try again"
    assert before in known.find("catalogue_download_button").accessibleName()
    asked: list[DownloadWanted] = []
    monkeypatch.setattr(downloads._port, "add", asked.append)
    known.clicks("catalogue_download_button")
    assert asked == [wanted]
    downloads.take(DownloadGone(wanted.key))
    assert known.reads("catalogue_download_button") == before


def test_what_a_search_found_is_offered_for_a_chat(known: Stage) -> None:
    wanted, downloads = offered(known), known.desk.program.downloads
    here = FoundModel(path_of(known, wanted), wanted.size, "A")
    downloads.note_found([here])
    assert says(known) == ("It is on this machine.", ["load"])
    asked: list[str] = []
    known.find_as(FindPart).load_wanted.connect(asked.append)
    known.clicks("catalogue_load_button")
    assert asked == [here.path]
    known.triggers("models_action")
    downloads.note_found([msgspec.structs.replace(here, size=wanted.size + 1)])
    words, buttons = says(known)
    assert words.startswith("Another version of it is on this machine under the same name") and buttons == ["load"]
    downloads.note_found([msgspec.structs.replace(here, problem=translate("Download", "It is damaged."))])
    assert says(known) == ("It is on this machine, but there is no chat with it.", [])


def test_what_was_deleted_is_offered_anew_and_the_keyboard_stays_here(known: Stage) -> None:
    wanted, downloads = offered(known), known.desk.program.downloads
    path = path_of(known, wanted)
    known.find("catalogue_download_button").setFocus()
    downloads.take(DownloadChanged(wanted, "running", 1))
    assert known.window.focusWidget() is known.find("catalogue_downloads_button")
    downloads.take(DownloadChanged(wanted, "done", wanted.size, path=path))
    downloads.note_found([FoundModel(path, wanted.size, "A")])
    assert says(known) == ("It is on this machine.", ["load", "downloads"])
    known.find("catalogue_load_button").setFocus()
    downloads.note_found([])
    assert says(known) == ("It was downloaded, and deleted or moved since.", ["download", "downloads"])
    assert known.window.focusWidget() is known.find("catalogue_download_button")
