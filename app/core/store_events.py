"""What the store tells, as values of the one event union."""

from __future__ import annotations

import msgspec

from app.core.comparison import Comparison
from app.core.conversation import AnswerPrompt, Conversation, Message, Pieces, StoredAnswer, Trashed
from app.core.draft import Draft
from app.core.model_note import ModelNote, ModelUse
from app.core.search import FoundMessage, SearchPlace
from app.core.whole_chat import WholeChat
from app.core.words import Sentence


class StoreOpened(msgspec.Struct, frozen=True, tag="store_opened"):
    """The store is there, or is not and says why, for good or until it comes again: nothing is kept, all else works."""

    conversations: tuple[Conversation, ...]
    """Those that are not deleted, newest first."""
    usable: bool = True
    problems: tuple[Sentence, ...] = ()
    """What people must know: a newer database that is left alone, a damaged one that was moved aside."""
    draft: Draft | None = None
    """What was written in the chat that has no message yet."""
    newest: int = 0
    """The largest id of a conversation, a message or a comparison, deleted ones among them."""
    newest_deletion: int = 0
    """The latest time of a deletion."""
    notes: tuple[ModelNote, ...] = ()
    """What people say of models, each once."""


class Kept(msgspec.Struct, frozen=True, tag="kept"):
    """A question was taken down, a branch copied, or all that waited; `on_disk` is false where it could not be, which was told already."""

    request: int
    on_disk: bool
    problem: Sentence | None = None
    """For `Settle`: why something would be lost if the program ended now, and the question whether it may be."""


class ConversationRead(msgspec.Struct, frozen=True, tag="conversation_read"):
    """All messages of a conversation that are not deleted, oldest first, and the answers among them."""

    request: int
    conversation: int
    messages: tuple[Message, ...]
    answers: tuple[StoredAnswer, ...]
    dropped: dict[int, int] = {}
    """By message: how many earlier messages an answer was written without."""
    draft: Draft | None = None
    """What was written in it and not sent."""
    comparisons: tuple[Comparison, ...] = ()
    """Those of which a lane is there, oldest first."""


class ChatsRead(msgspec.Struct, frozen=True, tag="chats_read"):
    """The first of the conversations that were asked for, whole: as many as are not too much for one answer."""

    request: int
    chats: tuple[WholeChat, ...]
    unread: tuple[int, ...] = ()
    """Those of them of which a part could not be read."""


class ChatsAdded(msgspec.Struct, frozen=True):
    """Conversations that came whole are in the store now; told by whoever had them kept."""

    heads: tuple[Conversation, ...]


class TrashRead(msgspec.Struct, frozen=True, tag="trash_read"):
    """What was deleted and can be brought back, newest first."""

    request: int
    items: tuple[Trashed, ...]


class Restored(msgspec.Struct, frozen=True, tag="restored"):
    """Something is back out of the trash."""

    request: int
    conversation: Conversation | None
    """Its head, whose leaf is the newest message of what is back, or beside it where that is a lane that nobody kept.

    None where it is gone or cannot be written.
    """


class PiecesRead(msgspec.Struct, frozen=True, tag="pieces_read"):
    """What all tokens of a tokenizer say; None when they are not all kept."""

    request: int
    tokenizer: str
    pieces: Pieces | None


class RecordRead(msgspec.Struct, frozen=True, tag="record_read"):
    """The blocks of the per-token record of an answer, in order."""

    request: int
    message: int
    blocks: tuple[bytes, ...]


class PromptRead(msgspec.Struct, frozen=True, tag="prompt_read"):
    """The prompt that an answer was given, whole; None where it is not kept, or not all of it."""

    request: int
    message: int
    prompt: AnswerPrompt | None


class StoreMeasured(msgspec.Struct, frozen=True, tag="store_measured"):
    """Bytes on disk: of everything, and of the per-token records in it."""

    request: int
    total_bytes: int
    record_bytes: int


class Lengths(msgspec.Struct, frozen=True):
    """Of something that was counted in tokens: what 95 of 100 stay within, and the longest."""

    usual: int
    longest: int


class UseMeasured(msgspec.Struct, frozen=True, tag="use_measured"):
    """How long chats are, in tokens, over so many answers; None where there is no answer."""

    request: int
    answers: int
    context: Lengths | None = None
    """Of prompt and answer together: what each of them needed of the cache."""
    prompt: Lengths | None = None
    answer: Lengths | None = None


class ModelUseMeasured(msgspec.Struct, frozen=True, tag="model_use_measured"):
    """When each model answered last here, and how fast, as far as it is on disk."""

    request: int
    uses: tuple[ModelUse, ...]


class ModelUseRead(msgspec.Struct, frozen=True, tag="model_use_read"):
    """The conversations that hold an answer of a model, those that are deleted left out; the newest first."""

    request: int
    titles: tuple[str, ...]


class MessagesFound(msgspec.Struct, frozen=True, tag="messages_found"):
    """Some of the messages that hold what was looked for, as many as were found at once."""

    request: int
    found: tuple[FoundMessage, ...]
    rest: SearchPlace | None = None
    """How far the search came; None where there is nothing more."""
    is_whole: bool = True
    """Whether older messages were looked at, too; `SearchReady` follows where not all of them are indexed yet."""


class SearchReady(msgspec.Struct, frozen=True, tag="search_ready"):
    """All messages can be found from now on."""


class StoreFailed(msgspec.Struct, frozen=True, tag="store_failed"):
    """Something could not be written, or read; what could not be written is in memory and tried again."""

    sentence: Sentence
    waits: bool = False
    """Something waits to be written; `StoreRecovered` ends it."""


class StoreRecovered(msgspec.Struct, frozen=True, tag="store_recovered"):
    """Everything that could not be written before is on disk now."""


class StoreRenewed(msgspec.Struct, frozen=True, tag="store_renewed"):
    """Chats go on in a file that was made anew: what could not be taken over is missing in it."""


StoreEvent = (
    StoreOpened
    | Kept
    | ConversationRead
    | ChatsRead
    | TrashRead
    | Restored
    | PiecesRead
    | RecordRead
    | PromptRead
    | StoreMeasured
    | UseMeasured
    | ModelUseMeasured
    | ModelUseRead
    | MessagesFound
    | SearchReady
    | StoreFailed
    | StoreRecovered
    | StoreRenewed
)
