"""Thinking over an answer in a real window: folded to one line, unfolded by mouse and keyboard, left out of copies."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.core.conversation import Thinking
from app.core.events import Finished, Tokens
from app.core.thinking_tags import DEFAULT_PAIRS
from app.gui.chat import footer
from app.gui.chat.answer_text import AnswerText
from app.gui.chat.thinking_view import ThinkingView
from app.gui.chat.thoughtful_text import ThoughtfulText
from app.gui.chat.transcript import Transcript
from app.gui.chat.turn_block import TurnBlock
from app.gui.markdown.colouring import Lexers
from app.services.thinking import Thoughts
from app.services.turns import Turn
from tests.fake_engine import metrics
from tests.gui.transcripts import click, copied_whole, finish, grow, marked_text, on_screen, spots, themes, transcript

__all__ = ["themes", "transcript"]
MS = 1_000_000
THOUGHT = "Sunlight has all colours.\n\nThe air scatters blue most."
SAID = "Because of **scattering**.\n\n- air\n- light"
READ = "Because of scattering.\n\n• air\n• light"


def kept(number: int = 1, *, closed: bool = True, text: str | None = None) -> Turn:
    """Return an answer that was kept."""
    whole = text or (f"<think>\n{THOUGHT}\n</think>\n\n{SAID}" if closed else f"<think>\n{THOUGHT}")
    thinking = Thinking(tokens=214, ms=3_210.0, first_answer_ms=3_400.0 if closed else None, closed=closed)
    return Turn(number, "assistant", whole, author="tiny", thoughts=Thoughts.kept(whole, thinking))


def begun(*, opened: bool = False) -> Turn:
    """Return an answer that is waited for."""
    return Turn(1, "assistant", "", "waiting", "tiny", thoughts=Thoughts(DEFAULT_PAIRS, opened=opened))


def write(transcript: Transcript, turn: Turn, text: str, at_ms: int, tokens: int = 1) -> None:
    """Let an answer grow as the services do it: first what is known of its thinking, then its text."""
    turn.state = "writing"
    assert turn.thoughts is not None
    event = Tokens(1, 0, tokens, b"", text, b"", 0, at_ms * MS, at_ms * MS)
    turn.thoughts.take(event)
    grow(transcript, turn, text)


def end(transcript: Transcript, turn: Turn) -> None:
    assert turn.thoughts is not None
    turn.thoughts.finish()
    finish(transcript, turn)


def line(transcript: Transcript, index: int = 0) -> str:
    """Return the line over the thinking."""
    body = transcript.turns.blocks[index].body
    assert isinstance(body, ThoughtfulText)
    return body.thinking.words if body.thinking is not None else ""


def read_aloud(transcript: Transcript) -> tuple[str, str]:
    """Return what a screen reader says of the answer: its text, and what stands around it."""
    message = QAccessible.queryAccessibleInterface(transcript).child(0)
    return message.text(QAccessible.Text.Value), message.text(QAccessible.Text.Description)


def test_thinking_is_folded_to_one_line_over_the_answer(transcript: Transcript) -> None:
    transcript.add(kept())
    assert line(transcript) == "Thought for 3.2 s · 214 tokens"
    assert transcript.turns.blocks[0].text == READ
    folded = transcript.turns.blocks[0].height
    (spot,) = spots(transcript, "think")
    assert spot.rect.height() >= 28
    click(transcript, spot)
    assert transcript.turns.blocks[0].text == f"{THOUGHT}\n\n{READ}"
    assert transcript.turns.blocks[0].height > folded
    click(transcript, spots(transcript, "think")[0])
    assert transcript.turns.blocks[0].height == folded
    assert transcript.turns.blocks[0].text == READ


def test_folding_by_keyboard_keeps_the_keyboard_there_and_says_the_state(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript.add(kept())
    said: list[str] = []
    conversation = QAccessible.queryAccessibleInterface(transcript)
    assert conversation is not None
    assert transcript.conversation is not None
    monkeypatch.setattr(transcript.conversation, "announce", said.append)
    transcript.setFocus()
    transcript.grab()
    QTest.keyClick(transcript, Qt.Key.Key_Tab)
    QTest.keyClick(transcript, Qt.Key.Key_Return)
    assert transcript.turns.blocks[0].text.startswith(THOUGHT)
    QTest.keyClick(transcript, Qt.Key.Key_Space)
    assert transcript.turns.blocks[0].text == READ
    words = "Button: Thought for 3.2 s · 214 tokens"
    assert said == [f"{words}, folded", f"{words}, unfolded", f"{words}, folded"]


def test_what_is_read_aloud_says_what_the_thinking_took_and_reads_it_unfolded(transcript: Transcript) -> None:
    transcript.add(kept())
    assert read_aloud(transcript) == (READ, "Thought for 3.2 s · 214 tokens, folded")
    click(transcript, spots(transcript, "think")[0])
    assert read_aloud(transcript) == (f"{THOUGHT}\n\n{READ}", "Thought for 3.2 s · 214 tokens, unfolded")


def test_a_copy_has_the_answer_and_unfolded_the_thinking_too(transcript: Transcript) -> None:
    transcript.add(Turn(0, "user", "Why?"))
    transcript.add(kept())
    assert copied_whole(transcript) == f"Why?\n\n{READ}"
    click(transcript, spots(transcript, "think")[0])
    assert marked_text(transcript) == ""
    assert copied_whole(transcript) == f"Why?\n\n{THOUGHT}\n\n{READ}"


def test_thinking_is_selected_by_mouse_where_it_is_unfolded(transcript: Transcript) -> None:
    transcript.add(kept())
    click(transcript, spots(transcript, "think")[0])
    block, view = transcript.turns.blocks[0], transcript.viewport()
    left, top = int(transcript._shape().left), transcript.turns.top(0) - transcript._scrolled
    start, end_of_line = (QPoint(left + x, top + block.text_top + 36) for x in (22, 690))
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(view, end_of_line)
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=end_of_line)
    assert marked_text(transcript) == THOUGHT.splitlines()[0]
    QTest.mouseDClick(view, Qt.MouseButton.LeftButton, pos=QPoint(left + 40, top + block.footer_top - 10))
    assert marked_text(transcript) == "light"


def test_each_character_is_found_where_it_lies(transcript: Transcript) -> None:
    transcript.add(kept())
    click(transcript, spots(transcript, "think")[0])
    transcript.grab()
    body = transcript.turns.blocks[0].body
    text = transcript.turns.blocks[0].text
    found = [body.offset_at(20.0, float(y)) for y in range(int(body.height))]
    assert found == sorted(found)
    assert found[0] == 0
    assert any(text[each:].startswith("The air") for each in found)
    for offset in {*found}:
        top, bottom = body.span_of(offset)
        assert top <= found.index(offset) + 1
        assert bottom >= found.index(offset)


def test_while_it_streams_the_line_says_how_long_and_how_much(transcript: Transcript) -> None:
    turn = begun()
    transcript.add(turn)
    write(transcript, turn, "<thi", 100)
    assert line(transcript) == ""
    assert transcript.turns.blocks[0].text == ""
    write(transcript, turn, "nk>Sun", 600)
    assert line(transcript) == "Thinking … 0.5 s · 2 tokens"
    assert read_aloud(transcript)[0] == "Thinking … 0.5 s · 2 tokens, folded"
    write(transcript, turn, "light", 2_200, 118)
    assert line(transcript) == "Thinking … 2.1 s · 120 tokens"
    height = transcript.turns.blocks[0].height
    write(transcript, turn, " and more\n" * 30, 2_400, 30)
    assert transcript.turns.blocks[0].height == height
    write(transcript, turn, "</think>", 3_300)
    assert line(transcript) == "Thought for 3.2 s · 151 tokens"
    write(transcript, turn, "\n\nBecause of **scatt", 3_400)
    assert transcript.turns.blocks[0].text.startswith("Because of")
    write(transcript, turn, "ering**.", 3_500)
    end(transcript, turn)
    assert line(transcript) == "Thought for 3.2 s · 151 tokens"
    assert transcript.turns.blocks[0].text == "Because of scattering."


def test_thinking_that_the_prompt_opened_is_shown_from_its_first_token(transcript: Transcript) -> None:
    turn = begun(opened=True)
    transcript.add(turn)
    write(transcript, turn, "Sunlight", 100)
    assert line(transcript) == "Thinking … 0.0 s · 1 token"
    write(transcript, turn, "\n</think>\n", 300)
    write(transcript, turn, "Yes", 400)
    assert (line(transcript), transcript.turns.blocks[0].text) == ("Thought for 0.2 s · 2 tokens", "Yes")


@pytest.mark.parametrize("unfolded", [False, True])
@pytest.mark.parametrize("opened", [False, True])
def test_an_answer_that_grew_looks_like_one_that_was_kept(
    transcript: Transcript, unfolded: bool, opened: bool
) -> None:
    text = f"{THOUGHT}\n</think>\n\n{SAID}\n\n```python\nx = 1\n```\n"
    pieces = ["" if opened else "<think>\n", *(text[at : at + 3] for at in range(0, len(text), 3))]
    turn = begun(opened=opened)
    transcript.add(turn)
    for number, piece in enumerate(pieces):
        write(transcript, turn, piece, 100 + 10 * number)
        if unfolded and number == 2:
            click(transcript, spots(transcript, "think")[0])
        on_screen(transcript)
    end(transcript, turn)
    grown, said = on_screen(transcript), transcript.turns.blocks[0].text
    assert turn.thoughts is not None
    again = Turn(1, "assistant", turn.text, author="tiny", thoughts=Thoughts.kept(turn.text, turn.thoughts.thinking))
    transcript.show_turns([again])
    if unfolded:
        click(transcript, spots(transcript, "think")[0])
        QTest.mouseMove(transcript.viewport())
    assert transcript.turns.blocks[0].text == said
    assert on_screen(transcript) == grown


def test_no_line_above_the_thinking_or_the_open_block_moves_while_it_grows(transcript: Transcript) -> None:
    turn = begun()
    transcript.add(turn)
    write(transcript, turn, "<think>a", 100)
    click(transcript, spots(transcript, "think")[0])
    block = transcript.turns.blocks[0]
    tops = []
    for number in range(40):
        write(transcript, turn, f" word {number}\n", 200 + number)
        assert block.changed_top <= block.text_top
        tops.append(spots(transcript, "think")[0].rect.top() + transcript._scrolled)
    write(transcript, turn, "</think>\n\nYes\n\n", 300)
    above = block.body.height
    for number in range(10):
        write(transcript, turn, f"and {number}\n\n", 400 + number)
        assert block.changed_top > above / 2
        tops.append(
            spots(transcript, "think")[0].rect.top() + transcript._scrolled if transcript._scrolled == 0 else tops[0]
        )
    assert len(set(tops)) == 1


def test_thinking_that_never_ended_is_marked(transcript: Transcript) -> None:
    turn = begun()
    transcript.add(turn)
    write(transcript, turn, "<think>Sunlight", 100, 2)
    assert line(transcript).startswith("Thinking …")
    turn.state = "interrupted"
    assert turn.thoughts is not None
    turn.thoughts.finish()
    transcript.refresh(turn)
    assert line(transcript) == "Thinking was not finished: 0.0 s · 2 tokens"
    transcript.show_turns([kept(closed=False)])
    assert line(transcript) == "Thinking was not finished: 3.2 s · 214 tokens"
    assert copied_whole(transcript) == ""


def test_what_turned_out_to_be_thinking_goes_over_the_answer(transcript: Transcript) -> None:
    turn = begun()
    transcript.add(turn)
    write(transcript, turn, "I wonder.\n", 100)
    assert (line(transcript), transcript.turns.blocks[0].text) == ("", "I wonder.")
    write(transcript, turn, "</think>\n\n", 200)
    assert (line(transcript), transcript.turns.blocks[0].text) == ("Thought for 0.1 s · 2 tokens", "")
    write(transcript, turn, "Yes", 300)
    end(transcript, turn)
    assert transcript.turns.blocks[0].text == "Yes"


def test_thinking_behind_the_beginning_of_an_answer_goes_over_it(transcript: Transcript) -> None:
    turn = begun()
    transcript.add(turn)
    for number, piece in enumerate(("Wait. \n", "<think>", "so", "</think>", "Yes")):
        write(transcript, turn, piece, 100 * number)
    end(transcript, turn)
    assert transcript.turns.blocks[0].text == "Wait.\n\nYes"
    assert line(transcript) == "Thought for 0.3 s · 3 tokens"


@pytest.mark.parametrize("text", ["Write `<think>` first.", "```\n<think>\n```", "The <think> tag", "a </think> b"])
def test_a_literal_tag_is_text(transcript: Transcript, text: str) -> None:
    turn = begun()
    transcript.add(turn)
    for at, character in enumerate(text):
        write(transcript, turn, character, at)
    end(transcript, turn)
    assert line(transcript) == ""
    assert spots(transcript, "think") == []
    plain = TurnBlock(Turn(2, "assistant", text))
    plain.lay_out(600)
    assert transcript.turns.blocks[0].text == plain.text


def test_a_persons_tags_are_text(transcript: Transcript) -> None:
    turn = Turn(1, "user", "<think>hm</think>Yes")
    transcript.add(turn)
    assert transcript.turns.blocks[0].text == turn.text


def test_an_old_answer_has_no_figures_of_its_thinking(transcript: Transcript) -> None:
    text = f"<think>{THOUGHT}</think>{SAID}"
    transcript.add(Turn(1, "assistant", text, thoughts=Thoughts.kept(text, None)))
    assert line(transcript) == "Thoughts"
    assert copied_whole(transcript) == READ


def test_a_kept_answer_is_parted_only_where_somebody_looks(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    part = ThoughtfulText._part

    def noted(text: ThoughtfulText) -> None:
        if text._is_stale:
            read.append(id(text))
        part(text)

    monkeypatch.setattr(ThoughtfulText, "_part", noted)
    transcript.show_turns([kept(number) for number in range(300)])
    assert 0 < len(read) < 100


def test_the_figures_tell_both_times_to_the_first_token(transcript: Transcript) -> None:
    turn = kept()
    turn.ttft_ms = 120.0
    turn.finished = Finished(1, turn.text, b"", "end", metrics(4), 7, ())
    assert "TTFT 120 ms (thinking) · 3,400 ms (answer)" in footer.parts(turn)
    turn.thoughts = None
    assert "TTFT 120 ms" in footer.parts(turn)


def test_a_preference_can_unfold_the_thinking(qapp: QApplication) -> None:
    answer = AnswerText(Lexers(), 23)
    view = ThinkingView(answer, is_folded=False)
    view.show("one", Thinking(tokens=1, ms=10.0), is_open=False)
    view.lay_out(400)
    assert view.text == "one"
    assert view.line() == "Thought for 0.0 s · 1 token, unfolded"
    assert view.height > ThinkingView(answer).height


def test_paper_has_the_answer_alone() -> None:
    block = TurnBlock(kept(), on_paper=True)
    block.lay_out(600)
    assert block.text == READ
    block.refresh()
    assert block.text == READ


def test_ctrl_c_of_everything(transcript: Transcript) -> None:
    transcript.add(kept())
    QTest.keySequence(transcript, QKeySequence(QKeySequence.StandardKey.SelectAll))
    transcript.copy_plain()
    assert QGuiApplication.clipboard().text() == READ
