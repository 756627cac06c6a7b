"""Comparisons among random deletions, steps, forks, undos, other chats, restarts and failures: nothing hangs or is lost."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from app.core.commands import Compare, Generate
from app.core.comparison import LanePlan
from app.core.events import LanesPlanned
from app.core.metrics import StopReason
from app.core.sampling import SamplingSettings
from app.services.comparing import Comparing
from app.services.lane_starts import Lanes
from app.services.lanes_run import Lane
from tests.fake_lanes import FakeLanes
from tests.services.test_answer_walk import FAILURES, MOST_ENDS, OPEN, AnswerWalk

STEPS: tuple[StopReason, ...] = ("end", "length", "cancelled", "context_full")


class LaneWalk(AnswerWalk):
    """Some chats in which people compare, too."""

    @property
    def comparing(self) -> Comparing:
        return self.program.comparing

    @property
    def asked(self) -> Compare | Generate | None:
        """What the engine works on."""
        if self.program.session.phase != "busy":
            return None
        return next(each for each in reversed(self.desk.engine.sent) if isinstance(each, Compare | Generate))

    @property
    def lanes(self) -> FakeLanes:
        return self.desk.engine.lanes

    @property
    def answers(self) -> bool:
        return isinstance(self.asked, Generate)

    @property
    def compares(self) -> bool:
        return isinstance(self.asked, Compare)

    @property
    def is_planned(self) -> bool:
        return self.compares and self.planned == self.lanes.command.request

    def start(self) -> None:
        super().start()
        self.planned = 0

    def picked_lane(self, data: st.DataObject) -> Lane | None:
        run = self.comparing.shown
        return data.draw(st.sampled_from(run.lanes)) if run is not None and run.lanes else None

    # What people do

    @rule(data=st.data(), count=st.integers(1, 4), is_new=st.booleans())
    def compare(self, data: st.DataObject, count: int, is_new: bool) -> None:
        question = None if is_new else self.pick(data, "user")
        lanes = Lanes(tuple(SamplingSettings(seed=3, temperature=each / 2) for each in range(count)))
        text = self.new("compared") if question is None else ""
        can = self.comparing.refusal(question, text) is None
        assert self.comparing.begin(lanes, question, text) == can

    @rule()
    def compare_again(self) -> None:
        self.comparing.run_again()

    @rule(data=st.data())
    def look_at_one(self, data: st.DataObject) -> None:
        question = self.pick(data, "user")
        found = self.comparing.of(question) if question is not None else ()
        if found:
            one = data.draw(st.sampled_from(found))
            assert self.comparing.open(one.id)
            assert self.comparing.shown is not None and self.comparing.shown.comparison.id == one.id

    @precondition(lambda self: self.comparing.running is not None)
    @rule()
    def look_at_the_one_that_runs(self) -> None:
        assert self.comparing.running is not None
        assert self.comparing.open(self.comparing.running.comparison.id)
        assert self.comparing.shown is self.comparing.running

    @rule()
    def look_at_none(self) -> None:
        self.comparing.close()
        assert self.comparing.shown is None

    @rule(data=st.data())
    def keep(self, data: st.DataObject) -> None:
        if (lane := self.picked_lane(data)) is not None and self.comparing.keep(lane.index):
            assert lane.turn in self.chat.turns

    @rule(data=st.data())
    def pin(self, data: st.DataObject) -> None:
        if (lane := self.picked_lane(data)) is not None:
            self.comparing.pin(lane.index)

    @rule()
    def stop_all_lanes(self) -> None:
        self.comparing.stop()

    @rule(lane=st.integers(0, 3))
    def stop_a_lane(self, lane: int) -> None:
        self.comparing.stop_lane(lane)

    # What the engine does

    @precondition(lambda self: self.answers and not self.is_read)
    @rule()
    def read_the_prompt(self) -> None:
        answer = (5, 6) if self.desk.engine.chat.continue_last else ()
        self.desk.engine.prompt(answer=answer)
        self.prompted = self.desk.engine.question.request
        self.settle()

    @precondition(lambda self: self.answers and self.is_read)
    @rule()
    def write(self) -> None:
        self.desk.engine.write(self.new(" word"))
        self.settle()

    @precondition(lambda self: self.answers)
    @rule(reason=st.sampled_from(("end", "length", "cancelled")), rest=st.booleans())
    def finish(self, reason: StopReason, rest: bool) -> None:
        self.desk.engine.finish(reason, self.new(" rest") if rest and self.is_read else "")
        self.settle()

    @precondition(lambda self: self.asked is not None)
    @rule(kind=st.sampled_from(FAILURES))
    def fail(self, kind: str) -> None:
        assert self.asked is not None
        self.desk.engine.fail(kind, self.asked.request)  # type: ignore[arg-type]
        self.settle()

    @precondition(lambda self: self.compares and not self.is_planned)
    @rule()
    def plan_lanes(self) -> None:
        lanes = self.lanes
        lanes.prompt()
        plan = LanePlan((tuple(lanes.open),), (9,) * len(lanes.open))
        self.desk.engine.say(LanesPlanned(lanes.command.request, plan, (3,) * len(lanes.open)))
        self.planned = lanes.command.request
        self.settle()

    @precondition(lambda self: self.is_planned and self.lanes.open)
    @rule(data=st.data())
    def write_a_lane(self, data: st.DataObject) -> None:
        self.lanes.write(data.draw(st.sampled_from(self.lanes.open)), self.new(" lane"))
        self.settle()

    @precondition(lambda self: self.is_planned and self.lanes.open)
    @rule(data=st.data(), reason=st.sampled_from(STEPS))
    def end_a_lane(self, data: st.DataObject, reason: StopReason) -> None:
        self.lanes.finish(data.draw(st.sampled_from(self.lanes.open)), reason)
        self.settle()

    @precondition(lambda self: self.compares)
    @rule()
    def end_the_comparison(self) -> None:
        self.lanes.end()
        self.settle()

    @rule()
    def let_all_end(self) -> None:
        """Everything that was asked ends, and one can ask again."""
        self.settle()
        for _ in range(MOST_ENDS):
            if self.compares:
                self.end_the_comparison()
            elif self.answers:
                self.finish("end", rest=True)
            elif self.program.answers.runs or self.comparing.running is not None:
                self.load()
            else:
                break
        assert not self.program.answers.runs and not self.chat.busy
        assert self.comparing.running is None and not self.program.conversations.busy

    # What always holds

    @invariant()
    def all_is_well(self) -> None:
        super().all_is_well()
        self.no_comparison_hangs()
        self.lanes_are_kept()

    def no_comparison_hangs(self) -> None:
        running, shown = self.comparing.running, self.comparing.shown
        if running is not None:
            conversation = running.conversation
            assert running.is_running
            assert running.question.message in conversation.known, "it can be shown"
            assert conversation.head.deleted_ms is None
            assert self.program.conversations.in_memory(conversation.head.id) is conversation
            if self.program.session.phase in ("ready", "gone", "no_model"):
                raise AssertionError("the engine has nothing to do")
        if shown is not None:
            assert shown.conversation is self.chat.shown
            assert shown.question.message in self.chat.shown.known
            assert shown.lanes and (shown.is_running == (shown is running))
            known, hidden = self.chat.shown.known, self.chat.shown.lanes.hidden
            if not shown.is_running:
                assert not any(lane.is_open for lane in shown.lanes)
                assert all(lane.turn.message in known.keys() | hidden.keys() for lane in shown.lanes)
        for turn in self.chat.shown.lanes.hidden.values():
            is_its = running is not None and turn in running.turns
            assert turn.state not in OPEN or is_its, "nothing writes it"
            assert turn.parent is None or turn.parent in self.chat.shown.known

    def lanes_are_kept(self) -> None:
        if self.chat.shown.is_new:
            return
        read = self.read()
        texts = {message.id: message.text for message in read.messages}
        hidden = self.chat.shown.lanes.hidden
        for message, turn in hidden.items():
            assert texts.get(message) == turn.text
        told = {each.id: each for each in read.comparisons}
        there = hidden.keys() | self.chat.shown.known.keys()
        for key, comparison in self.chat.shown.lanes.comparisons.items():
            if any(message in there for message in comparison.lanes):
                assert told[key] == comparison

    def store_and_memory_agree(self) -> None:
        if self.shown.is_new:
            return
        kept = {message.id: message.text for message in self.read().messages}
        known = self.shown.known.keys() | self.shown.lanes.hidden.keys()
        assert known <= kept.keys()
        assert not any(kept[message] for message in kept.keys() - known)
        ended = {turn.message: turn.text for turn in self.shown.known.values() if turn.state not in OPEN}
        assert ended == {message: kept[message] for message in ended}
        head = next(head for head in self.program.conversations.heads if head.id == self.chat.conversation_id)
        assert head.deleted_ms is None


TestLaneWalk = LaneWalk.TestCase
TestLaneWalk.settings = settings(max_examples=30, stateful_step_count=50)
