"""The stamp: an unchanged checkout is used at once, any change that matters is noticed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from devtools import stamp as stamps
from devtools.layout import Layout
from devtools.stamp import INPUTS, Stamp, inputs_digest

STAMP = Stamp(inputs="abc", wanted="auto", backend="cpu", build="slot", extras=("dev",))


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    for name in INPUTS:
        path = tmp_path / "checkout" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return Layout(tmp_path / "checkout", tmp_path / "cache", windows=False)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "stamp.json"
    stamps.write(path, STAMP)
    assert stamps.read(path) == STAMP
    assert [each.name for each in tmp_path.iterdir()] == ["stamp.json"]


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "null", '{"inputs": "abc"}', '{"extras": 3}', '{"unknown": 1, "extras": []}']
)
def test_a_broken_stamp_counts_as_none(tmp_path: Path, content: str) -> None:
    path = tmp_path / "stamp.json"
    path.write_text(content)
    assert stamps.read(path) is None
    assert stamps.read(tmp_path / "absent.json") is None


def test_an_unchanged_checkout_has_nothing_to_do() -> None:
    assert STAMP.serves("abc", None, ())
    assert STAMP.serves("abc", None, ("dev",))
    assert STAMP.serves("abc", "auto", ("dev",))


@pytest.mark.parametrize(
    ("stamp", "inputs", "wanted", "extras"),
    [
        (STAMP, "changed", None, ()),
        (STAMP, "abc", "cuda", ()),
        (replace(STAMP, wanted="cpu"), "abc", "auto", ()),
        (replace(STAMP, extras=()), "abc", None, ("dev",)),
        (replace(STAMP, format=0), "abc", None, ()),
    ],
)
def test_each_change_calls_for_a_set_up(
    stamp: Stamp, inputs: str, wanted: str | None, extras: tuple[str, ...]
) -> None:
    assert not stamp.serves(inputs, wanted, extras)


@pytest.mark.parametrize("name", INPUTS)
def test_each_input_changes_the_digest(layout: Layout, name: str) -> None:
    before = inputs_digest(layout, "cpython 3.11.7", "EPYC")
    assert inputs_digest(layout, "cpython 3.11.7", "EPYC") == before
    (layout.root / name).write_text("changed")
    assert inputs_digest(layout, "cpython 3.11.7", "EPYC") != before


def test_another_python_processor_or_place_changes_the_digest(layout: Layout, tmp_path: Path) -> None:
    before = inputs_digest(layout, "cpython 3.11.7", "EPYC")
    assert inputs_digest(layout, "cpython 3.12.1", "EPYC") != before
    assert inputs_digest(layout, "cpython 3.11.7", "Xeon") != before
    layout.root.rename(tmp_path / "moved")
    assert inputs_digest(replace(layout, root=tmp_path / "moved"), "cpython 3.11.7", "EPYC") != before
