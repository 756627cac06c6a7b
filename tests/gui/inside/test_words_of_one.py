"""One cell, token, block or step is said as one, on the page Inside and in the words of the chat and of comparisons."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.core.circumstances import Circumstances
from app.core.sampler_cards import GrammarCard
from app.core.sampling import SamplingSettings
from app.gui.chat.count_words import _hint
from app.gui.chat.prompt_words import _reads
from app.gui.compare.what_if_words import likelihood_words
from app.gui.inside.cache.cell_words import summary
from app.gui.inside.cache.fact_words import blocks_fact, next_fact, window_fact
from app.gui.inside.card_words import grammar_spoken
from app.gui.inside.loop.number_words import number
from app.gui.inside.loop.time_words import _those_after
from app.gui.inside.timing.bar_words import band_words, bar_sentence
from app.gui.inside.timing.bars import Bar
from app.planner.diagnosis_evidence import threads
from app.services.kv_blocks import BlockUse
from app.services.kv_cells import CellsHeld, Stretch
from app.services.lane_analysis import LaneWhatIf
from app.services.loop_example import example
from app.services.loop_values import LoopPrefill
from app.services.next_send import Count, Shares
from app.services.prompt_cost import PromptCost
from app.services.timeline_values import AnswerTimeline
from tests.fake_engine import CONTEXT
from tests.gui.conftest import Stage, desk, model, stage
from tests.gui.inside.test_cache_windows import FULL, WINDOW, reads

__all__ = ["desk", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")

SECOND = 1_000_000_000


def held(cells: int, *, dropped: int = 0, of_lane: int = 0) -> CellsHeld:
    """Return that so many cells hold a token of the chat, and some of a lane behind them where it dropped any."""
    chat = Stretch(0, cells, "history", 0)
    lane = (Stretch(cells, cells + 9, "lanes", cells, 0, of_lane),) if of_lane else ()
    return CellsHeld(CONTEXT, (chat, *lane), dropped=dropped)


def turn(shares: Shares) -> Count:
    """Return a count of the next turn with these shares."""
    prompt = shares.new + shares.cached
    return Count("Why?", 1, prompt=prompt, cached=shares.cached, in_cache=9, cells=prompt + shares.left)


@pytest.mark.parametrize(
    ("shares", "used", "words"),
    [
        (Shares(5, 1, 1), 1, "The next prompt keeps 1 token and adds 5; 1 cell is left then."),
        (Shares(5, 2, 2), 2, "The next prompt keeps 2 tokens and adds 5; 2 cells are left then."),
        (Shares(5, 2, 1), 3, "The next prompt keeps 2 tokens, gives 1 cell back and adds 5; 1 cell is left then."),
        (Shares(5, 1, 2), 3, "The next prompt keeps 1 token, gives 2 cells back and adds 5; 2 cells are left then."),
    ],
)
def test_of_the_next_turn(shares: Shares, used: int, words: str) -> None:
    assert turn(shares).shares == shares
    assert next_fact(turn(shares), held(used)).words == words


@pytest.mark.parametrize(("there", "words"), [(1, "the 1 token that is there"), (2, "the 2 tokens that are there")])
def test_of_what_is_there_before_the_next_turn(there: int, words: str) -> None:
    nothing_new = turn(Shares(0, there, 9))
    assert next_fact(nothing_new, held(there)).words.endswith(f"behind {words}.")


def test_of_blocks() -> None:
    assert "1 block of 16: 1 cell at the end of a sequence stays empty." in blocks_fact(block_of(1, 15, 1)).words
    several = blocks_fact(block_of(2, 30, 2)).words
    assert "2 blocks of 16: 2 cells at the ends of sequences stay empty." in several
    assert several.endswith("2 cells hold copies of its end.")
    assert blocks_fact(block_of(2, 30, 1)).words.endswith("1 cell holds a copy of its end.")


def block_of(blocks: int, used: int, copied: int) -> BlockUse:
    return BlockUse(blocks=blocks, held=used, copied=copied, requests=2, reserved=99, unused=9)


def test_of_a_window() -> None:
    some, everywhere = (
        [window_fact(128, 256, held(300, dropped=number), is_everywhere=all_of_them).words for number in (1, 2)]
        for all_of_them in (False, True)
    )
    assert "the first position is no longer in them" in some[0]
    assert "the first 2 positions are no longer in them" in some[1]
    assert "the first position is in none any more, though the picture shows its place" in everywhere[0]
    assert "the first 2 positions are in none any more, though the picture shows their places" in everywhere[1]
    of_lanes = [window_fact(128, 256, held(9, of_lane=number), is_everywhere=False).words for number in (1, 2)]
    assert of_lanes[0].endswith("dropped 1 token of the lanes, the oldest of its lane.")
    assert of_lanes[1].endswith("dropped 2 tokens of the lanes, the oldest of each lane first.")


def test_of_cells_in_use() -> None:
    assert [summary(held(number)).partition(":")[0] for number in (1, 2)] == [
        "1 of 4,096 cells holds a token",
        "2 of 4,096 cells hold a token",
    ]


@pytest.mark.parametrize(("tokens", "words"), [(1, "holds a token"), (2, "hold a token")])
def test_of_cells_in_use_above_their_map(stage: Stage, model: Path, tokens: int, words: str) -> None:
    reads(stage, model, tokens, (FULL, WINDOW))
    assert stage.reads("kv_about").startswith(f"Now: {tokens} of 4,096 cells {words} · ")


def test_of_a_prompt_that_is_read() -> None:
    def said(done: int, cached: int, most: int) -> str:
        values = example()
        assert values.model is not None
        model = msgspec.structs.replace(values.model, most_at_once=most)
        read = LoopPrefill(done, 9, cached, None)
        return number("prefill", msgspec.structs.replace(values, model=model, prefill=read, phase="reading"))

    assert said(1, 1, 1) == (
        "1 of 9 tokens is read; 1 of them was in the cache already. At most 1 goes through the layers at once."
    )
    assert said(3, 2, 2) == (
        "3 of 9 tokens are read; 2 of them were in the cache already. At most 2 go through the layers at once."
    )


def test_of_times() -> None:
    assert [band_words(steps) for steps in (1, 2)] == ["1 step: zoom in to see it", "2 steps: zoom in to see each"]
    read = [Bar("prefill", "prefill", 0, SECOND, first=35, end=end) for end in (36, 37)]
    said = [bar_sentence(bar, AnswerTimeline(1, first=given), "") for given in (0, 2) for bar in read]
    assert " · token 36 of the prompt · " in said[0] and " · tokens 36 to 37 of the prompt · " in said[1]
    assert " · token 36 of the prompt and what" in said[2] and " · tokens 36 to 37 of the prompt and what" in said[3]
    line = AnswerTimeline(1, drawn_ns=(SECOND, 2 * SECOND), ordered_ms=(1000.0,))
    assert _those_after(line, 4).startswith("Of the 3 after it 1 has a known time: ")
    assert _those_after(line, 2).startswith("The one after it: ")


def test_of_what_a_grammar_lets_through() -> None:
    assert [grammar_spoken(GrammarCard(9, masked)).rpartition("; ")[2] for masked in (8, 7)] == [
        "1 of 9 is left",
        "2 of 9 are left",
    ]


def test_of_a_question_that_is_counted() -> None:
    one, two = (_hint(turn(Shares(*[number] * 3)), Shares(*[number] * 3)) for number in (1, 2))
    assert one.endswith(
        "1 of them is in the cache already and is not read again. 1 is new: the cache does not hold it. "
        "1 is left for the answer."
    )
    assert "2 of them are in the cache" in two and "2 are new: your message has" in two
    assert two.endswith("2 are left for the answer.")
    again = [_reads(PromptCost("a", whole=9, again=number, reads="again")) for number in (1, 2)]
    assert again == [
        "For the next answer 1 of 9 tokens is read again.",
        "For the next answer 2 of 9 tokens are read again.",
    ]


def test_of_tokens_that_other_settings_leave() -> None:
    found = LaneWhatIf(1, 0, SamplingSettings(), cut=1, known=1, log_probability_of_known=-1.0)
    assert "The 1 token that is left and known had" in likelihood_words(found)
    assert "The 2 tokens that are left" in likelihood_words(msgspec.structs.replace(found, known=2))


def test_of_cores() -> None:
    said = [threads(Circumstances(threads=2, cores=cores)) for cores in (1, 2)]
    assert [row.figure.english() for row in said if row is not None] == ["2 on 1 core", "2 on 2 cores"]
