"""Earlier answers go into a prompt as the ids that they were sampled as, where the prompt still says the same.

Knows nothing of templates: it compares texts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace
from itertools import accumulate

import numpy as np

from app.core.chat import ChatPrompt, Prompt, PromptMessage, clean_text
from app.engine.backend import Vocabulary
from app.engine.detokenizer import storable
from app.engine.message_layout import MessageSpan
from app.engine.prompt_pieces import PromptPieces


def ids_of(data: bytes, vocabulary: Vocabulary) -> list[int] | None:
    """Return token ids from their bytes, or None if they are not this vocabulary's."""
    if len(data) % 4:
        return None
    ids: list[int] = np.frombuffer(data, "<i4").tolist()
    return ids if all(0 <= token < vocabulary.size for token in ids) else None


def open_answer(prompt: Prompt) -> PromptMessage | None:
    """Return the answer that is to go on where it stopped, if there is one."""
    if not isinstance(prompt, ChatPrompt) or not prompt.continue_last or not prompt.messages:
        return None
    last = prompt.messages[-1]
    return PromptMessage(last.role, clean_text(last.text), last.ids) if last.role == "assistant" else None


def own_ids(message: PromptMessage, vocabulary: Vocabulary, pieces: PromptPieces) -> list[int]:
    """Return the ids that a message was sampled as, without the end; none if they do not say what it says now.

    What was sampled after the text, such as a stop string, is left out.
    """
    ids = ids_of(message.ids, vocabulary) or []
    while ids and vocabulary.is_end(ids[-1]):
        ids.pop()
    said = pieces.said(ids)
    if storable(said.decode("utf-8", "replace")) == message.text:
        return ids
    text = message.text.encode()
    if not said.startswith(text):
        return []
    ends = list(accumulate(len(pieces.said((token,))) for token in ids))
    count = bisect_left(ends, len(text)) + 1
    return ids[:count] if ends[count - 1] == len(text) else []


def spliced(text: str, span: MessageSpan, answer: str, bounds: tuple[int, int]) -> MessageSpan | None:
    """Return where the prompt holds an answer unchanged, or None.

    White space that a template takes off and puts back, such as the space before each answer, belongs to the answer.
    """
    held = text[span.start : span.end]
    if held == answer:
        return span
    if not held.strip():
        return None
    start = span.start + len(held) - len(held.lstrip()) - (len(answer) - len(answer.lstrip()))
    end = start + len(answer)
    if start < bounds[0] or end > bounds[1] or text[start:end] != answer:
        return None
    return replace(span, start=start, end=end)


def end_spliced(
    text: str, span: MessageSpan, message: PromptMessage, vocabulary: Vocabulary, pieces: PromptPieces
) -> tuple[MessageSpan, list[int]] | None:
    """Return where the prompt holds the end of an answer, with the ids of it, where whole tokens say just that.

    Templates that leave the thinking out of earlier answers keep their ends, with or without the white space around.
    """
    held = text[span.start : span.end]
    ids = own_ids(message, vocabulary, pieces)
    if not ids or not held.strip() or pieces.said(ids) != message.text.encode():
        return None
    for part in dict.fromkeys((held, held.rstrip(), held.lstrip(), held.strip())):
        for whole in dict.fromkeys((message.text, message.text.rstrip())):
            if whole.endswith(part) and (end := _ids_of_end(ids, whole, part, pieces)):
                start = span.start + held.index(part)
                return replace(span, start=start, end=start + len(part)), end
    return None


def _ids_of_end(ids: list[int], whole: str, part: str, pieces: PromptPieces) -> list[int]:
    """Return the ids that say the end of a text; none where a token goes over an edge of it."""
    end = len(whole.encode())
    start = end - len(part.encode())
    ends = list(accumulate((len(pieces.said((token,))) for token in ids), initial=0))
    first, last = bisect_right(ends, start) - 1, bisect_left(ends, end)
    return ids[first:last] if (ends[first], ends[last]) == (start, end) else []
