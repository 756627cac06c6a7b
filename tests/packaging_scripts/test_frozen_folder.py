"""The look at a frozen folder: links, a first start, sizes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from devtools import frozen_folder
from devtools.console import Problem

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="the program of these tests is a shell script with links beside"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "tokenlight"
    (made / "_internal" / "PySide6").mkdir(parents=True)
    (made / "_internal" / "PySide6" / "libQt.so").write_bytes(bytes(3_000_000))
    (made / "_internal" / "libQt.so").symlink_to("PySide6/libQt.so")
    write_program(made, "echo Tokenlight 0.1.0")
    return made


def write_program(folder: Path, script: str) -> None:
    program = folder / "tokenlight"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def check(folder: Path) -> None:
    frozen_folder.check(folder, "tokenlight", "Tokenlight 0.1.0", folder.parent / "home")


def test_a_good_folder_has_no_problem(folder: Path) -> None:
    check(folder)


def test_the_first_start_gets_a_home_of_its_own(folder: Path) -> None:
    write_program(folder, 'mkdir "$TOKENLIGHT_HOME" && echo Tokenlight 0.1.0')
    check(folder)
    assert (folder.parent / "home").is_dir()


def test_a_link_that_leads_nowhere_is_named(folder: Path) -> None:
    (folder / "_internal" / "libGone.so").symlink_to("PySide6/libGone.so")
    with pytest.raises(Problem, match=r"_internal/libGone\.so"):
        check(folder)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo no such module >&2; exit 1", "no such module"),
        ("echo Tokenlight 0.0.9", "it said “Tokenlight 0.0.9”"),
        ("kill -9 $$", "it said “”"),
    ],
)
def test_a_program_that_does_not_tell_its_version_is_a_problem(folder: Path, script: str, reason: str) -> None:
    write_program(folder, script)
    with pytest.raises(Problem, match=reason):
        check(folder)


def test_a_program_that_cannot_be_started_is_a_problem(folder: Path) -> None:
    (folder / "tokenlight").chmod(0o644)
    with pytest.raises(Problem, match="does not start"):
        check(folder)


def test_sizes_count_each_file_once_and_name_the_largest_parts(folder: Path) -> None:
    for number in range(10):
        (folder / "_internal" / f"part{number}").write_bytes(bytes(100_000 * (number + 1)))
    lines = frozen_folder.size_lines(folder)
    assert lines[0] == f"{folder} has 9 MB:"
    assert lines[1].split() == ["3.0", "MB", "PySide6"]
    assert lines[2].split() == ["1.0", "MB", "part9"]
    assert len(lines) == 1 + frozen_folder.PARTS_SHOWN + 1
    assert lines[-1].split()[2:] == ["5", "others"]
