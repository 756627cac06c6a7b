"""Conversations as Markdown: the branch that is shown, with what people and models said, one under the other.

Pure. Words around the messages are English in every language, so that files stay alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from app.core.attached_files import as_markdown
from app.core.conversation import Conversation, Message, Pieces
from app.core.message_tree import MessageTree
from app.core.whole_chat import WholeChat
from app.services.thinking import Thoughts


class MarkdownWriter:
    """Writes conversations one after the other, a rule between them."""

    tokenizers: tuple[str, ...] = ()

    def __init__(self) -> None:
        self._count = 0

    def begin(self, _heads: Sequence[Conversation]) -> bytes:
        """Return nothing: each conversation has its own title."""
        return b""

    def add(self, chat: WholeChat) -> bytes:
        """Return the shown branch of a conversation."""
        self._count += 1
        between = "\n---\n\n" if self._count > 1 else ""
        return (between + _text(chat)).encode("utf-8", "replace")

    def begin_vocabularies(self) -> bytes:
        """Return nothing: no text has tokens."""
        return b""

    def add_vocabulary(self, _pieces: Pieces) -> bytes:
        """Return nothing, as above."""
        return b""

    def end(self) -> bytes:
        """Return nothing: the last text has ended."""
        return b""


def shown_messages(chat: WholeChat) -> tuple[Message, ...]:
    """Return the messages of the branch that is shown, from the first to the last."""
    messages = {message.id: message for message in chat.messages}
    hidden = {
        lane for each in chat.comparisons for place, lane in enumerate(each.lanes) if place not in each.kept
    } - {chat.head.leaf}
    tree = MessageTree((each.id, each.parent) for each in chat.messages)
    seen = [key for key in messages if key not in hidden]
    leaf = chat.head.leaf if chat.head.leaf in messages else (seen[-1] if seen else None)
    return tuple(messages[key] for key in tree.path(leaf))


def authors(chat: WholeChat) -> dict[int, str]:
    """Return by message which model wrote it, in the words that were kept."""
    return {whole.answer.message: whole.answer.model_name for whole in chat.answers}


def parted_answers(chat: WholeChat) -> dict[int, tuple[str, str]]:
    """Return by message what an answer thinks, "" where it does not, and what it says, both without the tags between."""
    kept = {whole.answer.message: whole.answer.thinking for whole in chat.answers}
    found: dict[int, tuple[str, str]] = {}
    for message in chat.messages:
        if message.role == "assistant":
            thoughts = Thoughts.kept(message.text, kept.get(message.id))
            is_parted = thoughts is not None and thoughts.thinking is not None
            found[message.id] = (thoughts.thought, thoughts.said) if thoughts and is_parted else ("", message.text)
    return found


def day(ms: int) -> str:
    """Return the day of a time, where people are; empty where it is no date."""
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).astimezone().strftime("%Y-%m-%d")
    except (OverflowError, OSError, ValueError):  # a clock that was wrong beyond all dates
        return ""


def _text(chat: WholeChat) -> str:
    """Return a conversation: what is said stands as it is, because that is Markdown, too; thinking is folded."""
    names = authors(chat)
    parts = [f"# {chat.head.title or 'Conversation'}", day(chat.head.created_ms)]
    if chat.head.system_prompt:
        parts += ["## System prompt", chat.head.system_prompt]
    answers = parted_answers(chat)
    for message in shown_messages(chat):
        who = "User" if message.role == "user" else names.get(message.id) or "Assistant"
        thought, text = answers.get(message.id) or ("", as_markdown(message.text))
        folded = f"<details>\n<summary>Thinking</summary>\n\n{thought}\n\n</details>" if thought else ""
        parts += [f"## {who}", folded, text.strip("\n")]
    return "\n\n".join(part for part in parts if part) + "\n"
