"""What waits to be written, laid over what was read: a full disk takes nothing away from what people see."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.core.conversation import Conversation, Message, StoredAnswer
from app.core.store_commands import EndAnswer, KeepConversation, KeepPrompt, KeepQuestion, RemoveMessages
from app.core.store_events import ConversationRead
from app.store.writing import Change, EndOpenAnswers, Stretch


def heads_with_unwritten(read: Sequence[Conversation], pending: Sequence[Change]) -> tuple[Conversation, ...]:
    """Return the conversations as they will be on disk once everything is written, newest first."""
    heads = {head.id: head for head in read}
    for change in pending:
        if isinstance(change, KeepConversation | KeepQuestion):
            head = change.conversation
            if head.deleted_ms is None:
                heads[head.id] = head
            else:
                heads.pop(head.id, None)
    return tuple(sorted(heads.values(), key=lambda head: (-head.changed_ms, -head.id)))


def with_unwritten(read: ConversationRead, pending: Sequence[Change]) -> ConversationRead:
    """Return a conversation as it will be on disk once everything is written."""
    if not pending:
        return read
    messages = {message.id: message for message in read.messages}
    answers = {answer.message: answer for answer in read.answers}
    dropped = dict(read.dropped)
    for change in pending:
        match change:
            case KeepQuestion(_, _, added, answer):
                _put(messages, added, read.conversation)
                _put_answer(messages, answers, answer)
            case EndAnswer(message, answer):
                _put(messages, (message,), read.conversation)
                _put_answer(messages, answers, answer)
            case EndOpenAnswers():
                for key, answer in answers.items():
                    if answer.state == "open":
                        answers[key] = msgspec.structs.replace(answer, state="interrupted")
            case Stretch():
                _extend(messages, answers, change)
            case KeepPrompt(prompt) if prompt.message in messages and prompt.dropped:
                dropped[prompt.message] = len(prompt.dropped)
            case RemoveMessages(removed):
                for gone in removed:
                    messages.pop(gone, None)
            case _:
                continue
    return msgspec.structs.replace(
        read,
        messages=tuple(messages[key] for key in sorted(messages)),
        answers=tuple(answers[key] for key in sorted(answers) if key in messages),
        dropped={key: count for key, count in dropped.items() if key in messages},
    )


def _put(messages: dict[int, Message], added: tuple[Message, ...], conversation: int) -> None:
    for message in added:
        if message.conversation == conversation and message.deleted_ms is None:
            messages[message.id] = message
        else:
            messages.pop(message.id, None)


def _put_answer(messages: dict[int, Message], answers: dict[int, StoredAnswer], answer: StoredAnswer) -> None:
    if answer.message in messages:
        before = answers.get(answer.message)
        answers[answer.message] = msgspec.structs.replace(answer, ids=before.ids if before else b"")


def _extend(messages: dict[int, Message], answers: dict[int, StoredAnswer], stretch: Stretch) -> None:
    message, answer = messages.get(stretch.answer), answers.get(stretch.answer)
    if message is None or answer is None:
        return
    answers[answer.message] = msgspec.structs.replace(answer, ids=answer.ids + b"".join(stretch.ids))
    if answer.state == "open":
        messages[message.id] = msgspec.structs.replace(message, text=message.text + "".join(stretch.texts))
