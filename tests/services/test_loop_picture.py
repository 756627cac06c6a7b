"""The picture of the loop shows the numbers of the run whose events came, and those that are kept of an old answer."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from app.core.chat import PromptSpan
from app.core.commands import ReadAttention, Watch
from app.core.events import PrefillProgress, PromptReady
from app.core.metrics import StopReason
from app.core.model import LoadOptions
from app.services.loop_picture import LoopPicture
from app.services.loop_values import EACH_TOKEN, LoopPrefill, LoopValues, loop_model
from tests.desk import Desk
from tests.fake_engine import CONTEXT, VOCABULARY, model_info
from tests.made_up_attention import attention
from tests.services.lanes import PROMPT
from tests.services.recorded_answers import answered
from tests.services.recorded_lanes import OPEN, load, some_rows

COUNT = 20
USUAL = msgspec.structs.replace(OPEN, seed=None)
NARROW = msgspec.structs.replace(USUAL, top_k=3)
SECOND = 1_000_000_000


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "home", monkeypatch)
    made.program.conversations.start()
    load(made, model)
    yield made
    made.program.stop()


def picture(desk: Desk) -> LoopPicture:
    return desk.program.views.loop


def known(desk: Desk) -> LoopValues:
    """Look at the page until everything is read, and return what it shows."""
    desk.program.inspecting.watch(True)
    picture(desk).watch(True)
    desk.until(lambda: not desk.program.inspecting.is_busy)
    return picture(desk).values


def asks(desk: Desk, text: str = "Why is the sky blue?") -> int:
    """Ask while somebody looks; return the number of the request."""
    known(desk)
    assert desk.program.chat.send(text)
    desk.settle()
    return desk.engine.question.request


def test_before_the_first_question_there_is_the_model_alone(desk: Desk) -> None:
    values = known(desk)
    assert (values.phase, values.running, values.prefill, values.step, values.end) == ("empty", (), None, None, None)
    assert values.model is not None and values.model.layers == 30 and values.step_why is not None


def test_each_event_lights_its_stage_and_brings_its_numbers(desk: Desk) -> None:
    request = asks(desk)
    assert (picture(desk).values.phase, picture(desk).values.running) == ("waiting", ("tokens",))
    ids = array("i", range(100, 700)).tobytes()
    spans = (PromptSpan(0, 4, "system", 0), PromptSpan(4, 600, "prompt", 1))
    desk.engine.say(PromptReady(request, ids, spans, 88, SECOND, seed=7))
    desk.settle()
    values = picture(desk).values
    assert (values.phase, values.running) == ("reading", ("prefill",))
    assert values.prompt.question == "Why is the sky blue?" and values.prompt.tokens == 600
    assert [each.token for each in values.prompt.first] == [104, 105, 106]
    assert values.prefill == LoopPrefill(88, 600, 88, None)
    for done, at_ns in ((344, 2 * SECOND), (600, 3 * SECOND)):
        desk.engine.say(PrefillProgress(request, done, 600, 88, at_ns))
    desk.settle()
    assert picture(desk).values.prefill == LoopPrefill(600, 600, 88, 256.0)
    assert (picture(desk).values.cells_used, picture(desk).values.cells) == (600, CONTEXT)
    desk.engine.write(" blue", 3)
    desk.settle()
    values = picture(desk).values
    assert (values.phase, values.running, values.written) == ("writing", EACH_TOKEN, 3)
    assert values.cells_used == 602, "as the engine told it with the tokens: the last one is in no cell yet"
    assert values.cache_bytes == 602 * 23_040
    assert values.end is None


def test_an_answer_that_is_held_shows_the_row_that_waits(desk: Desk) -> None:
    asks(desk)
    desk.engine.prompt()
    desk.engine.write("a", 2)
    desk.engine.hold()
    desk.settle()
    values = picture(desk).values
    assert (values.phase, values.running) == ("held", ("sampling",))
    assert values.step is not None and values.step.place == 2
    assert not values.step.is_drawn and values.step.taken is None
    assert values.cells_used == 42, "the tokens before the row were evaluated for it"
    assert [each.token for each in values.step.candidates] == [0, 1, 2, 3, 4]
    desk.engine.write("b", 1, token=1)
    desk.settle()
    values = picture(desk).values
    assert values.phase == "writing"
    assert values.step is not None and values.step.taken is not None and values.step.taken.token == 1


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("end", "end token"),
        ("length", "limit"),
        ("stop_string", "stop text"),
        ("cancelled", "You stopped"),
        ("context_full", "context is full"),
    ],
)
def test_it_ends_as_the_answer_really_ended(desk: Desk, reason: StopReason, words: str) -> None:
    asks(desk)
    desk.engine.prompt()
    desk.engine.write("a", 4)
    desk.engine.finish(reason)
    desk.settle()
    values = known(desk)
    assert (values.phase, values.running) == ("done", ())
    assert values.end is not None and values.end.reason == reason and words in values.end.words.english()
    assert (values.written, values.tokens_per_s) == (4, 77.6)


def test_one_that_was_cut_off_says_why(desk: Desk) -> None:
    request = asks(desk)
    desk.engine.prompt()
    desk.engine.write("a", 4)
    desk.settle()
    desk.engine.die(request)
    desk.settle()
    values = known(desk)
    assert values.phase == "interrupted" and values.running == ()
    assert values.end is not None and values.end.reason is None and values.end.words.english()
    assert values.model is None and values.model_why is not None, "the engine is gone"


def test_an_old_answer_shows_what_is_kept_and_its_last_token(desk: Desk) -> None:
    _turn, lane = answered(desk, some_rows(COUNT), NARROW)
    conversation = desk.program.chat.conversation_id
    desk.program.conversations.new()
    desk.program.conversations.open(conversation)
    known(desk)
    desk.until(lambda: not desk.program.inspecting.is_busy)
    values = picture(desk).values
    assert desk.program.inspecting.token == COUNT - 1
    assert values.phase == "done" and values.prompt.tokens == PROMPT
    assert values.prefill == LoopPrefill(40, 40, 12, 131.2)
    step = values.step
    assert step is not None and (step.place, step.is_drawn) == (COUNT - 1, True)
    assert step.taken is not None and step.taken.token == lane.tokens[-1]
    assert step.survivors is not None and 1 <= step.survivors <= 3 and step.is_exact
    raw = [each.raw for each in step.candidates if each.raw is not None]
    assert len(raw) == len(step.candidates) and raw == sorted(raw, reverse=True)


def test_people_go_through_the_tokens_and_back_to_the_newest(desk: Desk) -> None:
    answered(desk, some_rows(COUNT), USUAL)
    known(desk)
    for wanted, there in ((3, 3), (-1, 0), (COUNT + 5, COUNT - 1)):
        picture(desk).look_at(wanted)
        desk.until(lambda: not desk.program.inspecting.is_busy)
        step = picture(desk).values.step
        assert step is not None and step.place == there
    asks(desk, "And the sea?")
    picture(desk).look_at(2)
    assert desk.program.inspecting.token is None, "there is none yet"


def test_without_its_model_the_sizes_are_unknown_with_a_reason(desk: Desk) -> None:
    answered(desk, some_rows(COUNT), USUAL)
    desk.program.session.unload()
    desk.settle()
    values = known(desk)
    assert values.model is None and values.model_why is not None
    assert "Load the model" in values.model_why.english()
    assert values.prompt.tokens == PROMPT and values.written == COUNT


def test_without_a_record_there_is_a_reason_instead_of_candidates(desk: Desk) -> None:
    answered(desk, some_rows(COUNT), USUAL, "off")
    conversation = desk.program.chat.conversation_id
    desk.program.conversations.new()
    desk.program.conversations.open(conversation)
    values = known(desk)
    assert values.step is None or not values.step.candidates


def test_the_engine_tells_its_steps_while_somebody_looks_here_or_there(desk: Desk) -> None:
    def wishes() -> list[bool]:
        return [each.on for each in desk.engine.all(Watch)]

    picture(desk).watch(True)
    assert wishes()[-1]
    desk.program.next_token.watch(True)
    picture(desk).watch(False)
    assert wishes()[-1], "somebody else still looks"
    desk.program.next_token.watch(False)
    assert not wishes()[-1]


def test_nothing_is_told_while_nobody_looks(desk: Desk) -> None:
    told: list[None] = []
    picture(desk).changed.connect(lambda: told.append(None))
    assert desk.program.chat.send("Hello")
    desk.settle()
    desk.engine.prompt()
    desk.settle()
    assert not told
    known(desk)
    assert told and picture(desk).values.phase == "reading", "what came meanwhile is known"


def test_a_model_with_other_caches_says_no_bytes_of_a_token() -> None:
    info = model_info("a.gguf")
    usual = loop_model(info)
    assert (usual.bytes_per_token, usual.vocabulary, usual.most_at_once) == (23_040, VOCABULARY, 512)
    options = LoadOptions(micro_batch=64)
    other = loop_model(msgspec.structs.replace(info, memory_kind="recurrent", options=options))
    assert (other.bytes_per_token, other.most_at_once) == (None, 64)


def test_no_more_tokens_go_at_once_than_the_context_holds() -> None:
    large = msgspec.structs.replace(model_info("a.gguf", 1024), options=LoadOptions(micro_batch=2048))
    assert loop_model(large).most_at_once == 1024


def test_the_row_of_a_token_is_there_once_its_attention_was_read(desk: Desk) -> None:
    answered(desk, some_rows(COUNT), USUAL)
    known(desk)
    picture(desk).look_at(3)
    desk.until(lambda: not desk.program.inspecting.is_busy)
    assert picture(desk).values.embedding == ()
    read = desk.program.views.attention
    assert read.begin()
    sent = desk.engine.all(ReadAttention)[-1]
    row = array("f", [0.5, -0.25, 1.0]).tobytes()
    told = attention(sent.request, len(sent.ids) // 4)
    desk.engine.say(msgspec.structs.replace(told, embedding=row))
    desk.settle()
    assert picture(desk).values.embedding == (), "another token goes in for it"
    picture(desk).look_at(4)
    desk.until(lambda: not desk.program.inspecting.is_busy)
    assert picture(desk).values.embedding == (0.5, -0.25, 1.0)
    picture(desk).look_at(5)
    desk.until(lambda: not desk.program.inspecting.is_busy)
    assert picture(desk).values.embedding == (), "that of another token"
