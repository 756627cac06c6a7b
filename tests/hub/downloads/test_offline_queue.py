"""Downloads of a program that goes offline: they pause and say why, and go on by themselves afterwards."""

from __future__ import annotations

from pathlib import Path

from app.core.download import DownloadChanged
from app.hub.web import Web
from app.system.offline_switch import OfflineSwitch
from app.system.settings_file import SettingsFile
from tests.hub.download_hub import CONTENT, HALF, Downloader, DownloadHub, downloader

NAMES = ("a.gguf", "b.gguf", "c.gguf")


def switch_in(folder: Path) -> OfflineSwitch:
    return OfflineSwitch({}, SettingsFile(folder / "settings.json", lambda *_: None))


def held(made: Downloader, key: str) -> str:
    """Wait until a download is held, and return why."""
    told = made.until("paused", key)
    assert told.problem is not None
    return told.problem.english()


def test_what_runs_and_waits_pauses_and_goes_on_by_itself(hub: DownloadHub, tmp_path: Path) -> None:
    switch, hub.hang_at = switch_in(tmp_path), HALF
    with downloader(hub, tmp_path / "models", None, switch) as made:
        made.queue.set_at_once(1)
        a, b, c = (hub.wanted(name) for name in NAMES)
        for wanted in (a, b, c):
            made.queue.add(wanted)
        made.queue.pause(c.key)
        assert hub.at_hold.wait(10)
        made.until("paused", c.key)
        switch.set(True)
        made.queue.look()
        assert "“Stay offline” is on" in held(made, a.key) and "“Stay offline” is on" in held(made, b.key)
        asked, hub.hang_at = len(hub.asked), None
        made.queue.look()
        made.queue.resume(b.key)
        made.queue.first(b.key)
        made.queue.resume(c.key)
        assert "preferences" in held(made, c.key), "what is wanted meanwhile says so as well"
        made.queue.pause(c.key)
        assert made.until("paused", c.key).problem is None
        assert len(hub.asked) == asked
        switch.set(False)
        made.queue.look()
        assert {made.until("done").wanted.key, made.until("done").wanted.key} == {a.key, b.key}
        assert made.goal(hub, "a.gguf").read_bytes() == made.goal(hub, "b.gguf").read_bytes() == CONTENT
        last = [event.state for event in made.told if isinstance(event, DownloadChanged) and event.wanted == c]
        assert last[-1] == "paused", "what people paused stays so"
    assert len(hub.ranges()) == 3


def test_a_program_that_begins_offline_holds_what_an_earlier_run_left(hub: DownloadHub, tmp_path: Path) -> None:
    switch, kept, hub.hang_at = switch_in(tmp_path), tmp_path / "downloads.json", HALF
    wanted = hub.wanted("a.gguf")
    with downloader(hub, tmp_path / "models", kept, switch) as made:
        made.queue.add(wanted)
        assert hub.at_hold.wait(10)
    switch.set(True)
    asked, hub.hang_at = len(hub.asked), None
    with downloader(hub, tmp_path / "models", kept, switch) as made:
        made.queue.open()
        assert "Stay offline" in held(made, wanted.key)
        assert made.told[0] == made.told[-1], "nothing is begun first"
    assert len(hub.asked) == asked
    switch.set(False)
    with downloader(hub, tmp_path / "models", kept, switch) as made:
        made.queue.open()
        made.until("done")


def test_a_moment_offline_that_the_queue_never_saw_fails_nothing(hub: DownloadHub, tmp_path: Path) -> None:
    switch = switch_in(tmp_path)
    with downloader(hub, tmp_path / "models", None, switch) as made:
        connect = made.queue._connect

        def flicker() -> tuple[Web, str]:
            made.queue._connect = connect
            switch.set(True)
            try:
                return connect()
            finally:
                switch.set(False)

        made.queue._connect = flicker
        made.queue.add(hub.wanted("a.gguf"))
        assert made.until("retrying").problem is not None
        made.until("done")
        assert "failed" not in [each.state for each in made.told if isinstance(each, DownloadChanged)]
