"""The picture of the whole process: its boxes, the stage that is lit, what is explained, and how people go through it."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.core.commands import ReadAttention
from app.core.metrics import StopReason
from app.gui.icons import Icons
from app.gui.inside.loop.faces import face_of
from app.gui.inside.loop.loop_map import LoopMap
from app.gui.inside.loop.loop_part import LoopPart
from app.gui.inside.loop.number_words import number
from app.gui.inside.loop.stage_words import LOOKS, explanation, title
from app.gui.widgets.tab_stops import tab_stops
from app.services.loop_example import example
from app.services.loop_values import EACH_TOKEN, STAGES, StageName
from tests.gui.inside.conftest import COUNT, Inspector, desk, inspector, model, stage
from tests.made_up_attention import attention

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def looks(looker: Inspector) -> LoopPart:
    """Go to the page by its tab, as somebody who was shown around."""
    looker.stage.desk.program.settings.change(loop_tour_seen=True)
    looker.stage.clicks("inside_button")
    looker.known()
    part = looker.stage.find_as(LoopPart, "loop_view")
    catch_up(part)
    return part


def asks(looker: Inspector) -> LoopPart:
    """Ask something, with the picture in sight."""
    part = looks(looker)
    assert looker.stage.desk.program.chat.send("And the sea?")
    looker.stage.settle()
    return part


def lit(part: LoopPart) -> set[StageName]:
    catch_up(part)
    return {stage for stage, box in part.map.boxes.items() if box.face.state in ("running", "waits")}


def catch_up(part: LoopPart) -> None:
    """Let the picture be painted that waits for its turn."""
    part._rest.timeout.emit()


def test_every_stage_is_named_drawn_and_explained_with_its_number(inspector: Inspector) -> None:
    inspector.answers()
    part = looks(inspector)
    inspector.known()
    for name in STAGES:
        assert_is_explained(inspector, part, name)


def assert_is_explained(inspector: Inspector, part: LoopPart, name: StageName) -> None:
    inspector.stage.clicks(f"loop_{name}")
    box = part.map.boxes[name]
    assert box.text() == title(name) == inspector.reads("loop_title")
    assert LOOKS[name].icon and inspector.stage.themes.current.colour(LOOKS[name].colour).isValid()
    assert len(inspector.reads("loop_explanation")) > 60 and inspector.reads("loop_explanation") == explanation(name)
    said = number(name, inspector.stage.desk.program.views.loop.values)
    assert inspector.reads("loop_number") == said and said.endswith((".", "”"))
    assert box.accessibleName().startswith(title(name)) and len(box.accessibleName()) > len(title(name)) + 2


def test_what_is_unknown_is_a_dash_with_the_reason(inspector: Inspector) -> None:
    looks(inspector)
    inspector.stage.desk.program.session.unload()
    inspector.stage.settle()
    values = inspector.stage.desk.program.views.loop.values
    for name in STAGES:
        face = face_of(name, values)
        assert face.figure == "–" and face.why and number(name, values), name


def test_no_two_stages_are_alike() -> None:
    assert len({title(each) for each in STAGES}) == len({explanation(each) for each in STAGES}) == len(STAGES)
    assert len({LOOKS[each].icon for each in STAGES}) == len(STAGES), "nobody has to tell colours apart"


def test_the_stages_at_work_are_lit_one_phase_after_another(inspector: Inspector) -> None:
    part = asks(inspector)
    assert lit(part) == {"tokens"}
    inspector.stage.engine.prompt()
    inspector.stage.settle()
    assert lit(part) == {"prefill"}
    inspector.stage.engine.write("w", 2)
    inspector.stage.settle()
    assert lit(part) == set(EACH_TOKEN)
    inspector.stage.engine.hold()
    inspector.stage.settle()
    assert lit(part) == {"sampling"} and part.map.boxes["sampling"].face.state == "waits"
    assert "waits for you" in part.map.boxes["sampling"].accessibleName()
    assert part.map.boxes["token"].face.figure == "?"
    assert [bar.is_taken for bar in part.map.boxes["probabilities"].face.bars] == [False] * 4
    inspector.stage.engine.write("w", 1)
    inspector.stage.engine.finish()
    inspector.stage.settle()
    inspector.known()
    assert lit(part) == set()


def test_one_token_of_step_mode_goes_through_the_loop(inspector: Inspector) -> None:
    part = asks(inspector)
    inspector.stage.engine.prompt()
    inspector.stage.engine.write("w", 2)
    inspector.stage.settle()
    inspector.stage.clicks("inside_hold")
    inspector.stage.engine.hold()
    inspector.stage.settle()
    assert lit(part) == {"sampling"} and "One token" in part.place.said.text()
    inspector.stage.clicks("inside_one_token")
    inspector.stage.engine.write("v", 1)
    inspector.stage.engine.hold()
    inspector.stage.settle()
    assert lit(part) == {"sampling"} and part.map.boxes["answer"].face.figure == "3 tokens"


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("end", "end of answer"),
        ("length", "length limit"),
        ("stop_string", "stop text"),
        ("cancelled", "stopped by you"),
        ("context_full", "context full"),
    ],
)
def test_the_picture_says_how_the_answer_ended(inspector: Inspector, reason: StopReason, words: str) -> None:
    part = asks(inspector)
    inspector.stage.engine.prompt()
    inspector.stage.engine.write("w", 3)
    inspector.stage.engine.finish(reason)
    inspector.stage.settle()
    inspector.known()
    catch_up(part)
    face = part.map.boxes["stop"].face
    assert (face.figure, face.lines, face.state) == ("no", (words,), "ended")
    assert part.place.said.text().startswith("It is over.") and len(part.place.said.text()) > 14


def test_arrow_keys_go_along_the_loop_and_across_its_rows(inspector: Inspector) -> None:
    inspector.answers()
    part = looks(inspector)
    boxes = part.map.boxes
    boxes["prompt"].setFocus()
    assert part.map.columns == 6
    steps: list[tuple[Qt.Key, StageName]] = [
        (Qt.Key.Key_Right, "tokens"),
        (Qt.Key.Key_Down, "stop"),
        (Qt.Key.Key_Right, "answer"),
        (Qt.Key.Key_Right, "answer"),
        (Qt.Key.Key_Up, "prompt"),
        (Qt.Key.Key_Left, "prompt"),
        *((Qt.Key.Key_Right, stage) for stage in STAGES[1:7]),
        (Qt.Key.Key_Left, "kv"),
        (Qt.Key.Key_End, "answer"),
        (Qt.Key.Key_Home, "prompt"),
    ]
    for key, wanted in steps:
        focus = next(box for box in boxes.values() if box.hasFocus())
        QTest.keyClick(focus, key)
        assert boxes[wanted].hasFocus() and boxes[wanted].isChecked()
        assert inspector.reads("loop_title") == title(wanted)
    reached = [stage for stage, box in boxes.items() if box.focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert reached == ["prompt"], "Tab comes to one of them"


@pytest.mark.parametrize(("width", "columns"), [(2100, 12), (1000, 6), (700, 4)])
def test_the_boxes_take_the_room_there_is(inspector: Inspector, width: int, columns: int) -> None:
    made = LoopMap(inspector.stage.themes, Icons(inspector.stage.desk.program.resources))
    made.resize(width, 300)
    inspector.stage.bot.addWidget(made)
    with inspector.stage.bot.waitExposed(made):
        made.show()
    assert made.columns == columns
    places = [made.boxes[stage].geometry() for stage in STAGES]
    assert all(not one.intersects(other) for one in places for other in places if one is not other)
    assert all(made.rect().contains(place) for place in places)


def test_people_go_through_the_tokens_of_an_answer(inspector: Inspector) -> None:
    inspector.answers()
    part = looks(inspector)
    assert inspector.token == COUNT - 1
    inspector.stage.clicks("loop_previous")
    inspector.known()
    catch_up(part)
    assert inspector.token == COUNT - 2 and f"Token {COUNT - 1} of {COUNT}" in inspector.reads("loop_place")
    inspector.stage.clicks("loop_next")
    inspector.known()
    catch_up(part)
    assert inspector.token == COUNT - 1 and not inspector.stage.find("loop_next").isEnabled()
    assert not inspector.stage.sees("loop_newest"), "nothing new comes"


def test_a_way_leads_to_the_part_that_shows_more(inspector: Inspector) -> None:
    inspector.answers()
    part = looks(inspector)
    inspector.stage.clicks("loop_tokens")
    inspector.stage.clicks("loop_more")
    assert inspector.page.part == "prompt" and not part.isVisible()
    inspector.stage.clicks("inside_loop_tab")
    part.sheet._has_part = lambda name: name != "answer"
    inspector.stage.clicks("loop_logits")
    assert not inspector.stage.sees("loop_more"), "there is no such part"


def test_tab_comes_to_the_parts_as_they_stand(inspector: Inspector) -> None:
    looks(inspector)
    stops = [each.objectName() for each in tab_stops(inspector.page.head.tabs)]
    assert stops[:3] == ["inside_loop_tab", "inside_answer_tab", "inside_prompt_tab"]


def test_nobody_looks_while_another_part_is_shown(inspector: Inspector) -> None:
    part = asks(inspector)
    inspector.stage.clicks("inside_answer_tab")
    inspector.stage.engine.prompt()
    inspector.stage.settle()
    states = [part.map.boxes["prefill"].face.state]
    assert not part._rest.isActive()
    inspector.stage.clicks("inside_loop_tab")
    states.append(part.map.boxes["prefill"].face.state)
    assert states == ["", "running"]


def test_the_picture_is_painted_anew_at_most_so_often(inspector: Inspector) -> None:
    part = asks(inspector)
    inspector.stage.engine.prompt()
    inspector.stage.settle()
    catch_up(part)
    part._rest.start()
    before = part.map.boxes["answer"].face
    for _each in range(5):
        inspector.stage.engine.write("w", 2)
        inspector.stage.settle()
    assert part.map.boxes["answer"].face == before, "its time has not come"
    inspector.stage.bot.waitUntil(lambda: part.map.boxes["answer"].face.figure == "10 tokens")


def test_the_strip_shows_a_row_of_numbers_and_its_ends(inspector: Inspector) -> None:
    part = looks(inspector)
    values = msgspec.structs.replace(example(), embedding=())
    box = part.map.boxes["embedding"]
    part.map.show_values(values)
    without = box.grab().toImage()
    part.map.show_values(msgspec.structs.replace(values, embedding=(0.5, -0.25, 1.0)))
    assert box.face.strip == (0.5, -0.25, 1.0) and box.grab().toImage() != without
    said = number("embedding", msgspec.structs.replace(values, embedding=(0.5, -0.25, 1.0)))
    assert "from -0.25 to 1.00" in said and "strip" not in number("embedding", values)


def test_the_row_of_a_token_is_read_with_a_button(inspector: Inspector) -> None:
    inspector.answers()
    part = looks(inspector)
    inspector.stage.clicks("loop_tokens")
    assert not inspector.stage.sees("loop_read_row"), "it belongs to one stage"
    inspector.stage.clicks("loop_embedding")
    assert "Once read" in inspector.reads("loop_number") and not part.map.boxes["embedding"].face.strip
    part.sheet.read.setFocus()
    QTest.keyClick(part.sheet.read, Qt.Key.Key_Space)
    inspector.stage.settle()
    catch_up(part)
    assert "being read" in inspector.reads("loop_number") and not part.sheet.read.isEnabled()
    focus: QWidget | None = inspector.stage.window.focusWidget()
    assert focus is not None and focus.objectName() == "loop_more", "the keyboard goes on"
    asked = inspector.stage.engine.all(ReadAttention)[-1]
    assert len(asked.ids) == 4, "the token alone"
    inspector.stage.engine.say(attention(asked.request, 1))
    inspector.stage.settle()
    catch_up(part)
    assert part.map.boxes["embedding"].face.strip == (0.5, -0.25, 0.0)
    assert not inspector.stage.sees("loop_read_row") and "from -0.25 to 0.50" in inspector.reads("loop_number")


def test_the_button_says_why_a_row_cannot_be_read(inspector: Inspector) -> None:
    part = looks(inspector)
    inspector.stage.clicks("loop_embedding")
    assert not part.sheet.read.isEnabled() and "Send a message" in part.sheet.read.toolTip()
    inspector.answers()
    inspector.known()
    catch_up(part)
    assert part.sheet.read.isEnabled()
    inspector.stage.desk.program.session.unload()
    inspector.stage.settle()
    catch_up(part)
    assert not part.sheet.read.isEnabled() and part.sheet.read.toolTip().startswith("Load the model")


def test_nothing_of_it_is_cut_in_a_low_window(inspector: Inspector) -> None:
    inspector.answers()
    part = looks(inspector)
    inspector.stage.clicks("loop_tour_button")
    inspector.stage.window.resize(900, 600)
    layout = part.layout()
    assert layout is not None
    inspector.stage.bot.waitUntil(lambda: part.height() >= layout.totalHeightForWidth(part.width()))
    assert all(part.map.rect().contains(box.geometry()) for box in part.map.boxes.values())
    assert part.tour.geometry().bottom() <= part.rect().bottom()
