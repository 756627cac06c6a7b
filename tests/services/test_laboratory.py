"""The sampler laboratory: what it looks at, under which settings, and what becomes of those that people try out."""

from __future__ import annotations

import subprocess
import sys
from array import array
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from app.core.commands import ChangeSettings, Watch
from app.core.events import GrammarMask, Held, Tokens
from app.core.sampler_cards import SamplerCards, StageCard
from app.core.sampling import STAGES, SamplingSettings
from app.core.words import Sentence
from app.probability.cards import Draws, StepCards
from app.probability.row import RowReader
from app.services.laboratory import Laboratory
from tests.desk import Desk
from tests.made_up_steps import Row, loaded, step_of
from tests.probability.recorded import drawn
from tests.services.lanes import PROMPT
from tests.services.recorded_answers import SEED, answered
from tests.services.recorded_lanes import BLOCK, OPEN, SIZE, blocks_of, load, some_rows, text_of

ROWS = some_rows(20)
ROW, OTHER = some_rows(2, seed=5)
USUAL = msgspec.structs.replace(OPEN, seed=None)
NARROW = msgspec.structs.replace(USUAL, top_k=9, temperature=0.7)
BEFORE = list(range(PROMPT))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "home", monkeypatch)
    made.program.conversations.start()
    load(made, model)
    yield made
    made.program.stop()


@pytest.fixture
def lab(desk: Desk) -> Laboratory:
    """Return the laboratory with somebody who looks."""
    desk.program.sampling.change(**msgspec.structs.asdict(NARROW))
    desk.program.inspecting.watch(True)
    desk.program.laboratory.watch(True)
    return desk.program.laboratory


def begin(desk: Desk, question: str = "Why?") -> int:
    """Let an answer begin; return its request."""
    assert desk.program.chat.send(question)
    desk.settle()
    desk.engine.prompt(PROMPT, seed=SEED)
    desk.settle()
    return desk.engine.question.request


def tell(desk: Desk, *steps: tuple[int, Row], first: int = 0, whole: bool = True) -> None:
    """Let tokens follow, each with its step."""
    request = desk.engine.question.request
    for place, (token, row) in enumerate(steps, first):
        desk.engine.say(Tokens(request, place, 1, array("i", [token]).tobytes(), text_of([token]), b"", 50, 0, 0))
        desk.engine.say(step_of(row, request, place, whole=whole))
    desk.settle()


def hold(desk: Desk, row: Row, token: int = 0) -> None:
    """Let the answer wait for somebody before a token."""
    log_sum = RowReader(row.size).read(row).log_sum_exp
    desk.engine.say(Held(desk.engine.question.request, token, row.tobytes(), log_sum))
    desk.settle()


def cards(desk: Desk) -> SamplerCards:
    """Return the newest cards, once nothing is worked out any more."""
    lab = desk.program.laboratory
    desk.until(lambda: not lab.is_busy and lab.result is not None)
    assert lab.result is not None and lab.result.cards is not None, lab.reason
    return lab.result.cards


def expected(row: Row, settings: SamplingSettings, position: int, before: list[int]) -> SamplerCards:
    return StepCards(row, np.array(before, np.int32), Draws(SEED, position)).of(settings)


def card(desk: Desk, name: str) -> StageCard:
    return next(each for each in cards(desk).stages if each.name == name)


def taken(lab: Laboratory) -> int | None:
    assert lab.result is not None
    return lab.result.taken


def doubt(lab: Laboratory) -> Sentence | None:
    assert lab.result is not None
    return lab.result.doubt


def watches(desk: Desk) -> list[tuple[bool, bool]]:
    return [(each.on, each.whole) for each in desk.engine.all(Watch)]


def test_the_newest_step_is_followed_with_what_comes_before_it(desk: Desk, lab: Laboratory) -> None:
    begin(desk)
    tell(desk, (3, OTHER), (5, ROW))
    assert cards(desk) == expected(ROW, NARROW, 1, [*BEFORE, 3])
    assert lab.place == ("live", 1) and lab.reason is None
    assert lab.result is not None and lab.result.taken == 5 and lab.result.texts[5] == " w5"


def test_whole_rows_come_only_while_somebody_looks_at_the_newest_step(desk: Desk, lab: Laboratory) -> None:
    assert watches(desk)[-1] == (True, True)
    turn, _lane = answered(desk, ROWS, USUAL)
    assert turn is desk.program.inspecting.turn
    desk.until(lambda: desk.program.inspecting.answer is not None)
    desk.program.inspecting.look_at(2)
    assert watches(desk)[-1] == (False, False)
    desk.program.inspecting.look_at(None)
    assert watches(desk)[-1] == (True, True)
    begin(desk)
    tell(desk, (3, ROW))
    lab.focus.freeze(True)
    assert watches(desk)[-1] == (False, False)
    lab.focus.freeze(False)
    lab.watch(False)
    assert watches(desk)[-2:] == [(True, True), (False, False)]


