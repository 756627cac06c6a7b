"""A conversation as a tree: which message follows which, and which version people look at where there are several.

Structure alone: knows ids and their order, and nothing of what the messages say.
"""

from __future__ import annotations

from collections.abc import Iterable


class MessageTree:
    """Messages by id; those that follow the same one are versions of each other, the oldest first."""

    def __init__(self, messages: Iterable[tuple[int, int | None]] = ()) -> None:
        """Take messages with their parents, in any order; one whose parent is missing begins the conversation."""
        self._parents: dict[int, int | None] = {}
        self._children: dict[int | None, list[int]] = {}
        self._shown: dict[int | None, int] = {}
        """Of the versions behind a message: the one that was looked at last."""
        given = dict(messages)
        parents, children = self._parents, self._children
        goes_back = False
        for message in sorted(given):
            parent = given[message]
            if parent is None or parent not in given or parent == message:
                parent = None
            elif parent > message:
                goes_back = True
            parents[message] = parent
            if parent in children:
                children[parent].append(message)
            else:
                children[parent] = [message]
        if goes_back:  # ids grow with time: nothing else can be a circle
            self._cut_circles()

    def __contains__(self, message: int) -> bool:
        return message in self._parents

    def __len__(self) -> int:
        return len(self._parents)

    def add(self, message: int, parent: int | None) -> None:
        """Add a message behind another; raises `ValueError` for one that is there and a parent that is not."""
        if message in self._parents:
            raise ValueError(f"message {message} is in the tree already")
        if parent is not None and parent not in self._parents:
            raise ValueError(f"message {parent} is not in the tree")
        self._put(message, parent)

    def remove(self, message: int) -> tuple[int, ...]:
        """Take a message out with everything that follows it; return them, each behind the one it follows."""
        gone = self.below(message)
        parent = self._parents[message]
        self._children[parent].remove(message)
        if self._shown.get(parent) == message:
            del self._shown[parent]
        for each in gone:
            del self._parents[each]
            self._children.pop(each, None)
            self._shown.pop(each, None)
        return gone

    def parent(self, message: int) -> int | None:
        """Return the message that this one follows."""
        return self._parents[message]

    def versions(self, message: int) -> tuple[int, ...]:
        """Return the messages that follow the same one, this one among them."""
        return tuple(self._children[self._parents[message]])

    def below(self, message: int) -> tuple[int, ...]:
        """Return a message and everything that follows it, each behind the one it follows."""
        found = [message]
        for each in found:
            found += self._children.get(each, ())
        return tuple(found)

    def path(self, leaf: int | None) -> tuple[int, ...]:
        """Return the messages from the first one to this one."""
        found: list[int] = []
        while leaf is not None:
            found.append(leaf)
            leaf = self._parents[leaf]
        return tuple(reversed(found))

    def show(self, leaf: int | None) -> tuple[int, ...]:
        """Remember which version was looked at on the way to a message, and return that way."""
        way = self.path(leaf)
        self._shown.update(zip((None, *way), way, strict=False))
        return way

    def leaf(self, message: int | None = None) -> int | None:
        """Return where the branch through a message ends: by the versions looked at last, else by the newest ones."""
        while behind := self._children.get(message):
            message = self._shown.get(message, behind[-1])
        return message

    def _put(self, message: int, parent: int | None) -> None:
        self._parents[message] = parent
        behind = self._children.setdefault(parent, [])
        behind.append(message)
        if len(behind) > 1 and behind[-2] > message:
            behind.sort()

    def _cut_circles(self) -> None:
        """Let each circle, which only a damaged database has, begin the conversation with its oldest message."""
        reached = set(self.below_all())
        while len(reached) < len(self._parents):
            first = min(self._parents.keys() - reached)
            self._children[self._parents[first]].remove(first)
            self._put(first, None)
            reached |= set(self.below(first))

    def below_all(self) -> tuple[int, ...]:
        """Return all messages, each behind the one it follows."""
        return tuple(each for first in self._children.get(None, ()) for each in self.below(first))
