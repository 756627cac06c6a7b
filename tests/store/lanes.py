"""Comparisons to keep, for the tests of this folder."""

from __future__ import annotations

from app.core.comparison import Comparison, LanePlan, Layout, SharedPrefill
from app.core.conversation import Conversation, Message, StoredAnswer
from app.core.store_commands import EndAnswer, KeepLanes
from app.core.store_events import ConversationRead

PLAN = LanePlan(((0, 1), (2,)), (200, 200, 64), "one_by_one", lowered=True)
PREFILL = SharedPrefill(1500, 10, 1490, 812.5, 840.25)
GRID = Layout(3, "temperature", "top_p")


def compared(request: int, head: Conversation, first: int, lanes: int = 3, *, asks: bool = True) -> KeepLanes:
    """Compare something: message `first` is the question, those after it the lanes; then comes the comparison's id.

    Where it `asks` nothing, the lanes begin the conversation.
    """
    asked = Message(first, head.id, None, "user", f"Question {first}", first)
    messages = tuple(range(first + 1, first + 1 + lanes))
    comparison = Comparison(first + lanes + 1, head.id, first if asks else None, first, messages)
    answers = tuple(
        StoredAnswer(message, "open", seed=5, comparison=comparison.id, lane=number)
        for number, message in enumerate(messages)
    )
    return KeepLanes(request, head, (asked,) if asks else (), comparison, answers)


def end_lane(begun: KeepLanes, number: int, text: str) -> EndAnswer:
    """End a lane well."""
    made = begun.comparison
    answer = StoredAnswer(made.lanes[number], "done", seed=5, stop_reason="end", comparison=made.id, lane=number)
    return EndAnswer(
        Message(answer.message, made.conversation, made.parent, "assistant", text, made.created_ms), answer
    )


def texts_of(read: ConversationRead) -> list[str]:
    """Return what the messages of a conversation say."""
    return [message.text for message in read.messages]
