"""The size of what people read and write: keys, wheel, preferences, and that the line one reads stays where it is."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QFontMetricsF, QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDoubleSpinBox

from app.gui import theme
from app.gui.actions import Actions
from app.gui.chat.anchor import anchor_at
from app.gui.chat.draft import Draft
from app.gui.chat.transcript import Transcript
from app.gui.chat.turn_block import TurnBlock
from app.gui.preferences.dialog import PreferencesDialog
from app.services.turns import Turn
from tests.desk import Desk
from tests.gui.transcripts import LONG_ANSWER, grow, on_screen, themes, transcript

__all__ = ["themes", "transcript"]

# The offscreen platform says this of every dialog.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
PARAGRAPH = "Sunlight is a mixture of all colours, and the air scatters the blue ones most. " * 6
CODE = "```python\n" + "\n".join(f"line_{number} = {number}" for number in range(60)) + "\n```"


def mixed(transcript: Transcript, turns: int = 40) -> None:
    """Show questions and answers of every kind; somebody reads in the middle of them."""
    kinds = (
        PARAGRAPH,
        LONG_ANSWER[:900],
        f"{PARAGRAPH}\n\n{CODE}",
        "- one\n- two\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |",
    )
    transcript.show_turns(
        [Turn(n, "assistant" if n % 2 else "user", f"{n}: {kinds[n % 4]}", author="tiny") for n in range(turns)]
    )
    bar = transcript.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)


def wheel(transcript: Transcript, turned: int, modifiers: Qt.KeyboardModifier) -> None:
    view = transcript.viewport()
    place = QPointF(view.rect().center())
    event = QWheelEvent(
        place, view.mapToGlobal(place), QPoint(), QPoint(0, turned), Qt.MouseButton.NoButton, modifiers,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(view, event)


def first_inked_row(picture: QImage, left: int, right: int, ground: str) -> int:
    """Return the first row of a picture that something is painted in."""
    for y in range(picture.height()):
        if any(picture.pixelColor(x, y).name() != ground for x in range(left, right)):
            return y
    raise AssertionError("nothing is painted")


def test_the_steps_lead_from_one_end_to_the_other_and_stop_there(themes: theme.Themes) -> None:
    seen = [themes.text_size]
    for _ in range(20):
        themes.step_text_size(1)
        seen.append(themes.text_size)
    assert seen[:3] == [100, 110, 125]
    assert seen[-1] == seen[-2] == 200
    for _ in range(20):
        themes.step_text_size(-1)
    assert themes.text_size == 70
    themes.step_text_size(0)
    assert themes.text_size == 100


def test_a_size_between_two_steps_goes_to_the_next_one(themes: theme.Themes) -> None:
    themes.choose_text_size(115)
    themes.step_text_size(1)
    assert themes.text_size == 125
    themes.choose_text_size(115)
    themes.step_text_size(-1)
    assert themes.text_size == 110


def test_the_size_is_kept_and_used_by_the_next_window(themes: theme.Themes, desk: Desk, qapp: QApplication) -> None:
    usual = theme.reading_width()
    themes.choose_text_size(150)
    assert desk.program.settings.values.text_size == 150
    again = theme.Themes(qapp, desk.program.resources, desk.program.settings)
    assert again.text_size == 150
    assert theme.reading_font(theme.READING_PX).pixelSize() == round(theme.READING_PX * 1.5)
    assert usual * 1.35 < theme.reading_width() < usual * 1.65


def test_the_window_around_the_text_keeps_its_size(themes: theme.Themes) -> None:
    before = theme.font(theme.BASE_PX).pixelSize(), theme.scaled(theme.READING_PX)
    themes.choose_text_size(200)
    assert (theme.font(theme.BASE_PX).pixelSize(), theme.scaled(theme.READING_PX)) == before


def test_ctrl_and_the_wheel_change_the_size_a_step_a_notch(transcript: Transcript, themes: theme.Themes) -> None:
    mixed(transcript)
    scrolled = transcript.verticalScrollBar().value()
    wheel(transcript, 120, Qt.KeyboardModifier.ControlModifier)
    assert themes.text_size == 110
    for _ in range(4):
        wheel(transcript, -60, Qt.KeyboardModifier.ControlModifier)
    assert themes.text_size == 90
    wheel(transcript, 120, Qt.KeyboardModifier.ControlModifier)
    assert transcript.verticalScrollBar().value() != 0
    wheel(transcript, -120, Qt.KeyboardModifier.NoModifier)
    assert themes.text_size == 100
    assert transcript.verticalScrollBar().value() > scrolled


@pytest.mark.parametrize("width", [520, 1400])
@pytest.mark.parametrize("start", [0.1, 0.37, 0.5, 0.83])
def test_the_line_at_the_top_of_the_view_stays_there(
    transcript: Transcript, themes: theme.Themes, start: float, width: int
) -> None:
    transcript.resize(width, 500)
    mixed(transcript)
    bar = transcript.verticalScrollBar()
    bar.setValue(round(bar.maximum() * start))
    for step in (1, 2, -1, -3, 1, 4, -2):
        anchor = anchor_at(transcript.turns, bar.value())
        assert anchor is not None
        themes.step_text_size(step)
        transcript.grab()
        block = transcript.turns.blocks[anchor.turn]
        y = transcript.turns.top(anchor.turn) + block.text_top
        after = anchor_at(transcript.turns, bar.value())
        assert after is not None
        assert after.turn == anchor.turn
        assert after.below == pytest.approx(anchor.below, abs=1.5)
        assert block.body.offset_at(0, bar.value() + after.below - y) <= anchor.offset
        assert after.offset <= anchor.offset


def test_the_first_line_of_a_message_is_painted_at_the_same_height_again(
    transcript: Transcript, themes: theme.Themes
) -> None:
    transcript.resize(1400, 500)
    transcript.show_turns([Turn(n, "assistant", "word " * 400, author="") for n in range(6)])
    bar = transcript.verticalScrollBar()
    place = transcript.turns.top(2) + transcript.turns.blocks[2].text_top + theme.READING_LINE_PX * 3
    bar.setValue(place)
    ground = themes.current.colour("surface").name()
    shape = transcript._shape()
    rows = []
    for step in (0, 1, 1, -1, -1):
        if step:
            themes.step_text_size(step)
        shape = transcript._shape()
        rows.append(first_inked_row(on_screen(transcript), int(shape.left), int(shape.left) + 200, ground))
    assert max(rows) - min(rows) <= 3
    assert rows[0] == rows[-1]


def test_a_reader_at_the_end_stays_at_the_end(transcript: Transcript, themes: theme.Themes) -> None:
    mixed(transcript)
    transcript.go_to_end()
    for step in (2, -4, 1):
        themes.step_text_size(step)
        assert transcript.is_at_end


def test_everything_in_a_message_is_painted_as_if_it_had_been_opened_in_that_size(
    transcript: Transcript, themes: theme.Themes
) -> None:
    turns = [Turn(1, "user", PARAGRAPH), Turn(2, "assistant", LONG_ANSWER[:700], author="tiny")]
    transcript.show_turns(turns)
    on_screen(transcript)
    before = on_screen(transcript)
    themes.choose_text_size(150)
    changed = on_screen(transcript)
    transcript.show_turns(turns)
    assert on_screen(transcript) == changed != before
    themes.choose_text_size(100)
    assert on_screen(transcript) == before


def test_an_answer_that_is_written_goes_on_in_the_new_size(transcript: Transcript, themes: theme.Themes) -> None:
    turn = Turn(1, "assistant", "", state="writing", author="tiny")
    transcript.add(turn)
    for number, start in enumerate(range(0, 1500, 50)):
        if number % 7 == 3:
            themes.step_text_size(1 if number % 2 else -2)
        grow(transcript, turn, LONG_ANSWER[start : start + 50])
    grown = on_screen(transcript)
    turn.state = "done"
    transcript.refresh(turn)
    transcript.show_turns([turn])
    assert on_screen(transcript) == grown


def test_only_what_is_in_view_is_laid_out_when_ten_thousand_messages_change_their_size(
    transcript: Transcript, themes: theme.Themes, monkeypatch: pytest.MonkeyPatch
) -> None:
    mixed(transcript, 10_000)
    laid_out: list[TurnBlock] = []
    lay_out = TurnBlock.lay_out

    def note(block: TurnBlock, width: float) -> None:
        laid_out.append(block)
        lay_out(block, width)

    monkeypatch.setattr(TurnBlock, "lay_out", note)
    height = transcript.turns.total
    themes.choose_text_size(200)
    assert 0 < len(set(laid_out)) < 20
    assert transcript.turns.total > 1.5 * height


def test_the_column_holds_as_many_characters_in_every_size(transcript: Transcript, themes: theme.Themes) -> None:
    transcript.resize(2400, 500)
    for size in (70, 100, 200):
        themes.choose_text_size(size)
        advance = QFontMetricsF(theme.reading_font(theme.READING_PX)).horizontalAdvance("the quick brown fox ") / 20
        assert transcript._shape().width / advance == pytest.approx(78, abs=6)


def test_the_draft_is_written_in_the_size_of_the_text(themes: theme.Themes, qapp: QApplication) -> None:
    draft = Draft()
    themes.text_size_changed.connect(draft.use_text_size)
    small = draft.height()
    themes.choose_text_size(150)
    assert draft.font().pixelSize() == theme.reading_font(theme.READING_PX).pixelSize()
    assert draft.height() > small
    themes.choose_text_size(100)
    assert draft.height() == small
    draft.deleteLater()


def test_the_preferences_have_a_box_for_the_size(themes: theme.Themes, desk: Desk, qapp: QApplication) -> None:
    program = desk.program
    dialog = PreferencesDialog(program.settings, themes, program.disk_use, program.kept_states, program.offline)
    box = dialog.findChild(QDoubleSpinBox, "text_size_option")
    assert box is not None
    assert box.accessibleName() == "Text size in %"
    assert (box.minimum(), box.maximum(), box.value()) == (70, 200, 100)
    QTest.keyClick(box, Qt.Key.Key_Up)
    assert themes.text_size == program.settings.values.text_size == 110
    themes.step_text_size(1)
    assert box.value() == 125
    box.lineEdit().selectAll()
    QTest.keyClicks(box, "500")
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert themes.text_size == 200
    dialog.done(0)


def test_the_keys_for_the_size_are_those_that_browsers_have(qapp: QApplication) -> None:
    parent = Draft()
    actions = Actions(parent, parent)
    names = ("larger_text_action", "smaller_text_action", "normal_text_action", "print_action")
    keys = [[key.toString() for key in actions[name].shortcuts()] for name in names]
    assert keys == [["Ctrl++", "Ctrl+="], ["Ctrl+-"], ["Ctrl+0"], ["Ctrl+P"]]
    words = [actions[name].text().replace("&", "") for name in names]
    assert words == ["Larger text", "Smaller text", "Normal text size", "Print…"]
    parent.deleteLater()
