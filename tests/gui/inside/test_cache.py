"""The part “KV cache” of the page Inside: what people see of the cells, with keys, pointer and ears."""

from __future__ import annotations

from array import array
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from app.core.events import Loaded, PrefillProgress, PromptReady
from app.core.model import CacheSizes
from app.core.sampling import SamplingSettings
from app.gui.inside.cache.cache_part import CachePart
from app.gui.inside.cache.cell_grid import CellGrid
from app.gui.inside.cache.cell_looks import cell_looks
from app.gui.inside.cache.grid_layout import LEAST_PX, grid_layout
from app.gui.theme import contrast
from app.services.cache_parts import PARTS
from app.services.kv_cells import CellsHeld, Stretch
from app.services.lane_starts import Lanes
from tests.fake_engine import CONTEXT, model_info
from tests.gui.conftest import Stage, desk, model, stage
from tests.gui.counting import counts
from tests.gui.fitting import problems
from tests.services.lanes import LanesLead

__all__ = ["desk", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
USED = 41
"""Of the prompt of tests, and one token of the answer."""


def opens(stage: Stage) -> CachePart:
    """Go to the cells as people do."""
    stage.clicks("inside_button")
    stage.clicks("inside_cache_tab")
    part = stage.find_as(CachePart, "inside_cache")
    part.show_now()
    rests(stage)
    return part


def rests(stage: Stage) -> None:
    """Let everything be laid out: the height of words moves the cells once more."""
    before = None
    while before != (before := grid(stage).rect().translated(grid(stage).mapTo(stage.window, QPoint(0, 0)))):
        stage.window.grab()
        stage.settle()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)


def answered(stage: Stage, model: Path) -> CachePart:
    stage.desk.program.conversations.start()
    stage.load(model)
    stage.desk.program.chat.send("Why?")
    stage.desk.answer("Because")
    return opens(stage)


def grid(stage: Stage) -> CellGrid:
    return stage.find_as(CellGrid, "kv_grid")


def cut_off(part: CachePart) -> list[str]:
    """Return the labels that are smaller than what they say."""
    return [
        f"{each.objectName()}: {problem}"
        for each in part.findChildren(QLabel)
        if each.isVisible()
        for problem in problems(each)
    ]


def said(stage: Stage) -> str:
    return stage.reads("kv_cell")


def test_without_a_model_it_says_what_to_do_and_leads_to_the_chat(stage: Stage) -> None:
    opens(stage)
    assert "No model is loaded" in stage.reads("kv_empty") and not stage.sees("kv_grid")
    stage.clicks("kv_chat_button")
    assert stage.window.page == "chat"


def test_a_model_that_keeps_a_state_alone_has_no_cells_to_show(stage: Stage, model: Path) -> None:
    stage.desk.begin_load(model)
    info = msgspec.structs.replace(model_info(str(model)), memory_kind="recurrent", cache=CacheSizes(state=1 << 20))
    stage.engine.say(Loaded(stage.engine.load.request, info))
    stage.settle()
    opens(stage)
    assert "keeps no cells" in stage.reads("kv_empty") and not stage.sees("kv_grid")


def test_before_anything_is_asked_all_cells_are_free(stage: Stage, model: Path) -> None:
    stage.load(model)
    opens(stage)
    assert f"0 of {CONTEXT:,} cells hold a token" in stage.reads("kv_about") and "Ask something" in stage.reads(
        "kv_about"
    )
    assert stage.find("kv_legend").accessibleName() == f"free {CONTEXT:,}"
    assert stage.reads("kv_saving_value") == "–" and "No prompt" in stage.reads("kv_saving_words")


def test_the_cells_are_told_with_their_parts_and_what_reuse_saved(stage: Stage, model: Path) -> None:
    answered(stage, model)
    assert stage.reads("kv_about").startswith(f"Now: {USED} of {CONTEXT:,} cells hold a token")
    legend = stage.find("kv_legend").accessibleName()
    assert legend == f"prompt 40 · answer 1 · free {CONTEXT - USED:,} · outlined: reused 12"
    assert grid(stage).accessibleName() == f"{USED} of {CONTEXT:,} cells hold a token: prompt 40, answer 1"
    assert stage.reads("kv_saving_value") == "12 of 40 tokens"
    assert stage.reads("kv_token_bytes_value") == "23,040 bytes a token"
    assert stage.reads("kv_token_bytes_words").startswith("30 layers × 3 heads × (64 + 64) numbers × 2 bytes (f16)")


