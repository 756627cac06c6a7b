"""What is asked of the store: one closed union of frozen values, done in the order they come."""

from __future__ import annotations

import msgspec

from app.core.comparison import Comparison
from app.core.conversation import AnswerPrompt, Chunk, Conversation, Message, Pieces, StoredAnswer
from app.core.draft import Draft
from app.core.model import ModelRef
from app.core.model_note import ModelNote
from app.core.search import PAGE, SearchPlace
from app.core.whole_chat import WholeChat


class OpenStore(msgspec.Struct, frozen=True):
    """Open the store, mark what was cut off as interrupted; answered by `StoreOpened`."""


class KeepConversation(msgspec.Struct, frozen=True):
    """Add a conversation, or take over its new head."""

    conversation: Conversation


class KeepQuestion(msgspec.Struct, frozen=True):
    """Add messages and the answer that will follow, with its conversation; answered by `Kept` once it is on disk."""

    request: int
    conversation: Conversation
    messages: tuple[Message, ...]
    answer: StoredAnswer


class KeepLanes(msgspec.Struct, frozen=True):
    """Add a comparison with the messages before it and its lanes' answers; answered by `Kept` once it is on disk.

    The lanes' messages are named in the comparison and are empty until they grow, as with `KeepQuestion`.
    """

    request: int
    conversation: Conversation
    messages: tuple[Message, ...]
    comparison: Comparison
    answers: tuple[StoredAnswer, ...]
    """One for each lane, in their order."""


class KeepComparison(msgspec.Struct, frozen=True):
    """Take over what is known of a comparison now; one that is not there is added."""

    comparison: Comparison


class KeepPrompt(msgspec.Struct, frozen=True):
    """Keep the prompt that an answer is given."""

    prompt: AnswerPrompt


class KeepChunk(msgspec.Struct, frozen=True):
    """Add a stretch to an answer; on disk within half a second."""

    chunk: Chunk


class EndAnswer(msgspec.Struct, frozen=True):
    """Keep the whole text and the figures of an answer that ended; its chunks stay as they are."""

    message: Message
    answer: StoredAnswer


class RemoveMessages(msgspec.Struct, frozen=True):
    """Mark messages as deleted: a branch with everything that follows it, or what came to nothing.

    All of them are one deletion, told apart from others by its time, which is later where that one is taken. Those that
    were deleted before keep theirs.
    """

    messages: tuple[int, ...]
    deleted_ms: int


class RestoreMessages(msgspec.Struct, frozen=True):
    """Take a deletion back at once: exactly these messages are there again."""

    messages: tuple[int, ...]


class CopyBranch(msgspec.Struct, frozen=True):
    """Copy a branch into a new conversation, with everything that is kept of it; answered by `Kept`."""

    request: int
    head: Conversation
    messages: tuple[tuple[int, int], ...]
    """The id of each message and of its copy, from the first message to the one where the copy ends."""


class KeepChat(msgspec.Struct, frozen=True):
    """Add a whole conversation at once, whose ids are new; answered by `Kept`."""

    request: int
    chat: WholeChat


class ReadChats(msgspec.Struct, frozen=True):
    """Read conversations whole, at least the first of them; answered by `ChatsRead`."""

    request: int
    heads: tuple[Conversation, ...]


class ReadTrash(msgspec.Struct, frozen=True):
    """Read what was deleted and can be brought back; answered by `TrashRead`."""

    request: int


class RestoreTrash(msgspec.Struct, frozen=True):
    """Bring back a conversation, or a branch with the way up to the first message; answered by `Restored`."""

    request: int
    conversation: int
    message: int | None = None


class EraseTrash(msgspec.Struct, frozen=True):
    """Remove for good what was deleted: a conversation, or a branch with everything deleted that follows it."""

    conversation: int
    message: int | None = None


class KeepDraft(msgspec.Struct, frozen=True):
    """Keep what is written and not sent, in place of the earlier draft of its conversation; an empty one goes."""

    draft: Draft
    changed_ms: int


class KeepModelNote(msgspec.Struct, frozen=True):
    """Keep what people say of a model, in place of what they said before; where that is nothing, it goes."""

    note: ModelNote
    changed_ms: int


class Settle(msgspec.Struct, frozen=True):
    """Write everything that waits, and soon: somebody waits for the answer; answered by `Kept`."""

    request: int


class ReadConversation(msgspec.Struct, frozen=True):
    """Read all messages of a conversation; answered by `ConversationRead`."""

    request: int
    conversation: int


class KeepPieces(msgspec.Struct, frozen=True):
    """Keep what tokens of a tokenizer say, unless it is kept already."""

    pieces: Pieces
    vocabulary: int
    """How many tokens the tokenizer has."""


class ReadPieces(msgspec.Struct, frozen=True):
    """Read what all tokens of a tokenizer say; answered by `PiecesRead`."""

    request: int
    tokenizer: str


class ReadRecord(msgspec.Struct, frozen=True):
    """Read the per-token record of an answer; answered by `RecordRead`."""

    request: int
    message: int


class ReadPrompt(msgspec.Struct, frozen=True):
    """Read the prompt that an answer was given; answered by `PromptRead`."""

    request: int
    message: int


class MeasureStore(msgspec.Struct, frozen=True):
    """Say how much disk it takes; answered by `StoreMeasured`."""

    request: int


class MeasureUse(msgspec.Struct, frozen=True):
    """Say how long chats are, from the newest answers; answered by `UseMeasured`."""

    request: int


class MeasureModelUse(msgspec.Struct, frozen=True):
    """Say when each model answered last, and how fast; answered by `ModelUseMeasured`."""

    request: int


class ReadModelUse(msgspec.Struct, frozen=True):
    """Say which conversations hold an answer of a model; answered by `ModelUseRead`."""

    request: int
    model: ModelRef


class FindMessages(msgspec.Struct, frozen=True):
    """Find the messages that hold a text as it is typed, newest first; answered by `MessagesFound`."""

    request: int
    text: str
    after: SearchPlace | None = None
    """How far the same search came before."""
    limit: int = PAGE


StoreCommand = (
    OpenStore
    | KeepConversation
    | KeepQuestion
    | KeepLanes
    | KeepComparison
    | KeepPrompt
    | KeepChunk
    | EndAnswer
    | RemoveMessages
    | RestoreMessages
    | CopyBranch
    | KeepChat
    | ReadChats
    | ReadTrash
    | RestoreTrash
    | EraseTrash
    | KeepDraft
    | KeepModelNote
    | Settle
    | ReadConversation
    | KeepPieces
    | ReadPieces
    | ReadRecord
    | ReadPrompt
    | MeasureStore
    | MeasureUse
    | MeasureModelUse
    | ReadModelUse
    | FindMessages
)
