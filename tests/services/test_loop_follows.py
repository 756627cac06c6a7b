"""The loop follows an answer that goes on, and says of one that broke off, waits or is looked back in only what is so."""

from __future__ import annotations

from array import array
from pathlib import Path

import msgspec
import pytest

from app.core.events import Finished
from app.gui.inside.loop.faces import face_of
from app.gui.inside.loop.memory_words import kept_words
from app.gui.inside.loop.number_words import number
from app.gui.inside.loop.place_row import _words
from app.services.chat import Chat
from app.services.loop_example import example
from app.services.loop_picture import LoopPicture
from app.services.loop_values import EACH_TOKEN, LoopCandidate, LoopPrefill, LoopStep, LoopValues
from app.services.loop_words import last_words
from tests.desk import Desk
from tests.fake_engine import metrics

BEGUN = 5


@pytest.fixture
def watched(desk: Desk, chat: Chat) -> Desk:
    desk.program.inspecting.watch(True)
    desk.program.views.loop.watch(True)
    assert chat.turns == ()
    return desk


def loop(desk: Desk) -> LoopPicture:
    return desk.program.views.loop


def values(desk: Desk) -> LoopValues:
    desk.settle()
    desk.until(lambda: not desk.program.inspecting.is_busy)
    return loop(desk).values


def writes(desk: Desk) -> None:
    """Have an answer of some tokens written."""
    desk.program.chat.send("Why?")
    desk.settle()
    desk.engine.prompt()
    desk.engine.write("a b c", BEGUN)
    desk.settle()


def goes_on(desk: Desk) -> None:
    """Have it go on."""
    desk.program.chat.go_on()
    desk.settle()
    desk.engine.prompt(answer=tuple(range(BEGUN)))
    desk.settle()


@pytest.mark.parametrize("is_there", [True, False], ids=["seen", "elsewhere"])
@pytest.mark.parametrize("chooses", [None, BEGUN - 1], ids=["nobody chose", "the last one chosen"])
def test_an_answer_that_goes_on_is_followed(watched: Desk, is_there: bool, chooses: int | None) -> None:
    writes(watched)
    watched.engine.finish("length")
    over = values(watched)
    assert (over.phase, watched.program.inspecting.token) == ("done", BEGUN - 1)
    if chooses is not None:
        loop(watched).look_at(0)
        values(watched)
        loop(watched).look_at(chooses)
        values(watched)
    if not is_there:
        loop(watched).watch(False)
        watched.program.inspecting.watch(False)
    goes_on(watched)
    watched.engine.write("d", 4)
    watched.settle()
    watched.program.inspecting.watch(True)
    loop(watched).watch(True)
    shown = values(watched)
    assert (shown.phase, shown.written, shown.is_back, shown.running) == ("writing", BEGUN + 4, False, EACH_TOKEN)
    assert watched.program.inspecting.token is None


def test_one_that_waits_as_soon_as_it_goes_on_is_followed(watched: Desk) -> None:
    writes(watched)
    watched.engine.finish("length")
    values(watched)
    goes_on(watched)
    watched.engine.hold()
    shown = values(watched)
    assert (shown.phase, shown.is_back, watched.program.inspecting.token) == ("held", False, None)
    assert shown.step is not None and shown.step.place == BEGUN


def test_who_looks_back_stays_there_while_it_goes_on(watched: Desk) -> None:
    writes(watched)
    watched.engine.finish("length")
    values(watched)
    loop(watched).look_at(1)
    values(watched)
    goes_on(watched)
    watched.engine.write("d", 4)
    shown = values(watched)
    assert watched.program.inspecting.token == 1 and shown.is_back and shown.had == 2


