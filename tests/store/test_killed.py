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
from tests.store.lanes import compared
from tests.store.shelf import Shelf, head, ids, shelf
from tests.store.test_faults_in_use import LONG
from tests.store.unsaved import end_unsaved, left, texts

ROOT = Path(__file__).resolve().parents[2]


def write_until(folder: Path, least: int, answers: int = 1) -> int:
    """Let a program write so many answers and kill it once so many characters are on disk; return how many it said are."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.store.writer_process", str(folder), str(answers)],
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
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        assert connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
    return committed


@pytest.mark.parametrize("least", [0, 1, 200])
def test_a_program_that_is_killed_loses_nothing_that_was_on_disk(tmp_path: Path, least: int) -> None:
    """Kill it after the question, and after so many characters of the answer were committed."""
    committed = write_until(tmp_path, least)
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


@pytest.mark.parametrize("least", [0, 200])
def test_a_program_that_is_killed_while_lanes_are_written_loses_nothing_of_any_of_them(
    tmp_path: Path, least: int
) -> None:
    committed = write_until(tmp_path, least, answers=3)
    with shelf(tmp_path) as kept:
        read = kept.read()
        assert read.comparisons == (compared(1, head(), 1).comparison,)
        assert [(a.state, a.comparison, a.lane) for a in read.answers] == [("interrupted", 5, n) for n in range(3)]
        written = "".join(f"{number} " for number in range(10_000))
        lanes = [message.text for message in read.messages[1:]]
        assert all(written.startswith(text) for text in lanes)
        assert sum(map(len, lanes)) >= committed
        for text, answer in zip(lanes, read.answers, strict=True):
            assert answer.ids == ids(*range(len(text.split())))


@pytest.mark.parametrize("step", ["waiting.Waiting.commit", "refuge.Refuge.forget"])
def test_a_start_that_is_killed_while_it_takes_words_over_leaves_them_for_the_next_one_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, step: str
) -> None:
    """Kill it before they are on disk, and between that and the removal of the file that held them."""
    end_unsaved(tmp_path)
    code = (
        "import os, sys; from pathlib import Path; from unittest.mock import patch; from tests.store.shelf import Shelf\n"
        "refuge = 'app.store.refuge.temporary_folders'\n"
        f"with patch(refuge, lambda: ()), patch('app.store.{step}', lambda *_: os._exit(9)):\n"
        "    Shelf(Path(sys.argv[1])).open()\n"
    )
    child = subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=False)
    assert child.returncode == 9 and len(left(tmp_path)) == 1
    with shelf(tmp_path) as kept:
        assert texts(kept) == ["Question 1", f"Half an answer {LONG}", "Question 3", ""]
        assert kept.sql("SELECT count(*) FROM chunk") == [(2,)]
        assert left(tmp_path) == []