def test_the_arrow_keys_go_from_cell_to_cell_and_esc_lets_go(stage: Stage, model: Path) -> None:
    part = answered(stage, model)
    cells = grid(stage)
    cells.setFocus()
    columns = cells.layout_of_cells.columns
    steps = [
        (Qt.Key.Key_Right, 0),
        (Qt.Key.Key_Right, 1),
        (Qt.Key.Key_Down, 1 + columns),
        (Qt.Key.Key_Left, columns),
        (Qt.Key.Key_Up, 0),
        (Qt.Key.Key_Up, 0),
        (Qt.Key.Key_Left, 0),
        (Qt.Key.Key_End, CONTEXT - 1),
        (Qt.Key.Key_Right, CONTEXT - 1),
        (Qt.Key.Key_Down, CONTEXT - 1),
        (Qt.Key.Key_PageUp, None),
        (Qt.Key.Key_Home, 0),
    ]
    for key, wanted in steps:
        QTest.keyClick(cells, key)
        assert wanted is None or cells.cell == wanted, key
        assert cells.cell is not None and 0 <= cells.cell < CONTEXT
    assert "Token 1" in said(stage) and "prompt" in said(stage) and "not read again" in said(stage)
    assert cells.accessibleName() == said(stage)
    cells.look_at(40)
    assert "Token 41" in said(stage) and "answer" in said(stage) and "not read again" not in said(stage)
    cells.look_at(41)
    assert said(stage) == "Cell 42 · free"
    QTest.keyClick(cells, Qt.Key.Key_Escape)
    assert cells.cell is None and "arrow keys" in said(stage) and part.isVisible()


def test_the_pointer_shows_a_cell_while_it_is_there_and_a_click_stays(stage: Stage, model: Path) -> None:
    answered(stage, model)
    cells = grid(stage)
    QTest.mouseMove(cells.viewport(), cells.place_of(39).center())
    assert "Token 40" in said(stage)
    QTest.mouseClick(cells.viewport(), Qt.MouseButton.LeftButton, pos=cells.place_of(3).center())
    assert "Token 4 " in said(stage)
    QTest.mouseMove(cells.viewport(), cells.place_of(40).center())
    assert "Token 41" in said(stage)
    QTest.mouseMove(cells.viewport(), QPoint(cells.viewport().width() - 1, 1))
    assert "Token 4 " in said(stage), "beside the cells it is the clicked one again"


def test_the_next_turn_is_drawn_where_it_will_be(stage: Stage, model: Path) -> None:
    answered(stage, model)
    stage.clicks("chat_button")
    stage.types("And then?")
    counts(stage, 3, 70)
    stage.clicks("inside_button")
    stage.find_as(CachePart, "inside_cache").show_now()
    assert stage.reads("kv_next_value") == "+29"
    assert f"keeps {USED} tokens and adds 29" in stage.reads("kv_next_words")
    assert "the next turn adds 29" in stage.find("kv_legend").accessibleName()
    grid(stage).look_at(USED)
    assert "the next turn will fill it" in said(stage)
    grid(stage).look_at(70)
    assert said(stage) == "Cell 71 · free"


def test_while_an_answer_is_written_the_cells_fill(stage: Stage, model: Path) -> None:
    answered(stage, model)
    stage.desk.program.chat.send("And?")
    stage.settle()
    stage.engine.prompt(60, 41)
    stage.engine.write("So", count=9)
    stage.settle()
    stage.bot.waitUntil(lambda: "68 of" in stage.reads("kv_about"))
    assert stage.reads("kv_next_value") == "–" and "being written" in stage.reads("kv_next_words")
    assert "answer 8" in stage.find("kv_legend").accessibleName()


