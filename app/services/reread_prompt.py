"""How the prompt of an answer had come into the cache, so that it is read again in the same way.

Pure: told what is kept of the prompt and which turns led to the answer; knows no engine.
"""

from __future__ import annotations

from hashlib import blake2b

from app.core.chat import ReadStretch
from app.core.conversation import AnswerPrompt
from app.core.events import PromptReady
from app.services.open_conversation import OpenConversation, prompt_turns
from app.services.turns import Turn

_ID_BYTES = 4


def tokens_before(prompt: AnswerPrompt | PromptReady) -> int:
    """Return how many tokens of a prompt come before the answer; one that went on had its beginning in the prompt."""
    return next((span.start for span in prompt.spans if span.part == "answer"), len(prompt.ids) // _ID_BYTES)


def digest_before(prompt: AnswerPrompt | PromptReady) -> bytes:
    """Return a digest of the tokens that an answer is written behind, whatever of it is in the prompt already."""
    return blake2b(prompt.ids[: tokens_before(prompt) * _ID_BYTES], digest_size=16).digest()


def written_before(conversation: OpenConversation, turn: Turn) -> tuple[bool, ...]:
    """Return of each message that was sent before an answer, oldest first, whether a model wrote it."""
    turns = prompt_turns("", conversation.before(turn))
    return tuple(each is not None and each.role == "assistant" and bool(each.ids) for each in turns)


def stretches_of(prompt: AnswerPrompt, written: tuple[bool, ...], cached: int) -> tuple[ReadStretch, ...]:
    """Return how the first tokens of a prompt had come into the cache: an answer one by one, what lies between in one.

    Counted from the end: at the start there may have been another system prompt, or none.
    """
    last = max((span.message for span in prompt.spans if span.part != "answer"), default=0)
    answers = {last - place for place, is_answer in enumerate(reversed(written)) if is_answer}
    stretches: list[ReadStretch] = []
    for span in prompt.spans:
        if span.part not in ("history", "thinking") or span.message not in answers or span.start >= cached:
            continue
        if stretches and stretches[-1].end == span.start:
            stretches.pop()  # the answer's thinking, or what it said before it
        else:
            stretches.append(ReadStretch(span.start))
        stretches.append(ReadStretch(min(span.end, cached), one_by_one=True))
    return (*stretches, ReadStretch(cached)) if cached else ()
