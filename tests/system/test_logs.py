from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest

from app.system.logs import Logs


def test_what_is_logged_lands_in_the_file_and_not_on_the_screen(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    logs = Logs()
    logs.open(tmp_path / "logs" / "x.log", tmp_path / "logs" / "crash.log")
    logging.getLogger("somebody").info("It happened: ü")
    logs.close()
    assert "It happened: ü" in (tmp_path / "logs" / "x.log").read_text(encoding="utf-8")
    assert capfd.readouterr() == ("", "")


def test_nothing_is_left_behind_when_the_logs_are_closed(tmp_path: Path) -> None:
    before = list(logging.getLogger().handlers)
    logs = Logs()
    logs.open(tmp_path / "x.log", tmp_path / "crash.log")
    logs.close()
    assert logging.getLogger().handlers == before


def test_an_error_in_a_thread_is_logged_with_its_place(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    logs = Logs()
    logs.open(tmp_path / "x.log", tmp_path / "crash.log")

    def broken() -> None:
        raise ZeroDivisionError

    thread = threading.Thread(target=broken)
    thread.start()
    thread.join()
    logs.close()
    text = (tmp_path / "x.log").read_text(encoding="utf-8")
    assert "ZeroDivisionError" in text
    assert "in broken" in text


def test_a_folder_that_cannot_be_made_costs_the_logs_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    logs = Logs()
    logs.open(tmp_path / "file" / "x.log", tmp_path / "file" / "crash.log")
    assert not logs.writes_files
    logging.getLogger("somebody").info("nobody hears it")
    logs.close()


def test_a_disk_that_refuses_the_last_lines_does_not_stop_the_end(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("only Linux has a device that is always full")
    (tmp_path / "x.log").symlink_to("/dev/full")
    (tmp_path / "crash.log").symlink_to("/dev/full")
    logs = Logs()
    logs.open(tmp_path / "x.log", tmp_path / "crash.log")
    assert logs.writes_files
    logs._crash_file.write("lines that wait")  # type: ignore[union-attr]  # it is open
    logs.close()
