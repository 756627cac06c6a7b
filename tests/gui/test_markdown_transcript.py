from __future__ import annotations

import random

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QContextMenuEvent, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from app.core.commands import SettingsChange
from app.core.events import Finished
from app.core.sampling import SamplingSettings
from app.gui import theme
from app.gui.chat import footer
from app.gui.chat.answer_text import AnswerText
from app.gui.chat.column_widths import SCROLLED_PX, column_widths
from app.gui.chat.transcript import Transcript
from app.gui.markdown.colouring import Lexers, Work
from app.services.turns import Turn
from app.system.settings_file import Theme as Choice
from tests.fake_engine import metrics
from tests.gui.transcripts import (
    Hints,
    click,
    copied_whole,
    finish,
    grow,
    hints,
    marked_text,
    on_screen,
    spots,
    themes,
    transcript,
)

__all__ = ["hints", "themes", "transcript"]

ANSWER = """# Title

Some **bold** and `code` and a [link](https://example.org/a?b=<c>) or https://example.org.

1. one
2. two
   - deep

> quoted

```python
def first():
    return 1  # one
```

| a | b |
|---|--:|
| 1 | two |

The end.
"""
SEEN = """Title

Some bold and code and a link or https://example.org.

1. one
2. two
  • deep

quoted

def first():
    return 1  # one

a\tb
1\ttwo

The end."""


def colours_of(picture: QImage) -> set[str]:
    return {picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())}


def is_near(wanted: QColor, seen: set[str]) -> bool:
    """Return whether a colour, or nearly that colour, is among those seen: thin strokes are blurred."""
    parts = [(QColor(each).red(), QColor(each).green(), QColor(each).blue()) for each in seen]
    red, green, blue = wanted.red(), wanted.green(), wanted.blue()
    return any(abs(part[0] - red) + abs(part[1] - green) + abs(part[2] - blue) < 40 for part in parts)


def test_an_answer_is_copied_as_it_is_read(transcript: Transcript) -> None:
    transcript.add(Turn(1, "user", "**as typed** <b>"))
    transcript.add(Turn(2, "assistant", ANSWER))
    assert copied_whole(transcript) == f"**as typed** <b>\n\n{SEEN}"


@pytest.mark.parametrize("seed", range(4))
def test_an_answer_that_was_streamed_looks_like_one_that_was_opened(transcript: Transcript, seed: int) -> None:
    transcript.resize(700, 1000)
    chance = random.Random(seed)
    turn = Turn(1, "assistant", "", state="writing", author="tiny")
    transcript.add(turn)
    start = 0
    while start < len(ANSWER):
        end = start + chance.randint(1, 25)
        grow(transcript, turn, ANSWER[start:end])
        if chance.random() < 0.5:
            painted = on_screen(transcript)
            transcript.viewport().update()
            assert on_screen(transcript) == painted, ANSWER[:end]
        start = end
    finish(transcript, turn)
    streamed = on_screen(transcript)
    transcript.show_turns([Turn(2, "assistant", ANSWER, author="tiny")])
    assert on_screen(transcript) == streamed


def test_blocks_that_are_closed_are_neither_read_nor_laid_out_again(qapp: QApplication) -> None:
    answer = AnswerText(Lexers(), theme.READING_LINE_PX)
    answer.set_text("", is_open=True)
    answer.lay_out(500)
    answer.append(ANSWER)
    kept = [laid.leaf for laid in answer._laid[:-2]]
    for _ in range(20):
        answer.append("\n\nMore words.")
    assert [laid.leaf for laid in answer._laid[: len(kept)]] == kept
    assert answer.open_top > answer._stack.top(len(answer._laid) - 3)


def test_code_that_grows_keeps_its_lines(qapp: QApplication) -> None:
    answer = AnswerText(Lexers(), theme.READING_LINE_PX)
    answer.set_text("```py\n", is_open=True)
    answer.lay_out(500)
    leaf = answer._laid[0].leaf
    for number in range(300):
        answer.append(f"value = {number}\n")
    assert answer._laid[0].leaf is leaf
    assert answer.height - answer.open_top < 80 < answer.height


def test_a_click_on_a_link_asks_to_open_it_and_opens_nothing(transcript: Transcript) -> None:
    clicked: list[str] = []
    transcript.link_clicked.connect(clicked.append)
    transcript.add(Turn(1, "assistant", ANSWER))
    transcript.resize(700, 900)
    named, bare = spots(transcript, "link")
    click(transcript, named)
    click(transcript, bare)
    assert clicked == ["https://example.org/a?b=<c>", "https://example.org"]


