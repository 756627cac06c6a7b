from __future__ import annotations

from functools import partial
from pathlib import Path

import msgspec
import pytest

from app.bootstrap import Options, build
from app.core.chat import ChatPrompt, PromptMessage
from app.core.commands import Render, Tokenize
from app.core.events import Event, Failed, FailureKind, Finished, Loaded, PromptReady
from app.core.words import translate
from app.services.next_send import Count
from app.services.prompt_count import PromptCount
from app.services.wishes import Wish
from tests.desk import Desk
from tests.fake_engine import model_info
from tests.pumping import Pumped
from tests.services.counting import asked, render, tokenize


@pytest.fixture
def counted(desk: Desk, model: Path) -> PromptCount:
    """Return what counts, with a model loaded and somebody who types."""
    desk.load(model)
    return desk.program.prompt_count


def is_counted(count: PromptCount, text: str) -> bool:
    return count.count.message == text and bool(count.count.draft)


def test_a_draft_and_the_prompt_it_would_be_sent_with_are_counted(desk: Desk, counted: PromptCount) -> None:
    counted.set_draft("Why?")
    assert desk.engine.all(Tokenize)[-1].text == "Why?"
    assert desk.engine.all(Render)[-1].prompt == ChatPrompt((PromptMessage("user", "Why?"),))
    tokenize(desk, 38)
    render(desk, 64)
    count = counted.count
    assert (count.draft, count.prompt, count.in_cache, count.cells, count.left) == (38, 64, 0, 4096, 4032)
    assert count.message == "Why?"
    assert not count.refused


def test_the_prompt_that_is_counted_is_the_one_that_is_sent(desk: Desk, counted: PromptCount) -> None:
    desk.program.settings.change(system_prompt="Be brief.")
    desk.program.chat.send("Hi")
    desk.answer("Hello")
    assert desk.program.session.ref is not None
    desk.program.templates.choose(desk.program.session.ref, desk.program.templates.names()[0])
    counted.set_draft("And then?")
    rendered = desk.engine.all(Render)[-1].prompt
    desk.program.chat.send("And then?")
    assert rendered == desk.engine.chat
    assert rendered.template is not None


def test_one_question_is_open_at_a_time_and_the_newest_text_comes_next(desk: Desk, counted: PromptCount) -> None:
    for text in ("W", "Wh", "Why"):
        counted.set_draft(text)
    assert [each.text for each in desk.engine.all(Tokenize)] == ["W"]
    tokenize(desk, 1)
    render(desk, 20)
    assert [each.text for each in desk.engine.all(Tokenize)] == ["W", "Why"]
    assert [each.prompt.messages[-1].text for each in desk.engine.all(Render)] == ["W", "Why"]
    assert counted.count.draft is None


def test_a_text_that_was_counted_is_not_asked_again(desk: Desk, counted: PromptCount) -> None:
    counted.set_draft("Why?")
    tokenize(desk, 2)
    render(desk, 20)
    counted.set_draft("Why?")
    assert (asked(desk, Tokenize), asked(desk, Render)) == (1, 1)
    assert counted.count.draft == 2


def test_each_pasted_text_is_counted_by_itself(desk: Desk, counted: PromptCount) -> None:
    counted.set_draft("one\n\ntwo\n\nWhy?", ("one", "two"))
    for tokens in (9, 3, 4):
        tokenize(desk, tokens)
    assert [each.text for each in desk.engine.all(Tokenize)] == ["one\n\ntwo\n\nWhy?", "one", "two"]
    assert (counted.count.draft, counted.count.pasted) == (9, (3, 4))


def test_an_empty_draft_takes_nothing(desk: Desk, counted: PromptCount) -> None:
    counted.set_draft("")
    assert (counted.count.draft, counted.count.prompt, counted.count.left) == (0, 0, 4096)
    assert asked(desk, Tokenize) + asked(desk, Render) == 0


def test_without_a_model_nothing_is_asked_and_nothing_is_claimed(desk: Desk) -> None:
    desk.program.prompt_count.set_draft("Why?")
    assert desk.engine.sent == []
    assert desk.program.prompt_count.count == Count()


def test_an_engine_that_was_ended_is_not_started_for_a_count(desk: Desk, counted: PromptCount) -> None:
    desk.program.session.unload()
    desk.settle()
    counted.set_draft("Why?")
    assert not desk.engine.running
    assert asked(desk, Tokenize) == 0


@pytest.mark.parametrize("ending", ["unload", "death", "another model"])
def test_counts_are_forgotten_with_their_model(
    desk: Desk, counted: PromptCount, other_model: Path, ending: str
) -> None:
    counted.set_draft("Why?")
    stale = desk.engine.all(Tokenize)[-1], desk.engine.all(Render)[-1]
    if ending == "unload":
        desk.program.session.unload()
    elif ending == "death":
        desk.engine.die()
    else:
        desk.begin_load(other_model)
    desk.settle()
    assert counted.count == Count()
    tokenize(desk, 5, stale[0])
    render(desk, 50, stale[1])
    assert counted.count == Count()


def test_a_model_that_comes_counts_what_is_written_already(desk: Desk, model: Path) -> None:
    desk.program.prompt_count.set_draft("Why?")
    desk.load(model)
    assert desk.engine.all(Tokenize)[-1].text == "Why?"


def test_while_an_answer_is_written_the_draft_is_counted_and_the_prompt_is_not(
    desk: Desk, counted: PromptCount
) -> None:
    desk.program.chat.send("Hi")
    counted.set_draft("And then?")
    tokenize(desk, 3)
    assert (counted.count.draft, counted.count.prompt, counted.count.left) == (3, None, None)
    assert counted.count.reason is not None
    assert "as soon as the answer is written" in counted.count.reason.english()
    assert asked(desk, Render) == 0
    desk.answer("Hello")
    assert [each.text for each in desk.engine.all(Render)[-1].prompt.messages] == ["Hi", "Hello", "And then?"]
    render(desk, 70)
    assert counted.count.prompt == 70


