"""Puts the turns of a conversation together from what is kept of it: the branch that ends with its leaf."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.core.conversation import Conversation, Message, StoredAnswer
from app.core.events import Finished
from app.core.words import translate
from app.services.turns import Turn


def turns_of(
    head: Conversation, messages: Sequence[Message], answers: Sequence[StoredAnswer], dropped: Mapping[int, int]
) -> list[Turn]:
    """Return the turns from the first message to the leaf; without one, to the newest message."""
    by_id = {message.id: message for message in messages}
    stored = {answer.message: answer for answer in answers}
    leaf = by_id.get(head.leaf) if head.leaf is not None else None
    if leaf is None and messages:
        leaf = max(messages, key=lambda message: message.id)
    branch: list[Message] = []
    while leaf is not None and len(branch) < len(by_id):
        branch.append(leaf)
        leaf = by_id.get(leaf.parent) if leaf.parent is not None else None
    return [_turn(message, stored.get(message.id), dropped.get(message.id, 0)) for message in reversed(branch)]


def _turn(message: Message, answer: StoredAnswer | None, dropped: int) -> Turn:
    turn = Turn(0, message.role, message.text, dropped=dropped)
    turn.message, turn.parent, turn.created_ms = message.id, message.parent, message.created_ms
    if message.role == "user" or answer is None:
        return turn
    turn.author, turn.ids, turn.ttft_ms = answer.model_name, answer.ids, answer.ttft_ms
    turn.model, turn.tokenizer, turn.seed, turn.settings = (
        answer.model,
        answer.tokenizer,
        answer.seed,
        answer.settings,
    )
    turn.notes = list(answer.notes)
    if answer.state == "done" and answer.metrics is not None and answer.stop_reason is not None:
        turn.finished = Finished(
            request=0,
            text=message.text,
            ids=answer.ids,
            stop_reason=answer.stop_reason,
            metrics=answer.metrics,
            seed=answer.seed,
            settings=answer.settings,
            notes=answer.notes,
        )
    elif answer.state != "done":
        turn.state = "interrupted"
        turn.reason = answer.reason or _CUT_OFF
    return turn


_CUT_OFF = translate(
    "Conversations", "Interrupted: Tokenlight ended before the answer did. What was written is here."
)
