from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from app.core.store_commands import ReadRecord
from app.core.store_events import RecordRead
from app.store.opening import FILE_NAME
from tests.store.shelf import Shelf

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("least", [0, 1, 200])
def test_a_program_that_is_killed_loses_nothing_that_was_on_disk(tmp_path: Path, least: int) -> None:
    """Kill it after the question, and after so many characters of the answer were committed."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.store.writer_process", str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    committed = 0
    with child.stdout:
        assert child.stdout.readline() == "asked\n"
        while committed < least:
            committed = int(child.stdout.readline())
        child.kill()
    child.wait()
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection:
        assert connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
    kept = Shelf(tmp_path)
    opened = kept.open()
    assert opened.problems == () and [each.title for each in opened.conversations] == ["Numbers"]
    read = kept.read()
    asked, answer = read.messages
    assert asked.text == "Count"
    assert [each.state for each in read.answers] == ["interrupted"]
    written = "".join(f"{number} " for number in range(10_000))
    assert written.startswith(answer.text) and len(answer.text) >= committed
    count = len(answer.text.split())
    assert read.answers[0].ids == b"".join(number.to_bytes(4, "little") for number in range(count))
    assert kept.ask(ReadRecord(1, 2), RecordRead).blocks == tuple(b"r%d" % number for number in range(count))
    kept.close()
