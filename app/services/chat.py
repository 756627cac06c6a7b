"""The conversation that is shown: sending, stopping, answering again, going on.

Views listen to the signals and read the turns; answers of conversations that are not shown go on without them.
"""

from __future__ import annotations

from app.core.chat import PromptMessage, clean_text
from app.core.conversation import Conversation
from app.core.events import LaneFinished, PrefillProgress
from app.core.sampling import SamplingSettings
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.answers import Answers
from app.services.asking import Asking
from app.services.drafts import Drafts
from app.services.engine_session import EngineSession
from app.services.engine_work import waits_until
from app.services.keeper import Keeper
from app.services.open_conversation import OpenConversation, prompt_messages, take_title
from app.services.questions import LanesEvent
from app.services.sampling import Sampling
from app.services.turns import Turn
from app.system.settings_file import SettingsFile


class Chat:
    """One conversation at a time, as the window shows it."""

    def __init__(
        self, session: EngineSession, answers: Answers, keeper: Keeper, sampling: Sampling, settings: SettingsFile
    ) -> None:
        self.opened: Signal[()] = Signal()
        """Another conversation is shown: all turns are others."""
        self.deleted: Signal[int, tuple[int, ...]] = Signal()
        """These messages of a conversation went to the trash, of any; all of them where none are named."""
        self.head_changed: Signal[()] = Signal()
        """The title or another property of the conversation is another one, or it has its first message."""
        self.rebranched: Signal[int] = Signal()
        """From this place on the turns are others: some were added, taken back, or changed for other versions."""
        self.text_added: Signal[Turn, str] = Signal()
        """An answer grew by a text."""
        self.changed: Signal[Turn] = Signal()
        """A turn is another one than it was: its state, or all of its text."""
        self.busy_changed: Signal[()] = Signal()
        """An answer began or ended, here or in another conversation."""
        self.prefilled: Signal[PrefillProgress | None] = Signal()
        """How far the prompt is read; None when that is over."""
        self.draft_returned: Signal[str] = Signal()
        """A question came to nothing, and its text goes back to where it was written."""
        self.drafts = Drafts(keeper)
        """What is written and not sent, here and in other conversations."""
        self._session = session
        self._answers = answers
        self._keeper = keeper
        self._sampling = sampling
        self._settings = settings
        self.asking = Asking(session, answers, keeper)
        """How answers begin."""
        self.asking.prepare = self._take_start_values
        self._shown = answers.shown = self.new_conversation()
        self._follow()

    @property
    def shown(self) -> OpenConversation:
        """The conversation that is shown."""
        return self._shown

    @property
    def conversation_id(self) -> int:
        """The id of the conversation that is shown; a new one has its id before its first message."""
        return self._shown.head.id

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns, oldest first."""
        return tuple(self._shown.turns)

    @property
    def busy(self) -> bool:
        """Whether an answer of this conversation is being waited for or written."""
        return self._shown.run is not None

    @property
    def waits_for(self) -> Sentence | None:
        """What comes before the answer that is waited for here: a comparison, or the answer of another conversation."""
        if (lanes := self._lanes_before()) is not None:
            return lanes
        before = self._answers.before(self._shown)
        if before is None:
            return None
        return translate("Chat", "This question waits for the answer in “{title}”", title=before.head.title)

    @property
    def can_answer_again(self) -> bool:
        """Whether there is a last answer that could be written anew."""
        return not self.busy and bool(self._shown.turns) and self._shown.turns[-1].role == "assistant"

    @property
    def can_go_on(self) -> bool:
        """Whether the last answer was stopped before its end and could go on."""
        return not self.busy and bool(self._shown.turns) and self._shown.turns[-1].can_go_on

    def messages_with(self, text: str) -> tuple[PromptMessage, ...]:
        """Return what would be sent with this text as the next message."""
        self._take_start_values()
        messages = prompt_messages(self._shown.head.system_prompt, self._shown.turns)
        text = clean_text(text)
        return (*messages, PromptMessage("user", text)) if text.strip() else tuple(messages)

    def send(self, text: str) -> bool:
        """Ask a question; False when it is blank or an answer is still being written."""
        text = clean_text(text)
        shown = self._shown
        if self.busy or not text.strip():
            return False
        self._take_start_values()
        take_title(shown, text, self._keeper.stamps.now_ms())
        self._sampling.is_new_chat = False
        self.asking.question(shown, text, shown.leaf)
        self.head_changed.emit()
        return True

    def answer_again(self) -> None:
        """Write the last answer anew, beside the old one, which is shown again if that comes to nothing."""
        if self.can_answer_again:
            self.asking.version(self._shown, self._shown.turns[-1])

    def go_on(self) -> None:
        """Let the last answer go on where it was stopped; nothing of it is lost if that comes to nothing."""
        if self.can_go_on:
            self.asking.more(self._shown)

    def stop(self) -> None:
        """End the answer that is being waited for or written; what was written stays."""
        self._answers.stop(self._shown)

    def note_ttft(self, turn: Turn, ttft_ms: float | None) -> None:
        """Keep the time to the first painted character with its answer, also where that ended before it was painted."""
        if self._shown.run is not None and self._shown.run.turn is turn:
            turn.ttft_ms = ttft_ms
        elif turn.finished is not None and self._shown.known.get(turn.message) is turn:
            self._answers.note_ttft(self._shown, turn, ttft_ms)

    def show(self, conversation: OpenConversation) -> None:
        """Show another conversation, with its settings; what is being answered goes on."""
        self._shown = self._answers.shown = conversation
        self._number_turns()
        self._note_load()  # before anybody reads the turns: it went on while they were not shown
        self._sampling.is_new_chat = conversation.is_new
        self._sampling.show(conversation.head.settings)
        self.opened.emit()
        self.busy_changed.emit()

    def new_conversation(self) -> OpenConversation:
        """Return a conversation without messages that begins with what people want of new ones."""
        now = self._keeper.stamps.now_ms()
        settings = self._sampling.start_values()
        unsent = self._settings.values.chats.unsent_prompt
        system = self._start_prompt() if unsent is None else unsent
        made = OpenConversation(
            Conversation(self._keeper.stamps.new_id(), "", now, now, settings, system_prompt=system)
        )
        made.has_own_prompt = unsent is not None
        return made

    def _take_start_values(self) -> None:
        """A conversation without messages follows what is set for new ones until its first message is sent."""
        if self._shown.is_new:
            self._shown.change_head(settings=self._sampling.values)
            if not self._shown.has_own_prompt:
                self._shown.change_head(system_prompt=self._start_prompt())

    def _start_prompt(self) -> str:
        return self._settings.values.chats.start_prompt(self._settings.values.system_prompt)

    def _follow(self) -> None:
        """Say what happens in the conversation that is shown."""
        answers = self._answers
        answers.changed.connect(self._take_changed)
        answers.grew.connect(lambda of, turn, text: self.text_added.emit(turn, text) if of is self._shown else None)
        answers.rebranched.connect(self._take_branch)
        self.asking.rebranched.connect(self._take_branch)
        answers.prefilled.connect(lambda of, done: self.prefilled.emit(done) if of is self._shown else None)
        answers.busy_changed.connect(self._take_busy)
        answers.returned.connect(self.draft_returned.emit)
        self._sampling.changed.connect(self._sampling_changed)
        self._session.changed.connect(self._take_load)
        self._session.lanes_told.connect(self._take_lanes)

    def _take_changed(self, conversation: OpenConversation, turn: Turn) -> None:
        if conversation is not self._shown:
            return
        if turn.state == "done" and turn.finished is not None and turn.finished.seed is not None:
            self._sampling.note_seed(turn.finished.seed)
        self.changed.emit(turn)

    def _take_busy(self, conversation: OpenConversation) -> None:
        self.busy_changed.emit()
        if conversation is self._shown:
            self._take_load()

    def _take_load(self) -> None:
        """Say with an answer that is waited for what comes first: a load, a comparison or a pass over a prompt."""
        if (turn := self._note_load()) is not None:
            self.changed.emit(turn)

    def _take_lanes(self, event: LanesEvent) -> None:
        """Say anew how many lanes come before an answer that is waited for."""
        if isinstance(event, LaneFinished):
            self._take_load()

    def _note_load(self) -> Turn | None:
        """Note with an answer that is waited for what comes first; returns its turn if that is news."""
        run, doing = self._shown.run, _loading(self._session) or self._lanes_before() or self._scoring_before()
        if run is None or run.turn.state != "waiting" or run.turn.doing == doing:
            return None
        run.turn.doing = doing
        return run.turn

    def _lanes_before(self) -> Sentence | None:
        """Return in words that a comparison comes before the answer that is waited for; None where none does."""
        run = self._shown.run
        lanes = self._session.lanes_before(run.request) if run is not None and run.turn.state == "waiting" else 0
        if lanes == 1:
            return translate("Chat", "Waits for the comparison (1 lane running)")
        return translate("Chat", "Waits for the comparison ({lanes} lanes running)", lanes=lanes) if lanes else None

    def _scoring_before(self) -> Sentence | None:
        """Return in words which pass over tokens comes before the answer that is waited for; None where none does."""
        run = self._shown.run
        return waits_until(self._session.opened()) if run is not None and run.turn.state == "waiting" else None

    def _take_branch(self, conversation: OpenConversation, first: int) -> None:
        if conversation is self._shown:
            self._sampling.is_new_chat = conversation.is_new
            self._number_turns(first)
            self.rebranched.emit(first)

    def _number_turns(self, first: int = 0) -> None:
        for turn in self._shown.turns[first:]:
            self.asking.number(turn)

    def _sampling_changed(self) -> None:
        shown = self._shown
        values: SamplingSettings = self._sampling.values
        if shown.head.settings != values:
            shown.change_head(settings=values)
            if not shown.is_new:
                self._keeper.head(shown.head)
            self._answers.use_settings(shown)


def _loading(session: EngineSession) -> Sentence | None:
    """Return in words that a model is being loaded; None where it is not."""
    if session.phase not in ("starting", "loading"):
        return None
    percent, model = round(session.percent), session.name or ""
    if session.phase == "starting" or not percent:
        return translate("Chat", "Loading {model} …", model=model)
    return translate("Chat", "Loading {model}: {percent} %", model=model, percent=percent)