def test_what_is_hidden_follows_nothing_and_shows_everything_when_it_is_seen(stage: Stage, model: Path) -> None:
    part = answered(stage, model)
    stage.clicks("inside_answer_tab")
    stage.desk.program.chat.send("And?")
    stage.settle()
    stage.engine.prompt(60, 41)
    stage.engine.write("So", count=9)
    stage.settle()
    assert not part._later.isActive() and f"{USED} of" in stage.reads("kv_about")
    stage.clicks("inside_cache_tab")
    assert "68 of" in stage.reads("kv_about")


def test_blocks_of_16_say_what_they_waste_and_what_this_engine_does(stage: Stage, model: Path) -> None:
    answered(stage, model)
    tab = stage.find("kv_cells_tab")
    tab.setFocus()
    QTest.keyClick(tab, Qt.Key.Key_Right)
    assert stage.sees("kv_blocks") and not stage.sees("kv_saving")
    assert stage.reads("kv_blocks_value") == "7 of 48 cells wasted"
    assert stage.reads("kv_reservation_value") == f"{CONTEXT - USED:,} of {CONTEXT:,} cells wasted"
    assert "one pool" in stage.reads("kv_pool_value") and "makes no blocks" in stage.reads("kv_pool_words")
    assert "empty ends of blocks 7" in stage.find("kv_legend").accessibleName()
    grid(stage).look_at(44)
    assert "empty" in said(stage) and "has an owner" in said(stage)
    assert grid(stage).layout_of_cells.gap > 0
    stage.clicks("kv_cells_tab")
    assert stage.sees("kv_saving") and not stage.sees("kv_blocks") and grid(stage).cell is None


def test_lanes_have_letters_and_blocks_of_their_own(stage: Stage, model: Path) -> None:
    stage.desk.program.conversations.start()
    stage.load(model)
    lead = LanesLead(stage.desk)
    assert stage.desk.program.comparing.begin(Lanes((SamplingSettings(), SamplingSettings())), None, "Why?")
    stage.settle()
    lead.begin()
    lead.write(0, "a", count=4)
    lead.write(1, "b", count=7)
    opens(stage)
    grid(stage).look_at(40)
    assert "lane A" in said(stage)
    grid(stage).look_at(43)
    assert "lane B" in said(stage) and "Token 41" in said(stage)
    stage.clicks("kv_blocks_tab")
    # 40 tokens: 2 full blocks; lane A has 8 + 3 cells in one block, lane B 8 + 6 in another.
    assert stage.reads("kv_blocks_value") == "15 of 64 cells wasted"
    assert "8 cells hold copies" in stage.reads("kv_blocks_words")
    grid(stage).look_at(48)
    assert "a copy" in said(stage) and "Token 33" in said(stage)


def test_behind_lanes_no_next_turn_is_drawn(stage: Stage, model: Path) -> None:
    part = answered(stage, model)
    stage.clicks("chat_button")
    stage.types("And then?")
    counts(stage, 3, 70)
    lead = LanesLead(stage.desk)
    question = stage.desk.program.chat.turns[0]
    assert stage.desk.program.comparing.begin(Lanes((SamplingSettings(), SamplingSettings())), question)
    stage.settle()
    lead.begin()
    lead.write(0, "a", count=4)
    stage.clicks("inside_button")
    part.show_now()
    assert "lanes 3" in stage.find("kv_legend").accessibleName()
    assert stage.desk.program.views.kv_map.next.shares is not None
    assert "next turn" not in stage.find("kv_legend").accessibleName()


def test_a_sliding_window_tells_what_it_dropped(stage: Stage, model: Path) -> None:
    stage.desk.program.conversations.start()
    stage.desk.begin_load(model)
    sizes = CacheSizes(full=CONTEXT * 1024, window=256 * 512, window_cells=256)
    info = msgspec.structs.replace(model_info(str(model)), memory_kind="window", window=128, cache=sizes)
    stage.engine.say(Loaded(stage.engine.load.request, info))
    stage.settle()
    stage.desk.program.chat.send("Why?")
    stage.settle()
    request = stage.engine.question.request
    stage.engine.say(PromptReady(request, array("i", [1] * 600).tobytes(), (), 0, 0))
    stage.engine.say(PrefillProgress(request, 600, 600, 0, 1_000_000))
    stage.settle()
    opens(stage)
    assert stage.reads("kv_window_value") == "344 dropped" and "128 tokens" in stage.reads("kv_window_words")
    assert "dropped by layers with a window 344" in stage.find("kv_legend").accessibleName()
    grid(stage).look_at(343)
    assert "dropped by the layers" in said(stage)
    grid(stage).look_at(344)
    assert "dropped" not in said(stage)


