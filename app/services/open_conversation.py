"""A conversation in memory: its head, all of its messages, the branch that is shown, and the answer being written.

Plain state; who changes it says so.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import msgspec

from app.core.attached_files import frames_in, lifted
from app.core.chat import PromptMessage, clean_text
from app.core.chat_title import next_title, suggested_title
from app.core.commands import SettingsChange
from app.core.comparison import Comparison
from app.core.conversation import Conversation
from app.core.events import Finished, PrefillProgress, PromptReady, Tokens
from app.core.message_tree import MessageTree
from app.core.metrics import StopReason
from app.core.model import ModelRef
from app.core.words import Sentence
from app.services.conversation_lanes import ConversationLanes
from app.services.turns import Beginning, Turn, joined_notes, joined_settings

TITLE_CHARACTERS = 60


class OpenConversation:
    """What the window shows, or what an answer is written into while it shows another one."""

    def __init__(
        self,
        head: Conversation,
        turns: Sequence[Turn] = (),
        leaf: int | None = None,
        comparisons: Sequence[Comparison] = (),
    ) -> None:
        """Take all messages, in any order; the branch that is shown ends with `leaf`, or with the newest one.

        Lanes of `comparisons` are no versions of an answer until they are kept.
        """
        self.head = head
        self.run: Run | None = None
        """The answer that is being waited for or written."""
        self.has_own_prompt = False
        """Whether somebody chose its system prompt before its first message: what is set for new chats passes it by."""
        self.turns: list[Turn] = []
        """The branch that is shown, oldest first."""
        self.lanes = ConversationLanes(comparisons)
        """Its comparisons, and the answers that are in no branch because they are lanes alone."""
        self.known = {turn.message: turn for turn in self.lanes.take(turns)}
        """All other turns by message, in whatever branch."""
        self.removed: dict[int, Turn] = {}
        """What was taken out: something that comes back can follow it."""
        self._tree = MessageTree((turn.message, turn.parent) for turn in self.known.values())
        self.show(self.leaf_behind(leaf))

    @property
    def is_new(self) -> bool:
        """Whether nobody said anything in it yet."""
        return not self.turns

    @property
    def leaf(self) -> int | None:
        """The message that the branch ends with."""
        return self.turns[-1].message if self.turns else None

    def change_head(self, **changes: object) -> None:
        """Take over other values of the head."""
        self.head = msgspec.structs.replace(self.head, **changes)

    def add(self, turn: Turn, *, aside: bool = False) -> int:
        """Add a message behind the one it follows, and show it unless it goes aside.

        Returns the first place of the branch that is shown which is another.
        """
        self._tree.add(turn.message, turn.parent)
        self.known[turn.message] = turn
        return len(self.turns) if aside else self.show(turn.message)

    def remove(self, turn: Turn) -> list[Turn]:
        """Take a message out with everything that follows it; the branch that is shown may have to be chosen anew."""
        gone = [self.known.pop(message) for message in self._tree.remove(turn.message)]
        gone += self.lanes.remove_behind({each.message for each in gone})
        self.removed |= {each.message: each for each in gone}
        return gone

    def bring_back(self, turns: Sequence[Turn]) -> list[Turn]:
        """Put turns that are not there into the tree, and what they follow; return all that, each behind its own."""
        wanted = {turn.message: turn for turn in turns}
        for turn in turns:
            parent = turn.parent
            while parent is not None and parent not in self.known and parent in self.removed:
                wanted.setdefault(parent, self.removed[parent])
                parent = self.removed[parent].parent
        there = self.known.keys() | self.lanes.hidden.keys()
        back = [wanted[message] for message in sorted(wanted.keys() - there)]
        for turn in back:
            self.removed.pop(turn.message, None)
            if self.lanes.hides(turn):
                self.lanes.take((turn,))
                continue
            self.known[turn.message] = turn
            self._tree.add(turn.message, turn.parent if turn.parent in self.known else None)
        return back

    def put(self, turn: Turn) -> None:
        """Let a turn stand for its message from now on."""
        self.known[turn.message] = turn
        self.turns = [turn if each.message == turn.message else each for each in self.turns]

    def split(self, turn: Turn, earlier: Turn, message: int) -> None:
        """Let a turn be a new message, beside the one that it was, which is `earlier` again."""
        earlier.number = 0  # views know the turn that goes on
        self.known[earlier.message] = earlier
        turn.message, turn.comparison, turn.lane = message, None, None
        self._tree.add(message, turn.parent)
        self.known[message] = turn
        self._tree.show(message)

    def show(self, leaf: int | None) -> int:
        """Show the branch that ends with a message; return the first place at which it is another than before."""
        before = self.turns
        self.turns = [self.known[message] for message in self._tree.show(leaf)]
        pairs = zip(before, self.turns, strict=False)
        same = next((place for place, (one, other) in enumerate(pairs) if one is not other), None)
        return min(len(before), len(self.turns)) if same is None else same

    def leaf_through(self, turn: Turn) -> int | None:
        """Return where the branch through a turn ends: where somebody looked last, else at the newest message."""
        return self._tree.leaf(turn.message)

    def leaf_behind(self, message: int | None) -> int | None:
        """Return where the branch through a message ends; where that is not there, through what was looked at last."""
        return self._tree.leaf(message if message in self.known else None)

    def leaf_without(self, turn: Turn) -> int | None:
        """Return where the branch that is shown would end without a turn: in the version beside it, or before it."""
        others = [message for message in self._tree.versions(turn.message) if message != turn.message]
        if not others:
            return self._tree.parent(turn.message)
        earlier = [message for message in others if message < turn.message]
        return self._tree.leaf((earlier or others)[-1 if earlier else 0])

    def versions(self, turn: Turn) -> tuple[Turn, ...]:
        """Return the turns of the same speaker that follow the same message, this one among them, oldest first."""
        found = (self.known[message] for message in self._tree.versions(turn.message))
        return tuple(each for each in found if each.role == turn.role)

    def below(self, turn: Turn) -> tuple[Turn, ...]:
        """Return a turn and everything that follows it, in all branches."""
        return tuple(self.known[message] for message in self._tree.below(turn.message))

    def before(self, turn: Turn) -> list[Turn]:
        """Return the turns that lead to a turn, without it."""
        return [self.known[message] for message in self._tree.path(turn.message)[:-1]]


def prompt_turns(system_prompt: str, turns: Sequence[Turn]) -> list[Turn | None]:
    """Return whose the messages are that are sent of turns, in their order; the system prompt is nobody's."""
    system = [None] if clean_text(system_prompt).strip() else []
    return [*system, *(turn for turn in turns if turn.text)]


