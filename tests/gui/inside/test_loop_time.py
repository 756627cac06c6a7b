"""The ruler at the bottom of the loop: the time of the answer to scale, in words, live, and the way to the part Time."""

from __future__ import annotations

from array import array
from typing import NamedTuple

import msgspec
import pytest
from PySide6.QtCore import QEvent, QEventLoop, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.core.chat import PromptSpan
from app.core.events import PrefillProgress, PromptReady
from app.gui.inside.loop.time_words import TimeFace, round_span, sentence, time_face
from app.gui.inside.timing.bar_words import summary_words
from app.gui.inside.timing.gap_words import bins_sentence
from app.services.gap_bins import bins_of
from app.services.timeline_values import AnswerTimeline, Pause, TimePart
from tests.gui.inside.conftest import Inspector, desk, inspector, model, stage
from tests.gui.inside.test_loop import asks, catch_up, looks

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
MS = 1_000_000
PARTS = (
    TimePart("save", 0, 4 * MS),
    TimePart("queue", 4 * MS, 6 * MS),
    TimePart("template", 6 * MS, 7 * MS),
    TimePart("tokenise", 7 * MS, 9 * MS),
    TimePart("prefill", 9 * MS, 300 * MS, 0, 512),
    TimePart("prefill", 300 * MS, 549 * MS, 512, 900),
    TimePart("first_sample", 549 * MS, 551 * MS),
    TimePart("held_back", 551 * MS, 590 * MS),
    TimePart("paint", 590 * MS, 600 * MS),
)
DRAWN = [551 * MS, 561 * MS, 571 * MS, 591 * MS]


class Seen(NamedTuple):
    """What the ruler shows, without what is said of it."""

    rows: list[str]
    ends_ms: list[float]


def seen(face: TimeFace) -> Seen:
    return Seen([each.row for each in face.stretches], [each.end_ns / MS for each in face.stretches])


def test_parts_of_one_colour_are_one_stretch_and_the_decode_another() -> None:
    face = time_face(AnswerTimeline(1, PARTS, drawn_ns=DRAWN), "prefill", "done")
    assert seen(face) == Seen(["waiting", "tokens", "prefill", "sampling", "decode"], [6.0, 9.0, 549.0, 551.0, 591.0])
    starts = [each.start_ns for each in face.stretches]
    assert starts[1:] == [each.end_ns for each in face.stretches[:-1]], "what is held back lies beside the decode"
    assert face.span_ns == 591 * MS and face.marked == ("prefill",)
    assert not any(each.state for each in face.stretches)


def test_it_says_why_the_first_token_takes_longest() -> None:
    said = sentence(AnswerTimeline(1, PARTS, drawn_ns=DRAWN))
    assert (
        said == "Until the first token: 551 ms, of which prefill 540 ms; seen after 600 ms. "
        "Each of the 3 after it: 13.3 ms on average."
    )
    two = sentence(AnswerTimeline(1, PARTS, drawn_ns=DRAWN[:2]))
    assert two == (
        "Until the first token: 551 ms, of which prefill 540 ms; seen after 600 ms. The one after it: 10.0 ms."
    )
    unseen = PARTS[:7]
    assert sentence(AnswerTimeline(1, unseen)) == "Until the first token: 551 ms, of which prefill 540 ms."
    without = tuple(part for part in unseen if part.kind != "prefill")
    assert sentence(AnswerTimeline(1, without)) == "Until the first token: 551 ms."
    assert sentence(AnswerTimeline(1, (*without, PARTS[-1]))) == "Until the first token: 551 ms; seen after 600 ms."
    soon = AnswerTimeline(1, (*without, TimePart("paint", 551 * MS, 551 * MS + 9_000)))
    assert sentence(soon) == "Until the first token: 551 ms.", "nobody sees the difference"
    open_ = AnswerTimeline(1, unseen, drawn_ns=DRAWN[:1], is_open=True, shown_ns=600 * MS)
    assert sentence(open_) == "Until the first token: 551 ms, of which prefill 540 ms; seen after 600 ms."
    paused = AnswerTimeline(1, PARTS, drawn_ns=DRAWN, pauses=(Pause(3, None),))
    assert sentence(paused).endswith("Of the 3 after it 2 have a known time: 10.0 ms on average."), (
        "nobody knows the time before the last"
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (AnswerTimeline(1, is_open=True), "The prompt is being made."),
        (AnswerTimeline(1, PARTS[:5], is_open=True), "No token yet: 300 ms so far, of which prefill 291 ms."),
        (AnswerTimeline(1, unknown=("parts",)), "because the answer was interrupted"),
        (AnswerTimeline(1, unknown=("beginning", "steps")), "because the answer begins with one"),
    ],
)
def test_what_is_not_known_is_told_with_its_reason(line: AnswerTimeline, said: str) -> None:
    assert said in sentence(line)


