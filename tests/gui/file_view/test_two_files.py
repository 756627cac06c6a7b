"""What differs between two files, side by side, and the way back to one."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog

from tests.ggufs import copy_with, write_tiny_llama
from tests.gui.file_view.conftest import Viewer
from tests.gui.fitting import cut_off

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def turns_to(viewer: Viewer, name: str) -> None:
    viewer.stage.clicks(f"file_view_difference_{name}_tab")


def test_what_differs_is_told_and_one_file_is_a_click_away(viewer: Viewer, model: Path, tmp_path: Path) -> None:
    other = write_tiny_llama(tmp_path / "other.gguf", layers=3, chat_template="{{ messages }}")
    viewer.opens(model, other)
    stage = viewer.stage
    assert stage.reads("file_view_title1").startswith("1: ") and stage.reads("file_view_title2").startswith("2: ")
    assert stage.reads("file_view_path2") == str(other) and stage.sees("file_view_difference")
    summary = stage.reads("file_view_difference_summary")
    assert "Tensors: 9 differ, 21 are the same" in summary and "weights were not compared" in summary
    whole, f16, f32 = viewer.rows("difference_sizes")
    assert whole[0] == "All weights" and whole[3].startswith("+") and whole[3].endswith(" %)")
    first, second = viewer.viewing.shown.views
    assert first.weights is not None and second.weights is not None and second.weights > first.weights
    assert [f16[0], f32[0]] == ["F16", "F32"]
    turns_to(viewer, "entries")
    rows = {row[0]: row[1:] for row in viewer.rows("difference_entries")}
    assert rows["llama.block_count"] == ["2", "3"] and rows["tokenizer.chat_template"][1] == "{{ messages }}"
    turns_to(viewer, "tensors")
    assert all(row[0].startswith("blk.2.") and row[1] == "–" for row in viewer.rows("difference_tensors"))
    assert "F16 · 128 × 256 · 64.0 KiB" in viewer.column("difference_tensors", 2)
    assert cut_off(stage.find("file_view")) == []
    stage.clicks("file_view_alone_button")
    viewer.rests()
    assert stage.sees("file_view_layers") and not stage.sees("file_view_title2")
    assert stage.reads("file_view_path1") == str(model)


def test_a_type_that_only_one_of_them_has_takes_nothing_in_the_other(
    viewer: Viewer, model: Path, tmp_path: Path
) -> None:
    small = copy_with(model, tmp_path / "typed.gguf", set={"llama.block_count": "2"})
    viewer.opens(model, small)
    assert viewer.rows("difference_sizes")[0][3] == "±0"
    turns_to(viewer, "entries")
    assert viewer.rows("difference_entries") == [["llama.block_count", "u32: 2", "text: 2"]]


def test_two_that_say_the_same_are_told_to(viewer: Viewer, model: Path, tmp_path: Path) -> None:
    twin = tmp_path / "twin.gguf"
    twin.write_bytes(model.read_bytes())
    viewer.opens(model, twin)
    assert viewer.stage.reads("file_view_difference_summary").startswith("Both say the same of themselves")
    assert viewer.rows("difference_tensors") == []


def test_which_of_two_cannot_be_read_is_told(viewer: Viewer, model: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"no model at all")
    viewer.opens(model, broken)
    assert viewer.stage.reads("file_view_state").startswith("2: This file holds text and no model")
    viewer.stage.clicks("file_view_alone_button")
    viewer.rests()
    assert viewer.stage.sees("file_view_layers")


def test_a_second_file_is_looked_for_beside_the_first(viewer: Viewer, model: Path) -> None:
    viewer.opens(model)
    viewer.browses("file_view_compare_button")
    (dialog,) = [each for each in viewer.stage.window.findChildren(QFileDialog) if each.isVisible()]
    assert Path(dialog.directory().absolutePath()) == model.parent
    dialog.close()