def test_a_step_of_the_largest_logits_alone_is_not_taken_for_the_whole(desk: Desk, lab: Laboratory) -> None:
    begin(desk)
    tell(desk, (3, ROW), whole=False)
    assert lab.result is None and lab.place is None and lab.reason is not None


def test_what_a_grammar_cuts_never_enters_the_first_stage(desk: Desk, lab: Laboratory) -> None:
    request = begin(desk)
    fitting = np.arange(0, SIZE, 3, dtype=np.int32)
    fits = np.zeros(SIZE, np.uint8)
    fits[fitting] = 1
    mask = GrammarMask(SIZE - fitting.size, np.packbits(fits, bitorder="little").tobytes())
    log_sum = RowReader(ROW.size).read(ROW).log_sum_exp
    desk.engine.say(Held(request, 0, ROW.tobytes(), log_sum, mask))
    desk.settle()
    shown = cards(desk)
    assert (shown.vocabulary, shown.stages[0].enter) == (SIZE, fitting.size)
    assert lab.result is not None and lab.result.grammar == (SIZE, SIZE - fitting.size)
    assert {token.token % 3 for stage in shown.stages for token in stage.tokens} == {0}


def test_a_frozen_step_stays_while_others_come(desk: Desk, lab: Laboratory) -> None:
    begin(desk)
    tell(desk, (3, ROW))
    lab.focus.freeze(True)
    tell(desk, (4, OTHER), first=1)
    assert cards(desk) == expected(ROW, NARROW, 0, BEFORE)
    assert lab.place == ("frozen", 0)
    lab.focus.freeze(False)
    assert cards(desk) == expected(OTHER, NARROW, 1, [*BEFORE, 3])
    assert lab.place == ("live", 1)


def test_a_frozen_step_is_there_again_after_a_look_at_a_kept_token(desk: Desk, lab: Laboratory) -> None:
    begin(desk)
    tell(desk, (3, ROW))
    lab.focus.freeze(True)
    tell(desk, (4, OTHER), first=1)
    desk.until(lambda: desk.program.inspecting.answer is not None)
    lab.focus.pin(True)
    desk.program.inspecting.look_at(1)
    desk.until(lambda: not lab.is_busy)
    assert lab.place == ("kept", 1)
    desk.program.inspecting.look_at(None)
    assert cards(desk) == expected(ROW, NARROW, 0, BEFORE)
    assert lab.place == ("frozen", 0)


def test_cards_of_a_kept_token_are_worked_out_once_while_its_answer_grows(desk: Desk, lab: Laboratory) -> None:
    request = begin(desk)
    lane = drawn(ROWS, NARROW, SEED, np.array(BEFORE, np.int32))
    blocks, ids = blocks_of(ROWS, lane), lane.tokens.tolist()

    def write(number: int) -> None:
        part = ids[number * BLOCK : (number + 1) * BLOCK]
        data = array("i", part).tobytes()
        desk.engine.say(Tokens(request, number * BLOCK, len(part), data, text_of(part), blocks[number], 50, 0, 0))
        desk.settle()

    write(0)
    desk.until(lambda: desk.program.inspecting.answer is not None)
    desk.program.inspecting.look_at(2)
    lab.focus.pin(True)
    before = cards(desk)
    told: list[int] = []
    lab.changed.connect(lambda: told.append(1))
    write(1)
    desk.engine.say(step_of(ROW, request, BLOCK))
    desk.until(lambda: not desk.program.inspecting.is_busy)
    assert cards(desk) is before and not told


def test_an_answer_that_waits_shows_the_token_that_is_not_drawn_yet(desk: Desk, lab: Laboratory) -> None:
    begin(desk)
    hold(desk, ROW)
    assert cards(desk) == expected(ROW, NARROW, 0, BEFORE)
    assert lab.place == ("held", 0) and taken(lab) is None
    tell(desk, (8, ROW))
    cards(desk)
    assert lab.place == ("live", 0) and taken(lab) == 8


def test_a_kept_token_has_the_settings_that_it_was_drawn_with(desk: Desk, lab: Laboratory) -> None:
    _turn, lane = answered(desk, ROWS, NARROW)
    desk.program.sampling.change(temperature=1.5, top_k=77)
    desk.until(lambda: desk.program.inspecting.answer is not None)
    desk.program.inspecting.look_at(4)
    shown = cards(desk)
    assert lab.place == ("kept", 4) and lab.values.top_k == 9
    whole = expected(ROWS[4], NARROW, 4, [*BEFORE, *lane.tokens[:4].tolist()])
    assert [(each.leave, each.leave_is_exact) for each in shown.stages] == [
        (each.leave, True) for each in whole.stages
    ]
    assert shown.draw.drawn is not None and shown.draw.drawn.token == int(lane.tokens[4])
    assert not lab.is_in_use and not lab.is_trying
    lab.use_in_chat()
    assert desk.program.sampling.values.top_k == 9 and lab.is_in_use