@pytest.mark.parametrize(("ns", "span"), [(0, 0), (551, 600), (1_000, 1_000), (1_001, 1_500), (8_100, 10_000)])
def test_the_ruler_of_an_answer_that_grows_has_a_round_length(ns: int, span: int) -> None:
    assert round_span(ns) == span


def test_it_grows_while_the_answer_is_written_and_marks_what_runs(inspector: Inspector) -> None:
    part = asks(inspector)
    catch_up(part)
    assert not part.time.isEnabled() and "being made" in part.time.face.said
    engine = inspector.stage.engine
    request, sent_ns = engine.question.request, engine.question.sent_ns
    ids = array("i", range(40)).tobytes()
    engine.say(PromptReady(request, ids, (PromptSpan(0, 40, "prompt", 0),), 12, sent_ns + 3 * MS, seed=7))
    engine.say(PrefillProgress(request, 30, 40, 12, sent_ns + 80 * MS))
    inspector.stage.settle()
    catch_up(part)
    assert [(each.row, each.state) for each in part.time.face.stretches] == [("tokens", ""), ("prefill", "running")]
    inspector.stage.engine.write("w", 2)
    inspector.stage.engine.write("w", 2)
    inspector.stage.settle()
    catch_up(part)
    first = part.time.face
    assert first.stretches[-1].row == "decode" and "running" in part.time.accessibleName()
    inspector.stage.engine.hold()
    inspector.stage.settle()
    catch_up(part)
    assert part.time.face.stretches[-1].state == "waits"
    inspector.stage.engine.write("w", 3)
    inspector.stage.engine.finish()
    inspector.stage.settle()
    inspector.known()
    catch_up(part)
    last = part.time.face.stretches[-1]
    assert not last.state and last.end_ns - last.start_ns > first.stretches[-1].end_ns - first.stretches[-1].start_ns
    assert part.time.face.span_ns == last.end_ns, "it ends at the edge"


def test_bars_lie_to_scale_and_none_is_too_short_to_be_seen(inspector: Inspector) -> None:
    part = looks(inspector)
    parts = (TimePart("tokens", 0, 1_000), TimePart("prefill", 1_000, 500 * MS))
    line = AnswerTimeline(1, parts, drawn_ns=[500 * MS, 1_000 * MS])
    part.time.show_face(time_face(line, "stop", "done"))
    tokens, prefill, decode = map(part.time.rect_of, part.time.face.stretches)
    assert tokens.width() == 2.0 and abs(prefill.width() - decode.width()) < 0.01
    assert abs(prefill.right() - decode.left()) < 0.01 and decode.right() <= part.time.width()
    shown, look = part.time.grab().toImage(), inspector.stage.themes.current
    above = [shown.pixelColor(round(each.center().x()), round(each.top()) - 2) for each in (prefill, decode)]
    assert above[1] == look.colour("text") != above[0], "the one that is explained has a frame"


