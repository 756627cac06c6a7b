"""Earlier answers as a chat template wants them: their thinking apart, where it has a field of its own.

Most templates cut the thinking out of the text themselves, and get the text as it is. Knows nothing of tokens.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from app.core.chat import PromptMessage
from app.core.parted_answer import PartedAnswer
from app.core.thinking import ThinkingReader
from app.core.thinking_tags import TagPair, tag_pairs
from app.engine.message_layout import Layout, MessageSpan

_FIELDS = {
    "reasoning_content": re.compile(r"\breasoning_content\b"),
    "thinking": re.compile(
        r"\.thinking\b|\[\s*['\"]thinking['\"]|['\"]thinking['\"]\s+in\b|get\(\s*['\"]thinking['\"]"
    ),
}
_CUT = r"(?:split|partition)\(\s*['\"]{tag}['\"]|['\"]{tag}['\"]\s*(?:not\s+)?in\b"


@dataclass(frozen=True)
class Parted:
    """Messages with the thinking of earlier answers apart."""

    messages: Sequence[PromptMessage]
    """As they are offered to the template as contents."""
    thoughts: Mapping[int, str]
    """The thinking by the index of its message; nothing for a template that takes texts whole."""
    fields: Sequence[str] = ()
    """Under which names the template takes it."""
    only_thought: frozenset[int] = frozenset()
    """Answers that say nothing beside their thinking: a template that leaves that out leaves them out."""

    def number(self, message: int) -> int:
        """Return the number under which the thinking of a message is marked, as if it were a message."""
        return len(self.messages) + message

    def among(self, messages: Sequence[int]) -> list[int]:
        """Return the numbers of messages and of their thinking."""
        return [*messages, *(self.number(message) for message in messages if message in self.thoughts)]

    def texts(self) -> dict[int, str]:
        """Return every text by its number."""
        texts = {index: message.text for index, message in enumerate(self.messages)}
        return texts | {self.number(message): text for message, text in self.thoughts.items()}

    def joined(self, layout: Layout) -> Layout:
        """Return a layout in which a message's thinking is the message's; what people need not miss is not left out."""
        count = len(self.messages)

        def owner(number: int) -> int:
            return number - count if number >= count else number

        return Layout(
            tuple(
                replace(span, message=owner(span.message), is_thinking=True) if span.message >= count else span
                for span in layout.spans
            ),
            tuple(
                replace(each, messages=tuple(dict.fromkeys(map(owner, each.messages)))) for each in layout.doubtful
            ),
            frozenset(number for number in layout.left_out - self.only_thought if number < count),
            layout.exact,
        )


def parted(source: str, messages: Sequence[PromptMessage], *, is_open: bool) -> Parted:
    """Return messages as a template wants them; with `is_open` the last one is an answer that goes on, whole as it is."""
    pairs = tag_pairs(source)
    fields = tuple(name for name, pattern in _FIELDS.items() if pattern.search(source))
    takes_apart = bool(fields) and not _cuts(source, pairs)
    kept: list[PromptMessage] = []
    thoughts: dict[int, str] = {}
    only: set[int] = set()
    for index, message in enumerate(messages):
        whole = message.role != "assistant" or (is_open and index == len(messages) - 1)
        answer = None if whole or not _names(message.text, pairs) else _read(message.text, pairs)
        if answer is not None and not answer.said:
            only.add(index)
        if answer is not None and takes_apart:
            thoughts[index] = answer.thought
            kept.append(msgspec.structs.replace(message, text=answer.said))
        else:
            kept.append(message)
    return Parted(kept, thoughts, fields, frozenset(only))


def parts_of(text: str, span: MessageSpan, pairs: Sequence[TagPair]) -> list[tuple[int, int, bool]]:
    """Return the stretches of an earlier answer in a prompt, in characters, and whether each is thinking; they tile it."""
    said = text[span.start : span.end]
    if span.is_thinking or not any(pair.opening in said or (pair.closing and pair.closing in said) for pair in pairs):
        return [(span.start, span.end, span.is_thinking)]
    reader = ThinkingReader(pairs)
    reader.finish(said)
    return [(span.start + each.start, span.start + each.end, each.kind == "thinking") for each in reader.segments]


def _names(text: str, pairs: Sequence[TagPair]) -> bool:
    return any(pair.closing and pair.closing in text for pair in pairs)


def _read(text: str, pairs: Sequence[TagPair]) -> PartedAnswer | None:
    """Return an answer parted, or None where it has no thinking that ended."""
    answer = PartedAnswer(pairs)
    answer.finish(text)
    has_thought = any(segment.kind == "thinking" for segment in answer.segments)
    return answer if has_thought and not answer.is_thinking else None


def _cuts(source: str, pairs: Sequence[TagPair]) -> bool:
    """Return whether a template looks for the end of the thinking in a text itself."""
    return any(re.search(_CUT.format(tag=re.escape(pair.closing)), source) for pair in pairs if pair.closing)