def test_a_drag_over_a_link_selects_and_opens_nothing(transcript: Transcript) -> None:
    clicked: list[str] = []
    transcript.link_clicked.connect(clicked.append)
    transcript.add(Turn(1, "assistant", "A [long link text](https://example.org) here."))
    (link,) = spots(transcript, "link")
    view, middle = transcript.viewport(), int(link.rect.center().y())
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=QPoint(int(link.rect.left()) + 2, middle))
    end = QPoint(int(link.rect.right()) - 12, middle)
    QTest.mouseMove(view, end)
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=end)
    assert marked_text(transcript).startswith("long link")
    assert clicked == []


def test_where_a_link_leads_is_said_on_hover_as_plain_text(transcript: Transcript, hints: Hints) -> None:
    transcript.add(Turn(1, "assistant", "[bank](https://evil.example/<b>x</b>) and words"))
    (link,) = spots(transcript, "link")
    assert hints.at(transcript, link.rect.center().toPoint()) == "<qt>https://evil.example/&lt;b&gt;x&lt;/b&gt;</qt>"
    assert hints.at(transcript, link.rect.center().toPoint() + QPoint(150, 0)) == ""
    QTest.mouseMove(transcript.viewport(), link.rect.center().toPoint())
    assert transcript.viewport().cursor().shape() is Qt.CursorShape.PointingHandCursor
    QTest.mouseMove(transcript.viewport(), QPoint(5, 390))
    assert transcript.viewport().cursor().shape() is Qt.CursorShape.IBeamCursor


def test_code_is_copied_with_one_click_and_that_is_said(transcript: Transcript, qtbot: QtBot) -> None:
    transcript.add(Turn(1, "assistant", "```sh\nls -l\ncd <there>\n```"))
    QGuiApplication.clipboard().setText("")
    (button,) = spots(transcript, "copy")
    before = on_screen(transcript)
    click(transcript, button)
    assert QGuiApplication.clipboard().text() == "ls -l\ncd <there>"
    assert on_screen(transcript) != before
    assert spots(transcript, "copy")[0].rect == button.rect
    qtbot.waitUntil(lambda: transcript._spots.copied is None, timeout=60_000)


def test_links_and_code_are_reached_and_used_by_keyboard(transcript: Transcript, qtbot: QtBot) -> None:
    clicked: list[str] = []
    transcript.link_clicked.connect(clicked.append)
    transcript.add(Turn(1, "assistant", ANSWER))
    transcript.verticalScrollBar().setValue(0)
    transcript.resize(700, 900)
    with qtbot.waitActive(transcript):
        transcript.activateWindow()
    transcript.setFocus()
    plain = on_screen(transcript)
    QTest.keyClick(transcript, Qt.Key.Key_Tab)
    assert on_screen(transcript) != plain
    QTest.keyClick(transcript, Qt.Key.Key_Return)
    QTest.keyClick(transcript, Qt.Key.Key_Tab)
    QTest.keyClick(transcript, Qt.Key.Key_Space)
    QTest.keyClick(transcript, Qt.Key.Key_Tab)
    QTest.keyClick(transcript, Qt.Key.Key_Return)
    assert clicked == ["https://example.org/a?b=<c>", "https://example.org"]
    assert QGuiApplication.clipboard().text() == "def first():\n    return 1  # one"
    QTest.keyClick(transcript, Qt.Key.Key_Backtab, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(transcript, Qt.Key.Key_Return)
    assert clicked[-1] == "https://example.org"


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
def test_the_context_menu_offers_what_can_be_done_with_a_link(transcript: Transcript) -> None:
    clicked: list[str] = []
    transcript.link_clicked.connect(clicked.append)
    transcript.add(Turn(1, "assistant", "[x](https://example.org)"))
    (link,) = spots(transcript, "link")
    place = link.rect.center().toPoint()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, transcript.viewport().mapToGlobal(place))
    QApplication.sendEvent(transcript.viewport(), event)
    menu = transcript.findChild(QMenu)
    assert menu is not None
    entries = {action.text(): action for action in menu.actions()}
    assert list(entries) == ["Open link", "Copy link", "", "Copy", "Copy as plain text", "Select all"]
    entries["Open link"].trigger()
    entries["Copy link"].trigger()
    assert clicked == ["https://example.org"] == [QGuiApplication.clipboard().text()]
    menu.close()


def test_a_wide_table_stays_inside_its_column(transcript: Transcript) -> None:
    head = "| " + " | ".join(f"column {number} with words" for number in range(9)) + " |\n" + "|---" * 9 + "|\n"
    transcript.add(Turn(1, "assistant", head + "| " + " | ".join(["wide " * 9] * 9) + " |"))
    picture = on_screen(transcript)
    surface = QColor(transcript._themes.current.colours["surface"])
    assert all(picture.pixelColor(x, y) == surface for x in (4, picture.width() - 20) for y in range(5, 390))
    assert not transcript.horizontalScrollBar().isVisible()