@pytest.mark.parametrize("way", ["click", "enter", "space"])
def test_it_leads_to_the_part_time(inspector: Inspector, way: str) -> None:
    inspector.answers()
    part = looks(inspector)
    assert part.time.isEnabled() and "Until the first token" in part.time.face.said
    part.time.setFocus()
    if way == "click":
        inspector.stage.clicks("loop_time")
    else:
        QTest.keyClick(part.time, Qt.Key.Key_Return if way == "enter" else Qt.Key.Key_Space)
    assert inspector.page.part == "time"


def test_the_stage_that_is_explained_is_marked(inspector: Inspector) -> None:
    inspector.answers()
    part = looks(inspector)
    marked = []
    for name in ("prefill", "kv"):
        inspector.stage.clicks(f"loop_{name}")
        marked.append(part.time.face.marked)
    assert marked == [("prefill",), ("prefill", "decode")]


def test_before_the_first_answer_it_says_what_comes_and_the_tour_shows_an_example(inspector: Inspector) -> None:
    part = looks(inspector)
    assert "Here you will see" in part.time.face.said and not part.time.isEnabled()
    height = part.time.height()
    inspector.stage.clicks("loop_tour_button")
    assert [each.row for each in part.time.face.stretches] == ["tokens", "prefill", "sampling", "decode"]
    assert part.time.height() == height, "nothing moves"


class Paints(QObject):
    """Counts how often a widget is painted."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802  Qt's name
        self.count += event.type() == QEvent.Type.Paint
        return super().eventFilter(watched, event)


def test_what_did_not_change_is_not_painted(inspector: Inspector) -> None:
    inspector.answers()
    part = looks(inspector)
    inspector.stage.settle()
    QEventLoop().processEvents()
    paints = Paints(part.time)
    for _each in range(3):
        part._picture.changed.emit()
        part._rest.timeout.emit()
    inspector.stage.settle()
    QEventLoop().processEvents()
    assert paints.count == 0
    inspector.stage.clicks("loop_prefill")
    inspector.stage.bot.waitUntil(lambda: paints.count > 0)


def test_one_step_is_told_as_one_in_the_timeline_too() -> None:
    two = AnswerTimeline(1, PARTS, drawn_ns=DRAWN[:2])
    one, three = (
        summary_words(line).replace("\xa0", " ") for line in (two, AnswerTimeline(1, PARTS, drawn_ns=DRAWN))
    )
    assert "1 decode step in 10.0 ms" in one and "3 decode steps in" in three
    gone_on = AnswerTimeline(1, PARTS, drawn_ns=DRAWN, pauses=(Pause(0, None), Pause(2, None)))
    assert "2 decode steps in" in summary_words(gone_on).replace("\xa0", " "), "one is of a time that nobody knows"
    assert bins_sentence(bins_of([10.0])) == "1 gap between neighbouring tokens: 10.0 ms"


def test_gaps_are_said_to_be_most_often_so_long_only_where_one_bar_stands_out() -> None:
    alike = bins_of([25.0, 75.0, 125.0, 175.0])
    assert bins_sentence(alike) == "4 gaps between neighbouring tokens, the longest 175 ms"
    peak = bins_of([25.0, 25.0, 75.0, 125.0])
    assert "; most often 25 to " in bins_sentence(peak)
    assert alike is not None and peak is not None
    assert "most often" not in bins_sentence(msgspec.structs.replace(peak, beyond=2)), "as many are longer than all"


def test_what_is_not_dealt_into_its_parts_yet_is_called_by_all_of_them() -> None:
    line = AnswerTimeline(1, (TimePart("before", 0, 19 * MS), *PARTS[4:6]), is_open=True)
    assert [each.words() for each in time_face(line, "prompt", "reading").stretches] == [
        "Queue and tokens 19.0 ms",
        "Prefill 540 ms, running",
    ]
    over = time_face(AnswerTimeline(1, PARTS, drawn_ns=DRAWN), "prompt", "done")
    assert [each.words() for each in over.stretches[:2]] == ["Waiting 6.00 ms", "Tokens 3.00 ms"]
    assert over.stretches[3].words() == "First sample 2.00 ms"
