"""What the loop tells of an answer's end and of its prompt is what happened, not what usually does."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from app.core.cache_shape import CacheClass
from app.core.chat import ChatPrompt, PromptSpan
from app.core.events import Finished, PrefillProgress, PromptReady
from app.core.metrics import KVUse
from app.core.model import CacheSizes
from app.core.words import Sentence
from app.engine.grammar import ENDED_BY_GRAMMAR, TOO_SLOW
from app.services.kv_sum import class_sums
from app.services.loop_end import ends_with_a_token
from app.services.loop_values import LoopPrefill, loop_model
from app.services.turns import joined_notes
from tests.desk import Desk
from tests.fake_engine import CONTEXT, metrics, model_info
from tests.services.recorded_lanes import load
from tests.services.test_loop_picture import SECOND, asks, known, picture

CODE = "def f(x):\n\n        return x  \n"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "home", monkeypatch)
    made.program.conversations.start()
    load(made, model)
    yield made
    made.program.stop()


def ends(desk: Desk, *notes: Sentence) -> None:
    """Let the answer end as one that drew its end token, with notes."""
    desk.engine.prompt()
    desk.engine.write("a", 4)
    ids = array("i", range(4)).tobytes()
    request = desk.engine.question.request
    desk.engine.say(Finished(request, "aaaa", ids, "end", metrics(4), 7, (), notes))
    desk.settle()


@pytest.mark.parametrize(
    ("note", "words", "short"),
    [
        (ENDED_BY_GRAMMAR, "grammar allowed no token", "nothing fitted the grammar"),
        (TOO_SLOW, "did not get through", "the grammar took too long"),
    ],
)
def test_an_end_by_the_grammar_is_no_end_token_also_later(desk: Desk, note: Sentence, words: str, short: str) -> None:
    asks(desk)
    ends(desk, note)
    conversation = desk.program.chat.conversation_id
    for _each in range(2):
        end = known(desk).end
        assert end is not None and end.reason == "end" and end.short is not None
        assert words in end.words.english() and end.short.english() == short
        assert "end token" not in end.words.english()
        desk.program.conversations.new()
        desk.program.conversations.open(conversation)


def test_it_is_told_by_the_value_of_the_note_and_not_by_its_text(desk: Desk) -> None:
    asks(desk)
    ends(desk, msgspec.structs.replace(ENDED_BY_GRAMMAR, values={}))
    end = known(desk).end
    assert end is not None and "end token" in end.words.english() and end.short is None


def test_an_answer_that_went_on_does_not_keep_how_its_beginning_ended() -> None:
    other = Sentence("Engine", "Something else.")
    assert joined_notes((other, ENDED_BY_GRAMMAR), (other,)) == (other,)
    assert joined_notes((ENDED_BY_GRAMMAR,), (TOO_SLOW,)) == (TOO_SLOW,)


def test_the_characters_are_those_that_were_sent(desk: Desk) -> None:
    asks(desk, CODE)
    prompt = picture(desk).values.prompt
    asked = desk.engine.question.prompt
    assert isinstance(asked, ChatPrompt)
    sent = asked.messages[-1].text
    assert prompt.characters == len(sent) >= len(CODE.strip()) and "\n\n        " in sent
    assert prompt.question == "def f(x): return x"
    ends(desk)
    assert known(desk).prompt.characters == len(sent)


@pytest.mark.parametrize("part", ["prompt", "system"])
def test_whose_the_first_tokens_are_is_said(desk: Desk, part: str) -> None:
    request = asks(desk)
    spans = (PromptSpan(2, 6, part, 1),)  # type: ignore[arg-type]  # one of the two
    ids = array("i", range(100, 106)).tobytes()
    desk.engine.say(PromptReady(request, ids, spans, 0, 1, seed=7))
    desk.settle()
    prompt = picture(desk).values.prompt
    assert prompt.is_of_question == (part == "prompt")
    assert [each.token for each in prompt.first] == ([102, 103, 104] if part == "prompt" else [100, 101, 102])


def test_a_prompt_whose_reading_was_stopped_was_not_read_whole(desk: Desk) -> None:
    request = asks(desk)
    ids = array("i", range(411)).tobytes()
    desk.engine.say(PromptReady(request, ids, (PromptSpan(0, 411, "prompt", 0),), 24, SECOND, seed=7))
    desk.engine.say(PrefillProgress(request, 152, 411, 24, 2 * SECOND))
    stopped = msgspec.structs.replace(metrics(0, 411, 24), kv=KVUse(152, CONTEXT, 152 * 23_040))
    desk.engine.say(Finished(request, "", b"", "cancelled", stopped, 7, ()))
    desk.settle()
    desk.program.inspecting.open(desk.program.chat.turns[-1])
    prefill = known(desk).prefill
    assert prefill is not None and (prefill.done, prefill.total, prefill.from_cache) == (152, 411, 24)


def test_the_beginning_of_an_answer_is_no_part_of_its_prompt(desk: Desk) -> None:
    request = asks(desk)
    spans = (PromptSpan(0, 30, "prompt", 0), PromptSpan(30, 40, "answer", 1))
    desk.engine.say(PromptReady(request, array("i", range(40)).tobytes(), spans, 12, SECOND, seed=7))
    desk.settle()
    values = picture(desk).values
    assert values.prompt.tokens == 30
    assert values.prefill == LoopPrefill(12, 40, 12, None, 10)


def test_the_first_tokens_end_with_the_message(desk: Desk) -> None:
    request = asks(desk, "Hi")
    spans = (PromptSpan(24, 25, "prompt", 0), PromptSpan(25, 40, "system", 1))
    desk.engine.say(PromptReady(request, array("i", range(100, 140)).tobytes(), spans, 0, SECOND, seed=7))
    desk.settle()
    assert [each.token for each in picture(desk).values.prompt.first] == [124], "what follows is the template's"
    desk.engine.write("a", 4)
    desk.engine.finish()
    desk.settle()
    conversation = desk.program.chat.conversation_id
    desk.program.conversations.new()
    desk.settle()
    desk.program.conversations.open(conversation)
    desk.settle()
    assert [each.token for each in known(desk).prompt.first] == [124], "as it is kept, too"


@pytest.mark.parametrize("cells", [256, 768, 1280])
def test_the_bytes_of_a_token_are_those_of_the_map_and_those_in_use_those_of_the_live_panel(cells: int) -> None:
    half = round(cells * 11_520 / 10_485.76) * 10_485.76  # the log tells them to 0.01 MiB
    info = msgspec.structs.replace(
        model_info("a.gguf", cells),
        cache=CacheSizes(full=round(2 * half)),
        cache_classes=(CacheClass(cells, 30, "f16", round(half), "f16", round(half)),),
    )
    shown, (of_map,) = loop_model(info), class_sums(info)
    assert shown.bytes_per_token == of_map.bytes == 23_040 != round(2 * half) // cells
    assert shown.bytes_of(33) == info.cache.in_use(33, cells, 0)
    unknown = loop_model(msgspec.structs.replace(info, cache_classes=()))
    assert unknown.bytes_per_token == round(2 * half) // cells, "what was set aside, where no formula is known"


@pytest.mark.parametrize("end", ["finished", "failed", "gone", "came to nothing"])
def test_a_run_that_has_ended_is_let_go_of_with_its_chat(desk: Desk, end: str) -> None:
    request = asks(desk)
    desk.engine.prompt()
    desk.engine.write("" if end == "came to nothing" else "a", 2)
    desk.settle()
    run = desk.program.answers.runs[0]
    assert any(kept is run for kept in vars(picture(desk)).values())
    if end == "finished":
        desk.engine.finish()
    elif end == "gone":
        desk.engine.die(request)
    else:
        desk.engine.fail("engine" if end == "failed" else "cancelled")
    desk.settle()
    assert known(desk).written == len(desk.program.chat.turns[-1].ids) // 4
    assert not any(kept is run for kept in vars(picture(desk)).values())


def test_an_answer_keeps_the_bytes_of_its_tokens_when_the_cache_has_another_type_since() -> None:
    info = model_info("a.gguf")
    half = msgspec.structs.replace(info, cache=CacheSizes(full=CONTEXT * 11_520), cache_classes=())
    then = loop_model(half, KVUse(41, CONTEXT, 41 * 23_040))
    assert then.bytes_per_token == 23_040 and then.bytes_of(40) == 40 * 23_040
    assert loop_model(half, KVUse(41, CONTEXT, 41 * 11_520)).bytes_per_token == 11_520
    assert loop_model(half).bytes_per_token == 11_520


@pytest.mark.parametrize("notes", [(), (ENDED_BY_GRAMMAR,), (TOO_SLOW,)])
def test_only_an_end_token_is_left_out_of_what_the_answer_says(desk: Desk, notes: tuple[Sentence, ...]) -> None:
    asks(desk)
    assert not ends_with_a_token(desk.program.chat.turns[-1])
    ends(desk, *notes)
    assert ends_with_a_token(desk.program.chat.turns[-1]) is not bool(notes)
