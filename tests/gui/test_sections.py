from __future__ import annotations

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QScrollBar, QToolButton, QWidget

from app.core.devices import GpuReport
from app.core.job_events import HardwareSampled
from app.gui.next_token.candidates import LEAST_ROWS, ROW_PX, CandidatesChart
from app.gui.widgets.section import Section, SectionHeader
from app.gui.widgets.section_column import SectionColumn
from app.gui.widgets.tab_stops import tab_stops
from tests.gui.conftest import Stage
from tests.gui.live_panel import MACHINE

NAMES = ("live", "sampling", "next_token")
LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def header(stage: Stage, name: str) -> SectionHeader:
    return stage.find_as(SectionHeader, f"{name}_header")


def section(stage: Stage, name: str) -> Section:
    return stage.find_as(Section, f"{name}_section")


def seen_order(stage: Stage) -> tuple[str, ...]:
    tops = {name: section(stage, name).mapTo(stage.window, QPoint(0, 0)).y() for name in NAMES}
    return tuple(sorted(NAMES, key=tops.__getitem__))


def lay_out(stage: Stage) -> None:
    """Let the layout settle, as it does before anybody can look."""
    for _ in range(6):  # from the innermost layout outwards
        QCoreApplication.sendPostedEvents(None, int(QEvent.Type.LayoutRequest))
    assert stage.find_as(SectionColumn).isVisible()


def drag(stage: Stage, name: str, target: QPoint, *, release: bool = True) -> None:
    """Press a header, move in steps to a point of the window, and let go."""
    widget = header(stage, name)
    start, end = widget.rect().center(), widget.mapFrom(stage.window, target)
    QTest.mousePress(widget, LEFT, NONE, start)
    for step in (0.3, 0.7, 1.0):
        QTest.mouseMove(widget, start + (end - start) * step)
    if release:
        QTest.mouseRelease(widget, LEFT, NONE, end)
        lay_out(stage)


@pytest.fixture
def tall(stage: Stage) -> Stage:
    """Return the stage with a window so tall that every section is seen."""
    stage.window.resize(1280, 2400)
    lay_out(stage)
    return stage


def test_the_sections_stand_in_their_own_order_at_first(tall: Stage) -> None:
    assert seen_order(tall) == NAMES
    assert tall.desk.program.settings.values.sections == ()


def test_a_click_folds_a_section_to_its_header_and_the_next_unfolds_it(tall: Stage) -> None:
    tall.clicks("live_header")
    assert not tall.sees("ttft_value")
    assert tall.sees("live_header")
    assert list(tall.desk.program.settings.values.folded) == ["live", "sampling_more"]
    tall.clicks("live_header")
    assert tall.sees("ttft_value")
    assert list(tall.desk.program.settings.values.folded) == ["sampling_more"]