def prompt_messages(system_prompt: str, turns: Sequence[Turn]) -> list[PromptMessage]:
    """Return turns as they are sent, after the system prompt; an answer that was cut off gives its text alone."""
    messages: list[PromptMessage] = []
    for turn in prompt_turns(system_prompt, turns):
        if turn is None:
            messages.append(PromptMessage("system", clean_text(system_prompt)))
        else:
            whole = turn.finished is not None
            messages.append(PromptMessage(turn.role, turn.text, turn.ids if whole else b""))
    return messages


@dataclass(frozen=True)
class Made:
    """What an answer is made with: the model, whose tokens, the seed and the settings."""

    model: ModelRef | None = None
    tokenizer: str = ""
    seed: int | None = None
    settings: tuple[SettingsChange, ...] = ()
    behind: bytes | None = None
    """`Turn.behind`."""


@dataclass
class Run:
    """One answer on its way: the request, the turn that it fills, and what to go back to if it comes to nothing."""

    request: int
    conversation: OpenConversation
    turn: Turn
    beginning: Beginning = field(default_factory=Beginning)
    asked: Turn | None = None
    """The question that came with it: both go if it comes to nothing."""
    earlier: Turn | None = None
    """The answer that is there again if it comes to nothing: another version, or this one as it was."""
    back_to: int | None = None
    """The message that the shown branch ended with before."""
    forced: tuple[int, ...] = ()
    """Its first tokens behind the beginning, where somebody chose them."""
    early: list[Tokens] = field(default_factory=list)
    """What came up to the first text."""
    prompt: PromptReady | None = None
    parts_ways: bool = False
    """Whether an answer that goes on becomes another version with its first text: it cannot be one with its beginning."""
    reading: PrefillProgress | None = None
    """How far the prompt is read, while it is."""
    began_ns: int = field(default_factory=time.perf_counter_ns)
    made: Made = field(default_factory=Made)
    """Set when the prompt is ready; the turn takes it over with the first text."""
    stop_reason: StopReason | None = None
    """Why an answer that is over and whole ended; None for one that failed, was left, or came to nothing."""

    @property
    def came_to_nothing(self) -> bool:
        """Whether the answer that was there before is there again."""
        return self.turn is self.earlier

    @property
    def early_ids(self) -> bytes:
        """The tokens that came up to the first text."""
        return b"".join(event.ids for event in self.early)

    @property
    def message(self) -> int:
        """Where it is kept."""
        return self.turn.message

    @property
    def goes_on(self) -> bool:
        """Whether it is more of an answer that is there."""
        return self.earlier is not None and self.earlier.message == self.turn.message

    def take_over(self) -> None:
        """Let the turn say what it is made with."""
        turn, made = self.turn, self.made
        turn.model, turn.tokenizer, turn.seed, turn.settings = made.model, made.tokenizer, made.seed, made.settings
        turn.behind = made.behind

    def take_settings(self, changes: tuple[SettingsChange, ...]) -> None:
        """Know from which tokens on the settings were others; a turn that says what it is made with says that, too."""
        if not changes:
            return
        made, has_taken_over = self.made, self.turn.settings is self.made.settings
        earlier = tuple(change for change in made.settings if change.token < changes[0].token)
        settings = joined_settings(earlier, changes) if earlier else changes
        self.made = replace(made, settings=settings)
        if has_taken_over:
            self.turn.settings = settings

    def interrupt(self, reason: Sentence) -> None:
        """Let the turn say that nothing more comes, and why."""
        self.turn.state, self.turn.reason = "interrupted", reason
        if self.turn.thoughts is not None:
            self.turn.thoughts.finish()

    def complete(self, event: Finished) -> tuple[str, bytes]:
        """Let the turn be the whole answer; return the text and the tokens that came with its end and not before."""
        turn, whole = self.turn, self.beginning.joined(event)
        is_writing = turn.state == "writing"
        text = turn.text if is_writing else self.beginning.kept
        ids = turn.ids if is_writing else self.beginning.ids + self.early_ids
        rest = whole.text.removeprefix(text) if whole.text.startswith(text) else ""
        if turn.thoughts is not None:
            turn.thoughts.finish(rest)
        turn.text, turn.ids, turn.finished, turn.state = whole.text, whole.ids, whole, "done"
        turn.notes[:] = joined_notes(turn.notes, event.notes)
        return rest, whole.ids.removeprefix(ids) if whole.ids.startswith(ids) else b""