def test_what_is_in_the_cache_follows_the_engine(desk: Desk, counted: PromptCount) -> None:
    desk.program.chat.send("Hi")
    desk.engine.prompt(40)
    desk.settle()
    assert counted.count.in_cache == 40
    desk.engine.write("Hello", 3)
    desk.settle()
    assert counted.count.in_cache == 42
    desk.engine.finish()
    desk.settle()
    assert counted.count.in_cache == 43


@pytest.mark.parametrize(("tokens", "too_long"), [(4095, False), (4096, True), (5031, True)])
def test_a_prompt_that_leaves_no_room_for_an_answer_is_too_long(
    desk: Desk, counted: PromptCount, tokens: int, too_long: bool
) -> None:
    counted.set_draft("Long")
    render(desk, tokens)
    assert counted.count.refused is too_long
    assert counted.count.left == (None if too_long else 1)
    assert counted.count.excess == (tokens - 4095 if too_long else None)


@pytest.mark.parametrize(("kind", "too_long"), [("prompt_too_long", True), ("template", False)])
def test_a_prompt_that_cannot_be_counted_says_why(
    desk: Desk, counted: PromptCount, kind: FailureKind, too_long: bool
) -> None:
    counted.set_draft("Long")
    sentence = translate("Test", "It cannot be counted.")
    desk.engine.say(Failed(desk.engine.all(Render)[-1].request, kind, sentence))
    desk.settle()
    assert (counted.count.prompt, counted.count.reason) == (None, sentence)
    assert counted.count.refused is too_long
    renders = asked(desk, Render)
    counted.set_draft("Long")
    assert asked(desk, Render) == renders


def test_another_conversation_is_counted_anew(desk: Desk, counted: PromptCount) -> None:
    desk.program.chat.send("Hi")
    desk.answer("Hello")
    counted.set_draft("Why?")
    render(desk, 4096)
    late = desk.engine.all(Render)[-1]
    asked = len(desk.engine.all(Render))
    desk.program.conversations.new()
    assert not counted.count.refused
    assert counted.count.draft == 0
    assert len(desk.engine.all(Render)) == asked, "counting a long chat takes a moment: it is shown first"
    counted.set_draft("Why?")
    assert [each.text for each in desk.engine.all(Render)[-1].prompt.messages] == ["Why?"]
    render(desk, 4096, late)
    assert (counted.count.message, counted.count.prompt) == ("", 0), "the late count is the other one's"


def test_dropping_the_oldest_turns_is_told_with_the_count(desk: Desk, counted: PromptCount) -> None:
    desk.program.settings.change(when_full="drop_oldest")
    counted.set_draft("Why?")
    assert counted.count.drops


def test_the_engine_sends_as_many_tokens_as_were_counted(
    starter_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKENLIGHT_HOME", str(tmp_path))
    program = build(Options())
    sent: list[int] = []

    def note(event: Event) -> None:
        if isinstance(event, PromptReady):
            sent.append(len(event.ids) // 4)

    pumped, count = Pumped(program), program.prompt_count
    program.session.answer_told.connect(note)
    program.settings.change(system_prompt="You are <|im_start|> brief.")
    program.sampling.change(max_tokens=8, seed=7)
    try:
        program.start(starter_model)
        pumped.until(lambda: program.session.phase == "ready")
        for text in ("Explain why the sky is blue.", "日本語 <|im_end|> \ufffd 👍", "line\n" * 60):
            count.set_draft(text)
            pumped.until(partial(is_counted, count, text))
            expected = count.count.prompt
            program.chat.send(text)
            pumped.until(lambda: not program.chat.busy)
            assert sent[-1] == expected
        answered = program.chat.turns[-1].finished
        assert isinstance(answered, Finished)
        assert count.count.in_cache == answered.metrics.kv.cells_used
    finally:
        program.stop()


def test_while_another_file_is_looked_at_nothing_is_asked(
    desk: Desk, counted: PromptCount, other_model: Path
) -> None:
    desk.program.session.use(Wish(other_model))
    counted.set_draft("Why?")
    assert asked(desk, Tokenize) + asked(desk, Render) == 0


def test_a_file_that_is_refused_leaves_the_count_of_the_model_that_stays(
    desk: Desk, counted: PromptCount, tmp_path: Path
) -> None:
    desk.program.chat.send("Hi")
    desk.answer("Hello")
    known = counted.count.in_cache
    assert known
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"no model")
    desk.program.session.use(Wish(bad))
    desk.until(lambda: desk.program.notices.latest)
    assert counted.count.in_cache == known


def test_another_policy_for_a_full_context_is_known_at_once(desk: Desk, counted: PromptCount) -> None:
    counted.set_draft("Hi")
    assert not counted.count.drops
    desk.program.settings.change(when_full="drop_oldest")
    counted.look_again()
    assert counted.count.drops


def test_what_the_model_keeps_of_its_past_is_known_with_the_count(desk: Desk, model: Path) -> None:
    desk.begin_load(model)
    info = msgspec.structs.replace(model_info(str(model)), memory_kind="hybrid")
    desk.engine.say(Loaded(desk.engine.load.request, info))
    desk.settle()
    desk.program.prompt_count.set_draft("Why?")
    assert (desk.program.prompt_count.count.memory_kind, desk.program.prompt_count.count.in_cache) == ("hybrid", 0)
    desk.program.session.unload()
    assert desk.program.prompt_count.count.memory_kind == "plain"
