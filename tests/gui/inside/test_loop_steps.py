"""Who lets one token follow another sees in the loop which one came, and what the answer says by now."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QWidget

from app.gui import theme
from app.gui.inside.loop.loop_part import LoopPart
from app.gui.inside.loop.number_words import number
from app.gui.inside.loop.stage_box import wrapped_end
from app.gui.inside.loop.stage_words import title
from app.gui.inside.loop.step_follow import StepFollow
from app.gui.widgets.token_words import quoted
from app.services.inspection import InspectedAnswer
from app.services.loop_example import example
from app.services.loop_words import MOST_TOKENS, last_token, last_words
from tests.gui.inside.conftest import COUNT, Inspector, desk, inspector, model, stage
from tests.gui.inside.test_loop import asks, catch_up, looks

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def held(looker: Inspector, written: int) -> LoopPart:
    """Have an answer held after so many tokens."""
    part = asks(looker)
    looker.stage.engine.prompt()
    if written:
        looker.stage.engine.write("w", written)
    looker.stage.clicks("inside_hold")
    looker.stage.engine.hold()
    looker.stage.settle()
    looker.known()
    catch_up(part)
    return part


def test_one_token_tells_which_token_was_drawn_and_the_answer_grows_by_it(inspector: Inspector) -> None:
    part = held(inspector, 2)
    picture = inspector.stage.desk.program.views.loop
    for drawn in (2, 3):
        before = picture.values.before
        assert before is not None and before.text
        token = part.map.boxes["token"].face
        assert (
            token.figure == "?"
            and token.lines[0] == f"token {drawn + 1}"
            and quoted(before.text, None) in token.lines[2]
        )
        assert quoted(before.text, None) in part.place.said.text() and f"as token {drawn}: " in number(
            "token", picture.values
        )
        answer = part.map.boxes["answer"].face
        assert answer.figure == f"{drawn} tokens" and answer.tail and answer.tail.endswith(before.text.strip())
        assert answer.tail == " ".join(picture.values.last_words.split()) in number("answer", picture.values)
        assert answer.tail in part.map.boxes["answer"].spoken()
        inspector.stage.clicks("inside_one_token")
        inspector.stage.engine.write("w", 1)
        inspector.stage.engine.hold()
        inspector.stage.settle()
        inspector.known()
        catch_up(part)


def test_before_the_first_token_nothing_is_said_of_a_token_0(inspector: Inspector) -> None:
    part = held(inspector, 0)
    values = inspector.stage.desk.program.views.loop.values
    assert values.phase == "held" and values.before is None and not values.last_words
    assert number("stop", values) == "No token is drawn yet that could end the answer."
    face = part.map.boxes["stop"].face
    assert face.figure == "–" and face.why == number("stop", values)
    assert part.map.boxes["token"].face.lines == ("token 1", "not drawn yet")
    assert part.place.said.text().startswith("Held before the next token.")


def test_an_answer_shows_its_last_words_and_who_looks_back_those_up_to_that_token(inspector: Inspector) -> None:
    inspector.answers()
    part = looks(inspector)
    whole, values = part.map.boxes["answer"].face.tail, inspector.stage.desk.program.views.loop.values
    answer = inspector.service.answer
    box = part.map.boxes["answer"]
    shown = box.lines_of(box.face, box.width() - 12)
    assert len(shown) == 3 and shown[1].startswith("…") and whole.endswith(shown[2]), "two lines are the text's"
    assert answer is not None and whole and whole == last_words(answer, COUNT) and values.before is None
    inspector.stage.clicks("loop_first")
    inspector.known()
    catch_up(part)
    assert part.map.boxes["answer"].face.tail == " ".join((answer.texts[0] or "").split()) != whole


def test_only_the_end_of_a_long_answer_is_shown_as_far_as_it_has_room(stage: object) -> None:
    texts = tuple(f" word{place}" for place in range(100))
    answer = InspectedAnswer(1, tuple(range(100)), texts, tuple(text.encode() for text in texts))
    said = last_words(answer, 90)
    assert said.startswith(f"…word{90 - MOST_TOKENS} ") and said.endswith("word88 word89")
    assert last_words(answer, 100, has_end=True) == last_words(answer, 99), "the end token says nothing"
    assert last_token(answer, 90) is not None and last_token(answer, 0) is None is last_token(answer, 101)
    metrics = QFontMetrics(theme.font(theme.SMALL_PX))
    lines = wrapped_end(said, metrics, 128, 2)
    assert len(lines) == 2 and lines[0].startswith("…") and lines[1].endswith("word89")
    assert max(map(metrics.horizontalAdvance, lines)) <= 128
    assert wrapped_end("short", metrics, 128, 2) == ["short"] and wrapped_end("", metrics, 128, 2) == []
    (cut,) = wrapped_end("a" * 90 + "b", metrics, 128, 1)
    assert cut.startswith("…") and cut.endswith("b")
    words = number("answer", msgspec.structs.replace(example(), last_words=said))
    assert words.endswith("word88 word89”") and "word60" not in words


def test_what_has_to_wait_for_the_end_says_what_to_do_while_the_answer_is_held(inspector: Inspector) -> None:
    held(inspector, 2)
    words = "This answer waits for you, and has to end first: let it run on, or stop it."
    inspector.stage.clicks("inside_attention_tab")
    inspector.known()
    assert inspector.reads("attention_told") == words == inspector.reads("attention_token")
    views = inspector.stage.desk.program.views
    for hindrance in (views.operations.hindrance, inspector.page.prompt_part._scores.hindrance):
        assert hindrance is not None and hindrance.english() == words
    inspector.stage.clicks("inside_hold")
    inspector.known()
    assert "still being written" in inspector.reads("attention_token") == inspector.reads("attention_told")
    inspector.stage.engine.finish("cancelled")
    inspector.stage.settle()
    inspector.known()
    assert inspector.reads("attention_token").startswith(("Choose", "Click a token"))


def test_no_button_moves_when_the_answer_is_held_or_the_tour_ends(inspector: Inspector) -> None:
    inspector.answers()
    part = looks(inspector)
    inspector.stage.clicks("loop_tour_button")
    names = ("loop_previous", "loop_next", "loop_last")
    before = [placed(inspector, name) for name in names], part.map.y()
    inspector.stage.clicks("tour_skip")
    assert ([placed(inspector, name) for name in names], part.map.y()) == before
    assert part.sheet._what.font() == part.tour._text.font(), "people read on in one size"
    asks(inspector)
    inspector.stage.engine.prompt()
    inspector.stage.engine.write("w", 2)
    inspector.stage.settle()
    catch_up(part)
    before = [placed(inspector, name) for name in names], part.map.y()
    inspector.stage.clicks("inside_hold")
    inspector.stage.engine.hold()
    inspector.stage.settle()
    inspector.known()
    catch_up(part)
    assert inspector.reads("loop_place") == "Token 3, waiting"
    metrics = QFontMetrics(part.place.place.font())
    assert metrics.horizontalAdvance("Token 9,999, waiting") < part.place.place.width(), "nor where there are many"
    assert ([placed(inspector, name) for name in names], part.map.y()) == before


def test_what_stops_and_steps_stands_at_one_place_in_every_part(inspector: Inspector) -> None:
    held(inspector, 2)
    found: dict[str, list[QPoint]] = {}
    for name in ("loop", "answer", "prompt", "cache", "attention", "time"):
        inspector.stage.clicks(f"inside_{name}_tab")
        inspector.known()
        inspector.stage.settle()
        found[name] = [placed(inspector, each) for each in ("inside_stop", "inside_hold", "inside_one_token")]
        assert inspector.page.head.about.width() >= theme.scaled(96), name
    assert all(each == found["loop"] for each in found.values()), found


@pytest.mark.parametrize(
    ("tab", "words", "way"),
    [
        ("answer", "inside_empty", "inside_chat_button"),
        ("prompt", "prompt_empty", "prompt_chat_button"),
        ("time", "time_empty", "time_chat_button"),
    ],
)
def test_a_part_without_an_answer_says_so_in_its_middle_with_the_way_on(
    inspector: Inspector, tab: str, words: str, way: str
) -> None:
    looks(inspector)
    assert inspector.stage.sees("loop_chat_button")
    inspector.stage.clicks(f"inside_{tab}_tab")
    inspector.stage.settle()
    said, button = (inspector.stage.find_as(QWidget, name) for name in (words, way))
    page = button.parentWidget()
    assert page is not None and said.parentWidget() is page
    assert abs(button.geometry().center().x() - page.rect().center().x()) <= 1
    above, below = said.y(), page.height() - button.geometry().bottom() - 1
    assert abs(above - below) <= 30 and button.y() > said.y()


def test_the_loop_leads_to_the_chat_where_there_is_no_answer(inspector: Inspector) -> None:
    looks(inspector)
    inspector.stage.clicks("loop_chat_button")
    inspector.stage.settle()
    assert not inspector.stage.sees("loop_chat_button")
    inspector.answers()
    looks(inspector)
    assert not inspector.stage.sees("loop_chat_button")


def placed(looker: Inspector, name: str) -> QPoint:
    """Return where a widget stands in the window."""
    looker.stage.settle()
    widget = looker.stage.find_as(QWidget, name)
    around: QWidget | None = widget.parentWidget()
    while around is not None:
        if (layout := around.layout()) is not None:
            layout.invalidate()
            layout.activate()
        around = around.parentWidget()
    return widget.mapTo(looker.stage.window, QPoint(0, 0))


def test_the_lit_stage_is_explained_step_by_step_until_somebody_chooses_another(inspector: Inspector) -> None:
    part = asks(inspector)
    inspector.stage.clicks("loop_stop")
    inspector.stage.engine.prompt()
    inspector.stage.engine.write("w", 2)
    inspector.stage.clicks("inside_hold")
    steps(inspector, part, tokens=0)
    assert inspector.reads("loop_title") == title("sampling")
    assert not inspector.stage.sees("loop_follow"), "the lit one is kept by nobody"
    inspector.stage.clicks("loop_stop")
    assert inspector.stage.sees("loop_follow")
    inspector.stage.clicks("inside_one_token")
    inspector.stage.settle()
    catch_up(part)
    assert inspector.reads("loop_title") == title("stop"), "nor while the token is on its way"
    steps(inspector, part, tokens=1)
    assert inspector.reads("loop_title") == title("stop") and inspector.stage.sees("loop_follow")
    inspector.stage.clicks("loop_follow")
    assert inspector.reads("loop_title") == title("sampling") and not inspector.stage.sees("loop_follow")
    assert part.map.boxes["sampling"].hasFocus(), "the keyboard goes on"
    inspector.stage.clicks("loop_stop")
    inspector.stage.clicks("loop_sampling")
    assert not inspector.stage.sees("loop_follow"), "whoever chooses the lit one follows again"
    inspector.stage.clicks("loop_stop")
    inspector.stage.engine.finish("cancelled")
    inspector.stage.settle()
    inspector.known()
    catch_up(part)
    assert inspector.reads("loop_title") == title("stop") and not inspector.stage.sees("loop_follow"), (
        "it is over: nothing is lit"
    )


def test_an_answer_that_runs_on_keeps_no_stage() -> None:
    follow, values = StepFollow(), msgspec.structs.replace(example(), end=None, phase="held", written=3)
    writing = msgspec.structs.replace(values, phase="writing")
    follow.choose("stop")
    assert follow.take(values) == "sampling" and not follow.is_kept, "it was chosen before anything waited"
    follow.choose("stop")
    for on_its_way in (0, 1):
        assert follow.take(msgspec.structs.replace(writing, written=3 + on_its_way)) is None and follow.is_kept
    assert follow.take(msgspec.structs.replace(values, written=4)) is None
    assert follow.take(msgspec.structs.replace(writing, written=6)) is None and not follow.is_kept
    assert follow.take(msgspec.structs.replace(values, written=7)) == "sampling"


def steps(looker: Inspector, part: LoopPart, *, tokens: int) -> None:
    """Have so many tokens come, and the answer wait then."""
    if tokens:
        looker.stage.engine.write("w", tokens)
    looker.stage.engine.hold()
    looker.stage.settle()
    looker.known()
    catch_up(part)
