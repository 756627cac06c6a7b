"""An answer goes on by another token: what it begins with, what is kept of it, and where it is only given words."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from app.core.chat import ChatPrompt
from app.core.commands import Generate, RecordKind, SettingsChange
from app.core.conversation import Pieces
from app.core.store_commands import KeepChunk, StoreCommand
from app.probability.lane import Lane
from app.probability.record_layout import tokens_in
from app.services.inspection import InspectedAnswer
from app.services.other_token import text_before
from app.services.piece_table import PieceTable
from app.services.turns import Turn
from tests.desk import Desk
from tests.services.lanes import PROMPT
from tests.services.recorded_answers import SEED, answered
from tests.services.recorded_lanes import BLOCK, OPEN, load, pieces, some_rows, text_of

COUNT, CUT, OTHER = 3 * BLOCK, 2 * BLOCK + 3, 77
ROWS = some_rows(COUNT)
USUAL = msgspec.structs.replace(OPEN, seed=None)
COOL = msgspec.structs.replace(USUAL, temperature=0.5)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "home", monkeypatch)
    made.program.conversations.start()
    load(made, model)
    made.program.inspecting.watch(True)
    yield made
    made.program.stop()


def known(desk: Desk) -> InspectedAnswer:
    inspecting = desk.program.inspecting
    desk.until(lambda: not inspecting.is_busy)
    assert inspecting.answer is not None
    return inspecting.answer


def cut(desk: Desk, place: int = CUT) -> Generate:
    """Let the newest answer go on by another token; return what the engine is asked."""
    known(desk)
    assert desk.program.other_token.go_on(desk.program.chat.turns[-1], place, OTHER)
    desk.settle()
    return desk.engine.question


def write_one(desk: Desk, token: int = OTHER) -> Turn:
    """Let one token of the new version follow."""
    desk.engine.write(text_of([token]), token=token)
    desk.settle()
    return desk.program.chat.turns[-1]


def ready(desk: Desk, lane: Lane, *, behind: int = PROMPT, others: bool = False, place: int = CUT) -> None:
    """Let the prompt be ready, with the tokens that the answer begins with, or others that say the same."""
    begun = lane.tokens[:place].tolist()
    desk.engine.prompt(behind, answer=tuple([*begun[:-1], 399] if others else begun), seed=SEED)
    desk.settle()


def test_the_engine_gets_the_tokens_before_the_cut_as_they_were_sampled(desk: Desk) -> None:
    turn, lane = answered(desk, ROWS, USUAL)
    asked = cut(desk)
    assert asked.forced == (OTHER,) and asked.first_token == CUT and asked.settings.seed == SEED
    assert isinstance(asked.prompt, ChatPrompt)
    begun = asked.prompt.messages[-1]
    assert begun.ids == turn.ids[: 4 * CUT] and begun.text == text_of(lane.tokens[:CUT].tolist())


def test_all_of_the_record_before_the_cut_is_kept_with_the_new_version(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    _turn, lane = answered(desk, ROWS, USUAL)
    kept: list[KeepChunk] = []
    send = desk.store.send

    def note(command: StoreCommand) -> None:
        if isinstance(command, KeepChunk):
            kept.append(command)
        send(command)

    monkeypatch.setattr(desk.store, "send", note)
    cut(desk)
    ready(desk, lane)
    assert [tokens_in(each.chunk.record) for each in kept] == [BLOCK, BLOCK, CUT - 2 * BLOCK]
    assert b"".join(each.chunk.ids for each in kept) == array("i", lane.tokens[:CUT].tolist()).tobytes()
    before = known(desk)
    assert before.recorded == CUT and before.ranks[:CUT] == tuple(
        lane.records.rank[:CUT].tolist() if lane.records else ()
    )


def test_it_is_one_answer_with_its_beginning_also_where_it_is_cut_short(desk: Desk) -> None:
    turn, lane = answered(desk, ROWS, USUAL)
    desk.program.sampling.change(**msgspec.structs.asdict(COOL))
    cut(desk)
    ready(desk, lane)
    branch = write_one(desk)
    seed_free = [(change.token, change.settings.temperature) for change in branch.settings]
    assert seed_free == [(0, USUAL.temperature), (CUT, COOL.temperature)] and branch.seed == SEED
    assert branch.behind == turn.behind and branch.ids == turn.ids[: 4 * CUT] + OTHER.to_bytes(4, "little")
    desk.engine.finish("length")
    desk.settle()
    assert branch.finished is not None and branch.finished.settings[0] == SettingsChange(
        0, branch.settings[0].settings
    )
    assert branch.chosen == 1


@pytest.mark.parametrize("how", ["behind other tokens", "as other tokens", "not recorded"])
def test_where_nobody_could_draw_it_again_the_beginning_is_given_words(desk: Desk, how: str) -> None:
    record: RecordKind = "off" if how == "not recorded" else "all"
    _turn, lane = answered(desk, ROWS, USUAL, record)
    cut(desk)
    ready(desk, lane, behind=PROMPT + (how == "behind other tokens"), others=how == "as other tokens")
    branch = write_one(desk)
    assert [change.token for change in branch.settings] == [CUT]
    assert known(desk).log_probabilities[:CUT] == (None,) * CUT


def test_a_cut_before_any_text_forces_what_came_before_it(desk: Desk) -> None:
    _turn, _lane = answered(desk, ROWS, USUAL)
    asked = cut(desk, 0)
    assert asked.forced == (OTHER,) and asked.first_token == 0 and asked.settings.seed == SEED
    assert isinstance(asked.prompt, ChatPrompt) and not asked.prompt.continue_last


@pytest.mark.parametrize("place", [-1, COUNT, COUNT + 5])
def test_at_a_place_that_the_answer_has_not_nothing_goes_on(desk: Desk, place: int) -> None:
    turn, _lane = answered(desk, ROWS, USUAL)
    known(desk)
    asked = len(desk.engine.all(Generate))
    assert not desk.program.other_token.go_on(turn, place, OTHER)
    assert len(desk.engine.all(Generate)) == asked and not desk.program.chat.busy


@pytest.mark.parametrize(
    ("ids", "place", "expected"),
    [
        ([33, 40], 1, "é"),
        ([30, 31, 40], 1, "\N{REPLACEMENT CHARACTER}"),
        ([40, 30, 31], 2, " w40\N{REPLACEMENT CHARACTER}"),
        ([40, 30, 31], 3, " w40é"),
        ([40, 30, 31, 41], 1, " w40"),
        ([34, 34], 2, "\n\n"),
        ([40], 0, ""),
    ],
)
def test_the_text_before_a_token_ends_as_the_engine_would_end_it(ids: list[int], place: int, expected: str) -> None:
    table = PieceTable()
    said = pieces()
    ends = array("I")
    for piece in said:
        ends.append((ends[-1] if ends else 0) + len(piece))
    table.extend(Pieces("x", 0, ends.tobytes(), b"".join(said)))
    assert text_before(text_of(ids), array("i", ids).tobytes(), place, table) == expected
    assert text_before(text_of(ids), array("i", ids).tobytes(), place, None) == ""
