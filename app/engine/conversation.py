"""The shapes in which a conversation is offered to a chat template that does not take it as it is.

Knows nothing of templates: whether a shape fits is found by rendering it. No text of a person ever gets lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from app.core.chat import PromptMessage, Role
from app.core.words import Sentence, translate

SEAM = "\n\n"
"""What stands between texts that share a turn."""


@dataclass(frozen=True)
class Turn:
    """One turn as the template sees it: the texts that it holds, each with the index of its message."""

    role: Role
    parts: tuple[tuple[int, str], ...]

    def content(self, written: Callable[[int, str], str]) -> str:
        """Return the turn's content, each text as `written` gives it for its message."""
        return SEAM.join(written(message, text) for message, text in self.parts)


@dataclass(frozen=True)
class Shape:
    """A conversation's turns, and what people should know of how they were made."""

    turns: tuple[Turn, ...]
    notes: tuple[Sentence, ...] = ()


def shapes(messages: Sequence[PromptMessage]) -> Iterator[Shape]:
    """Yield the conversation as it is, then with ever more of it put together.

    An empty system prompt is none, and an answer that was stopped before its first word is none either.
    """
    plain = tuple(
        Turn(message.role, ((index, message.text),))
        for index, message in enumerate(messages)
        if message.role == "user" or message.text.strip()
    )
    yield Shape(plain)
    folded = _without_system(plain)
    seen = [plain]
    for turns, notes in (
        (folded, (_SYSTEM_NOTE,)),
        (_alternating(plain), (_TURNS_NOTE,)),
        (_alternating(folded), (_SYSTEM_NOTE, _TURNS_NOTE) if folded != plain else (_TURNS_NOTE,)),
    ):
        if turns not in seen:
            seen.append(turns)
            yield Shape(turns, notes)


def _without_system(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Put each system text at the beginning of the next user turn, or at the end of the last one, or in its own."""
    waiting: tuple[tuple[int, str], ...] = ()
    folded: list[Turn] = []
    for turn in turns:
        if turn.role == "system":
            waiting += turn.parts
        elif turn.role == "user" and waiting:
            folded.append(replace(turn, parts=waiting + turn.parts))
            waiting = ()
        else:
            folded.append(turn)
    if waiting:
        last = max((index for index, turn in enumerate(folded) if turn.role == "user"), default=None)
        if last is None:
            folded.insert(0, Turn("user", waiting))
        else:
            folded[last] = replace(folded[last], parts=folded[last].parts + waiting)
    return tuple(folded)


def _alternating(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Join neighbours of one role, and let a user's turn come first."""
    joined: list[Turn] = []
    for turn in turns:
        if joined and joined[-1].role == turn.role:
            joined[-1] = replace(turn, parts=joined[-1].parts + turn.parts)
        else:
            joined.append(turn)
    first = next((index for index, turn in enumerate(joined) if turn.role != "system"), len(joined))
    if first == len(joined) or joined[first].role == "assistant":
        joined.insert(first, Turn("user", ()))
    return tuple(joined)


_SYSTEM_NOTE = translate(
    "Prompt",
    "The chat template has no place for a system prompt: it was put before the message that follows it.",
)
_TURNS_NOTE = translate(
    "Prompt",
    "The chat template wants questions and answers in turn: neighbouring messages of one kind were sent as one.",
)
