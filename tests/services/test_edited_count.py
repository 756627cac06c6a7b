"""What a message that is changed would be sent as is counted behind the turns before it alone."""

from __future__ import annotations

from pathlib import Path

from app.core.commands import Render, Tokenize
from app.core.events import Failed, Rendered, Tokenized
from app.core.words import translate
from tests.desk import Desk
from tests.services.asking import say


def answer(desk: Desk, tokens: int) -> None:
    """Let the engine count everything as so many tokens."""
    done = len(desk.engine.sent)
    for asked in desk.engine.sent[done - 1 :]:
        if isinstance(asked, Tokenize):
            desk.engine.say(Tokenized(asked.request, bytes(4 * tokens)))
        elif isinstance(asked, Render):
            desk.engine.say(Rendered(asked.request, "", bytes(4 * tokens), ()))
    desk.settle()


def test_only_what_goes_before_the_message_is_sent_with_it(desk: Desk, model: Path) -> None:
    desk.load(model)
    say(desk, "One", "1")
    say(desk, "Two", "2")
    edited, turn = desk.program.edited_count, desk.program.chat.turns[2]
    edited.watch(turn, "Zwei", ("f",))
    for tokens in (3, 2, 30):
        answer(desk, tokens)
    rendered = desk.engine.all(Render)[-1]
    assert [message.text for message in rendered.prompt.messages] == ["One", "1", "Zwei"]
    assert (edited.count.draft, edited.count.pasted, edited.count.prompt) == (3, (2,), 30)
    asked = len(desk.engine.sent)
    edited.watch(turn, "Zwei", ("f",))
    assert len(desk.engine.sent) == asked  # it is known


def test_a_message_that_would_be_refused_is_told_with_the_numbers(desk: Desk, model: Path) -> None:
    desk.load(model)
    say(desk, "One", "1")
    edited = desk.program.edited_count
    edited.watch(desk.program.chat.turns[0], "Eins", ())
    answer(desk, 3)
    request = desk.engine.all(Render)[-1].request
    desk.engine.say(Failed(request, "prompt_too_long", translate("Test", "Too long."), tokens=5000))
    desk.settle()
    assert (edited.count.refused, edited.count.needed) == (True, 5000)
    edited.leave()
    assert not edited.count.refused


def test_a_prompt_that_an_answer_holds_up_is_counted_when_it_has_ended(desk: Desk, model: Path) -> None:
    desk.load(model)
    say(desk, "One", "1")
    desk.program.chat.send("Two")
    desk.engine.prompt()
    edited = desk.program.edited_count
    edited.watch(desk.program.chat.turns[0], "Eins", ())
    answer(desk, 3)
    assert (edited.count.draft, edited.count.prompt) == (3, None)
    before = len(desk.engine.all(Render))
    desk.engine.write("2")
    desk.engine.finish()
    desk.settle()
    assert [message.text for message in desk.engine.all(Render)[before:][-1].prompt.messages] == ["Eins"]