def test_what_is_painted_is_what_is_said(stage: Stage) -> None:
    cells = CellGrid(stage.themes)
    stage.bot.addWidget(cells)
    cells.resize(400, 200)
    held = CellsHeld(256, (Stretch(0, 40, "history", 0), Stretch(40, 48, "lanes", 40, 1)), reused=20, dropped=10)
    cells.show_cells(held, range(48, 60), range(24, 28), in_blocks=False)
    picture, look = cells.viewport().grab().toImage(), stage.themes.current
    ground, whole, free = cell_looks(look)["history"].ground, look.colour("border"), look.colour("surface")

    def centre(cell: int) -> QColor:
        return picture.pixelColor(cells.place_of(cell).center())

    def corner(cell: int) -> QColor:
        return picture.pixelColor(cells.place_of(cell).bottomRight() - QPoint(2, 2))

    struck = [
        {picture.pixelColor(box.center().x(), y).name() for y in range(box.top() + 3, box.bottom() - 2)}
        for box in (cells.place_of(25), cells.place_of(30))
    ]
    assert look.colour("text").name() in struck[0] and free.name() in struck[0]
    assert struck[1] == {ground.name()}, (
        "a line goes through what is given back, with an edge that every ground shows"
    )
    assert corner(30) == centre(30) == ground and centre(200) == whole
    assert corner(5) == free and picture.pixelColor(cells.place_of(5).topLeft() + QPoint(3, 3)) == ground, "small"
    assert centre(50) != whole and centre(70) == whole
    outline = [picture.pixelColor(cells.place_of(cell).topLeft() - QPoint(0, 1)) for cell in (3, 22)]
    assert outline[0] == look.colour("text") and outline[1] != look.colour("text")


@pytest.mark.parametrize("size", [(900, 600), (1280, 800), (1920, 1080)])
@pytest.mark.parametrize("tab", ["kv_cells_tab", "kv_blocks_tab"])
def test_in_every_window_nothing_is_cut_off(stage: Stage, model: Path, size: tuple[int, int], tab: str) -> None:
    part = answered(stage, model)
    stage.clicks(tab)
    stage.window.resize(*size)
    stage.settle()
    stage.bot.waitUntil(lambda: stage.window.width() == size[0] and cut_off(part) == [])
    bottom = grid(stage).place_of(CONTEXT - 1).bottom()
    assert bottom <= grid(stage).viewport().height(), "a small context is seen whole"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_parts_are_told_apart_by_patterns_and_can_be_seen_on_every_ground(stage: Stage, theme: str) -> None:
    stage.themes.choose(theme)  # type: ignore[arg-type]
    look = stage.themes.current
    looks = cell_looks(look)
    assert len({looks[part].pattern.style() for part in PARTS}) == len(PARTS)
    for part in PARTS:
        assert contrast(looks[part].ground, look.colour("surface")) >= 3, part


@pytest.mark.parametrize("cells", [256, 4_096, 32_768, 131_072])
@pytest.mark.parametrize("in_blocks", [False, True])
def test_every_point_of_the_grid_leads_to_its_cell(cells: int, in_blocks: bool) -> None:
    made = grid_layout(cells, 1_000, 400, in_blocks=in_blocks)
    assert made.pitch >= LEAST_PX and made.width <= 1_000 and (made.columns % 16 == 0 or not in_blocks)
    for cell in (0, 15, 16, made.columns - 1, made.columns, cells - 1):
        assert made.at(made.place(cell).center()) == cell
    assert made.at(QPoint(-1, 0)) is None and made.at(QPoint(made.width + 5, 0)) is None
    assert made.at(QPoint(1, made.rows * made.row_px + 1)) is None
    area = sum(box.height() // made.pitch * box.width() for box in made.region(3, made.columns * 2 + 5, range(10)))
    assert area > 0 and made.region(5, 5, range(10)) == []