def test_a_token_without_alternatives_says_why_there_are_no_cards(desk: Desk, lab: Laboratory) -> None:
    answered(desk, ROWS, NARROW, "chosen")
    desk.until(lambda: desk.program.inspecting.answer is not None)
    desk.program.inspecting.look_at(4)
    desk.until(lambda: lab.result is not None)
    assert lab.result is not None and lab.result.cards is None
    assert lab.reason is not None and "not recorded" in lab.reason.english()


def test_what_is_tried_out_touches_the_chat_only_when_somebody_wants_it(desk: Desk, lab: Laboratory) -> None:
    request = begin(desk)
    tell(desk, (3, ROW))
    lab.change(top_k=4)
    lab.switch_stage("min_p", False)
    lab.move_stage("temperature", 0)
    assert card(desk, "top_k").leave == 4
    assert lab.values.order == ("temperature", *STAGES[:-1]) and lab.values.off == ("min_p",)
    assert lab.is_trying and not lab.is_in_use
    assert desk.program.sampling.values == NARROW and not desk.engine.all(ChangeSettings)
    lab.use_in_chat()
    told = desk.engine.all(ChangeSettings)[-1]
    assert told.request == request
    assert (told.settings.top_k, told.settings.order[0], told.settings.off) == (4, "temperature", ("min_p",))
    assert not lab.is_trying and lab.is_in_use


def test_back_takes_the_settings_that_were_there(desk: Desk, lab: Laboratory) -> None:
    begin(desk)
    tell(desk, (3, ROW))
    lab.change(top_k=4)
    lab.reset()
    assert not lab.is_trying and lab.values == NARROW
    assert card(desk, "top_k").leave == 9
    lab.change(top_k=9)
    assert not lab.is_trying


def test_the_chats_own_sliders_move_the_cards_unless_something_is_tried_out(desk: Desk, lab: Laboratory) -> None:
    begin(desk)
    tell(desk, (3, ROW))
    desk.program.sampling.change(top_k=6)
    assert card(desk, "top_k").leave == 6
    lab.change(top_k=5)
    desk.program.sampling.change(top_k=7)
    assert card(desk, "top_k").leave == 5


def test_a_stage_that_is_switched_on_again_has_its_values(desk: Desk, lab: Laboratory) -> None:
    begin(desk)
    tell(desk, (3, ROW))
    lab.switch_stage("top_k", False)
    assert card(desk, "top_k").state == "off"
    lab.switch_stage("top_k", True)
    assert card(desk, "top_k").leave == 9 and not lab.is_trying


def test_another_chat_has_other_steps(desk: Desk, lab: Laboratory) -> None:
    begin(desk)
    tell(desk, (3, ROW))
    cards(desk)
    lab.change(top_k=4)
    desk.program.conversations.new()
    assert lab.result is None and lab.place is None and not lab.is_trying
    tell(desk, (4, OTHER), first=1)
    assert lab.place is None


def test_a_model_with_other_tokens_ends_the_look_at_a_step(
    desk: Desk, lab: Laboratory, model: Path, tmp_path: Path
) -> None:
    begin(desk)
    tell(desk, (3, ROW))
    cards(desk)
    desk.answer()
    other = tmp_path / "other.F16.gguf"
    other.write_bytes(model.read_bytes())
    desk.begin_load(other)
    desk.engine.say(loaded(desk.engine.load.request, str(other), SIZE, tokenizer="another"))
    desk.settle()
    assert lab.place is None and lab.result is None


def test_nothing_is_worked_out_while_nobody_looks(desk: Desk, lab: Laboratory) -> None:
    lab.watch(False)
    begin(desk)
    tell(desk, (3, ROW))
    assert lab.place is None and not lab.is_busy
    lab.watch(True)
    assert cards(desk) == expected(ROW, NARROW, 0, BEFORE)


def test_dry_says_that_the_engine_alone_knows_longer_breakers(desk: Desk, lab: Laboratory) -> None:
    begin(desk)
    tell(desk, (3, ROW))
    lab.change(dry_multiplier=1.0, dry_sequence_breakers=("\n",))
    cards(desk)
    assert doubt(lab) is None
    lab.change(dry_sequence_breakers=("ab",))
    cards(desk)
    assert doubt(lab) is not None


def test_the_service_loads_no_numbers_library() -> None:
    code = "import sys; import app.services.laboratory; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
