"""Makes turns of what is kept of a conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.core.conversation import Message, StoredAnswer
from app.core.events import Finished
from app.core.words import translate
from app.services.thinking import Thoughts
from app.services.turns import Turn


def turns_of(
    messages: Sequence[Message], answers: Sequence[StoredAnswer], dropped: Mapping[int, int], leaf: int | None
) -> list[Turn]:
    """Return the turns of all branches; versions of an answer of which nothing was written are left out."""
    stored = {answer.message: answer for answer in answers}
    turns = [_turn(message, stored.get(message.id), dropped.get(message.id, 0)) for message in messages]
    followed = {turn.parent for turn in turns}
    answered = {turn.parent for turn in turns if turn.role == "assistant" and turn.text}
    return [turn for turn in turns if not _is_nothing(turn, followed, answered) or turn.message == leaf]


def _is_nothing(turn: Turn, followed: set[int | None], answered: set[int | None]) -> bool:
    """Whether it is an empty version beside others, behind which nobody wrote; a lane has its place whatever it says."""
    if turn.comparison is not None:
        return False
    is_empty = turn.role == "assistant" and not turn.text and turn.state == "interrupted"
    return is_empty and turn.parent in answered and turn.message not in followed


def _turn(message: Message, answer: StoredAnswer | None, dropped: int) -> Turn:
    turn = Turn(0, message.role, message.text, dropped=dropped)
    turn.message, turn.parent, turn.created_ms = message.id, message.parent, message.created_ms
    turn.edited = message.edited
    if message.role == "user" or answer is None:
        return turn
    turn.author, turn.ids, turn.ttft_ms = answer.model_name, answer.ids, answer.ttft_ms
    turn.model, turn.tokenizer, turn.seed, turn.settings = (
        answer.model,
        answer.tokenizer,
        answer.seed,
        answer.settings,
    )
    turn.notes, turn.comparison, turn.lane = list(answer.notes), answer.comparison, answer.lane
    turn.thoughts = Thoughts.kept(message.text, answer.thinking)
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
        turn.reason = answer.reason or (_CUT_OFF if message.text else _NOTHING_WRITTEN)
    return turn


_CUT_OFF = translate(
    "Conversations", "Interrupted: Tokenlight ended before the answer did. What was written is here."
)
_NOTHING_WRITTEN = translate("Conversations", "Interrupted before anything was written: answer again.")
