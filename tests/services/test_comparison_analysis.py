"""The analysis of the comparison that is looked at: of what just ran, of what was kept, and when something goes wrong."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from app.core.job_events import LanesAnalysed
from app.core.sampling import SamplingSettings
from app.core.store_commands import ReadPrompt, ReadRecord, StoreCommand
from app.probability.divergence import divergence
from app.services import analysing
from app.services.chat import Chat
from app.services.comparison_analysis import ComparisonAnalysis
from app.services.lane_analysis import Analysis, LaneWhatIf, LaneWords
from app.services.lane_starts import Lanes
from app.services.lanes_run import LanesRun
from tests.desk import Desk
from tests.services.recorded_lanes import OPEN, RecordedLead, load, some_rows

COLD = msgspec.structs.replace(OPEN, temperature=0.5)
NARROW = msgspec.structs.replace(OPEN, top_k=2)
PENALISED = msgspec.structs.replace(OPEN, presence_penalty=1.5)
LANES = Lanes((OPEN, COLD, NARROW, PENALISED))
COUNT = 20


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "home", monkeypatch)
    made.program.conversations.start()
    load(made, model)
    yield made
    made.program.stop()


@pytest.fixture
def chat(desk: Desk) -> Chat:
    return desk.program.chat


@pytest.fixture
def lead(desk: Desk) -> RecordedLead:
    return RecordedLead(desk, some_rows(COUNT))


def begun(desk: Desk, lead: RecordedLead, lanes: Lanes = LANES) -> LanesRun:
    assert desk.program.comparing.begin(lanes, None, "Why is the sky blue?")
    desk.settle()
    lead.begin()
    run = desk.program.comparing.running
    assert run is not None
    return run


def ran(desk: Desk, lead: RecordedLead, lanes: Lanes = LANES) -> Analysis:
    """Let a comparison run to its end, and return its analysis."""
    begun(desk, lead, lanes)
    for number in range(len(lanes.settings)):
        lead.finish_drawn(number)
    lead.end()
    return analysed(desk)


def analysed(desk: Desk) -> Analysis:
    """Wait for the newest analysis."""
    analysis = desk.program.comparison_analysis
    desk.until(lambda: not analysis.is_busy)
    assert analysis.shown is not None
    return analysis.shown


def reopened(desk: Desk) -> Analysis:
    """Look at the newest comparison of the first question."""
    kept = desk.program.comparing.of(desk.program.chat.turns[0])[-1]
    assert desk.program.comparing.open(kept.id)
    return analysed(desk)


def replay_of(desk: Desk, lane: int, settings: SamplingSettings) -> LaneWhatIf:
    analysis = desk.program.comparison_analysis
    analysis.ask_what_if(lane, settings)
    desk.until(lambda: not analysis.is_busy)
    assert analysis.what_if is not None
    return analysis.what_if


def words_of(desk: Desk, first: int, second: int) -> LaneWords:
    analysis = desk.program.comparison_analysis
    analysis.ask_words(first, second)
    desk.until(lambda: not analysis.is_busy)
    assert analysis.words is not None
    return analysis.words


def test_each_lane_is_told_apart_from_the_baseline_with_places_and_reasons(desk: Desk, lead: RecordedLead) -> None:
    found = ran(desk, lead)
    lanes = [lead.drawn[number] for number in range(4)]
    assert found.is_whole and found.baseline == 0 and [lane.index for lane in found.lanes] == [0, 1, 2, 3]
    assert found.divergences[0] is None
    for number in (1, 2, 3):
        expected, told = divergence(lanes[0], lanes[number]), found.divergence(number)
        assert expected is not None and told is not None
        assert (told.token, told.kind, told.stage) == (
            expected.index,
            expected.reason.kind,
            expected.reason.stage,
        )
        one, other = found.lanes[0], found.lanes[number]
        assert one.text[: told.in_baseline.start] == other.text[: told.in_lane.start]
        assert told.baseline_token is not None and told.lane_token is not None
        assert one.text[told.in_baseline.start : told.in_baseline.end] == told.baseline_token.text
        assert other.text[told.in_lane.start : told.in_lane.end] == told.lane_token.text
        assert told.lane_token.token == lanes[number].tokens[told.token]
        assert told.draws is not None and "the same number" in told.draws.english()
        assert [each.rank for each in told.picture] == sorted(each.rank or 0 for each in told.picture)
    assert {each.stage for each in found.divergences if each is not None} == {"temperature", "top_k", "penalties"}


def test_the_figures_and_the_sparklines_are_those_of_the_record_and_of_the_engine(
    desk: Desk, lead: RecordedLead
) -> None:
    found = ran(desk, lead)
    for number, lane in enumerate(found.lanes):
        records = lead.drawn[number].records
        assert records is not None
        figures = lane.figures
        assert (figures.length, figures.recorded, figures.stop_reason) == (COUNT, COUNT, "length")
        assert figures.mean_log_probability == pytest.approx(records.log_probability.mean(), rel=1e-5)
        assert lane.entropies == tuple(records.entropy.astype(float).tolist())
        assert lane.surprise == tuple((-records.log_probability).astype(float).tolist())
        assert (figures.itl_p50_ms, figures.tokens_per_s, figures.shared_ttft_ms) == (13.0, 77.6, 112.4)
        assert len(lane.token_starts) == COUNT + 1 and lane.token_starts[-1] == len(lane.text)


def test_all_lanes_are_one_tree_that_says_each_of_their_texts(desk: Desk, lead: RecordedLead) -> None:
    found = ran(desk, lead)
    assert found.tree[0].parent is None and found.tree[0].lanes == (0, 1, 2, 3)
    for lane in found.lanes:
        way = [node for node in found.tree if lane.index in node.lanes]
        assert "".join(node.text for node in way) == lane.text
        assert [node.end for node in way][:-1] == [node.start for node in way][1:]
        assert [node for node in found.tree if lane.index in node.ends] == way[-1:]


def test_a_kept_comparison_says_after_a_start_what_it_said_right_after_it_ran(
    desk: Desk, lead: RecordedLead, again: Callable[[], Desk]
) -> None:
    before = ran(desk, lead)
    dry = msgspec.structs.replace(OPEN, dry_multiplier=0.8, top_k=10)
    replayed, compared = replay_of(desk, 1, dry), words_of(desk, 0, 2)
    assert replayed.tokens and compared.spans
    desk.program.stop()
    later = again()
    assert later.program.vocabulary.tokenizer != "made-up"
    assert reopened(later) == before
    assert replay_of(later, 1, dry) == replayed
    assert words_of(later, 0, 2) == compared


def test_another_baseline_is_another_analysis(desk: Desk, lead: RecordedLead) -> None:
    first = ran(desk, lead)
    desk.program.comparing.pin(2)
    second = analysed(desk)
    assert second.baseline == 2 and second.divergences[2] is None
    one, other = first.divergence(2), second.divergence(0)
    assert one is not None and other is not None and one.token == other.token
    assert (one.baseline_token, one.lane_token) != (other.baseline_token, other.lane_token)


def test_while_lanes_run_they_are_analysed_when_one_ends_and_when_somebody_asks(
    desk: Desk, lead: RecordedLead
) -> None:
    begun(desk, lead)
    analysis = desk.program.comparison_analysis
    lead.draw(0, 12)
    assert not analysis.is_busy and analysis.shown is None, "tokens alone begin no work"
    lead.finish_drawn(1)
    found = analysed(desk)
    assert not found.is_whole and [lane.figures.length for lane in found.lanes] == [12, COUNT, 0, 0]
    assert found.lanes[0].figures.stop_reason is None and found.lanes[0].figures.tokens_per_s is not None
    lead.draw(2, 4)
    assert not analysis.is_busy
    analysis.refresh()
    assert [lane.figures.length for lane in analysed(desk).lanes] == [12, COUNT, 4, 0]


@pytest.mark.parametrize("record", ["chosen", "off"])
def test_what_was_not_recorded_is_not_known(desk: Desk, record: str, again: Callable[[], Desk]) -> None:
    lead = RecordedLead(desk, some_rows(COUNT), record)
    before = ran(desk, lead)
    told, whole = before.divergence(2), divergence(lead.drawn[0], lead.drawn[2])
    figures = before.lanes[2].figures
    assert told is not None and whole is not None
    assert told.kind in ("unknown", whole.reason.kind if record == "chosen" else "unknown")
    replayed = replay_of(desk, 2, msgspec.structs.replace(OPEN, top_p=0.9))
    if record == "off":
        assert (figures.recorded, figures.perplexity, figures.mean_entropy) == (0, None, None)
        assert told.picture == () and told.lane_token is not None and told.lane_token.raw is None
        assert "nothing was recorded" in told.reason.english()
        assert replayed.problem is not None and replayed.tokens == ()
        assert all(node.probability is None for node in before.tree)
    else:
        assert figures.recorded == COUNT and figures.perplexity is not None
        assert replayed.problem is None and len(replayed.tokens) == COUNT
        assert not any(each.is_exact for each in replayed.tokens)
    assert figures.length == COUNT and figures.repetition is not None
    desk.program.stop()
    assert reopened(again()) == before


def test_a_lane_that_wrote_nothing_is_there_without_figures(desk: Desk, lead: RecordedLead) -> None:
    begun(desk, lead)
    for number in range(3):
        lead.finish_drawn(number)
    lead.finish_drawn(3, 0, "cancelled")
    lead.end()
    found = analysed(desk)
    empty = found.lanes[3]
    assert (empty.text, empty.figures.length, empty.figures.perplexity) == ("", 0, None)
    assert empty.token_starts == (0,) and empty.surprise == ()
    assert found.divergence(3) is None, "it was stopped before it could leave anything"
    assert 3 in found.tree[0].ends


def test_lanes_that_were_deleted_are_missing_and_another_one_is_the_baseline(
    desk: Desk, lead: RecordedLead, again: Callable[[], Desk]
) -> None:
    ran(desk, lead)
    assert desk.program.comparing.keep(0)
    desk.program.branches.delete(desk.program.chat.turns[-1])
    desk.settle()
    desk.program.stop()
    found = reopened(again())
    assert [lane.index for lane in found.lanes] == [1, 2, 3]
    assert found.baseline == 1 and found.divergences[0] is None
    assert {each.lane for each in found.divergences if each is not None} == {2, 3}
    assert found.tree[0].lanes == (1, 2, 3)


def test_a_lane_that_was_interrupted_has_what_was_recorded_of_it(
    desk: Desk, lead: RecordedLead, again: Callable[[], Desk]
) -> None:
    begun(desk, lead, Lanes((OPEN, COLD)))
    lead.finish_drawn(0)
    lead.draw(1, 10)
    desk.engine.die(lead.asked.request)
    desk.settle()
    before = analysed(desk)
    figures = before.lanes[1].figures
    assert (figures.length, figures.recorded, figures.stop_reason) == (10, 10, None)
    assert figures.tokens_per_s == pytest.approx(1000 / 13) and figures.itl_p50_ms == pytest.approx(13)
    desk.program.stop()
    assert reopened(again()) == before


def test_a_job_that_breaks_tells_a_sentence_and_the_next_one_works(
    desk: Desk, lead: RecordedLead, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_inputs: object) -> Analysis:
        raise RuntimeError("broken")

    analysis = desk.program.comparison_analysis
    with monkeypatch.context() as patched, caplog.at_level(logging.CRITICAL, "app.system.jobs"):
        patched.setattr(analysing, "analyse", broken)
        begun(desk, lead)
        lead.finish_drawn(0)
        desk.until(lambda: not analysis.is_busy)
    assert analysis.shown is None and analysis.problem is not None
    assert "could not be analysed" in analysis.problem.english()
    analysis.refresh()
    assert analysed(desk).lanes[0].figures.length == COUNT and analysis.problem is None


def test_nothing_is_known_of_a_comparison_that_nobody_looks_at_any_more(desk: Desk, lead: RecordedLead) -> None:
    ran(desk, lead)
    analysis = desk.program.comparison_analysis
    told: list[Analysis | None] = []
    analysis.changed.connect(lambda: told.append(analysis.shown))
    analysis.refresh()
    desk.program.comparing.close()
    assert analysis.shown is None and not analysis.is_busy and told[-1] is None
    said = _next_of(desk)
    assert said is not None and analysis.shown is None, "what a job found of it meanwhile is passed over"
    analysis.ask_what_if(0, COLD)
    analysis.ask_words(0, 1)
    analysis.refresh()
    assert not analysis.is_busy


def _next_of(desk: Desk) -> LanesAnalysed | None:
    heard: list[LanesAnalysed] = []
    take = desk.program.comparison_analysis.take

    def note(event: LanesAnalysed) -> None:
        heard.append(event)
        take(event)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ComparisonAnalysis, "take", lambda _self, event: note(event))
        desk.until(lambda: heard)
    return heard[-1]


def test_every_question_to_the_store_is_asked_once_and_answers_to_others_are_ignored(
    desk: Desk, lead: RecordedLead
) -> None:
    ran(desk, lead)
    sent: list[StoreCommand] = []
    send = desk.store.send

    def note(command: StoreCommand) -> None:
        sent.append(command)
        send(command)

    desk.program.comparing.close()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(desk.store, "send", note)
        reopened(desk)
        desk.program.comparing.pin(1)
        found = analysed(desk)
    messages = [lane.message for lane in found.lanes]
    assert [command.message for command in sent if isinstance(command, ReadRecord)] == messages
    assert [command.message for command in sent if isinstance(command, ReadPrompt)] == messages[:1]


def test_lanes_that_are_not_there_are_not_asked_about(desk: Desk, lead: RecordedLead) -> None:
    ran(desk, lead)
    analysis = desk.program.comparison_analysis
    analysis.ask_what_if(9, COLD)
    analysis.ask_words(0, 9)
    assert not analysis.is_busy and analysis.what_if is None and analysis.words is None
