"""Comparisons: several lanes answer one prompt, live, are kept, opened again, and one of them can become the answer.

One comparison runs at a time. Knows no view.
"""

from __future__ import annotations

import msgspec

from app.core.chat import ChatPrompt, clean_text
from app.core.commands import SettingsChange
from app.core.comparison import MOST_LANES, Comparison
from app.core.signal import Signal
from app.core.store_events import Kept
from app.core.words import Sentence, translate
from app.services.answers import Answers
from app.services.chat import Chat
from app.services.engine_session import EngineSession
from app.services.failure_remedies import KEPT_WITH_ITS_QUESTION
from app.services.keeper import Keeper
from app.services.lane_keeper import LaneKeeper
from app.services.lane_starts import Lanes
from app.services.lanes_follower import LanesFollower
from app.services.lanes_run import Lane, LanesRun
from app.services.lanes_there import asked_again, lane_of, lanes_there, question_of, seeded
from app.services.notices import Notices
from app.services.open_conversation import OpenConversation, prompt_messages, take_title
from app.services.turns import Turn
from app.services.wishes import LanesQuestion
from app.system.settings_file import SettingsFile


class Comparing:
    """The comparison that people look at, and the one that runs; often they are the same."""

    def __init__(
        self,
        session: EngineSession,
        chat: Chat,
        answers: Answers,
        keeper: Keeper,
        settings: SettingsFile,
        notices: Notices,
    ) -> None:
        self.opened: Signal[()] = Signal()
        """Another comparison is looked at, or none."""
        self.changed: Signal[()] = Signal()
        """What is known of the comparison that is looked at is something else: its plan, prefill, baseline, end."""
        self.busy_changed: Signal[()] = Signal()
        """A comparison began or ended."""
        self._session = session
        self._chat = chat
        self._answers = answers
        self._keeper = keeper
        self._lane_keeper = LaneKeeper(keeper)
        self._settings = settings
        self._shown: LanesRun | None = None
        self._running: LanesRun | None = None
        self._follower = LanesFollower(session, self._lane_keeper, keeper, settings, notices)
        self.lane_grew = self._follower.lane_grew
        """A lane of the comparison with this id grew by a text: (comparison, lane, text)."""
        self.lane_changed = self._follower.lane_changed
        """A lane of the comparison with this id is another one than it was: its state, or all of its text."""
        self._follower.changed.connect(self._take_changed)
        self._follower.ended.connect(self._take_end)
        chat.opened.connect(self._leave)
        chat.asking.rebranched.connect(lambda conversation, _first: self._look_for_it(conversation))
        answers.rebranched.connect(lambda conversation, _first: self._look_for_it(conversation))
        answers.busy_changed.connect(self._leave_alone)

    @property
    def shown(self) -> LanesRun | None:
        """The comparison that people look at."""
        return self._shown

    @property
    def running(self) -> LanesRun | None:
        """The comparison that runs, or waits for its turn."""
        return self._running

    def refusal(self, question: Turn | None, text: str = "") -> Sentence | None:
        """Return why no comparison of this question, or of this new one, can begin now; None where it can."""
        if self._running is not None:
            return _ANOTHER
        if question is None and not clean_text(text).strip():
            return _NO_PROMPT
        if self._chat.busy and question is None:
            return _BUSY
        return None

    def begin(self, lanes: Lanes, question: Turn | None, text: str = "") -> bool:
        """Compare the answers to a question of the chat that is shown, or to a new one behind what is shown.

        False where `refusal` says why.
        """
        shown = self._chat.shown
        is_there = question is None or shown.known.get(question.message) is question
        if not is_there or self.refusal(question, text) is not None or not 0 < len(lanes.settings) <= MOST_LANES:
            return False
        asked = None
        if question is None:
            asked = question = self._ask(shown, clean_text(text))
        run = self._new_run(shown, question, asked, lanes)
        shown.lanes.put(run.comparison, run.turns)
        self._running = self._shown = run
        self._follower.follow(run)
        self._lane_keeper.begun(run)
        if asked is not None:
            self._chat.head_changed.emit()
        self.opened.emit()
        self.busy_changed.emit()
        return True

    def run_again(self) -> bool:
        """Run the comparison that is looked at once more, beside what is there; False where it cannot be now."""
        shown = self._shown
        if shown is None or shown.is_running:
            return False
        return self.begin(asked_again(shown), shown.question)

    def of(self, question: Turn) -> tuple[Comparison, ...]:
        """Return the comparisons of a question of the chat that is shown, oldest first."""
        conversation = self._chat.shown
        known = conversation.lanes.comparisons.values()
        return tuple(each for each in known if question_of(conversation, each) is question)

    def open(self, comparison: int) -> bool:
        """Look at a comparison of the chat that is shown, or at the one that runs, and its chat; False where it is gone."""
        conversation = self._chat.shown
        running = self._running
        if running is not None and running.comparison.id == comparison:
            if running.conversation is not conversation:
                self._chat.show(running.conversation)
            self._show(running)
            return True
        kept = conversation.lanes.comparisons.get(comparison)
        question = question_of(conversation, kept) if kept is not None else None
        if kept is None or question is None:
            return False
        self._show(LanesRun(0, conversation, kept, question, lanes_there(conversation, kept), is_running=False))
        return True

    def close(self) -> None:
        """Look at no comparison any more; one that runs goes on."""
        self._show(None)

    def stop(self) -> None:
        """End all lanes; what was written stays."""
        run = self._running
        if run is None:
            return
        self._session.cancel(run.request)  # one that waits has ended with this
        if run.is_running and not run.is_kept:
            self._follower.give_up(run, _STOPPED)

    def stop_in(self, conversation: OpenConversation) -> None:
        """End the comparison that runs in a conversation that is deleted, if one does."""
        run = self._running
        if run is not None and run.conversation is conversation:
            self._follower.give_up(run, _CHAT_DELETED)  # at once: nobody waits for what the engine says of it
            self._session.cancel(run.request)

    def stop_lane(self, lane: int) -> None:
        """End one lane of the comparison that runs, or waits; the others go on."""
        run = self._running
        if run is not None and run.is_kept:
            self._session.cancel(run.request, lane)
        elif run is not None:
            run.stopped.append(lane)

    def pin(self, lane: int) -> None:
        """Compare the other lanes with this one."""
        run = self._shown
        if run is not None and any(each.index == lane for each in run.lanes):
            self._change(run, baseline=lane)

    def keep(self, lane: int) -> bool:
        """Make a lane the answer of its conversation, which goes on with it; False while it is written."""
        run = self._shown
        found = next((each for each in run.lanes if each.index == lane), None) if run is not None else None
        if run is None or found is None or found.is_open or not found.turn.text:
            return False
        conversation = run.conversation
        if conversation is not self._chat.shown or lane_of(conversation, found.turn.message) is None:
            return False
        if lane not in run.comparison.kept:
            self._change(run, kept=(*run.comparison.kept, lane))
        conversation.lanes.release(found.turn)
        is_there = found.turn.message in conversation.known
        first = conversation.show(conversation.leaf_through(found.turn)) if is_there else conversation.add(found.turn)
        conversation.change_head(leaf=conversation.leaf, changed_ms=self._keeper.stamps.now_ms())
        self._keeper.head(conversation.head)
        self._chat.asking.rebranched.emit(conversation, first)
        self._chat.head_changed.emit()
        return True

    def take_kept(self, event: Kept) -> None:
        """A comparison is on disk, or cannot be: now the engine may see it."""
        run = self._running
        if run is None or event.request != run.request or run.is_kept:
            return
        run.is_kept, conversation = True, run.conversation
        if not event.on_disk:
            self._answers.unkept.emit(conversation)
        messages = prompt_messages(
            conversation.head.system_prompt, [*conversation.before(run.question), run.question]
        )
        self._session.ask(
            LanesQuestion(
                run.request,
                ChatPrompt(tuple(messages)),
                tuple(lane.settings for lane in run.lanes),
                record=self._settings.values.keep_record,
                when_full=self._settings.values.when_full,
            )
        )
        for lane in run.stopped:
            self._session.cancel(run.request, lane)

    def _ask(self, conversation: OpenConversation, text: str) -> Turn:
        """Put a new question behind what is shown."""
        self._chat.asking.prepare()
        take_title(conversation, text, self._keeper.stamps.now_ms())
        question = self._chat.asking.turn("user", conversation.leaf, text)
        first = conversation.add(question)
        self._chat.asking.rebranched.emit(conversation, first)
        return question

    def _new_run(self, conversation: OpenConversation, question: Turn, asked: Turn | None, lanes: Lanes) -> LanesRun:
        stamps = self._keeper.stamps
        number = stamps.new_id()
        wanted, model = seeded(lanes.settings), self._session.model
        made: list[Lane] = []
        for index, settings in enumerate(wanted):
            turn = self._chat.asking.turn("assistant", question.message)
            turn.state, turn.author = "waiting", self._session.name or ""
            turn.comparison, turn.lane = number, index
            turn.seed, turn.settings = settings.seed, (SettingsChange(0, settings),)
            turn.model, turn.tokenizer = self._session.ref, model.tokenizer if model is not None else ""
            made.append(Lane(index, turn, settings))
        comparison = Comparison(
            id=number,
            conversation=conversation.head.id,
            parent=question.message,
            created_ms=stamps.now_ms(),
            lanes=tuple(lane.turn.message for lane in made),
            baseline=min(max(lanes.baseline, 0), len(made) - 1),
            layout=lanes.layout,
        )
        return LanesRun(self._session.new_request(), conversation, comparison, question, made, asked)

    def _change(self, run: LanesRun, **changes: object) -> None:
        run.comparison = msgspec.structs.replace(run.comparison, **changes)
        run.conversation.lanes.put(run.comparison)
        self._lane_keeper.comparison(run.comparison)
        if run is self._shown:
            self.changed.emit()

    def _show(self, run: LanesRun | None) -> None:
        if run is not self._shown:
            self._shown = run
            self.opened.emit()

    def _take_changed(self, run: LanesRun) -> None:
        if run is self._shown:
            self.changed.emit()

    def _take_end(self, run: LanesRun) -> None:
        if run is self._running:
            self._running = None
            self.busy_changed.emit()
        if not run.wrote and run.asked is not None and run.failure not in (None, *KEPT_WITH_ITS_QUESTION):
            self._answers.return_question(run.conversation, run.asked)
        if not run.wrote and run is self._shown:
            self._show(None)
        elif run is self._shown:
            self._look_at_lanes(run)  # one that was kept may have been deleted meanwhile
            self.changed.emit()

    def _leave(self) -> None:
        """Another chat is shown: what is looked at belongs to it or is closed."""
        if self._shown is not None and self._shown.conversation is not self._chat.shown:
            self._show(None)

    def _look_for_it(self, conversation: OpenConversation) -> None:
        """End what goes on, and look at nothing, where the question was deleted; other turns may stand for lanes.

        It can stand in a branch that is not shown, or in a chat that is not.
        """
        run = self._running
        if run is not None and run.conversation is conversation and run.question.message not in conversation.known:
            self._follower.give_up(run, _DELETED)
            self._session.cancel(run.request)
        shown = self._shown
        if shown is None or shown.conversation is not conversation:
            return
        if shown.question.message not in conversation.known:
            self._show(None)
        elif not shown.is_running:
            self._look_at_lanes(shown)

    def _leave_alone(self, conversation: OpenConversation) -> None:
        """Look at a lane as it was while the answer that it became goes on."""
        earlier = conversation.run.earlier if conversation.run is not None else None
        for run in (self._shown, self._running):
            if run is None or earlier is None or earlier.comparison != run.comparison.id:
                continue
            for lane in run.lanes:
                if lane.index == earlier.lane:
                    lane.turn = earlier

    def _look_at_lanes(self, run: LanesRun) -> None:
        """Look at the lanes that are there, as they were: one that was kept and goes on is another message by then."""
        before = [lane.index for lane in run.lanes]
        known = [*run.lanes, *run.deleted]
        run.lanes = lanes_there(run.conversation, run.comparison, known)
        there = {lane.index for lane in run.lanes}
        run.deleted = [lane for lane in known if lane.index not in there]
        if not run.lanes:
            self._show(None)
        elif [lane.index for lane in run.lanes] != before:
            self.opened.emit()


_ANOTHER = translate("Comparing", "Another comparison is running: wait for its end, or stop it.")
_NO_PROMPT = translate("Comparing", "Write a prompt first: all lanes answer it.")
_BUSY = translate("Comparing", "An answer is being written in this chat: wait for its end, or stop it.")
_STOPPED = translate("Comparing", "Stopped before the model began to answer.")
_DELETED = translate("Comparing", "Interrupted: its question was deleted.")
_CHAT_DELETED = translate("Comparing", "Interrupted: its chat was deleted.")