@pytest.mark.parametrize("end", ["failed", "gone"])
def test_the_cells_at_an_earlier_token_are_those_of_then_whatever_came_later(watched: Desk, end: str) -> None:
    writes(watched)
    before = {}
    for place in range(BEGUN - 1):
        loop(watched).look_at(place)
        shown = values(watched)
        before[place] = (shown.cells_used, shown.cache_bytes)
    assert before[3][0] == 43
    if end == "failed":
        watched.engine.fail("engine")
    else:
        watched.engine.die(watched.engine.question.request)
    assert values(watched).phase == "interrupted"
    for place, known in before.items():
        loop(watched).look_at(place)
        shown = values(watched)
        assert shown.cells_used == known[0] and (end == "gone" or shown.cache_bytes == known[1])
    loop(watched).look_at(BEGUN - 1)
    assert kept_words(values(watched)).startswith("At least 40 of ")


def test_nothing_is_denied_while_an_answer_waits_to_go_on(watched: Desk, model: Path) -> None:
    writes(watched)
    watched.engine.finish("length")
    assert values(watched).prefill is not None
    watched.begin_load(model)
    loading = values(watched)
    assert loading.model is None and number("transformer", loading) == "tiny is being loaded: its sizes follow."
    watched.program.chat.go_on()
    for phase in ("queued", "waiting"):
        shown = values(watched)
        assert (shown.phase, shown.prefill) == (phase, None)
        said = number("prefill", shown), face_of("prefill", shown).why
        assert said == ("The prompt, and what is there of the answer, are read before it goes on.",) * 2
        if phase == "queued":
            assert "being loaded" in number("kv", shown) and "Load a model" not in number("logits", shown)
            watched.engine.loaded()


def test_a_model_that_is_loaded_is_named_also_before_the_first_question(watched: Desk, model: Path) -> None:
    watched.begin_load(model)
    assert _words(values(watched)) == "tiny is being loaded: its sizes follow."
    watched.engine.fail("model", watched.engine.load.request)
    assert _words(values(watched)) == "Load a model to see its sizes."


def test_the_load_of_another_model_is_not_that_of_the_one_that_answered(
    watched: Desk, other_model: Path, model: Path
) -> None:
    writes(watched)
    watched.engine.finish()
    values(watched)
    watched.begin_load(other_model)
    assert "Load the model that wrote this answer" in number("transformer", values(watched))
    watched.begin_load(model)
    assert number("transformer", values(watched)) == "tiny is being loaded: its sizes follow."


def test_the_token_drawn_last_did_not_go_on_while_the_next_one_waits(watched: Desk) -> None:
    writes(watched)
    watched.engine.hold()
    values(watched)
    loop(watched).look_at(BEGUN - 1)
    shown = values(watched)
    assert shown.is_drawn_last and shown.had == shown.written == BEGUN
    assert number("answer", shown).startswith("The answer has 5 tokens so far, this one drawn last.")
    assert number("stop", shown) == "Token 5 did not end it. It waits for you before the next one."
    assert face_of("stop", shown).lines == ("the next token waits for you",)
    assert face_of("answer", shown).figure == "5 tokens" and "of 5" not in str(face_of("answer", shown).lines)
    assert _words(shown).startswith("You look at the token that was drawn last.")
    loop(watched).look_at(1)
    earlier = values(watched)
    assert not earlier.is_drawn_last and number("answer", earlier).startswith(
        "With this token the answer had 2 tokens, "
    )


@pytest.mark.parametrize(("cells", "is_read"), [(44, False), (45, True)])
def test_it_is_said_where_the_last_token_has_a_cell_too(watched: Desk, cells: int, is_read: bool) -> None:
    writes(watched)
    loop(watched).look_at(BEGUN - 2)
    values(watched)
    request, known = watched.engine.question.request, metrics(BEGUN)
    kv = msgspec.structs.replace(known.kv, cells_used=cells)
    whole = msgspec.structs.replace(known, kv=kv)
    watched.engine.say(Finished(request, "a b c", array("i", range(BEGUN)).tobytes(), "cancelled", whole, 7, ()))
    back = values(watched)
    assert back.is_back and "The last token" not in kept_words(back)
    loop(watched).look_at(BEGUN - 1)
    shown = values(watched)
    assert shown.is_last_read is is_read
    assert ("The last token has one, too" in kept_words(shown)) is is_read, "else one token would seem to add two"


