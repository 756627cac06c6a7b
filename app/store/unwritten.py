"""What waits to be written, laid over what was read: a full disk takes nothing away from what people see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from app.core.comparison import Comparison
from app.core.conversation import AnswerState, Conversation, Message, StoredAnswer
from app.core.store_commands import (
    CopyBranch,
    EndAnswer,
    KeepChat,
    KeepComparison,
    KeepConversation,
    KeepLanes,
    KeepPrompt,
    KeepQuestion,
    RemoveMessages,
    RestoreMessages,
)
from app.core.whole_chat import WholeChat
from app.store.changes import Change, EndOpenAnswers, Stretch


def heads_with_unwritten(read: Sequence[Conversation], pending: Sequence[Change]) -> tuple[Conversation, ...]:
    """Return the conversations as they will be on disk once everything is written, newest first."""
    heads = {head.id: head for head in read}
    for change in pending:
        if isinstance(change, KeepConversation | KeepQuestion | KeepLanes | CopyBranch | KeepChat):
            head = _head_of(change)
            if head.deleted_ms is None:
                heads[head.id] = head
            else:
                heads.pop(head.id, None)
    return tuple(sorted(heads.values(), key=lambda head: (-head.changed_ms, -head.id)))


def _head_of(change: KeepConversation | KeepQuestion | KeepLanes | CopyBranch | KeepChat) -> Conversation:
    match change:
        case CopyBranch(_, head):
            return head
        case KeepChat(_, chat):
            return chat.head
        case _:
            return change.conversation


def newest_in(pending: Sequence[Change]) -> int:
    """Return the largest id of a conversation, a message or a comparison that changes add, 0 where none adds any."""
    newest = 0
    for change in pending:
        match change:
            case KeepConversation(head):
                newest = max(newest, head.id)
            case KeepQuestion(_, head, added, answer):
                newest = max(newest, head.id, answer.message, *(message.id for message in added))
            case KeepLanes(_, head, added, comparison, answers):
                messages = (*(message.id for message in added), *(answer.message for answer in answers))
                newest = max(newest, head.id, comparison.id, *messages)
            case KeepComparison(comparison):
                newest = max(newest, comparison.id)
            case EndAnswer(message):
                newest = max(newest, message.id)
            case CopyBranch(_, head, copied):
                newest = max(newest, head.id, *(copy for _, copy in copied))
            case KeepChat(_, chat):
                messages = (*(message.id for message in chat.messages), *(each.id for each in chat.comparisons))
                newest = max(newest, chat.head.id, *messages)
            case _:
                continue
    return newest


def newest_deletion_in(pending: Sequence[Change]) -> int:
    """Return the latest time of a deletion among changes, 0 where there is none."""
    newest = 0
    for change in pending:
        match change:
            case KeepConversation(head):
                newest = max(newest, head.deleted_ms or 0)
            case RemoveMessages(_, deleted_ms):
                newest = max(newest, deleted_ms)
            case _:
                continue
    return newest


@dataclass
class Parts:
    """Messages by id, of one conversation and of others, with what is known of the answers among them."""

    messages: dict[int, Message] = field(default_factory=dict)
    answers: dict[int, StoredAnswer] = field(default_factory=dict)
    dropped: dict[int, int] = field(default_factory=dict)
    comparisons: dict[int, Comparison] = field(default_factory=dict)
    more: dict[int, str] = field(default_factory=dict)
    """What was added to answers that had ended: it is theirs once they are open again."""

    def take(self, answer: StoredAnswer, dropped: int) -> None:
        """Take in how a message was written."""
        self.answers[answer.message] = answer
        self.drop(answer.message, dropped)

    def drop(self, message: int, dropped: int) -> None:
        """Take in how many messages an answer is written without: with another prompt that is another number."""
        self.dropped.pop(message, None)
        if dropped:
            self.dropped[message] = dropped

    def of(self, conversation: int) -> Iterator[Message]:
        """Yield the messages of a conversation that are not deleted, oldest first."""
        for key in sorted(self.messages):
            message = self.messages[key]
            if message.conversation == conversation and message.deleted_ms is None:
                yield message

    def compared(self, messages: Iterable[Message]) -> tuple[Comparison, ...]:
        """Return the comparisons that have a lane among messages, oldest first."""
        there = {message.id for message in messages} if self.comparisons else set()
        found = (self.comparisons[key] for key in sorted(self.comparisons))
        return tuple(comparison for comparison in found if not there.isdisjoint(comparison.lanes))


def named_in(pending: Sequence[Change]) -> Iterator[int]:
    """Yield the messages that changes bring back or copy: they may be deleted, or of another conversation."""
    for change in pending:
        if isinstance(change, RestoreMessages):
            yield from change.messages
        elif isinstance(change, CopyBranch):
            yield from (message for message, _ in change.messages)


def lay_over(parts: Parts, pending: Sequence[Change]) -> None:
    """Make messages what they will be on disk once everything is written."""
    for change in pending:
        match change:
            case KeepQuestion(_, _, added, answer):
                _put(parts, added)
                _put_answer(parts, answer)
                _open_again(parts, answer)
            case KeepLanes():
                _put_lanes(parts, change)
            case KeepComparison(comparison):
                _put_comparison(parts, comparison)
            case EndAnswer(message, answer):
                _put(parts, (message,))
                _put_answer(parts, answer)
                parts.more.pop(answer.message, None)
            case EndOpenAnswers():
                for key, answer in parts.answers.items():
                    if answer.state == "open":
                        parts.answers[key] = msgspec.structs.replace(answer, state="interrupted")
            case Stretch():
                _extend(parts, change)
            case KeepPrompt(prompt) if prompt.message in parts.messages:
                parts.drop(prompt.message, len(prompt.dropped))
            case RemoveMessages(removed, deleted_ms):
                _mark(parts, removed, deleted_ms)
            case RestoreMessages(removed):
                _mark(parts, removed, None)
            case CopyBranch():
                _copy(parts, change)
            case KeepChat(_, chat):
                _put_chat(parts, chat)
            case _:
                continue


def _put(parts: Parts, added: Sequence[Message]) -> None:
    for message in added:
        before = parts.messages.get(message.id)
        deleted_ms = message.deleted_ms if before is None or before.deleted_ms is None else before.deleted_ms
        parts.messages[message.id] = msgspec.structs.replace(message, deleted_ms=deleted_ms)


def _put_answer(parts: Parts, answer: StoredAnswer) -> None:
    if answer.message in parts.messages:
        before = parts.answers.get(answer.message)
        parts.answers[answer.message] = msgspec.structs.replace(answer, ids=before.ids if before else b"")


def _put_lanes(parts: Parts, command: KeepLanes) -> None:
    _put(parts, command.messages)
    conversation, comparison = command.conversation.id, command.comparison
    for answer in command.answers:
        if answer.message not in parts.messages:
            empty = Message(answer.message, conversation, comparison.parent, "assistant", "", comparison.created_ms)
            parts.messages[empty.id] = empty
        _put_answer(parts, answer)
    _put_comparison(parts, comparison)


def _put_comparison(parts: Parts, comparison: Comparison) -> None:
    """Take over what is known of a comparison, as far as a lane of it is there."""
    if any(answer.comparison == comparison.id for answer in parts.answers.values()):
        parts.comparisons[comparison.id] = comparison


def _open_again(parts: Parts, answer: StoredAnswer) -> None:
    if answer.state == "open" and answer.message in parts.messages:
        message = parts.messages[answer.message]
        more = parts.more.pop(answer.message, "")
        parts.messages[answer.message] = msgspec.structs.replace(message, text=message.text + more)


def _mark(parts: Parts, messages: Sequence[int], deleted_ms: int | None) -> None:
    for key in messages:
        if (message := parts.messages.get(key)) is not None:
            parts.messages[key] = msgspec.structs.replace(message, deleted_ms=deleted_ms)


def _copy(parts: Parts, command: CopyBranch) -> None:
    """Put the copies of a branch beside it, as `copying` will."""
    copies = dict(command.messages)
    for key, copy in command.messages:
        message, answer = parts.messages.get(key), parts.answers.get(key)
        if message is None:
            continue
        parent = copies.get(message.parent) if message.parent is not None else None
        parts.messages[copy] = msgspec.structs.replace(
            message, id=copy, conversation=command.head.id, parent=parent, deleted_ms=None
        )
        if answer is not None:
            state: AnswerState = "interrupted" if answer.state == "open" else answer.state
            copied = msgspec.structs.replace(answer, message=copy, state=state, comparison=None)
            parts.take(copied, parts.dropped.get(key, 0))


def _put_chat(parts: Parts, chat: WholeChat) -> None:
    """Put a conversation there that came whole."""
    _put(parts, chat.messages)
    for whole in chat.answers:
        if whole.answer.message in parts.messages:
            ids = b"".join(stretch.ids for stretch in whole.stretches)
            dropped = len(whole.prompt.dropped) if whole.prompt is not None else 0
            parts.take(msgspec.structs.replace(whole.answer, ids=ids), dropped)
    for comparison in chat.comparisons:
        _put_comparison(parts, comparison)


def _extend(parts: Parts, stretch: Stretch) -> None:
    message, answer = parts.messages.get(stretch.answer), parts.answers.get(stretch.answer)
    if message is None or answer is None:
        return
    parts.answers[answer.message] = msgspec.structs.replace(answer, ids=answer.ids + b"".join(stretch.ids))
    if answer.state == "open":
        parts.messages[message.id] = msgspec.structs.replace(message, text=message.text + "".join(stretch.texts))
    else:
        parts.more[message.id] = parts.more.get(message.id, "") + "".join(stretch.texts)
