"""Who looks back in the loop sees the answer as it was at that token, and comes back to the newest."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.core.commands import StepOn
from app.gui.inside.loop import place_row
from app.gui.inside.loop.faces import face_of
from app.gui.inside.loop.loop_part import LoopPart
from app.gui.inside.loop.number_words import number
from app.services.loop_example import example
from app.services.loop_place import as_at_step
from tests.gui.inside.conftest import COUNT, Inspector, desk, inspector, model, stage
from tests.gui.inside.test_loop import asks, catch_up, lit, looks

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def looks_back_while_held(looker: Inspector) -> LoopPart:
    """Have an answer held before its third token, and look back at its first one."""
    part = asks(looker)
    looker.stage.engine.prompt()
    looker.stage.engine.write("w", 2)
    looker.stage.clicks("inside_hold")
    looker.stage.engine.hold()
    looker.stage.settle()
    for token in (1, 0):
        looker.known()
        catch_up(part)
        looker.stage.clicks("loop_previous")
        assert looker.token == token
    looker.known()
    return part


def test_an_earlier_token_of_an_answer_that_is_over_went_on_to_the_next(inspector: Inspector) -> None:
    inspector.answers()
    part = looks(inspector)
    picture = inspector.stage.desk.program.views.loop
    whole = picture.values
    assert part.map.boxes["stop"].face.state == "ended" and whole.end_here is not None
    for _each in range(2):
        inspector.stage.clicks("loop_previous")
        inspector.known()
        catch_up(part)
    face, values = part.map.boxes["stop"].face, picture.values
    assert (face.figure, face.lines, face.state) == ("yes", ("on to the next token",), "")
    assert number("stop", values) == f"After token {COUNT - 2} it went on to the next."
    prompt = inspector.service.prompt
    assert prompt is not None and values.cells_used == min(len(prompt.ids) + COUNT - 3, whole.cells_used or 0)
    assert values.end is not None and values.end_here is None
    answer = part.map.boxes["answer"].face
    assert (answer.figure, answer.lines[0]) == (f"{COUNT - 2} tokens", f"of {COUNT} in the end")
    had = f"With this token the answer had {COUNT - 2} of its {COUNT} tokens."
    assert number("answer", values).startswith(had)
    assert "were taken at this token." in number("kv", values) and "taken when it ended" in number("kv", whole)
    assert part.map.boxes["kv"].face.lines[-1].endswith("B at this token")
    said = part.place.said.text()
    assert said.startswith("You look back. How it ended: ") and "over" not in said


def test_the_cells_are_those_of_the_step(inspector: Inspector) -> None:
    part = asks(inspector)
    inspector.stage.engine.prompt()
    inspector.stage.engine.write("w", 3)
    inspector.stage.engine.hold()
    inspector.stage.settle()
    picture = inspector.stage.desk.program.views.loop
    assert picture.values.cells_used == 43
    picture.look_at(1)
    inspector.known()
    catch_up(part)
    values = picture.values
    assert values.model is not None and values.model.bytes_per_token is not None
    assert (values.cells_used, values.cache_bytes) == (41, 41 * values.model.bytes_per_token)


def test_no_stage_is_lit_for_a_token_that_is_looked_back_at(inspector: Inspector) -> None:
    part = asks(inspector)
    inspector.stage.engine.prompt()
    inspector.stage.engine.write("w", 2)
    inspector.stage.clicks("inside_hold")
    inspector.stage.engine.hold()
    inspector.stage.settle()
    inspector.known()
    assert lit(part) == {"sampling"}
    inspector.stage.clicks("loop_previous")
    inspector.known()
    assert lit(part) == set() and "Token 2 of 2" in inspector.reads("loop_place")
    assert "waits for you" in part.place.said.text() and inspector.stage.sees("loop_newest")
    inspector.stage.clicks("loop_next")
    inspector.stage.settle()
    assert lit(part) == {"sampling"} and inspector.token == -1


def test_one_token_shows_the_token_that_it_lets_follow(inspector: Inspector) -> None:
    part = looks_back_while_held(inspector)
    inspector.stage.clicks("inside_one_token")
    inspector.stage.engine.write("v", 1)
    inspector.stage.engine.hold()
    inspector.stage.settle()
    assert lit(part) == {"sampling"} and inspector.token == -1
    assert "Token 4, waiting" in inspector.reads("loop_place")


@pytest.mark.parametrize("text", ["v", ""])
def test_one_token_that_ends_the_answer_is_shown_too(inspector: Inspector, text: str) -> None:
    part = looks_back_while_held(inspector)
    before = inspector.stage.engine.all(StepOn)
    QTest.keySequence(inspector.stage.window, QKeySequence("F7"))
    assert len(inspector.stage.engine.all(StepOn)) == len(before) + 1
    inspector.stage.engine.write(text, 1)
    inspector.stage.engine.finish()
    inspector.stage.settle()
    inspector.known()
    catch_up(part)
    picture = inspector.stage.desk.program.views.loop
    assert picture.token == 2 and picture.values.end_here is not None, "an end token is shown where it was drawn"
    assert part.map.boxes["stop"].face.state == "ended"


def test_who_looks_back_stays_there_where_the_answer_is_stopped(inspector: Inspector) -> None:
    looks_back_while_held(inspector)
    inspector.stage.engine.finish("cancelled")
    inspector.stage.settle()
    inspector.known()
    assert inspector.token == 0


def test_there_is_one_count_of_tokens_while_an_answer_is_written(inspector: Inspector) -> None:
    asks(inspector)
    inspector.stage.engine.prompt()
    inspector.stage.engine.write("w", 2)
    inspector.stage.settle()
    said = inspector.page.head.about.text()
    assert "being written" in said and "tokens" not in said
    inspector.stage.clicks("inside_hold")
    inspector.stage.engine.hold()
    inspector.stage.settle()
    assert "waits for you" in inspector.page.head.about.text()
    inspector.stage.clicks("inside_hold")
    inspector.stage.settle()
    assert inspector.page.head.about.text() == said
    told_early = msgspec.structs.replace(example(), written=9)
    shown = as_at_step(told_early, None, None)
    assert shown.step is not None and shown.written == shown.step.place + 1


def test_people_jump_to_the_first_token_and_to_the_last(inspector: Inspector) -> None:
    inspector.answers()
    part = looks(inspector)
    inspector.stage.clicks("loop_first")
    inspector.known()
    catch_up(part)
    assert inspector.token == 0 and not part.place.first.isEnabled() and part.place.last.isEnabled()
    inspector.stage.clicks("loop_last")
    inspector.known()
    catch_up(part)
    assert inspector.token == COUNT - 1 and part.place.first.isEnabled() and not part.place.last.isEnabled()
    part.place.before.setFocus()
    for key, there, focused in (
        (Qt.Key.Key_Home, 0, part.place.after),
        (Qt.Key.Key_End, COUNT - 1, part.place.before),
    ):
        focus: QWidget | None = inspector.stage.window.focusWidget()
        assert focus is not None
        QTest.keyClick(focus, key)
        inspector.known()
        catch_up(part)
        assert inspector.token == there
        assert focused.hasFocus(), "the keyboard stays in the row"


def test_the_last_token_of_an_answer_that_is_written_is_the_newest(inspector: Inspector) -> None:
    part = looks_back_while_held(inspector)
    catch_up(part)
    inspector.stage.clicks("loop_last")
    inspector.stage.settle()
    assert inspector.token == -1 and lit(part) == {"sampling"}


def test_who_looks_back_while_it_is_written_reads_that_it_goes_on() -> None:
    written = msgspec.structs.replace(example(), is_example=False, written=9)
    shown = as_at_step(written, 3, 36)
    assert (shown.had, shown.cells_used) == (4, 39)
    assert place_row._words(shown) == "You look back. The answer goes on meanwhile."
    assert face_of("answer", shown).figure == "4 tokens" and face_of("answer", shown).lines[0] == "of 9 so far"
    assert number("answer", shown) == "With this token the answer had 4 tokens, and has 9 now."
    assert number("answer", as_at_step(written, 0, 36)).startswith("With this token the answer had 1 token,")


def test_an_answer_that_is_reproduced_says_so() -> None:
    over = msgspec.structs.replace(example(), is_example=False, phase="done", is_reproduced=True)
    assert place_row._words(over).startswith("It is over, and is being reproduced: these are its figures of then.")
    assert "reproduced" not in place_row._words(msgspec.structs.replace(over, is_reproduced=False))
