"""`dev.py` itself: which Python it accepts, which it finds, and what it says to an old one."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import dev

SCRIPT = Path(dev.__file__)


@pytest.mark.parametrize(
    ("version", "good"),
    [((3, 10), False), ((3, 11), True), ((3, 12), True), ((3, 13), True), ((3, 14), False), ((2, 7), False)],
)
def test_python_3_11_to_3_13_is_supported(version: tuple[int, int], good: bool) -> None:
    assert dev.is_supported(version) is good


def test_an_old_python_can_read_the_script() -> None:
    tree = ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 6))
    future = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    # `from __future__ import annotations` is a syntax error before Python 3.7.
    assert future == []


def test_newer_pythons_are_tried_first() -> None:
    assert dev.candidates("posix") == [
        (["python3.13"], (3, 13)),
        (["python3.12"], (3, 12)),
        (["python3.11"], (3, 11)),
    ]
    assert dev.candidates("nt")[0] == (["py", "-3.13"], (3, 13))


def test_a_python_works_only_if_it_is_the_version_that_its_name_says() -> None:
    this = (sys.version_info[0], sys.version_info[1])
    assert dev.works([sys.executable], this)
    assert not dev.works([sys.executable], (3, 99))
    assert not dev.works(["no-such-python"], this)


def test_the_newest_python_that_works_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def works(command: list[str], version: tuple[int, int]) -> bool:
        tried.append(command)
        return version == (3, 12)

    monkeypatch.setattr(dev, "works", works)
    assert dev.find_python("posix") == ["python3.12"]
    assert tried == [["python3.13"], ["python3.12"]]


def test_no_python_is_found_where_none_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert dev.find_python("posix") is None


def test_without_a_suitable_python_one_sentence_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dev, "is_supported", lambda version: False)
    monkeypatch.setattr(dev, "find_python", lambda os_name: None)
    assert dev.main() == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "needs Python 3.11 to 3.13" in said


def test_the_commands_are_listed_without_anything_installed() -> None:
    done = subprocess.run(
        [sys.executable, "-I", SCRIPT, "--help"],
        capture_output=True,
        text=True,
        check=False,
        cwd=SCRIPT.parents[1],
    )
    assert done.returncode == 0, done.stderr
    for command in ("run", "test", "setup", "bench", "lint", "clean", "desktop"):
        assert f"\n    {command} " in done.stdout
