"""What stands around an answer: its figures in lines, what is waited for, and what is copied of many."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor, QFontMetricsF, QGuiApplication
from pytestqt.qtbot import QtBot

from app.core.commands import SettingsChange
from app.core.events import Finished
from app.core.sampling import STAGES, SamplingSettings
from app.core.words import translate
from app.gui import theme
from app.gui.chat import copying, footer
from app.gui.chat.answer_text import AnswerText
from app.gui.chat.transcript import Transcript
from app.services.turns import Turn
from tests.fake_engine import metrics
from tests.gui.transcripts import grow, on_screen, themes, transcript

__all__ = ["themes", "transcript"]
LONG_NAME = "Qwen3-Coder-30B-A3B-Instruct-1M-UD-Q4_K_XL-tuned-for-something-very-special"


def answer(author: str = "tiny") -> Turn:
    finished = Finished(1, "Hello", b"", "end", metrics(128), 7, (SettingsChange(0, SamplingSettings()),))
    return Turn(1, "assistant", "Hello", author=author, finished=finished)


@pytest.mark.parametrize("author", ["", "tiny", LONG_NAME])
@pytest.mark.parametrize("width", [60.0, 150.0, 312.0, 480.0, 2000.0])
def test_figures_are_in_lines_that_fit_and_no_dot_hangs_at_an_end(
    transcript: Transcript, author: str, width: float
) -> None:
    parts = footer.parts(answer(author))
    metrics_of = QFontMetricsF(theme.font(theme.SMALL_PX))
    lines = footer.lines(parts, width, metrics_of)
    assert all(metrics_of.horizontalAdvance(line) <= width for line in lines)
    assert all(line == line.strip(" ·") != "" for line in lines)
    assert "·  ·" not in " ".join(lines)
    if width >= 312:
        assert lines[0].startswith("128 tokens · 77.6 tok/s · TTFT 112 ms")
    if width == 2000:
        assert lines == [" · ".join(parts)]


def changed(*settings: SamplingSettings) -> str:
    """Return the line under an answer that was written with these settings in turn."""
    changes = tuple(SettingsChange(10 * number, each) for number, each in enumerate(settings))
    finished = Finished(1, "Hello", b"", "end", metrics(128), 7, changes)
    return " · ".join(footer.parts(Turn(1, "assistant", "Hello", finished=finished)))


def test_the_line_names_every_filter_that_was_active() -> None:
    assert changed(SamplingSettings()).endswith("T 0.8 · top-k 40 · top-p 0.95 · min-p 0.05 · seed 7")
    assert changed(SamplingSettings(0.0, 0, 1.0, 0.0, repeat_penalty=1.1, dry_multiplier=0.5)).endswith(
        "end of answer · T 0 · repeat 1.1 · DRY 0.5 · seed 7"
    )
    many = SamplingSettings(1.0, 0, 1.0, 0.0, 0.9, 1.0, 0.2, 0.3, xtc_probability=0.5)
    assert changed(many).endswith("T 1 · typical-p 0.9 · frequency 0.2 · presence 0.3 · XTC 0.5 · seed 7")


def test_the_line_says_what_was_changed_while_the_answer_was_written() -> None:
    first, last = SamplingSettings(), SamplingSettings(temperature=2.0, top_k=0)
    assert "T 0.8 → 2 · top-k 40 → off · top-p 0.95 · min-p 0.05" in changed(first, last)
    assert "T 0.8 → … → 0.8 · top-k 40 → … → 40 · top-p 0.95" in changed(first, last, first)


def test_the_line_says_another_order_and_what_was_switched_off() -> None:
    hot = SamplingSettings(order=("temperature", *STAGES[:-1]))
    assert changed(hot).endswith("min-p 0.05 · temperature first · seed 7")
    bare = SamplingSettings(off=("top_p", "min_p"))
    assert changed(bare).endswith("T 0.8 · top-k 40 · without top-p, min-p · seed 7")
    said = changed(SamplingSettings(), hot, bare)
    assert "usual order → … → usual order · with all stages → without top-p, min-p" in said
    assert footer.active_settings(hot)[-1] == (
        "order",
        "temperature → penalties → DRY → top-k → typical-p → top-p → min-p → XTC",
    )
    assert footer.active_settings(bare)[-1] == ("switched off", "top-p, min-p")
    assert "top-p" not in dict(footer.active_settings(bare)) and "order" not in dict(footer.active_settings(bare))


def test_a_part_without_words_leaves_no_dot_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(footer, "render", lambda _sentence: "")
    assert "" not in footer.parts(answer())


def test_the_place_of_the_figures_grows_with_their_lines(transcript: Transcript) -> None:
    transcript.add(answer())
    heights = []
    for width in (900, 250):
        transcript.resize(width, 400)
        place = transcript.places.footer()
        assert place is not None
        heights.append(place.height())
    assert heights[0] < heights[1] < 4 * heights[0]


def test_what_goes_on_is_said_where_the_answer_will_be_until_it_comes(transcript: Transcript) -> None:
    turn = Turn(1, "assistant", "", state="waiting", author="tiny")
    transcript.add(turn)
    dots = on_screen(transcript)
    assert footer.waiting(turn) == "…"
    turn.doing = translate("Chat", "Loading {model}: {percent} %", model="tiny", percent=42)
    transcript.refresh(turn)
    loading = on_screen(transcript)
    assert footer.waiting(turn) == "Loading tiny: 42 %"
    assert loading != dots
    muted = QColor(transcript._themes.current.colours["muted"])
    block = transcript.turns.blocks[0]
    top = transcript.turns.top(0) + block.text_top
    line = {loading.pixelColor(x, y).name() for x in range(24, 200) for y in range(top, top + 20)}
    assert muted.name() in line
    grow(transcript, turn, "Hello")
    turn.state = "writing"
    transcript.refresh(turn)
    said = on_screen(transcript)
    transcript.show_turns([Turn(1, "assistant", "Hello", state="writing", author="tiny")])
    assert on_screen(transcript) == said


def test_a_very_long_name_of_what_is_loaded_keeps_the_percent_in_view(transcript: Transcript) -> None:
    turn = Turn(1, "assistant", "", state="waiting")
    pictures = []
    for percent in (41, 42):
        turn.doing = translate("Chat", "Loading {model}: {percent} %", model=LONG_NAME * 3, percent=percent)
        transcript.show_turns([turn])
        pictures.append(on_screen(transcript))
    assert pictures[0] != pictures[1]


def test_many_messages_are_copied_bit_by_bit_without_laying_them_out(
    transcript: Transcript, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = [Turn(n, "assistant" if n % 2 else "user", f"{n}: **bold** `code`") for n in range(400)]
    transcript.show_turns(turns)
    transcript.grab()
    laid: list[AnswerText] = []
    lay_out = AnswerText.lay_out

    def note(text: AnswerText, width: float) -> None:
        laid.append(text)
        lay_out(text, width)

    monkeypatch.setattr(AnswerText, "lay_out", note)
    monkeypatch.setattr(copying, "SLICE_MS", 0)
    QGuiApplication.clipboard().setText("before")
    transcript.select_all()
    transcript.copy()
    assert transcript._copying.is_under_way
    assert QGuiApplication.clipboard().text() == "before"
    transcript.show_turns([Turn(999, "user", "other")])
    laid.clear()
    qtbot.waitUntil(lambda: not transcript._copying.is_under_way, timeout=60_000)
    expected = [f"{n}: **bold** `code`" for n in range(400)]
    assert QGuiApplication.clipboard().text() == "\n\n".join(expected)
    assert laid == []


def test_a_short_selection_is_on_the_clipboard_at_once(transcript: Transcript) -> None:
    transcript.add(Turn(1, "assistant", "Some **bold** words"))
    transcript.select_all()
    transcript.copy()
    assert not transcript._copying.is_under_way
    assert QGuiApplication.clipboard().text() == "Some **bold** words"
    transcript._selection.clear()
    transcript.copy()
    assert QGuiApplication.clipboard().text() == "Some **bold** words"


def test_a_reason_that_is_longer_than_a_line_is_read_whole() -> None:
    reason = "The engine stopped while it loaded the model: choose fewer GPU layers, or download it again."
    measure = QFontMetricsF(theme.font(theme.SMALL_PX))
    lines = footer.lines([reason], 200.0, measure)
    assert len(lines) > 1
    assert " ".join(lines) == reason
    assert all(measure.horizontalAdvance(line) <= 200.0 for line in lines)


def test_an_answer_that_a_person_wrote_is_not_told_as_the_models() -> None:
    assert footer.who(Turn(1, "assistant", "So", author="tiny")) == "tiny"
    assert footer.who(Turn(1, "assistant", "So", author="tiny", edited=True)) == "tiny · edited by you"
    assert footer.who(Turn(1, "assistant", "So", edited=True)) == "Answer · edited by you"
    assert footer.who(Turn(1, "user", "So")) == "You"
