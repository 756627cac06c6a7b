"""The row of one token is read by a pass over that token alone, once, in turn, and with a reason where it cannot be."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from app.core.commands import ReadAttention
from app.core.events import Failed
from app.core.words import Sentence
from app.services.loop_picture import LoopPicture
from app.services.loop_values import LoopToken, LoopValues
from tests.desk import Desk
from tests.made_up_attention import attention
from tests.services.recorded_answers import answered
from tests.services.recorded_lanes import OPEN, load, some_rows

COUNT = 20
USUAL = msgspec.structs.replace(OPEN, seed=None)
ROW = (0.5, -0.25, 1.0)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "home", monkeypatch)
    made.program.conversations.start()
    load(made, model)
    yield made
    made.program.stop()


def picture(desk: Desk) -> LoopPicture:
    return desk.program.views.loop


def looks(desk: Desk, token: int = 3) -> LoopValues:
    """Look at a token of an answer that has ended."""
    desk.program.inspecting.watch(True)
    picture(desk).watch(True)
    desk.until(lambda: not desk.program.inspecting.is_busy)
    picture(desk).look_at(token)
    desk.until(lambda: not desk.program.inspecting.is_busy)
    return picture(desk).values


def why(values: LoopValues) -> str:
    return "" if values.embedding_why is None else values.embedding_why.english()


def tells(desk: Desk, row: tuple[float, ...] = ROW) -> None:
    """Let the engine tell the row that was asked for last."""
    sent = desk.engine.all(ReadAttention)[-1]
    told = attention(sent.request, len(sent.ids) // 4)
    desk.engine.say(msgspec.structs.replace(told, embedding=array("f", row).tobytes()))
    desk.settle()


def test_it_is_read_by_a_pass_over_that_token_alone_and_once(desk: Desk) -> None:
    answered(desk, some_rows(COUNT), USUAL)
    values = looks(desk)
    assert (values.embedding, values.embedding_why, values.reads_embedding) == ((), None, False)
    picture(desk).read_embedding()
    desk.settle()
    assert picture(desk).values.reads_embedding
    answer = desk.program.inspecting.answer
    assert answer is not None and picture(desk).values.embedding_of == LoopToken(answer.ids[2], answer.texts[2])
    assert desk.engine.all(ReadAttention)[-1].ids == array("i", [answer.ids[2]]).tobytes()
    tells(desk)
    values = picture(desk).values
    assert (values.embedding, values.reads_embedding) == (ROW, False)
    picture(desk).read_embedding()
    assert looks(desk, 4).embedding == (), "that of another token"
    assert looks(desk, 3).embedding == ROW and len(desk.engine.all(ReadAttention)) == 1, "it is kept"


def test_for_the_first_token_the_last_one_of_the_prompt_goes_in(desk: Desk) -> None:
    answered(desk, some_rows(COUNT), USUAL)
    values, prompt = looks(desk, 0), desk.program.inspecting.prompt
    assert prompt is not None and values.embedding_of is not None and values.embedding_of.token == prompt.ids[-1]
    assert values.can_read_embedding
    picture(desk).read_embedding()
    desk.settle()
    assert desk.engine.all(ReadAttention)[-1].ids == array("i", [prompt.ids[-1]]).tobytes()
    tells(desk)
    assert picture(desk).values.embedding == ROW and looks(desk, 1).embedding == ()


def test_while_an_answer_is_written_it_says_so(desk: Desk) -> None:
    answered(desk, some_rows(COUNT), USUAL)
    looks(desk)
    assert desk.program.chat.send("And the sea?")
    desk.settle()
    picture(desk).read_embedding()
    desk.settle()
    assert "still being written" in why(picture(desk).values) and not desk.engine.all(ReadAttention)


def test_without_the_model_of_the_answer_it_says_which_to_load(desk: Desk, tmp_path: Path, model: Path) -> None:
    answered(desk, some_rows(COUNT), USUAL)
    looks(desk)
    desk.program.session.unload()
    desk.settle()
    assert why(picture(desk).values).startswith("Load the model of this answer")
    picture(desk).read_embedding()
    other = tmp_path / "other.gguf"
    other.write_bytes(model.read_bytes() + b"\0")
    load(desk, other)
    assert why(picture(desk).values).startswith("Another model is loaded")
    picture(desk).read_embedding()
    assert not desk.engine.all(ReadAttention)


def test_before_the_first_answer_and_without_a_token_it_says_what_to_do(desk: Desk) -> None:
    picture(desk).watch(True)
    assert why(picture(desk).values).startswith("Send a message")
    answered(desk, some_rows(COUNT), USUAL)
    assert not looks(desk).embedding_why
    row = desk.program.views.loop._embedding
    assert row.hindrance(None) is not None and row.hindrance(COUNT) is not None, "there are no such tokens"
    assert not row.read(None) and not row.read(COUNT)


def test_the_newest_token_has_a_row_where_nobody_chose_one(desk: Desk) -> None:
    desk.program.inspecting.watch(True)
    picture(desk).watch(True)
    answered(desk, some_rows(COUNT), USUAL)
    desk.until(lambda: not desk.program.inspecting.is_busy)
    assert picture(desk).values.step is not None and picture(desk).values.can_read_embedding
    picture(desk).read_embedding()
    desk.settle()
    tells(desk)
    assert picture(desk).values.embedding == ROW


def test_what_the_engine_says_against_it_is_told(desk: Desk) -> None:
    answered(desk, some_rows(COUNT), USUAL)
    looks(desk)
    picture(desk).read_embedding()
    desk.settle()
    desk.engine.say(Failed(desk.engine.all(ReadAttention)[-1].request, "memory", Sentence("X", "No memory for it.")))
    desk.settle()
    values = picture(desk).values
    assert why(values) == "No memory for it." and values.can_read_embedding and not values.reads_embedding
    assert looks(desk, 4).embedding_why is None, "it is of one token"
    looks(desk)
    picture(desk).read_embedding()
    desk.settle()
    tells(desk)
    values = picture(desk).values
    assert values.embedding == ROW and values.embedding_why is None, "it can be tried again"


def test_a_model_that_looks_up_no_row_says_so(desk: Desk) -> None:
    answered(desk, some_rows(COUNT), USUAL)
    looks(desk)
    picture(desk).read_embedding()
    desk.settle()
    tells(desk, ())
    assert "does not tell" in why(picture(desk).values) and not picture(desk).values.embedding


def test_while_another_token_is_read_this_one_waits_and_says_so(desk: Desk) -> None:
    answered(desk, some_rows(COUNT), USUAL)
    assert looks(desk).can_read_embedding
    picture(desk).read_embedding()
    assert picture(desk).values.reads_embedding
    values = looks(desk, 7)
    assert not values.can_read_embedding and "another token" in why(values) and not values.reads_embedding
    tells(desk)
    assert looks(desk, 7).can_read_embedding
