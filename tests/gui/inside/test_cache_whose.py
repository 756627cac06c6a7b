"""What the part “KV cache” says of whose tokens the cells hold, and when; and that it counts in one way."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtGui import QColor, QPixmap

from app.core.cache_shape import CacheClass
from app.core.events import Loaded
from app.core.model import CacheSizes
from app.core.sampling import SamplingSettings
from app.gui.icons import Icons
from app.gui.inside.cache.cache_part import CachePart
from app.gui.inside.cache.cell_grid import CellGrid
from app.gui.inside.cache.cell_looks import cell_looks
from app.gui.inside.cache.fact_card import FactCard
from app.gui.inside.cache.fact_words import Fact, next_fact, reservation_fact, saving_fact
from app.gui.inside.cache.next_words import unwritten_fact
from app.gui.inside.page import InsidePage
from app.gui.theme import contrast
from app.services.cache_parts import PARTS
from app.services.kv_blocks import block_use
from app.services.kv_cells import CellsHeld, Saving, Stretch
from app.services.lane_starts import Lanes
from app.services.next_send import Count
from app.system.resources import find_resources
from app.system.settings_file import Theme
from tests.fake_engine import CONTEXT, model_info
from tests.gui.conftest import Stage, desk, model, stage
from tests.gui.counting import counts
from tests.gui.inside.test_cache import answered, grid, opens, rests, said
from tests.services.lanes import LanesLead

__all__ = ["desk", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def test_cells_and_blocks_count_in_one_way(stage: Stage, model: Path) -> None:
    stage.desk.program.conversations.start()
    stage.load(model)
    lead = LanesLead(stage.desk)
    assert stage.desk.program.comparing.begin(Lanes((SamplingSettings(),) * 3), None, "Why?")
    stage.settle()
    lead.begin()
    for lane in range(3):
        lead.write(lane, "a", count=4)
    opens(stage)
    cells = stage.find("kv_legend").accessibleName().split(" · ")
    assert cells[:2] == ["prompt 40", "lanes 9"] and cells[-1] == "outlined: reused 12"
    stage.clicks("kv_blocks_tab")
    blocks = stage.find("kv_legend").accessibleName().split(" · ")
    assert blocks[:2] == cells[:2] and blocks[-1] == cells[-1]
    assert "copies of the prompt's end 16" in blocks, "what two of the lanes hold once more has a number of its own"
    assert grid(stage).accessibleName().startswith(f"49 of {CONTEXT:,} cells hold a token: prompt 40, lanes 9")


def test_it_says_that_the_cells_are_those_of_now_and_whose(stage: Stage, model: Path) -> None:
    part = answered(stage, model)
    assert stage.reads("kv_about").endswith(" · of this chat"), "the newest answer left them so"
    first = stage.desk.program.chat.turns[-1]
    stage.desk.program.chat.send("And?")
    stage.settle()
    stage.engine.prompt()
    stage.engine.write("So", 2)
    stage.settle()
    part.show_now()
    assert stage.reads("kv_about").endswith(" · of this chat"), "it is being written"
    stage.desk.program.inspecting.open(first)
    part.show_now()
    then = " · of this chat · now, not as it was when the answer above was written"
    assert stage.reads("kv_about").endswith(then)
    stage.engine.finish()
    stage.settle()
    part.show_now()
    assert stage.reads("kv_about").endswith(then)
    stage.desk.program.inspecting.open(stage.desk.program.chat.turns[-1])
    part.show_now()
    assert stage.reads("kv_about").endswith(" · of this chat")
    lead = LanesLead(stage.desk)
    assert stage.desk.program.comparing.begin(Lanes((SamplingSettings(), SamplingSettings())), None, "Why?")
    stage.settle()
    lead.begin()
    for lane in range(2):
        lead.write(lane, "a", count=4)
    part.show_now()
    assert "2 lanes of a comparison, and the prompt that they share" in stage.reads("kv_about")
    lead.finish(0)
    part.show_now()
    assert "1 lane of a comparison" in stage.reads("kv_about")
    lead.finish(1)
    lead.end()
    part.show_now()
    assert stage.reads("kv_about").endswith(
        " · the 2 lanes of the comparison gave their 6 cells back when they ended"
    )


def test_in_a_new_chat_it_says_that_the_cells_are_the_others(stage: Stage, model: Path) -> None:
    answered(stage, model)
    stage.desk.program.conversations.new()
    stage.settle()
    opens(stage)
    assert "of another chat: Why?" in stage.reads("kv_about").replace("\u2068", "").replace("\u2069", "")
    assert "not as it was" not in stage.reads("kv_about")
    assert stage.reads("kv_saving_words").startswith("The last prompt, another chat's, found them")
    assert "0 tokens that are there" not in stage.reads("kv_next_words")


def test_what_is_said_of_a_saving_names_whose_prompt_and_which_rate() -> None:
    words = saving_fact(Saving(40, 20, 100.0)).words.replace("\u00a0", " ")
    assert "200 ms" in words and "the last prompt whose speed was measured was read at 100 tok/s" in words
    assert "The last prompt was another chat's." in saving_fact(Saving(40, 0, None), is_others=True).words
    again = saving_fact(Saving(40, 0, None, is_again=True))
    assert again.value == "0 of 40 tokens" and "reproduced: this begins with empty cells" in again.words
    empty = Count(prompt=0, cells=100)
    nothing = next_fact(empty, CellsHeld(100))
    assert nothing == ("–", "Nothing is written yet. It will be read from the first cell on.")
    assert next_fact(empty, CellsHeld(100), is_others=True).words.startswith(
        "Nothing is written yet, and nothing of this"
    )


def test_where_nothing_is_written_it_says_what_has_to_be_read_again() -> None:
    empty, held = Count(prompt=67, in_cache=0, cells=100), CellsHeld(100)
    again = unwritten_fact(empty, held, is_begun=True)
    assert again is not None and again.value == "+67"
    assert again.words.startswith("Nothing is written yet. The cells hold nothing of this chat: all of it")
    new = unwritten_fact(empty, held, is_begun=False)
    assert new is not None and "chat template" in new.words and "read again" not in new.words
    lanes = CellsHeld(100, (Stretch(0, 35, "prompt", 0), Stretch(35, 45, "lanes", 35, 0)))
    partly = unwritten_fact(replace(empty, cached=35, in_cache=45), lanes, is_begun=True)
    assert partly is not None and partly.value == "+32" and "the chat's beginning (35)" in partly.words
    assert partly.words.endswith("Cells that are given back for it: 10.")
    for other in (replace(empty, message="Hi"), replace(empty, prompt=0), replace(empty, answering=True)):
        assert unwritten_fact(other, held, is_begun=True) is None


def test_what_the_next_turn_gives_back_is_struck_through(stage: Stage, model: Path) -> None:
    answered(stage, model)
    stage.clicks("chat_button")
    stage.types("And then?")
    counts(stage, 3, 50, same=30)
    stage.clicks("inside_button")
    stage.find_as(CachePart, "inside_cache").show_now()
    assert stage.reads("kv_next_value") == "+20" and "gives 11 cells back" in stage.reads("kv_next_words")
    legend = stage.find("kv_legend").accessibleName()
    assert (
        "struck through: the next turn gives back 11" in legend
        and "the next turn adds 20, first in place of those" in legend
    )
    grid(stage).look_at(30)
    assert "given back by the next turn" in said(stage)
    grid(stage).look_at(29)
    assert "given back" not in said(stage)
    stage.clicks("kv_blocks_tab")
    assert "struck" not in stage.find("kv_legend").accessibleName()


def test_where_every_layer_has_a_window_only_cells_that_hold_a_token_count(stage: Stage, model: Path) -> None:
    stage.desk.program.conversations.start()
    stage.desk.begin_load(model)
    sizes = CacheSizes(window=32 * 512, window_cells=32, state=1 << 20)
    kept = CacheClass(32, 6, "f16", 32 * 256, "f16", 32 * 256, is_window=True)
    info = model_info(str(model))
    info = replace(info, memory_kind="hybrid", window=16, cache=sizes, cache_classes=(kept,))
    stage.engine.say(Loaded(stage.engine.load.request, info))
    stage.settle()
    stage.desk.program.chat.send("Why?")
    stage.settle()
    stage.engine.prompt()
    stage.settle()
    opens(stage)
    assert stage.reads("kv_about").startswith("Now: 32 of 32 cells hold a token")
    assert "small: dropped, in no cell any more 8" in stage.find("kv_legend").accessibleName()


def test_after_a_restart_it_says_that_the_cells_are_empty_and_what_follows(stage: Stage, model: Path) -> None:
    part = answered(stage, model)
    stage.desk.begin_load(model)
    stage.engine.say(Loaded(stage.engine.load.request, model_info(str(model))))
    stage.settle()
    part.show_now()
    about = stage.reads("kv_about")
    assert about.startswith(f"Now: 0 of {CONTEXT:,} cells") and about.endswith("is read from its first token on")
    assert "Empty since the model was loaded" in about and "whichever" not in about and "Ask something" not in about


def test_the_cells_keep_their_size_when_words_become_fewer_again(stage: Stage) -> None:
    card = FactCard("fact", "Saved by reuse", "prefill", "stage_prefill", stage.themes, Icons(find_resources()))
    stage.bot.addWidget(card)
    card.resize(240, 300)
    card.show()
    card.show_fact(Fact("1", "one two three " * 20))
    most = card.words.minimumSizeHint().height()
    card.show_fact(Fact("2", "few"))
    assert card.words.minimumSizeHint().height() == most > 4 * card.words.fontMetrics().lineSpacing()
    card.resize(900, 300)
    assert card.words.minimumSizeHint().height() < most, "another width has room of its own"


@pytest.mark.parametrize(("held", "words"), [(30, "most of them"), (100, "40 of them")])
def test_most_of_a_reservation_is_said_to_be_unused_only_where_it_is(held: int, words: str) -> None:
    fact = reservation_fact(block_use(held, [0], [40], 4096, whole=100))
    assert fact.value == f"{140 - held} of 140 cells wasted"
    assert words in fact.words and ("most" in fact.words) is (held == 30)


def test_a_next_prompt_that_is_shorter_than_what_is_there_adds_what_its_card_says(stage: Stage, model: Path) -> None:
    part = answered(stage, model)
    stage.clicks("chat_button")
    stage.types("And?")
    counts(stage, 2, 35, same=30)
    stage.clicks("inside_button")
    part.show_now()
    assert stage.reads("kv_next_value") == "+5" and "gives 11 cells back" in stage.reads("kv_next_words")
    assert "the next turn adds 5, first in place of those" in stage.find("kv_legend").accessibleName()
    grid(stage).look_at(41)
    assert said(stage) == "Cell 42 · free"


@pytest.mark.parametrize("theme_name", ["dark", "light"])
def test_patterns_are_fainter_in_small_cells_and_grounds_as_they_are(stage: Stage, theme_name: Theme) -> None:
    stage.themes.choose(theme_name)
    usual, small = (cell_looks(stage.themes.current, are_small=are_small) for are_small in (False, True))
    for part in PARTS:
        assert small[part].ground == usual[part].ground
        assert small[part].pattern.color().alpha() < usual[part].pattern.color().alpha()
    cells = CellGrid(stage.themes)
    stage.bot.addWidget(cells)
    cells.resize(700, 300)
    cells.show_cells(CellsHeld(256), range(0), in_blocks=False)
    assert cells._looks == usual
    cells.show_cells(CellsHeld(4096), range(0), in_blocks=False)
    assert cells.layout_of_cells.pitch < 9 and cells._looks == small
    cells.show_cells(CellsHeld(256), range(0), in_blocks=False)
    assert cells._looks == usual


@pytest.mark.parametrize("theme_name", ["dark", "light"])
def test_lanes_are_told_from_the_prompt_that_they_share(stage: Stage, theme_name: Theme) -> None:
    stage.themes.choose(theme_name)
    looks = cell_looks(stage.themes.current, are_small=True)
    for beside in ("prompt", "template"):
        assert contrast(looks["lanes"].ground, looks[beside].ground) > 1.5, beside


def test_the_cells_have_a_useful_height_and_the_page_scrolls(stage: Stage, model: Path) -> None:
    answered(stage, model)
    stage.window.resize(900, 600)
    bar, cells = stage.find_as(InsidePage, "inside_page").verticalScrollBar(), grid(stage)
    cells.show_cells(CellsHeld(8192), range(0), in_blocks=False)
    stage.bot.waitUntil(lambda: cells.verticalScrollBar().maximum() == 0)
    assert bar.maximum() > 0, "all cells are there, in a page that is higher than the window"
    cells.show_cells(CellsHeld(131_072), range(0), in_blocks=False)
    stage.bot.waitUntil(lambda: cells.verticalScrollBar().maximum() > 0)
    assert cells.height() < 300, "so many scroll by themselves"


def test_icons_have_as_many_points_as_the_screen(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FactCard, "devicePixelRatioF", lambda _card: 2.0)
    icons, sizes = Icons(find_resources()), list[int]()
    draw = icons.pixmap

    def drawn(name: str, size: int, colour: QColor) -> QPixmap:
        sizes.append(size)
        return draw(name, size, colour)

    monkeypatch.setattr(icons, "pixmap", drawn)
    card = FactCard("fact", "Saved by reuse", "prefill", "stage_prefill", stage.themes, icons)
    stage.bot.addWidget(card)
    assert sizes == [32]


@pytest.mark.parametrize("width", [900, 1010, 1090, 1280])
def test_the_cells_keep_their_size_while_an_answer_is_written(stage: Stage, model: Path, width: int) -> None:
    stage.desk.program.conversations.start()
    stage.desk.begin_load(model)
    stage.engine.loaded(context=8192)
    stage.settle()
    stage.desk.program.chat.send("Why?")
    stage.settle()
    stage.engine.prompt(40, 12)
    part = opens(stage)
    stage.window.resize(width, 700)
    rests(stage)
    room = grid(stage).viewport().size()
    for tokens in (9, 90, 900, 5000):
        stage.engine.write("So", count=tokens)
        stage.settle()
        part.show_now()
        rests(stage)
        assert grid(stage).viewport().size() == room, f"behind {tokens} tokens"


def test_the_legend_has_one_figure_with_the_card_where_the_prompt_is_larger_than_what_is_free(
    stage: Stage, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(stage, model)
    stage.clicks("chat_button")
    stage.types("And then?")
    monkeypatch.setattr("tests.gui.counting.CONTEXT", CONTEXT + 100)
    counts(stage, 3, CONTEXT + 9)
    stage.clicks("inside_button")
    stage.find_as(CachePart, "inside_cache").show_now()
    added = CONTEXT + 9 - 41
    assert stage.reads("kv_next_value") == f"+{added:,}"
    assert f"the next turn adds {added:,}" in stage.find("kv_legend").accessibleName()
