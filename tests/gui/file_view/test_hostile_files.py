"""Files that hold what no model does: nothing in them turns words around, breaks a line or is taken for markup."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTableView, QWidget

from tests.gguf_bytes import raw_gguf, raw_gguf_of
from tests.gui.file_view.conftest import Viewer
from tests.gui.fitting import cut_off

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
EVIL = "\x1b[2J\nשלום\u202eabc\u2066\x00x\u0301<b>&amp;</b>"
TABLES = ("tensors", "entries", "tokens", "special")


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    path = tmp_path / f"e{EVIL[-12:].replace('/', '')}\u202e.gguf"
    path.write_bytes(
        raw_gguf(
            {
                "general.architecture": EVIL * 9,
                "general.name": EVIL * 90,
                EVIL * 20: EVIL,
                "list": [EVIL] * 40,
                "long": "word " * 9_000,
                "tokenizer.ggml.model": EVIL,
                "tokenizer.ggml.tokens": [EVIL, "x" * 5_000],
                f"tokenizer.ggml.{EVIL}_token_id": 0,
                "tokenizer.chat_template": f"```\n# Title\n<script>\n{EVIL}\n```````\n[link](https://example.org)",
                f"tokenizer.chat_template.{EVIL}": EVIL,
            },
            [(f"\u202e{number}<b>\n"[:20], (4,), 99 if number else 0, 32 * number) for number in range(3)],
            data=bytes(96),
        )
    )
    return path


def shown_text(view: QWidget) -> str:
    """Return what selecting and copying all of a text gives."""
    QGuiApplication.clipboard().setText("")
    QTest.keySequence(view, QKeySequence(QKeySequence.StandardKey.SelectAll))
    QTest.keySequence(view, QKeySequence(QKeySequence.StandardKey.Copy))
    return QGuiApplication.clipboard().text()


def test_every_cell_is_one_line_that_turns_nothing_around(viewer: Viewer, evil: Path) -> None:
    viewer.opens(evil)
    stage = viewer.stage
    for name in ("tensors", "entries", "tokens"):
        viewer.turns_to(name)
        stage.bot.waitUntil(lambda: cut_off(stage.find("file_view")) == [])
    for table in TABLES:
        cells = [cell for row in viewer.rows(table) for cell in row]
        assert cells and all(cell.isprintable() and len(cell) < 160 for cell in cells), table
        view = stage.find_as(QTableView, f"file_view_{table}")
        assert view.horizontalHeader().length() <= view.viewport().width()
    for name in ("title1", "facts1", "path1", "tokenizer_facts"):
        assert stage.reads(f"file_view_{name}").replace("\u00a0", " ").isprintable()
    assert stage.window.width() == 1280 and stage.window.height() == 800


def test_sizes_that_nobody_knows_are_dashes(viewer: Viewer, evil: Path) -> None:
    viewer.opens(evil)
    assert "bits per weight" not in viewer.stage.reads("file_view_facts1")
    viewer.turns_to("tensors")
    assert [row[3] for row in viewer.rows("tensors")] == ["16 B", "–", "–"]
    assert {row[4] for row in viewer.rows("tensors")} == {"–"}


def test_a_template_is_code_whatever_is_in_it(viewer: Viewer, evil: Path) -> None:
    viewer.opens(evil)
    viewer.turns_to("template")
    assert viewer.stage.sees("file_view_template_box")
    shown = shown_text(viewer.part.template.view)
    assert "# Title\n<script>\n" in shown and "[link](https://example.org)" in shown
    assert "\u202e" not in shown and "\x1b" not in shown
    box = viewer.part.template.names
    box.setCurrentIndex(1)
    box.activated.emit(1)
    assert "# Title" not in shown_text(viewer.part.template.view)


def test_a_file_of_nothing_says_so_everywhere(viewer: Viewer, tmp_path: Path) -> None:
    path = tmp_path / "nothing.gguf"
    path.write_bytes(raw_gguf_of([], []))
    viewer.opens(path)
    stage = viewer.stage
    assert not stage.reads("file_view_state")
    assert stage.reads("file_view_title1") == "nothing" and stage.sees("file_view_no_sizes")
    viewer.turns_to("tensors")
    assert stage.reads("file_view_tensors_state") == "This file holds no tensors."
    assert not stage.find("file_view_tensors_save").isEnabled()
    viewer.turns_to("entries")
    assert stage.reads("file_view_entries_state") == "0 entries"
    viewer.turns_to("tokens")
    assert stage.reads("file_view_tokenizer_facts") == "This file holds no tokenizer."
    viewer.turns_to("template")
    assert stage.reads("file_view_template_state").startswith("This file holds no template")
    assert not stage.sees("file_view_template")


def test_more_entries_than_are_shown_are_counted(viewer: Viewer, tmp_path: Path) -> None:
    path = tmp_path / "keys.gguf"
    path.write_bytes(raw_gguf({f"key.{number}": number for number in range(5_000)}))
    viewer.opens(path)
    viewer.turns_to("entries")
    assert viewer.stage.reads("file_view_entries_state") == "4,096 of 5,000 entries. The last 904 are not shown."
