"""Qt is tried in a process of its own, so that what keeps a window from opening is a value."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from app.bootstrap import WINDOW_CHECK as CHECK
from app.system import qt_probe
from app.system.child import Child
from app.system.qt_probe import display_answers, look_at_qt, missing_libraries, missing_to_print, wanted_platform
from tests.broken_libraries import NOTHING, compile_library, needs_linux

on_x11 = pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="window systems of their own")


def test_a_window_system_that_works_is_named_with_the_version() -> None:
    facts = look_at_qt(CHECK, {"QT_QPA_PLATFORM": "offscreen"})
    assert (facts.fault, facts.platform, facts.missing, facts.missing_to_print) == (None, "offscreen", (), ())
    assert facts.version is not None
    assert facts.version.startswith("6.")
    assert "PySide6" not in vars(qt_probe)


def test_one_that_ends_the_process_is_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "nonsense")
    facts = look_at_qt(CHECK)
    assert (facts.fault, facts.platform) == ("not_startable", "nonsense")
    assert facts.version is not None


@on_x11
def test_no_screen_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    facts = look_at_qt(CHECK)
    assert (facts.fault, facts.has_screen) == ("not_startable", False)


@on_x11
def test_a_display_where_no_screen_answers_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DISPLAY", ":65000")
    facts = look_at_qt(CHECK)
    assert (facts.fault, facts.has_screen, facts.silent_display) == ("not_startable", True, ":65000")


@on_x11
def test_a_display_answers_where_something_listens(tmp_path: Path) -> None:
    path = str(tmp_path / "screen")
    assert not display_answers(path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        assert display_answers(path)
    with socket.socket() as listening:
        listening.bind(("localhost", 0))
        listening.listen()
        number = listening.getsockname()[1] - 6000
        assert display_answers(f"localhost:{number}.0")
        assert display_answers(f":{number}")
    for silent in (f"localhost:{number}", f"unix:{number}", ":99999", "no screen", ":"):
        assert not display_answers(silent)


def test_qt_that_cannot_be_loaded_is_a_value() -> None:
    assert look_at_qt("tests.system.no_such_module").fault == "not_loadable"


def test_qt_that_waits_for_ever_is_given_up() -> None:
    assert look_at_qt(CHECK, seconds=0.0).fault == "blocked"


def test_no_room_for_a_process_says_nothing_of_qt(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_room(*_given: object) -> None:
        raise BlockingIOError

    monkeypatch.setattr(qt_probe, "Child", no_room)
    assert look_at_qt(CHECK).fault == "no_process"
    assert "BlockingIOError" in caplog.text


def test_a_fault_of_our_own_says_nothing_of_qt(caplog: pytest.LogCaptureFixture) -> None:
    facts = look_at_qt("tests.system.test_qt_probe")  # which has no `version`
    assert facts.fault == "own_fault"
    assert "AttributeError" in caplog.text


def test_an_answer_that_nobody_can_read_says_nothing_of_qt(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Child, "receive", lambda _child, _seconds: b"no answer")
    assert look_at_qt(CHECK).fault == "own_fault"
    assert "DecodeError" in caplog.text or "ValidationError" in caplog.text


def test_qt_that_is_not_there_is_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qt_probe.importlib.util, "find_spec", lambda _name: None)  # type: ignore[attr-defined]
    assert look_at_qt(CHECK).fault == "not_installed"


@on_x11
@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, "xcb"),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "wayland"),
        ({"QT_QPA_PLATFORM": "xcb;wayland", "WAYLAND_DISPLAY": "wayland-0"}, "xcb"),
        ({"QT_QPA_PLATFORM": "vnc:size=1x1"}, "vnc"),
    ],
)
def test_the_plugin_that_is_tried_first_is_known(environment: dict[str, str], wanted: str) -> None:
    assert wanted_platform(environment) == wanted


@needs_linux
def test_libraries_that_a_plugin_lacks_are_named(tmp_path: Path) -> None:
    plugins = tmp_path / "Qt" / "plugins" / "platforms"
    plugins.mkdir(parents=True)
    compile_library(plugins / "libqxcb.so", NOTHING, "libxcb-absent.so.9")
    assert missing_libraries(tmp_path, "xcb") == ("libxcb-absent.so.9",)
    assert missing_libraries(tmp_path, "offscreen") == ()


@needs_linux
def test_libraries_that_only_printing_lacks_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "Qt" / "plugins" / "printsupport").mkdir(parents=True)
    plugin = tmp_path / "Qt" / "plugins" / "printsupport" / "libcupsprintersupport.so"
    compile_library(plugin, NOTHING, "libcups-absent.so.9")
    assert missing_libraries(tmp_path, "xcb") == ()
    assert missing_to_print(tmp_path / "Qt" / "plugins") == ("libcups-absent.so.9",)
    assert missing_to_print(tmp_path / "nowhere") == ()


@needs_linux
def test_a_pipe_beside_a_plugin_is_not_waited_for(tmp_path: Path) -> None:
    plugins = tmp_path / "Qt" / "plugins" / "platforms"
    plugins.mkdir(parents=True)
    compile_library(plugins / "libqxcb.so", NOTHING, "libbeside.so.1")
    os.mkfifo(plugins / "libbeside.so.1")
    assert missing_libraries(tmp_path, "xcb") == ()