def test_the_words_of_an_answer_are_of_the_same_moment_as_its_count(watched: Desk) -> None:
    writes(watched)
    values(watched)
    answer = watched.program.inspecting.answer
    assert answer is not None
    assert (
        last_words(msgspec.structs.replace(answer, pieces=(b"a", b" b")), 4, later=(b" c", b" d", b" e")) == "a b c d"
    )
    assert (
        last_words(msgspec.structs.replace(answer, pieces=(b"a", b" b")), 9, later=(b" c", b" d"), has_end=True)
        == "a b c"
    )
    long = msgspec.structs.replace(answer, pieces=(b"x",) * 60)
    assert last_words(long, 62, later=(b"y", b"z")) == f"…{'x' * 46}yz"


@pytest.mark.parametrize("is_recorded", [True, False])
def test_the_token_that_was_drawn_is_among_the_probabilities_however_unlikely(is_recorded: bool) -> None:
    rows = [LoopCandidate(token, f"t{token}", 0.3 - token / 20, 0.2) for token in range(5)]
    if is_recorded:
        rows[4] = msgspec.structs.replace(rows[4], is_taken=True)
    drawn = 4 if is_recorded else 9
    step = LoopStep(3, tuple(rows), 5, is_exact=True, is_drawn=True, text=f"t{drawn}", token=drawn)
    bars = face_of("probabilities", msgspec.structs.replace(example(), step=step)).bars
    assert [bar.text.strip("“”\u2068\u2069") for bar in bars] == ["t0", "t1", "t2", f"t{drawn}"]
    assert [bar.is_taken for bar in bars] == [False, False, False, True]
    assert bars[-1].share == (pytest.approx(0.1) if is_recorded else None), "unknown is not 0"
    waits = msgspec.structs.replace(step, is_drawn=False, token=None)
    shown = face_of("probabilities", msgspec.structs.replace(example(), step=waits)).bars
    assert [bar.is_taken for bar in shown] == [False] * 4 and len(shown) == 4


def test_how_many_tokens_go_at_once_is_one_figure_told_alike() -> None:
    reads = LoopPrefill(542, 600, 0, None)
    shown = msgspec.structs.replace(example(), is_example=False, phase="reading", prefill=reads, step=None)
    for said in (_words(shown), number("prefill", shown)):
        assert "at most 512" in said.lower() and "58" not in said
    assert face_of("prefill", shown).lines[-1] == "≤\u00a0512 at once"


def test_how_many_tokens_go_at_once_is_said_where_it_is_known_and_of_tokens_that_are_still_read() -> None:
    shown = msgspec.structs.replace(example(), is_example=False, phase="reading", step=None)
    read = msgspec.structs.replace(shown, prefill=LoopPrefill(600, 600, 0, None))
    assert _words(read) == "The prompt is being read: 600 of 600 tokens."
    unknown = msgspec.structs.replace(shown, prefill=LoopPrefill(542, 600, 0, None), model=None)
    assert _words(unknown) == "The prompt is being read: 542 of 600 tokens."
    assert "at once" not in f"{number('prefill', unknown)} {face_of('prefill', unknown)}"
    done = msgspec.structs.replace(read, phase="done")
    assert number("prefill", done).endswith("At most 512 go through the layers at once.")
    assert face_of("prefill", done).lines[-1] == "≤\u00a0512 at once"


def test_the_box_of_the_row_says_what_it_would_show() -> None:
    unread = msgspec.structs.replace(example(), is_example=False, embedding=())
    assert "as a strip, once they are read" in face_of("embedding", unread).lines
    assert "as a strip, once they are read" not in face_of("embedding", example()).lines
    assert number("embedding", unread).endswith(
        "For token 5 the one before goes in. Once read, its numbers are a strip in the box."
    )
