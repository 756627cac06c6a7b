"""Makes the messages of one conversation out of the nodes of a foreign tree, whatever is wrong with it.

What is not kept is passed over: what follows it follows the nearest message before it that is. Knows no format.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from app.core.chat_title import suggested_title
from app.core.conversation import LONGEST_TITLE, Conversation, Message, StoredAnswer
from app.core.message_tree import MessageTree
from app.core.thinking_tags import THINK
from app.core.whole_chat import MOST_IDS, WholeAnswer, WholeChat
from app.core.words import translate
from app.services.importers.found import Found, Unread
from app.services.importers.losses import Losses
from app.services.importers.message_order import Placed, in_order

NO_CONVERSATION = translate("Importing", "It is not written as a conversation is: nothing of it was taken over.")
NO_MESSAGES = translate("Importing", "There is no message in it that could be taken over.")
_TOO_MANY = translate(
    "Importing", "It has more messages than a conversation can have here, which are {most}.", most=MOST_IDS - 1
)
_LONGEST_MODEL = 200
_OWN_ID = 1


@dataclass(frozen=True)
class Said:
    """A message that is kept."""

    role: Literal["user", "assistant"]
    text: str
    model: str = ""
    is_whole: bool = True
    edited: bool = False
    goes_on: bool = False
    """The answer is not over: one that follows it alone is its next part."""


@dataclass(frozen=True)
class Node:
    """A node of the foreign tree."""

    parent: str | None
    children: Sequence[str] = ()
    ms: int | None = None
    said: Said | None = None
    """None for one that is passed over."""
    thought: str = ""
    """What the next answer behind it thought."""


@dataclass
class Head:
    """What is known of a conversation beside its messages; times are milliseconds since 1970, None is unknown."""

    title: str = ""
    created_ms: int | None = None
    changed_ms: int | None = None
    system_prompt: str = ""
    pinned: bool = False
    current: str | None = None
    """The node that the shown branch ends with."""


def conversation(head: Head, nodes: Mapping[str, Node], losses: Losses, place: str) -> Found:
    """Return the conversation, with what was left out of it; `place` is where it lies in the file."""
    title = " ".join(losses.clean(head.title).split())[:LONGEST_TITLE]
    rows = _Rows(nodes, losses)
    rows.take(in_order(nodes, losses))
    for key, node in nodes.items():
        if node.thought and key not in rows.used:
            losses.note("thoughts")
    if not rows.rows:
        return Found((), (*losses.unread(title, place), Unread(title, place, NO_MESSAGES)))
    if len(rows.rows) >= MOST_IDS:
        return Found((), (Unread(title, place, _TOO_MANY),))
    messages = tuple(row.message() for row in rows.rows)
    times = [message.created_ms for message in messages]
    asked = next((message.text for message in messages if message.role == "user"), "")
    made = Conversation(
        _OWN_ID,
        title or suggested_title(asked)[:LONGEST_TITLE],
        head.created_ms if head.created_ms is not None else min(times),
        head.changed_ms if head.changed_ms is not None else max(times),
        system_prompt=losses.clean(head.system_prompt),
        leaf=rows.leaf(head.current),
        pinned=head.pinned,
    )
    answers = tuple(row.answer() for row in rows.rows if row.role == "assistant")
    return Found((WholeChat(made, messages, answers),), losses.unread(made.title, place))


@dataclass
class _Row:
    """A message as it grows."""

    id: int
    parent: int | None
    role: Literal["user", "assistant"]
    texts: list[str]
    ms: int
    edited: bool
    model: str
    is_whole: bool
    goes_on: bool

    def message(self) -> Message:
        text = "\n\n".join(self.texts)
        return Message(self.id, _OWN_ID, self.parent, self.role, text, self.ms, None, self.edited)

    def answer(self) -> WholeAnswer:
        return WholeAnswer(StoredAnswer(self.id, "done" if self.is_whole else "interrupted", model_name=self.model))


class _Rows:
    """Makes messages of nodes."""

    def __init__(self, nodes: Mapping[str, Node], losses: Losses) -> None:
        self.rows: list[_Row] = []
        self.used: set[str] = set()
        """Nodes whose thinking an answer has."""
        self._nodes = nodes
        self._losses = losses
        self._row_of: dict[str | None, _Row | None] = {None: None}
        """The message that a node became, or the nearest one before it."""
        self._thinking: dict[str | None, str | None] = {None: None}
        """The nearest node, at one or before it, with thinking that no message came behind."""
        self._earlier: dict[str, str | None] = {}
        """The node with thinking before one with thinking."""

    def take(self, ordered: Sequence[Placed]) -> None:
        """Take all nodes, each behind the one it follows."""
        followers = Counter(placed.parent for placed in ordered)
        alone: set[str] = set()
        for key, parent, ms in ordered:
            node, row, thinking = self._nodes[key], self._row_of[parent], self._thinking[parent]
            if parent is not None and followers[parent] == 1:
                is_behind = self._nodes[parent].said is not None or parent in alone
                alone.update([key] if is_behind else [])
            if node.thought:
                self._earlier[key], thinking = thinking, key
            if node.said is None:
                self._row_of[key], self._thinking[key] = row, thinking
            else:
                self._row_of[key] = self._put(node.said, row, thinking, ms, is_alone=key in alone)
                self._thinking[key] = None

    def leaf(self, current: str | None) -> int | None:
        """Return the message that the shown branch ends with."""
        if current is not None and current not in self._row_of:
            self._losses.note("leaf")
        row = self._row_of.get(current)
        tree = MessageTree((row.id, row.parent) for row in self.rows)
        return tree.leaf(row.id if row is not None else None)

    def _put(self, said: Said, before: _Row | None, thinking: str | None, ms: int, *, is_alone: bool) -> _Row:
        """Add a message, or a part to the one before."""
        text, model = self._losses.clean(said.text), self._losses.clean(said.model)[:_LONGEST_MODEL]
        if said.role == "assistant" and (thought := self._losses.clean(self._thoughts(thinking))):
            text = f"{THINK.opening}\n{thought}\n{THINK.closing}\n\n{text}"
        if before is not None and before.goes_on and said.role == "assistant" and is_alone:
            before.texts += [text] if text else []
            before.goes_on, before.is_whole = said.goes_on, said.is_whole
            before.model, before.edited = before.model or model, before.edited or said.edited
            return before
        parent = before.id if before is not None else None
        texts = [text] if text else []
        number = _OWN_ID + 1 + len(self.rows)
        row = _Row(number, parent, said.role, texts, ms, said.edited, model, said.is_whole, said.goes_on)
        self.rows.append(row)
        return row

    def _thoughts(self, waiting: str | None) -> str:
        """Return the thinking before an answer that no other one has."""
        found: list[str] = []
        while waiting is not None and waiting not in self.used:
            self.used.add(waiting)
            found.append(self._nodes[waiting].thought)
            waiting = self._earlier[waiting]
        return "\n\n".join(reversed(found))