@pytest.mark.parametrize("key", [Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_a_section_folds_by_keyboard(tall: Stage, key: Qt.Key) -> None:
    QTest.keyClick(header(tall, "sampling"), key)
    assert not tall.sees("temperature_slider")
    QTest.keyClick(header(tall, "sampling"), key)
    assert tall.sees("temperature_slider")


def test_alt_and_an_arrow_move_a_section_and_the_place_is_told(tall: Stage) -> None:
    moved = header(tall, "live")
    moved.setFocus()
    assert "section 1 of 3" in moved.accessibleDescription()
    QTest.keyClick(moved, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    lay_out(tall)
    assert seen_order(tall) == ("sampling", "live", "next_token")
    assert "section 2 of 3" in moved.accessibleDescription()
    assert moved.hasFocus()
    QTest.keyClick(moved, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    QTest.keyClick(moved, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    lay_out(tall)
    assert seen_order(tall) == NAMES
    assert tall.desk.program.settings.values.sections == NAMES


def test_a_folded_section_says_so_to_people_who_cannot_see_it(tall: Stage) -> None:
    assert header(tall, "live").accessibleDescription().startswith("Unfolded")
    tall.clicks("live_header")
    assert header(tall, "live").accessibleDescription().startswith("Folded")


def test_a_dragged_header_moves_its_section_to_where_the_mark_was(tall: Stage) -> None:
    below = section(tall, "next_token")
    target = below.mapTo(tall.window, QPoint(40, below.height() - 4))
    drag(tall, "live", target, release=False)
    mark = tall.find("insertion_mark")
    assert mark.isVisible()
    assert mark.geometry().top() >= below.geometry().bottom()
    QTest.mouseRelease(header(tall, "live"), LEFT, NONE, header(tall, "live").mapFrom(tall.window, target))
    lay_out(tall)
    assert not mark.isVisible()
    assert seen_order(tall) == ("sampling", "next_token", "live")
    assert tall.desk.program.settings.values.sections == ("sampling", "next_token", "live")
    assert tall.sees("ttft_value")


def test_a_header_can_be_dragged_upwards(tall: Stage) -> None:
    drag(tall, "next_token", section(tall, "live").mapTo(tall.window, QPoint(40, 2)))
    assert seen_order(tall) == ("next_token", "live", "sampling")


def test_a_drag_that_ends_where_it_began_changes_nothing(tall: Stage) -> None:
    own = section(tall, "sampling")
    drag(tall, "sampling", own.mapTo(tall.window, QPoint(40, own.height() // 2 + 8)))
    assert seen_order(tall) == NAMES
    assert tall.sees("temperature_slider")
    assert tall.desk.program.settings.values.sections == ()


def test_a_drag_that_comes_back_to_its_header_folds_nothing_and_the_next_click_does(tall: Stage) -> None:
    widget = header(tall, "sampling")
    start = widget.rect().center()
    QTest.mousePress(widget, LEFT, NONE, start)
    QTest.mouseMove(widget, start + QPoint(0, 200))
    QTest.mouseMove(widget, start)
    QTest.mouseRelease(widget, LEFT, NONE, start)
    assert seen_order(tall) == NAMES
    assert tall.sees("temperature_slider")
    tall.clicks("sampling_header")
    assert not tall.sees("temperature_slider")
    QTest.mousePress(widget, LEFT, NONE, start)
    QTest.mouseMove(widget, start + QPoint(1, 0))
    assert not tall.find("insertion_mark").isVisible()
    QTest.mouseRelease(widget, LEFT, NONE, start)
    assert tall.sees("temperature_slider")


def test_tab_follows_the_order_of_the_sections(tall: Stage) -> None:
    header(tall, "next_token").setFocus()
    for _ in range(2):
        QTest.keyClick(header(tall, "next_token"), Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    stops = tab_stops(tall.find_as(SectionColumn))
    headers = [stop.objectName() for stop in stops if isinstance(stop, SectionHeader)]
    assert headers == ["next_token_header", "live_header", "sampling_header"]
    places = [stops.index(header(tall, name)) for name in ("next_token", "live", "sampling")]
    inside = [next(n for n in NAMES if section(tall, n).isAncestorOf(stop)) for stop in stops]
    assert inside == sorted(inside, key=("next_token", "live", "sampling").index)
    assert places == sorted(places)


def test_order_and_folds_are_there_again_at_the_next_start(tall: Stage, qapp: QApplication) -> None:
    column = tall.find_as(SectionColumn)
    column.arrange(("next_token", "gone", "next_token"), ("sampling", "gone"))
    lay_out(tall)
    assert seen_order(tall) == ("next_token", "live", "sampling")
    assert column.folded == ("sampling",)
    assert not tall.sees("temperature_slider")


def test_the_column_never_scrolls_sideways(ready: Stage) -> None:
    column = ready.find_as(SectionColumn)
    ready.window.resize(1280, 800)
    lay_out(ready)
    content = column.widget()
    assert content is not None
    assert content.width() <= column.viewport().width()
    for name in NAMES:
        assert column.viewport().width() >= section(ready, name).geometry().right()


def seen_whole(stage: Stage, name: str) -> bool:
    widget: QWidget = stage.find(name)
    return widget.visibleRegion().boundingRect() == widget.rect()


def answered(stage: Stage) -> None:
    """Let an answer be written to its end, with all that the panels show of it."""
    stage.desk.program.machine.take(HardwareSampled(MACHINE, GpuReport()))
    stage.sends("Hi")
    stage.desk.answer("Hello", " there")
    stage.bot.waitUntil(lambda: stage.reads("stop_reason_value") == "end of answer", timeout=60_000)
    lay_out(stage)


def scroll_bars(stage: Stage) -> list[QScrollBar]:
    bars = stage.find_as(SectionColumn).findChildren(QScrollBar)
    return [bar for bar in bars if bar.isVisible() and bar.maximum() > bar.minimum()]


FIGURES = ("ttft_value", "decode_rate_value", "prefill_rate_value", "kv_value", "vram_value")
BARS = ("ttft_bar", "itl_chart", "kv_gauge", "vram_gauge")
SLIDERS = ("temperature", "top_k", "top_p", "min_p", "repeat_penalty")


def test_a_window_of_usual_size_shows_all_three_sections_whole_without_a_scroll_bar(ready: Stage) -> None:
    ready.window.resize(1280, 800)
    answered(ready)
    column = ready.find_as(SectionColumn)
    assert scroll_bars(ready) == []
    for name in NAMES:
        assert seen_whole(ready, f"{name}_section"), name
        assert column.viewport().height() > section(ready, name).geometry().bottom()
    for name in (*FIGURES, *BARS, "diagnosis_text"):
        assert seen_whole(ready, name), name
    for name in SLIDERS:
        assert seen_whole(ready, f"{name}_slider") and seen_whole(ready, f"{name}_box"), name
    assert seen_whole(ready, "preset_box") and seen_whole(ready, "sampling_more_button")
    assert ready.find_as(CandidatesChart).height() >= LEAST_ROWS * ROW_PX
    assert not ready.sees("traffic_value") and not ready.sees("kv_bytes")


def test_details_go_where_the_sections_would_not_fit_with_them_and_come_back_where_they_do(ready: Stage) -> None:
    answered(ready)
    button = ready.find_as(QToolButton, "live_details_button")
    seen = []
    for height in (1080, 800, 1080, 720):
        ready.window.resize(1920, height)
        lay_out(ready)
        seen.append(ready.sees("traffic_value"))
        assert button.isChecked() is seen[-1]
        assert (scroll_bars(ready) == []) is (height > 720)
    assert seen == [True, False, True, False]
    assert ready.desk.program.settings.values.folded == ("sampling_more",)


def test_a_folded_section_makes_room_for_details(ready: Stage) -> None:
    answered(ready)
    assert not ready.sees("traffic_value")
    ready.clicks("sampling_header")
    lay_out(ready)
    assert ready.sees("traffic_value")
    ready.clicks("sampling_header")
    lay_out(ready)
    assert not ready.sees("traffic_value")


def test_details_that_people_insist_on_scroll_with_the_whole_column(ready: Stage) -> None:
    answered(ready)
    header(ready, "live").setFocus()
    QTest.keyClick(header(ready, "live"), Qt.Key.Key_Tab)
    button = ready.find_as(QToolButton, "live_details_button")
    assert ready.window.focusWidget() is button
    assert button.accessibleName() == "Live: Details"
    QTest.keyClick(button, Qt.Key.Key_Space)
    lay_out(ready)
    column = ready.find_as(SectionColumn)
    assert ready.sees("traffic_value") and button.isChecked()
    assert scroll_bars(ready) == [column.verticalScrollBar()]
    assert "live_fitting" in ready.desk.program.settings.values.folded
    QTest.keyClick(button, Qt.Key.Key_Space)
    lay_out(ready)
    assert not ready.sees("traffic_value") and scroll_bars(ready) == []
    assert ready.desk.program.settings.values.folded == ("sampling_more",)


def test_details_that_people_hide_stay_away_where_there_is_room(tall: Stage) -> None:
    assert tall.sees("traffic_value")
    tall.clicks("live_details_button")
    lay_out(tall)
    assert not tall.sees("traffic_value")
    assert "live_details" in tall.desk.program.settings.values.folded
    tall.window.resize(1280, 2200)
    lay_out(tall)
    assert not tall.sees("traffic_value")
    tall.clicks("live_details_button")
    lay_out(tall)
    assert tall.sees("traffic_value")
    assert tall.desk.program.settings.values.folded == ("sampling_more",)


@pytest.mark.parametrize(("folded", "height", "shown"), [("live_details", 2400, False), ("live_fitting", 800, True)])
def test_what_was_chosen_of_details_holds_at_the_next_start(
    ready: Stage, folded: str, height: int, shown: bool
) -> None:
    ready.window.resize(1280, height)
    column = ready.find_as(SectionColumn)
    column.arrange((), ("sampling_more", folded))
    lay_out(ready)
    assert ready.sees("traffic_value") is shown
    assert column.folded == (folded,)
    assert set(column.folded) <= set(column.foldable)


def test_details_that_were_hidden_at_the_start_come_at_the_first_click_where_there_is_no_room(ready: Stage) -> None:
    answered(ready)
    column = ready.find_as(SectionColumn)
    column.arrange((), ("live_details",))
    for each in column.findChildren(Section):
        each.forget_height()
    ready.clicks("live_details_button")
    lay_out(ready)
    assert ready.sees("traffic_value")
    assert column.folded == ("live_fitting",)


def test_a_folded_section_has_no_button_for_its_details(tall: Stage) -> None:
    assert [tall.sees(f"{name}_details_button") for name in NAMES] == [True, False, False]
    tall.clicks("live_header")
    assert not tall.sees("live_details_button")


def test_a_folded_section_leaves_its_height_to_the_others(ready: Stage) -> None:
    ready.window.resize(1280, 800)
    lay_out(ready)
    before = section(ready, "sampling").height() + section(ready, "next_token").height()
    ready.clicks("live_header")
    lay_out(ready)
    assert section(ready, "live").height() < 48
    assert section(ready, "sampling").height() + section(ready, "next_token").height() > before + 150
    assert section(ready, "next_token").geometry().bottom() <= ready.find_as(SectionColumn).viewport().height()


def test_the_next_token_takes_the_height_that_nobody_else_needs(tall: Stage) -> None:
    column, last = tall.find_as(SectionColumn), section(tall, "next_token")
    assert last.geometry().bottom() >= column.viewport().height() - 2 * 8 - 1
    assert seen_whole(tall, "sampling_section")
    assert scroll_bars(tall) == []


def test_where_all_are_folded_they_stand_at_the_top(tall: Stage) -> None:
    for name in NAMES:
        tall.clicks(f"{name}_header")
    lay_out(tall)
    assert section(tall, "next_token").geometry().bottom() < 200
    assert [section(tall, name).height() for name in NAMES] == [section(tall, "live").height()] * 3


def test_tab_scrolls_to_where_it_goes(ready: Stage) -> None:
    ready.window.resize(1280, 800)
    lay_out(ready)
    header(ready, "next_token").setFocus()
    QTest.keyClick(header(ready, "next_token"), Qt.Key.Key_Backtab)
    reached = ready.window.focusWidget()
    assert reached is not None
    assert section(ready, "sampling").isAncestorOf(reached)
    assert not reached.visibleRegion().isEmpty()
