"""Answers on their way, in whatever conversation: asked, kept and grown; how they end is `answer_ends`.

Several may be asked; the engine writes one after another. Knows no view.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from app.core.chat import ChatPrompt, PromptMessage, last_asked
from app.core.commands import SettingsChange
from app.core.events import Failed, Finished, Held, Loaded, LoadProgress, PrefillProgress, PromptReady, Tokens
from app.core.sampling import SamplingSettings
from app.core.signal import Signal
from app.core.store_commands import ReadPrompt
from app.core.store_events import Kept, PromptRead
from app.core.thinking_tags import tag_pairs
from app.core.words import Sentence
from app.services.answer_ends import AnswerEnds
from app.services.engine_session import EngineSession
from app.services.keeper import Keeper
from app.services.notices import Notice, Notices
from app.services.open_conversation import Made, OpenConversation, Run, prompt_messages
from app.services.questions import AnswerEvent
from app.services.reread_prompt import digest_before
from app.services.thinking import Thoughts
from app.services.turns import Turn
from app.services.wishes import Unkept
from app.system.settings_file import SettingsFile


class Answers(AnswerEnds):
    """The runs of all conversations; each belongs to its turn, whatever is shown."""

    def __init__(self, session: EngineSession, keeper: Keeper, settings: SettingsFile, notices: Notices) -> None:
        super().__init__(session, keeper, notices)
        self.unkept: Signal[OpenConversation] = Signal()
        """A question could not be kept: the conversation is in memory alone."""
        self.settled: Signal[Sentence | None] = Signal()
        """Nothing would be lost if the program ended now, or this says why, and asks whether it may."""
        self.pace_of: Callable[[OpenConversation], float | None] = lambda _conversation: None
        """At which pace the answer of a conversation is written now, as `SetPace` says it."""
        self._settings = settings
        self._settling: int | None = None
        session.answer_told.connect(self._take)
        session.load_told.connect(self._take_load)

    @property
    def runs(self) -> tuple[Run, ...]:
        """The answers that are asked or written, in the order in which they were asked."""
        return tuple(self._runs.values())

    def begin(self, run: Run) -> None:
        """Keep what was asked, then ask for the answer."""
        conversation = run.conversation
        conversation.run = self._runs[run.request] = run
        self._notices.clear_passing()
        self.busy_changed.emit(conversation)
        question = self._unkept[run.request] = Unkept(
            run.request,
            ChatPrompt(tuple(_messages(run)), continue_last=run.beginning.goes_on),
            self._wanted(run),
            record=self._settings.values.keep_record,
            when_full=self._settings.values.when_full,
            first_token=run.beginning.tokens,
            tokens_per_s=self.pace_of(conversation),
            forced=run.forced,
            conversation=conversation.head.id,
        )
        if run.beginning.continues and run.earlier is not None and run.earlier.behind is None:
            self._keeper.send(ReadPrompt(run.request, run.earlier.message))  # answered before its question is kept
        self._keeper.question(run)
        if run.request in self._unkept:
            self._session.ask(question)  # it waits with the others, and ends with them where no model comes

    def settle(self) -> bool:
        """Have everything written that waits; `settled` follows, unless False says that nothing was ever said."""
        self._settling = self._session.new_request()
        return self._keeper.settle(self._settling)

    def take_kept(self, event: Kept) -> None:
        """A question is on disk, or cannot be: now the model may see it."""
        if event.request == self._settling:
            self._settling = None
            self.settled.emit(event.problem)
            return
        question, run = self._unkept.pop(event.request, None), self._runs.get(event.request)
        if question is not None and run is not None:
            if not event.on_disk:
                self.unkept.emit(run.conversation)
            saved_ns = time.perf_counter_ns() - run.began_ns
            self._session.ask(question.kept(self._wanted(run), self.pace_of(run.conversation), saved_ns))

    def take_prompt_read(self, event: PromptRead) -> None:
        """Know what an answer that goes on was written behind."""
        run = self._runs.get(event.request)
        if run is not None and run.earlier is not None and event.prompt is not None:
            run.earlier.behind = digest_before(event.prompt)

    def stop(self, conversation: OpenConversation) -> None:
        """End the answer of a conversation; what was written stays."""
        if conversation.run is not None:
            self._session.cancel(conversation.run.request)

    def leave(self, conversation: OpenConversation, reason: Sentence) -> None:
        """End the answer of a conversation at once, as it is: nothing that is still said of it counts."""
        run = conversation.run
        if run is None:
            return
        if run.turn.state == "waiting" and run.earlier is not None:
            self._restore(run, run.earlier)
        else:
            self._interrupt(run, reason)
        self._session.cancel(run.request)

    def stop_all(self) -> None:
        """End every answer."""
        for run in self.runs:
            self.stop(run.conversation)

    def use_settings(self, conversation: OpenConversation) -> None:
        """Let an answer go on with the settings that its conversation has now."""
        if conversation.run is not None:
            self._session.change_settings(self._wanted(conversation.run), conversation.run.request)

    def use_pace(self) -> None:
        """Let every answer be written at the pace that it has now."""
        for run in self.runs:
            self._session.set_pace(run.request, self.pace_of(run.conversation))

    def note_ttft(self, conversation: OpenConversation, turn: Turn, ttft_ms: float | None) -> None:
        """Keep the time to the first painted character, in ms, of an answer that ended before it was painted."""
        turn.ttft_ms = ttft_ms
        self._keeper.keep_answer(conversation, turn)
        self.changed.emit(conversation, turn)

    def note_end(self, turn: Turn, whole: Finished) -> None:
        """Keep more that became known of how an answer ended, where its conversation is the one that is shown."""
        finished, shown = turn.finished, self.shown
        if finished is not None and shown is not None and shown.known.get(turn.message) is turn:
            turn.finished = msgspec.structs.replace(finished, metrics=whole.metrics)
            self._keeper.keep_answer(shown, turn)

    def before(self, conversation: OpenConversation) -> OpenConversation | None:
        """Return the conversation whose answer is written before the one of this conversation begins."""
        for run in self._runs.values():
            if run.conversation is conversation:
                return None
            if conversation.run is not None:
                return run.conversation
        return None

    def _wanted(self, run: Run) -> SamplingSettings:
        """Return the settings in force; an answer that goes on keeps its seed."""
        values, seed = run.conversation.head.settings, run.beginning.seed
        return values if seed is None else msgspec.structs.replace(values, seed=seed)

    def _take(self, event: AnswerEvent) -> None:
        run = self._runs.get(event.request)
        if run is None:
            return
        match event:
            case PromptReady():
                self._take_prompt(run, event)
            case PrefillProgress():
                self._read(run, event)
            case Held():
                self._take_held(run, event)
            case Tokens():
                self._grow(run, event)
            case Finished():
                self._finish(run, event)
            case Failed():
                self._fail(run, event)
            case _:
                pass

    def _take_held(self, run: Run, event: Held) -> None:
        if run.reading is not None:
            self._read(run, None)
        if event.refused is not None:
            self._notices.post(Notice(event.refused, level="hint", brief=True))

    def _take_load(self, event: LoadProgress | Loaded | Failed) -> None:
        if isinstance(event, Loaded):
            self._notices.settle("load_again")
            if self._too_long is not None:
                self._notices.withdraw(self._too_long)
                self._too_long = None

    def _take_prompt(self, run: Run, event: PromptReady) -> None:
        turn = run.turn
        total = len(event.ids) // 4
        self._read(run, PrefillProgress(run.request, event.from_cache, total, event.from_cache, event.at_ns))
        turn.notes.extend(note for note in event.notes if note not in turn.notes)
        turn.author = self._session.name or turn.author
        self._take_beginning(run, event)
        if run.asked is not None:
            run.take_over()
        if run.earlier is not None and run.goes_on and _parts_ways(run, run.earlier):
            run.parts_ways, run.beginning = True, run.beginning.as_given()
        self._follow_thoughts(run, event)
        if not run.goes_on:
            self._keeper.made(run)
            self._keeper.prompt(run, event)
        self._tell(event.notes)
        self._take_files(run, event)
        if turn.dropped != len(event.dropped):
            turn.dropped = len(event.dropped)
            self.changed.emit(run.conversation, turn)

    def _take_files(self, run: Run, event: PromptReady) -> None:
        """Take down how long the files of the question are."""
        question = run.conversation.known.get(run.turn.parent) if run.turn.parent is not None else None
        asked = last_asked(event.spans)
        tokens = tuple(
            span.end - span.start for span in event.spans if span.part == "files" and span.message == asked
        )
        if question is not None and tokens not in ((), question.file_tokens):
            question.file_tokens = tokens
            self.changed.emit(run.conversation, question)

    def _take_beginning(self, run: Run, event: PromptReady) -> None:
        """Take down what the answer is made with, and the tokens that the model got for its beginning."""
        asked, behind, earlier = run.beginning, digest_before(event), run.earlier
        run.prompt, run.beginning = event, asked.as_sent(event)
        is_cut = earlier is not None and not run.goes_on and asked.continues
        if is_cut and earlier is not None and (run.beginning.ids != asked.ids or earlier.behind != behind):
            run.beginning = run.beginning.as_given()  # behind other tokens nobody would draw it again
        model, settings = self._session.model, SettingsChange(run.beginning.tokens, self._wanted(run))
        changes = run.beginning.settings_with(settings) if is_cut else (settings,)
        tokenizer = model.tokenizer if model is not None else ""
        run.made = Made(self._session.ref, tokenizer, event.seed, changes, behind)

    def _follow_thoughts(self, run: Run, event: PromptReady) -> None:
        """Tell thinking and answer apart from here on."""
        pairs = tag_pairs(self._session.template, self._settings.values.thinking_tags)
        earlier = run.turn.thoughts.thinking if run.turn.thoughts is not None else None
        run.turn.thoughts = thoughts = Thoughts(pairs, opened=event.thinking_opened, sent_ns=run.began_ns)
        if run.beginning.goes_on:
            if earlier is not None and not run.beginning.continues:
                earlier = msgspec.structs.replace(earlier, first_answer_ms=None)  # that is by another clock
            thoughts.resume(run.beginning.kept, earlier)

    def _read(self, run: Run, progress: PrefillProgress | None) -> None:
        """Tell how far the prompt is read, from the moment at which it begins."""
        run.reading = progress
        self.prefilled.emit(run.conversation, progress)

    def _grow(self, run: Run, event: Tokens) -> None:
        turn, beginning = run.turn, run.beginning
        run.take_settings(event.settings)
        is_early = turn.state == "waiting"
        is_first_text = is_early and bool(event.text)
        if is_early:
            self._read(run, None)
            run.early.append(event)
            if event.text:
                turn.state, turn.finished = "writing", None
                turn.text, turn.ids = beginning.kept, beginning.ids + run.early_ids
                turn.ttft_ms = turn.ttft_ms if beginning.continues else None
        else:
            turn.ids += event.ids
        if turn.thoughts is not None:
            turn.thoughts.take(event)
        if not (is_early and run.goes_on):
            self._keeper.chunk(run, event)
        elif is_first_text:
            self._keep_more(run)
        if is_first_text:  # the text first: whoever is killed between the two finds the old answer, or the new one
            self._take_over(run)
            self.changed.emit(run.conversation, turn)
        if event.text:
            turn.text += event.text
            self.grew.emit(run.conversation, turn, event.text)


def _parts_ways(run: Run, earlier: Turn) -> bool:
    """Return whether an answer cannot be one with its beginning, as nobody could write it again from its first word.

    So it is where another model wrote that, or behind other tokens, or where it is no longer what was drawn. A lane of a
    comparison stays what it is: the comparison is opened again as it was.
    """
    made = run.made
    if earlier.comparison is not None:
        return True
    if not earlier.ids or run.beginning.differs_from(earlier):
        return True
    if earlier.model is None or made.model is None or earlier.model.identity != made.model.identity:
        return True
    if earlier.tokenizer and made.tokenizer and earlier.tokenizer != made.tokenizer:
        return True
    return earlier.behind != made.behind


def _messages(run: Run) -> list[PromptMessage]:
    conversation = run.conversation
    messages = prompt_messages(conversation.head.system_prompt, conversation.before(run.turn))
    return [*messages, run.beginning.message()] if run.beginning.goes_on else messages