def test_columns_share_the_room_and_narrow_ones_keep_theirs() -> None:
    assert column_widths([50, 60], 500) == [50, 60]
    shared = column_widths([50.0, 900.0, 900.0], 450)
    assert shared[0] == 50
    assert shared[1] == pytest.approx(200, abs=1)
    assert column_widths([50.0, *[500.0] * 40], 400) == [50.0, *[SCROLLED_PX] * 40]


@pytest.mark.parametrize("look", ["light", "dark", "contrast"])
def test_code_has_the_colours_of_the_theme_and_all_can_be_read(
    transcript: Transcript, themes: theme.Themes, look: Choice
) -> None:
    themes.choose(look)
    transcript.add(Turn(1, "assistant", ANSWER))
    transcript.resize(700, 900)
    seen = colours_of(on_screen(transcript))
    for token in ("code_keyword", "code_comment", "code_name", "link", "sunken", "surface"):
        assert is_near(themes.current.colour(token), seen), token
    sunken = themes.current.colour("sunken")
    for token in themes.current.colours:
        if token.startswith("code_"):
            assert theme.contrast(themes.current.colour(token), sunken) >= 4.5


def test_the_theme_changes_the_colours_of_an_answer_and_no_place(
    transcript: Transcript, themes: theme.Themes
) -> None:
    themes.choose("light")
    transcript.add(Turn(1, "assistant", ANSWER))
    transcript.resize(700, 900)
    light = spots(transcript, "link")
    themes.choose("dark")
    assert spots(transcript, "link") == light
    picture, (link, _other) = on_screen(transcript), light
    corner = transcript.viewport().pos()
    assert is_near(themes.current.colour("link"), colours_of(picture.copy(link.rect.toRect().translated(corner))))
    assert is_near(themes.current.colour("text"), colours_of(picture.copy(30, 20, 600, 360)))


def test_the_line_under_an_answer_names_the_settings_and_hover_says_the_rest(
    transcript: Transcript, hints: Hints
) -> None:
    changes = SettingsChange(0, SamplingSettings()), SettingsChange(3, SamplingSettings(temperature=0.5))
    finished = Finished(1, "Hello", b"", "end", metrics(4), 7, changes)
    transcript.add(Turn(1, "assistant", "Hello", author="tiny", finished=finished))
    block = transcript.turns.blocks[0]
    assert footer.line(block.turn).endswith("tiny · T 0.8 → 0.5 · top-k 40 · top-p 0.95 · min-p 0.05 · seed 7")
    place = transcript.places.footer()
    assert place is not None
    said = hints.at(transcript, place.center())
    for part in ("Seed: 7", "min-p 0.05", "Prefill: 131 tok/s", "Prompt: 40 tokens", "From token 3 on"):
        assert part.replace(" 0.05", "\u00a00.05") in said
    assert "DRY" not in said
    one_line = place.height()
    transcript.resize(360, 400)
    narrow = transcript.places.footer()
    assert narrow is not None
    assert narrow.height() > one_line


def test_code_is_coloured_line_by_line_while_it_is_written_and_whole_at_its_end(
    transcript: Transcript, themes: theme.Themes
) -> None:
    turn = Turn(1, "assistant", "", state="writing")
    transcript.add(turn)
    grow(transcript, turn, "```python\nclass Name:\n    '''one\n    import two\n    three'''\nx = 1\n")
    writing = on_screen(transcript)
    grow(transcript, turn, "```\n")
    finish(transcript, turn)
    closed = on_screen(transcript)
    transcript.show_turns([Turn(2, "assistant", turn.text)])
    assert on_screen(transcript) == closed
    keyword = themes.current.colour("code_keyword").name()
    assert keyword in colours_of(writing)
    assert keyword in colours_of(closed)
    assert colours_of(writing) != colours_of(closed)


def test_a_language_that_is_loaded_in_the_background_is_coloured_when_it_is_there(
    transcript: Transcript, themes: theme.Themes, qtbot: QtBot
) -> None:
    waiting: list[Work] = []
    transcript.lexers.use(waiting.append)
    transcript.add(Turn(1, "assistant", "```python\nclass Name: pass\n```"))
    keyword = themes.current.colour("code_keyword").name()
    assert keyword not in colours_of(on_screen(transcript))
    assert len(waiting) == 1
    waiting.pop()()
    qtbot.waitUntil(lambda: keyword in colours_of(on_screen(transcript)), timeout=60_000)
    qtbot.waitUntil(lambda: not transcript._again.isActive(), timeout=60_000)
    assert waiting == []


@pytest.mark.parametrize("language", ["", "no-such-language", "text"])
def test_code_in_an_unknown_language_is_shown_in_one_colour(transcript: Transcript, language: str) -> None:
    transcript.add(Turn(1, "assistant", f"```{language}\nclass Name: pass\n```"))
    transcript.grab()
    assert not transcript._again.isActive()
    assert copied_whole(transcript) == "class Name: pass"
