"""What is written: the commands that keep something, with the chunks joined, and what the store adds by itself.

Values alone; how they become rows is `writing`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from app.core.conversation import Chunk
from app.core.store_commands import (
    CopyBranch,
    EndAnswer,
    EraseTrash,
    KeepChat,
    KeepComparison,
    KeepConversation,
    KeepDraft,
    KeepLanes,
    KeepModelNote,
    KeepPieces,
    KeepPrompt,
    KeepQuestion,
    RemoveMessages,
    RestoreMessages,
)


@dataclass
class Stretch:
    """The chunks of one answer that wait together: they become one row."""

    answer: int
    texts: list[str] = field(default_factory=list)
    ids: list[bytes] = field(default_factory=list)
    blocks: list[bytes] = field(default_factory=list)
    once: bool = False
    """Whether it may be there already: then it is not added again."""

    def add(self, chunk: Chunk) -> None:
        """Take one more."""
        self.texts.append(chunk.text)
        self.ids.append(chunk.ids)
        self.blocks.append(chunk.record)


@dataclass(frozen=True)
class EndOpenAnswers:
    """Answers that an earlier run of the program left open were cut off; their text is what was written of them."""


@dataclass(frozen=True)
class TakenOver:
    """What an earlier run left in a file is in the chats now: it is never taken over again."""

    digest: bytes


Asked = KeepQuestion | KeepLanes | CopyBranch | KeepChat
"""Commands that keep something and are answered by `Kept`."""
Unasked = (
    KeepConversation
    | KeepComparison
    | KeepPrompt
    | EndAnswer
    | RemoveMessages
    | RestoreMessages
    | EraseTrash
    | KeepDraft
    | KeepModelNote
    | KeepPieces
)
"""Commands that keep something and that nobody waits for."""
Change = Asked | Unasked | Stretch | EndOpenAnswers | TakenOver
"""All that is written."""


def latest_of(change: Change) -> tuple[str, object] | None:
    """Return what a change is the latest word on, so that it takes the place of earlier ones; None where it adds."""
    match change:
        case KeepDraft(draft):
            return "draft", draft.conversation
        case KeepModelNote(note):
            return "note", note.model
        case _:
            return None
