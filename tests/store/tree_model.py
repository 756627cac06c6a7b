"""What the store should hold of conversations that are trees, as plain dictionaries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from app.core.comparison import Comparison
from app.core.conversation import AnswerPrompt, Conversation, Message, StoredAnswer, Trashed

DAY_MS = 24 * 60 * 60 * 1000
ERASED = 0


@dataclass
class TreeModel:
    """Everything that was ever said, deleted or not; a deletion at `ERASED` may be gone at any time."""

    now_ms: int = 10**12
    last_id: int = 0
    heads: dict[int, Conversation] = field(default_factory=dict)
    messages: dict[int, Message] = field(default_factory=dict)
    answers: dict[int, StoredAnswer] = field(default_factory=dict)
    comparisons: dict[int, Comparison] = field(default_factory=dict)
    prompts: dict[int, AnswerPrompt] = field(default_factory=dict)
    dropped: dict[int, int] = field(default_factory=dict)
    blocks: dict[int, tuple[bytes, ...]] = field(default_factory=dict)
    days: set[int] = field(default_factory=set)
    """On which the chats were open."""
    months: dict[int, int] = field(default_factory=dict)
    """From which day on the month of a deletion counts."""

    def new_id(self) -> int:
        self.last_id += 1
        return self.last_id

    def live(self, conversation: int) -> list[Message]:
        """Return what people see of a conversation, oldest first."""
        return [m for m in self._of(conversation) if m.deleted_ms is None]

    def live_everywhere(self) -> list[int]:
        return [m.id for head in self.seen_heads() for m in self.live(head.id)]

    def seen_heads(self) -> list[Conversation]:
        """Return the list of conversations, newest first."""
        heads = [head for head in self.heads.values() if head.deleted_ms is None]
        return sorted(heads, key=lambda head: (-head.changed_ms, -head.id))

    def path(self, message: int) -> list[int]:
        """Return the messages from the first one to this one."""
        parent = self.messages[message].parent
        return [*(self.path(parent) if parent is not None else ()), message]

    def below(self, message: int, *, deleted_ms: int | None) -> list[int]:
        """Return a message and what follows it, as far as it was deleted at that time or is there."""
        found = [message]
        for each in found:
            found += [m.id for m in self.messages.values() if m.parent == each and m.deleted_ms == deleted_ms]
        return found

    def mark(self, messages: list[int], deleted_ms: int | None) -> None:
        for message in messages:
            self.messages[message] = replace(self.messages[message], deleted_ms=deleted_ms)

    def trash(self) -> tuple[Trashed, ...]:
        """Return what can be brought back."""
        found = [*self._trashed_branches(), *self._trashed_conversations()]
        return tuple(sorted(found, key=lambda item: (-item.deleted_ms, -(item.message or item.conversation))))

    def restore(self, conversation: int, message: int | None) -> None:
        """Bring back what lies in the trash."""
        head = self.heads[conversation]
        leaf: int | None = None
        if message is None:
            back = self._come_back(conversation)
            self.mark([m.id for m in back], None)
            self.mark(self.path(back[-1].id), None)
            leaf = head.leaf
            if leaf not in self._shown(conversation):
                leaf = self._newest_leaf(conversation, None)
        else:
            branch = self.below(message, deleted_ms=self.messages[message].deleted_ms)
            self.mark(branch, None)
            self.mark(self.path(message), None)
            leaf = self._newest_leaf(conversation, message)
        self.heads[conversation] = replace(head, deleted_ms=None, leaf=leaf)

    def erase(self, conversation: int, message: int | None) -> None:
        """Let what lies in the trash go for good."""
        if message is None:
            self.heads[conversation] = replace(self.heads[conversation], deleted_ms=ERASED)
            return
        going = [message]
        for each in going:
            going += [m.id for m in self.messages.values() if m.parent == each and m.deleted_ms is not None]
        self.mark(going, ERASED)

    def mark_old(self) -> None:
        """Let go what was deleted more than a month before the first of the last two days of use; a jump begins months anew."""
        today = self.now_ms // DAY_MS
        self.days = {day for day in self.days if day <= today}
        marks = [m.deleted_ms for m in self.messages.values()] + [head.deleted_ms for head in self.heads.values()]
        deletions = {deletion for deletion in marks if deletion}
        self.months = {deletion: self.months.get(deletion, deletion // DAY_MS) for deletion in deletions}
        last, before = ([*sorted(self.days, reverse=True), today, today])[:2]
        has_jumped = bool(self.days) and today - last > 30 and (len(self.days) < 2 or last - before <= 30)
        for deletion, day in self.months.items():
            self.months[deletion] = max(min(day, today) if day > today + 30 else day, today if has_jumped else 0)
        self.days = {*sorted(self.days)[-1:], today}
        if len(self.days) < 2:
            return
        old = {deletion for deletion, day in self.months.items() if day < min(self.days) - 30}
        self.mark([m.id for m in self.messages.values() if m.deleted_ms in old], ERASED)
        for head in list(self.heads.values()):
            if head.deleted_ms in old:
                self.heads[head.id] = replace(head, deleted_ms=ERASED)

    def must_be_there(self) -> set[int]:
        """Return the messages that may not be gone: those that nobody erased, and all on the way up from them."""
        kept = [
            m.id
            for m in self.messages.values()
            if m.deleted_ms != ERASED and self.heads[m.conversation].deleted_ms != ERASED
        ]
        return {message for each in kept for message in self.path(each)}

    def restart(self) -> None:
        """Let a new run of the program find what was being written."""
        for key, answer in self.answers.items():
            if answer.state == "open":
                self.answers[key] = replace(answer, state="interrupted")

    def _of(self, conversation: int) -> list[Message]:
        return [m for m in self.messages.values() if m.conversation == conversation]

    def _is_hidden(self, message: int) -> bool:
        answer = self.answers.get(message)
        made = self.comparisons.get(answer.comparison) if answer is not None and answer.comparison else None
        return answer is not None and made is not None and answer.lane not in made.kept

    def _shown(self, conversation: int) -> list[int]:
        return [m.id for m in self.live(conversation) if not self._is_hidden(m.id)]

    def _newest_leaf(self, conversation: int, top: int | None) -> int | None:
        """Return the newest end of what is shown behind a message; a lane that nobody kept is looked past."""
        while top is not None and self._is_hidden(top):
            top = self.messages[top].parent
        shown = self._shown(conversation)
        ends = set(shown) - {self.messages[message].parent for message in shown}
        if top is not None:
            behind = [top]
            for each in behind:
                behind += [message for message in shown if self.messages[message].parent == each]
            ends &= set(behind)
        return max(ends, default=None)

    def _trashed_branches(self) -> Iterator[Trashed]:
        for head in self.seen_heads():
            for message in self._of(head.id):
                above = self.messages[message.parent].deleted_ms if message.parent is not None else None
                if not message.deleted_ms or above == message.deleted_ms:
                    continue
                branch = self.below(message.id, deleted_ms=message.deleted_ms)
                if text := next((self.messages[key].text for key in branch if self.messages[key].text.strip()), ""):
                    lanes = sum(map(self._is_hidden, branch))
                    seen = len(branch) - lanes
                    line = first_line(text)
                    yield Trashed(head.id, message.id, head.title, line, seen, message.deleted_ms, lanes)

    def _come_back(self, conversation: int) -> list[Message]:
        live = self.live(conversation)
        last = max((m.deleted_ms or ERASED for m in self._of(conversation)), default=ERASED)
        return live or [m for m in self._of(conversation) if last != ERASED and m.deleted_ms == last]

    def _trashed_conversations(self) -> Iterator[Trashed]:
        for head in self.heads.values():
            if not head.deleted_ms:
                continue
            back = self._come_back(head.id)
            known = [*back, *(m for m in self._of(head.id) if m.deleted_ms != ERASED)]
            if text := next((m.text for m in known if m.text.strip()), ""):
                lanes = sum(self._is_hidden(m.id) for m in back)
                seen = len(back) - lanes
                yield Trashed(head.id, None, head.title, first_line(text), seen, head.deleted_ms, lanes)


def first_line(text: str) -> str:
    """Return what the trash shows of a text."""
    return text.strip().splitlines()[0].rstrip()[:80]
