"""What one file is made of: its headline, its tables, sorted and searched, and all of a long value."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QFileDialog, QListView, QPlainTextEdit, QPushButton, QTableView

from app.gui.file_view.table_rows import TableRows
from tests.gguf_bytes import raw_gguf
from tests.ggufs import copy_with, write_split_llama, write_tiny_llama
from tests.gui.conftest import Stage
from tests.gui.file_view.conftest import Viewer
from tests.gui.fitting import cut_off

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def sorts_by(viewer: Viewer, table: str, column: int) -> None:
    """Click on a heading."""
    view = viewer.stage.find_as(QTableView, f"file_view_{table}")
    header = view.horizontalHeader()
    place = header.viewport().rect().topLeft()
    place.setX(header.sectionViewportPosition(column) + 12)
    place.setY(header.height() // 2)
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)
    viewer.rests()


def types_into(viewer: Viewer, name: str, text: str) -> None:
    line = viewer.stage.find(name)
    line.setFocus()
    QTest.keyClicks(line, text)
    viewer.rests()


def test_before_a_file_is_chosen_it_says_what_it_is_for(viewer: Viewer, model: Path) -> None:
    viewer.stage.triggers("models_action")
    viewer.stage.clicks("models_inspect_tab")
    assert viewer.stage.reads("file_view_state").startswith("Here you see what a model file is made of")
    assert not viewer.stage.sees("file_view_compare_button")
    viewer.browses("file_view_begin_button")
    viewer.chooses("Inspect a model file", model)
    viewer.rests()
    assert not viewer.stage.sees("file_view_begin_button") and viewer.stage.sees("file_view_layers")


def test_the_headline_says_what_people_compare_models_by(viewer: Viewer, starter_model: Path) -> None:
    viewer.opens(starter_model)
    stage = viewer.stage
    assert stage.window.page == "models" and stage.reads("file_view_title1") == "Smollm2 135M 8k Lc100K Mix1 Ep2"
    assert stage.reads("file_view_facts1").replace("\u00a0", " ") == (
        "llama · 135M parameters · Q4_1 · 93.8 MiB · 5.74 bits per weight · GGUF 3"
    )
    assert stage.reads("file_view_path1") == str(starter_model)
    assert stage.find("file_view_layers").hasFocus()
    assert not stage.sees("file_view_title2") and not stage.sees("file_view_parts")
    assert cut_off(stage.find("file_view")) == []


def test_bars_say_what_they_are_made_of_to_eyes_and_ears(viewer: Viewer, model: Path) -> None:
    viewer.opens(model)
    chart = viewer.stage.find_as(QListView, "file_view_layers")
    chart.setFocus()
    QTest.keyClick(chart, Qt.Key.Key_Down)
    index = chart.currentIndex()
    assert index.data() == "Layer 0"
    said = index.data(Qt.ItemDataRole.AccessibleTextRole)
    assert said.startswith("Layer 0: ") and " in 9 tensors. Feed-forward 192 KiB, Attention 96.0 KiB, " in said
    assert index.data(Qt.ItemDataRole.ToolTipRole).endswith(said.rpartition(">")[2])
    assert viewer.stage.find("file_view_legend").accessibleName() == (
        "A: Feed-forward; B: Vocabulary; C: Attention; D: Norms and others"
    )
    box = viewer.part.sizes.stack
    box.setCurrentIndex(1)
    box.activated.emit(1)
    assert viewer.stage.find("file_view_legend").accessibleName() == "A: F16; B: F32"
    assert chart.currentIndex().row() == index.row()
    assert "F16 288 KiB, F32 1.0 KiB" in index.data(Qt.ItemDataRole.AccessibleTextRole)
    types = viewer.stage.find_as(QListView, "file_view_types").model()
    assert [types.index(row, 0).data() for row in range(types.rowCount())] == ["F16", "F32"]


def test_tensors_are_sorted_by_numbers_and_in_the_order_of_the_file_again(viewer: Viewer, tmp_path: Path) -> None:
    viewer.opens(write_tiny_llama(tmp_path / "deep.gguf", layers=12))
    viewer.turns_to("tensors")
    as_in_file = viewer.column("tensors", 0)
    assert as_in_file[0] == "token_embd.weight" and as_in_file.index("blk.10.attn_norm.weight") > 90
    for column in (3, 4):
        sorts_by(viewer, "tensors", column)
        sizes = [each.size or 0 for each in viewer.viewing.shown.views[0].tensors]
        assert sizes == sorted(sizes) and viewer.rows("tensors")[0][3].endswith(" B")
        sorts_by(viewer, "tensors", column)
        assert viewer.column("tensors", 0)[0] == "token_embd.weight" and viewer.rows("tensors")[0][3] == "118 KiB"
        sorts_by(viewer, "tensors", column)
        assert viewer.column("tensors", 0) == as_in_file
    sorts_by(viewer, "tensors", 0)
    layers = [int(name.split(".")[1]) for name in viewer.column("tensors", 0) if name.startswith("blk.")]
    assert layers == sorted(layers) and layers[-1] == 11


def test_words_narrow_the_tensors_and_hold_for_the_next_file(viewer: Viewer, model: Path, tmp_path: Path) -> None:
    viewer.opens(model)
    viewer.turns_to("tensors")
    assert viewer.stage.reads("file_view_tensors_state") == "21 tensors"
    types_into(viewer, "file_view_tensors_line", "ffn f16")
    assert viewer.stage.reads("file_view_tensors_state") == "6 of 21 tensors"
    assert all("ffn" in row[0] and row[2] == "F16" for row in viewer.rows("tensors"))
    viewer.opens(write_tiny_llama(tmp_path / "m.gguf", layers=3))
    assert viewer.stage.reads("file_view_tensors_state") == "9 of 30 tensors"


def test_all_of_a_long_value_can_be_read_and_copied(viewer: Viewer, model: Path, tmp_path: Path) -> None:
    template = "{{ messages }}\tend\u202e\n" * 900
    path = copy_with(model, tmp_path / "long.gguf", chat_template=template)
    viewer.opens(path)
    viewer.turns_to("entries")
    assert not viewer.stage.find("file_view_whole_button").isEnabled()
    types_into(viewer, "file_view_entries_line", "CHAT_template")
    (row,) = viewer.rows("entries")
    assert row[0] == "tokenizer.chat_template" and row[2].endswith(f"({len(template):,} characters)")
    viewer.stage.find_as(QTableView, "file_view_entries").selectRow(0)
    viewer.stage.clicks("file_view_whole_button")
    viewer.stage.desk.until(lambda: viewer.stage.window.findChild(QDialog, "file_view_whole") is not None)
    dialog = viewer.stage.find_as(QDialog, "file_view_whole")
    shown = dialog.findChild(QPlainTextEdit)
    assert shown is not None and shown.toPlainText().startswith("{{ messages }}    end\ufffd\n{{ messages }}")
    next(each for each in dialog.findChildren(QPushButton) if each.text() == "Copy all").click()
    assert QGuiApplication.clipboard().text() == template
    dialog.close()
    path.unlink()
    viewer.stage.clicks("file_view_whole_button")
    viewer.stage.desk.until(lambda: viewer.stage.reads("file_view_whole_problem"))
    assert "There is no file" in viewer.stage.reads("file_view_whole_problem")


def test_values_are_sorted_by_what_they_are_worth(viewer: Viewer, tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(raw_gguf({"a": 9, "b": 100, "c": "x", "d": [1] * 3, "e": [1], "f": float("nan")}))
    viewer.opens(path)
    viewer.turns_to("entries")
    sorts_by(viewer, "entries", 2)
    assert viewer.column("entries", 0) == ["f", "a", "b", "c", "e", "d"]


def test_rows_are_copied_with_tabs(viewer: Viewer, model: Path) -> None:
    viewer.opens(model)
    viewer.turns_to("tensors")
    table = viewer.stage.find_as(QTableView, "file_view_tensors")
    table.selectRow(1)
    QTest.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text().startswith("blk.0.attn_norm.weight\t128\tF32\t512 B\t")


def test_tokens_are_read_when_they_are_first_seen(viewer: Viewer, model: Path, tmp_path: Path) -> None:
    viewer.opens(model)
    assert not viewer.viewing.tokens.shown.table.texts
    viewer.turns_to("tokens")
    stage = viewer.stage
    assert stage.reads("file_view_tokens_state") == "473 tokens"
    assert (
        stage.reads("file_view_tokenizer_facts").replace("\u00a0", " ").startswith("Kind: gpt2 (gpt-2) · 473 tokens")
    )
    assert viewer.rows("special")[:2] == [["0", "<|endoftext|>", "begins a text"], ["2", "<|im_end|>", "ends a text"]]
    assert viewer.rows("tokens")[2] == ["2", "<|im_end|>", "control"]
    types_into(viewer, "file_view_tokens_line", "think")
    assert viewer.rows("tokens")[0] == ["3", "<think>", "added by its authors"]
    viewer.opens(write_tiny_llama(tmp_path / "spm.gguf", tokenizer="spm"))
    assert stage.find_as(QTableView, "file_view_tokens").model().rowCount() > 300
    assert viewer.rows("tokens")[0] == ["0", "<unk>", "unknown"]


def test_a_table_is_saved_as_it_is_shown(viewer: Viewer, model: Path, tmp_path: Path) -> None:
    viewer.opens(model)
    viewer.turns_to("tensors")
    types_into(viewer, "file_view_tensors_line", "token_embd")
    viewer.stage.clicks("file_view_tensors_save")
    dialog = viewer.stage.find_as(QFileDialog, "file_view_save_dialog")
    dialog.fileSelected.emit(str(tmp_path / "t.csv"))
    dialog.close()
    viewer.stage.desk.until(lambda: not viewer.stage.desk.program.file_export.is_busy)
    title, row, end = (tmp_path / "t.csv").read_text("utf-8-sig").split("\n")
    assert title == "name,shape,type,size_bytes,offset,part"
    assert row.startswith("token_embd.weight,128 x 473,F16,121088,") and end == ""
    assert (tmp_path / "t.csv").read_bytes().startswith(b"\xef\xbb\xbf")


def test_a_part_of_a_model_says_what_is_missing(viewer: Viewer, tmp_path: Path) -> None:
    paths = write_split_llama(tmp_path)
    viewer.opens(paths[1])
    assert viewer.stage.reads("file_view_parts").startswith("This file is part 2 of 3 of a model")
    viewer.opens(paths[0])
    assert not viewer.stage.sees("file_view_parts") and "3 of 3 parts" in viewer.stage.reads(
        "file_view_facts1"
    ).replace("\u00a0", " ")
    paths[-1].unlink()
    viewer.opens(paths[0])
    assert viewer.stage.reads("file_view_parts").startswith("Only 2 of 3 parts of this model are here")


def test_what_cannot_be_read_is_one_sentence(viewer: Viewer, model: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(model.read_bytes()[:-1_000])
    for path, words in ((broken, "is not complete"), (tmp_path / "gone.gguf", "There is no file “gone.gguf” here")):
        viewer.opens(path)
        assert words in viewer.stage.reads("file_view_state")
        assert (
            not viewer.stage.sees("file_view_layers")
            and not viewer.stage.find("file_view_compare_button").isEnabled()
        )
    viewer.opens(model)
    assert viewer.stage.sees("file_view_layers") and not viewer.stage.sees("file_view_state")


def test_however_many_tensors_there_are_few_rows_are_made(
    viewer: Viewer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, count = tmp_path / "many.gguf", 8_000
    rows = [(f"blk.{number % 900}.{number}", (8,), 0, 32 * number) for number in range(count)]
    path.write_bytes(raw_gguf({}, rows, data=bytes(32 * count)))
    made: list[int] = []
    cells = TableRows.cells

    def noted(rows: TableRows, row: int) -> tuple[str, ...]:
        made.append(row)
        return cells(rows, row)

    monkeypatch.setattr(TableRows, "cells", noted)
    viewer.opens(path)
    viewer.turns_to("tensors")
    sorts_by(viewer, "tensors", 0)
    table = viewer.stage.find_as(QTableView, "file_view_tensors")
    table.scrollToBottom()
    viewer.stage.settle()
    assert table.model().rowCount() == count and len({*made}) < 1_000
    assert viewer.stage.find_as(QListView, "file_view_layers").model().rowCount() == 900


def test_the_library_leads_here(stage: Stage, viewer: Viewer, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = stage.desk.program
    monkeypatch.setattr(program.models, "_folders", (model.parent,))
    program.models.refresh()
    stage.desk.until(lambda: program.models.found and not program.models.is_reading)
    stage.triggers("models_action")
    stage.clicks("library_inspect_button")
    viewer.rests()
    assert stage.reads("file_view_path1") == str(model) and stage.sees("file_view_layers")


def test_a_window_that_closes_while_a_file_is_read_lets_it_be(viewer: Viewer, model: Path) -> None:
    viewer.opens(model)
    viewer.turns_to("entries")
    viewer.stage.find_as(QTableView, "file_view_entries").selectRow(0)
    viewer.stage.clicks("file_view_whole_button")
    viewer.viewing.tokens.open(model)
    viewer.viewing.open(model)
    viewer.stage.window.close()
    assert not viewer.viewing.is_reading and not viewer.viewing.shown.paths
    viewer.stage.settle()
    assert not viewer.viewing.shown.paths and not viewer.viewing.tokens.shown.table.texts


@pytest.mark.parametrize(("width", "height"), [(960, 516), (800, 600)])
def test_every_table_has_room_in_a_small_window(viewer: Viewer, starter_model: Path, width: int, height: int) -> None:
    viewer.opens(starter_model)
    page = viewer.stage.find("models_page")
    page.window().resize(width, height)
    for name in ("sizes", "tensors", "entries", "tokens", "template"):
        viewer.turns_to(name)
        layout = page.layout()
        assert layout is not None and layout.minimumHeightForWidth(width) <= height - 140, name
        assert page.minimumSizeHint().width() <= width - 20, name
        assert cut_off(viewer.part) == [], name