def is_shown(conversation: OpenConversation, turn: Turn) -> bool:
    """Return whether a turn is on the branch that is shown of its conversation."""
    return any(each is turn for each in conversation.turns)


def take_title(conversation: OpenConversation, question: str, now_ms: int) -> None:
    """Give a new conversation the title of its first question, and one that began with a greeting that of the next."""
    if conversation.is_new:
        conversation.change_head(title=suggested_title(_said(question)), created_ms=now_ms)
        return
    title, turns = conversation.head.title, conversation.turns
    named = next_title(title, _said(turns[0].text), _said(question)) if turns else title
    if named != title:
        conversation.change_head(title=named)


def _said(text: str) -> str:
    """Return what is said in a message beside its files; where nothing is, the name of the first of them."""
    return lifted(text).text or next((frame.file.name for frame in frames_in(text)), "")


def title_of(text: str) -> str:
    """Return how a message is named in a sentence: its first line, cut at a word.

    Where nothing is said of the files in it, that is the name of the first one.
    """
    line = next((" ".join(line.split()) for line in _said(text).splitlines() if line.strip()), "")
    if len(line) <= TITLE_CHARACTERS:
        return line
    cut = line[:TITLE_CHARACTERS].rpartition(" ")[0]
    return (cut if len(cut) >= TITLE_CHARACTERS // 2 else line[:TITLE_CHARACTERS]).rstrip(" ,;:.-–") + "…"
