"""The part of the planner that sets models beside GPUs, in a real window: choosing, sorting, needs, charts, files."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QAccessible, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QLineEdit,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.core.devices import Device
from app.core.kept_comparison import KeptComparison
from app.core.model import DEFAULT_CONTEXT
from app.core.own_gpu import OwnGpu
from app.core.store_events import Lengths, UseMeasured
from app.gui.planner.comparison.choices import Choices
from app.gui.planner.comparison.gpu_dialog import GpuDialog
from app.gui.planner.comparison.rows_model import EACH, FIRST_TOKEN, SMALL_ROLE, TOGETHER
from app.gui.planner.page import PlannerPage
from app.gui.widgets.boxes import NumberBox
from app.services.kept_choice import chosen_of, kept_of
from app.services.plan_values import Chosen, ModelChoice, Wanted
from tests.gui.planner.beside import Beside


def item_of(tree: QTreeWidget, words: str) -> QTreeWidgetItem:
    """Return the item, or the group, that begins with some words."""
    flags = Qt.MatchFlag.MatchStartsWith | Qt.MatchFlag.MatchRecursive
    return tree.findItems(words, flags)[0]


def test_it_begins_with_rows_an_answer_and_lines(beside: Beside) -> None:
    assert len(beside.table.rows.rows) == 5
    answer = beside.says("plan_comparison_answer")
    assert answer.startswith("5 of 5 fit. The fastest is tiny F16 on ") and "tok/s each (" in answer
    assert answer.endswith(") with the context full.")
    assert "8,192 tokens, one conversation" in beside.says("plan_comparison_use")
    assert [drawn.number for drawn in beside.part.speeds.drawing.rows] == [0, 1, 2, 3, 4]
    assert beside.part.speeds.accessibleName().count(" tok/s at ") == 5
    assert "prefill" in beside.part.roofs.accessibleName()
    assert not beside.stage.find("plan_comparison_begin").isVisible()


def test_a_tick_adds_a_row_and_a_tick_on_a_group_all_of_it(beside: Beside) -> None:
    choices = beside.part.choices
    item_of(choices.models.tree, "≈ Q8_0").setCheckState(0, Qt.CheckState.Checked)
    beside.waits(lambda: len(beside.table.rows.rows) == 10)
    which = [str(beside.table.rows.index(row, 0).data(SMALL_ROLE)) for row in range(10)]
    assert sum(each.startswith("≈\N{NO-BREAK SPACE}Q8_0 · ") for each in which) == 5
    assert beside.says("plan_models_heading") == "Models · 2"
    item_of(choices.gpus.tree, "Radeon").setCheckState(0, Qt.CheckState.Checked)
    beside.waits(lambda: len(beside.table.rows.rows) == 12)
    assert "rx-7900-xtx" in beside.service.chosen.gpus


def test_space_ticks_what_the_keyboard_is_on(beside: Beside) -> None:
    tree = beside.part.choices.gpus.tree
    tree.setFocus()
    tree.setCurrentItem(item_of(tree, "RTX 3060 Ti"))
    QTest.keyClick(tree, Qt.Key.Key_Space)
    beside.waits(lambda: "rtx-3060-ti" in beside.service.chosen.gpus)


def test_searching_shows_only_what_is_meant(beside: Beside) -> None:
    line, tree = beside.stage.find_as(QLineEdit, "plan_gpus_search"), beside.part.choices.gpus.tree
    line.setText("a100 sxm")
    assert not item_of(tree, "A100 80 GB SXM").isHidden() and item_of(tree, "A100 40 GB").isHidden()
    assert item_of(tree, "GeForce RTX").isHidden() and item_of(tree, "Data centre").isExpanded()
    line.clear()
    assert not item_of(tree, "GeForce RTX").isHidden()


def test_headings_sort_and_unknown_figures_come_last(beside: Beside) -> None:
    beside.table.sortByColumn(EACH, Qt.SortOrder.DescendingOrder)
    speeds = [row.each.value for row in beside.table.rows.rows if row.each is not None]
    assert speeds == sorted(speeds, reverse=True)
    beside.table.sortByColumn(FIRST_TOKEN, Qt.SortOrder.AscendingOrder)
    assert [row.first_token is None for row in beside.table.rows.rows] == [False] * 4 + [True]
    assert beside.column(FIRST_TOKEN)[-1] == "–"
    index = beside.table.rows.index(4, FIRST_TOKEN)
    assert "is not known" in str(index.data(Qt.ItemDataRole.ToolTipRole))
    assert "is not known" in str(index.data(Qt.ItemDataRole.AccessibleTextRole))
    assert not any(beside.needs())


def test_a_selected_row_stays_selected_when_it_is_sorted(beside: Beside) -> None:
    beside.table.selectRow(0)
    key = beside.table.selected[0].key
    beside.table.sortByColumn(EACH, Qt.SortOrder.DescendingOrder)
    assert [row.key for row in beside.table.selected] == [key] != [beside.table.rows.rows[0].key]


def test_selected_rows_alone_are_drawn(beside: Beside) -> None:
    beside.table.selectRow(2)
    (drawn,) = beside.part.speeds.drawing.rows
    assert drawn.row is beside.table.rows.rows[2] and beside.table.drawn == {drawn.row.key: 0}
    assert beside.part.roofs.drawing.rows == beside.part.speeds.drawing.rows
    beside.table.clearSelection()
    assert len(beside.part.speeds.drawing.rows) == 5


def test_all_together_are_told_where_several_ask_at_once(beside: Beside) -> None:
    assert beside.table.isColumnHidden(TOGETHER)
    beside.choose("rtx-4090", users=4)
    assert not beside.table.isColumnHidden(TOGETHER)
    (row,) = beside.table.rows.rows
    assert row.together is not None and row.each is not None
    assert row.together.value == pytest.approx(4 * row.each.value)


def test_a_need_has_a_line_and_an_answer(beside: Beside) -> None:
    box = beside.stage.find_as(NumberBox, "plan_need_speed")
    beside.stage.find_as(NumberBox, "plan_use_context").setValue(512)
    beside.waits(lambda: beside.service.worked and beside.service.worked.chosen.context == 512)
    rates = sorted(row.each.value for row in beside.table.rows.rows if row.each is not None)
    wanted = round(sum(rates[1:3]) / 2)
    box.setValue(wanted)
    beside.stage.desk.until(lambda: all(beside.needs()))
    needs = beside.needs()
    meeting = [need for need in needs if need.startswith("✓")]
    assert 0 < len(meeting) < len(needs) and needs[: len(meeting)] == meeting
    why = needs[len(meeting) :]
    assert all(each.startswith("✕") and each.endswith(f" of {wanted:,} tok/s each") for each in why)
    spoken = str(beside.table.rows.index(4, 0).data(Qt.ItemDataRole.AccessibleTextRole))
    assert spoken.startswith("Model: tiny F16. GPU: ") and spoken.endswith(why[-1])
    assert beside.says("plan_comparison_answer").startswith(f"{len(meeting)} of 5 meet what you need.")
    box.setValue(99_999)
    beside.stage.desk.until(lambda: beside.says("plan_comparison_answer").startswith("None of 5 meets"))
    box.setValue(0)
    beside.stage.desk.until(lambda: not any(beside.needs()))
    beside.stage.clicks("plan_need_room")
    beside.stage.desk.until(lambda: "fit. The fastest is" in beside.says("plan_comparison_answer"))


@pytest.mark.parametrize("name", ["plan_use_context", "plan_use_users"])
def test_what_is_typed_is_a_need_also_where_it_is_what_stood_there(beside: Beside, name: str) -> None:
    box = beside.stage.find_as(NumberBox, name)
    box.setFocus()
    box.selectAll()
    QTest.keyClicks(box.lineEdit(), box.text())
    QTest.keyClick(box, Qt.Key.Key_Return)
    beside.waits(lambda: "None of 5 meets what you need" in beside.says("plan_comparison_answer"))
    assert beside.service.chosen.wanted == Wanted(room=True) and beside.service.chosen.context == DEFAULT_CONTEXT
    assert beside.part.choices.form.room.isChecked()


def test_whatever_can_be_set_is_there_again_after_a_restart(beside: Beside) -> None:
    form = beside.part.choices.form
    boxes = (form.context, form.users, form.prompt, form.first_token, form.speed)
    for end in (NumberBox.minimum, NumberBox.maximum):
        for box in boxes:
            box.setValue(end(box))
        kept = kept_of(beside.service.chosen)
        assert msgspec.json.decode(msgspec.json.encode(kept), type=KeptComparison) == kept
        assert chosen_of(kept) == beside.service.chosen
        assert (kept.context, kept.users) == tuple(round(end(box)) for box in (form.context, form.users))


def test_a_tick_makes_a_need_of_the_context_and_a_speed_takes_it_along(beside: Beside) -> None:
    form = beside.part.choices.form
    assert not form.room.isChecked() and form.room.isEnabled()
    beside.stage.find_as(NumberBox, "plan_use_prompt").setValue(100)
    assert not form.room.isChecked(), "a prompt is no need"
    form.speed.setValue(1)
    beside.waits(lambda: form.room.isChecked() and not form.room.isEnabled())
    form.speed.setValue(0)
    beside.waits(lambda: form.room.isEnabled() and not form.room.isChecked())
    beside.stage.clicks("plan_need_room")
    beside.waits(lambda: "None of 5 meets what you need" in beside.says("plan_comparison_answer"))
    form.users.setValue(2)
    assert beside.service.chosen.wanted == Wanted(room=True)


def test_a_context_that_is_needed_sorts_the_rows_and_says_what_fails(beside: Beside) -> None:
    beside.choose("rtx-4090", "rtx-3060", context=1000, wanted=Wanted(room=True))
    beside.waits(lambda: beside.service.worked and beside.service.worked.chosen.context == 1000)
    assert not any(beside.needs()) and "meet what you need" in beside.says("plan_comparison_answer")
    assert [row.gpu_memory for row in beside.table.rows.rows] == sorted(
        row.gpu_memory for row in beside.table.rows.rows
    )
    beside.choose("rtx-4090", "rtx-3060", context=100_000, wanted=Wanted(room=True))
    beside.waits(lambda: beside.service.worked and beside.service.worked.chosen.context == 100_000)
    assert beside.says("plan_comparison_answer").startswith("None of 2 meets what you need.")
    assert beside.needs() == ["✕ misses what you need: context 1,024 of 100,000"] * 2


def test_what_chats_use_is_shown_and_taken(beside: Beside) -> None:
    use = beside.stage.desk.program.planner.chat_use
    button = beside.stage.find_as(QPushButton, "plan_take_use")
    assert not button.isEnabled() and "Once you have chatted" in beside.says("plan_chat_use")
    use.take(UseMeasured(use._request or 0, 7, Lengths(900, 3001), Lengths(700, 2500), Lengths(200, 501)))
    assert "context up to 3,001 tokens, 95 of 100 up to 900" in beside.says("plan_chat_use")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert (beside.service.chosen.context, beside.service.chosen.prompt) == (3072, 700)
    assert beside.part.choices.form.context.value() == 3072 and beside.part.choices.form.room.isChecked()


def test_without_a_tick_it_says_what_to_do_and_begins_anew(beside: Beside) -> None:
    beside.service.choose(Chosen((), ("l4",)))
    assert beside.says("plan_comparison_answer") == "Tick a model on the left."
    assert not beside.table.isVisible() and not beside.stage.find("plan_export_button").isEnabled()
    beside.service.choose(Chosen(beside.service.chosen.models or (ModelChoice(str(beside.model)),), ()))
    assert beside.says("plan_comparison_answer") == "Tick a GPU on the left."
    beside.stage.clicks("plan_comparison_begin")
    beside.stage.desk.until(lambda: len(beside.table.rows.rows) == 5 and beside.table.isVisible())


@pytest.mark.qt_log_ignore("^This plugin does not support")  # the offscreen platform, of every dialog
def test_a_gpu_of_ones_own_is_added_changed_and_removed(beside: Beside, qtbot: QtBot) -> None:
    beside.stage.clicks("plan_add_gpu")
    dialog = beside.stage.find_as(GpuDialog, "own_gpu_dialog")
    dialog.name.setText("NVIDIA L4")
    dialog.accept()
    assert dialog.isVisible() and "“NVIDIA L4”" in dialog.problem.text()
    dialog.name.setText("My card")
    dialog.tflops.setValue(80)
    with qtbot.waitSignal(dialog.accepted):
        dialog.accept()
    assert beside.stage.desk.program.settings.values.gpus == {"My card": OwnGpu(16, 500, 80)}
    beside.stage.desk.until(lambda: "My card" in beside.column(0))
    assert item_of(beside.part.choices.gpus.tree, "My card").checkState(0) is Qt.CheckState.Checked
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    choices = beside.stage.window.findChild(Choices)
    assert choices is not None
    change, remove = choices.own_menu("my-card").actions()
    change.trigger()
    changed = beside.stage.find_as(GpuDialog, "own_gpu_dialog")
    assert changed.name.text() == "My card" and changed.tflops.value() == 80
    changed.memory.setValue(32)
    changed.accept()
    assert beside.stage.desk.program.settings.values.gpus["My card"].memory_gib == 32
    remove.trigger()
    assert beside.stage.desk.program.settings.values.gpus == {}
    beside.stage.desk.until(lambda: "My card" not in beside.column(0))


@pytest.mark.parametrize("kind", ["csv", "md", "png"])
def test_it_is_saved_as_it_is_sorted(beside: Beside, tmp_path: Path, kind: str) -> None:
    beside.table.sortByColumn(EACH, Qt.SortOrder.DescendingOrder)
    path = tmp_path / f"rows.{kind}"
    beside.part.export.save(kind, path)
    beside.stage.desk.until(lambda: beside.stage.desk.program.file_export.saved == path)
    assert str(path) in beside.says("plan_comparison_use")
    gpus = [row.gpu for row in beside.table.rows.rows]
    if kind == "png":
        image = QImage(str(path))
        assert image.width() == 2360 and image.height() > 1000
        return
    text = path.read_text(encoding="utf-8-sig")
    if kind == "csv":
        rows = list(csv.DictReader(io.StringIO(text)))
        assert [row["gpu"] for row in rows] == gpus
        assert float(rows[0]["tokens_per_s_each"]) > float(rows[1]["tokens_per_s_each"])
        assert {row["context"] for row in rows} == {"8192"}
    else:
        table = [line for line in text.splitlines() if line.startswith("| tiny")]
        assert len(table) == 5 and all(gpu in line for gpu, line in zip(gpus, table, strict=True))


def test_everything_has_a_name(beside: Beside) -> None:
    kinds = (QTreeWidget, QLineEdit, NumberBox, QPushButton)
    for widget in beside.part.findChildren(QWidget):
        if isinstance(widget, kinds) and widget.objectName() and not widget.objectName().startswith("qt_"):
            assert QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name), widget.objectName()
    assert beside.table.accessibleName() == "Models on GPUs"


@pytest.mark.parametrize("size", [(900, 600), (1920, 1080)])
def test_nothing_is_cut_off_sideways(beside: Beside, size: tuple[int, int]) -> None:
    beside.stage.window.resize(*size)
    page = beside.stage.find_as(PlannerPage, "planner_page")
    beside.waits(lambda: page.width() > 0 and beside.part.width() <= page.width())
    assert page.horizontalScrollBar().maximum() == 0
    for widget in (beside.table, beside.part.speeds, beside.part.roofs, beside.part.choices):
        right = widget.mapTo(beside.part, QPoint(widget.width(), 0)).x()
        assert right <= beside.part.width()


def test_a_hidden_part_works_nothing_out(beside: Beside) -> None:
    beside.stage.window.page_wanted.emit("chat")
    rows = beside.table.rows.rows
    beside.service.choose(Chosen(beside.service.chosen.models, ("l4",)))
    beside.stage.settle()
    assert not beside.service.is_busy and beside.table.rows.rows == rows
    beside.stage.window.page_wanted.emit("planner")
    beside.stage.desk.until(lambda: beside.column(0) == ["L4"])


def test_the_other_part_is_no_higher_than_it_is_by_itself(beside: Beside) -> None:
    page = beside.stage.find_as(PlannerPage, "planner_page")
    page.show_part("plan")
    beside.stage.bot.wait(1)
    part = beside.stage.find("plan_part")
    assert part.height() <= max(page.viewport().height(), part.heightForWidth(part.width()))


def test_gpus_of_this_machine_can_be_chosen_together(beside: Beside) -> None:
    devices = beside.stage.desk.program.planner.devices
    names = ("NVIDIA L4", "NVIDIA L4", "NVIDIA GeForce RTX 4090")
    gib = 1 << 30
    devices.note(tuple(Device(f"CUDA{at}", name, "gpu", "CUDA", 24 * gib, gib) for at, name in enumerate(names)))
    beside.service.watch(True)
    beside.waits(lambda: any(gpu.count == 3 for gpu in beside.service.gpus))
    item = item_of(beside.part.choices.gpus.tree, "3 GPUs together · 72.0 GiB")
    assert item.toolTip(0) == "2 × NVIDIA L4 + NVIDIA GeForce RTX 4090"
    item.setCheckState(0, Qt.CheckState.Checked)
    beside.waits(lambda: "2 × L4 + RTX 4090" in beside.column(0))


def test_a_row_without_a_roof_is_named_beside_the_charts(beside: Beside) -> None:
    beside.choose("m5-32", "h100-sxm")
    beside.waits(lambda: "Not in the roofline. " in beside.says("plan_comparison_drawn"))
    assert "How much Apple M5 32 GB computes in a second is not known." in beside.says("plan_comparison_drawn")
