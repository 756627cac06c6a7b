"""What can be asked of the store, and what it answers; each question has an answer of its own."""

from __future__ import annotations

from app.core.store_commands import (
    FindMessages,
    MeasureModelUse,
    MeasureStore,
    MeasureUse,
    ReadChats,
    ReadConversation,
    ReadModelUse,
    ReadPieces,
    ReadPrompt,
    ReadRecord,
    ReadTrash,
)
from app.core.store_events import (
    ChatsRead,
    ConversationRead,
    MessagesFound,
    ModelUseMeasured,
    ModelUseRead,
    PiecesRead,
    PromptRead,
    RecordRead,
    StoreMeasured,
    TrashRead,
    UseMeasured,
)

Answer = (
    ConversationRead
    | ChatsRead
    | TrashRead
    | PiecesRead
    | RecordRead
    | PromptRead
    | StoreMeasured
    | UseMeasured
    | ModelUseMeasured
    | ModelUseRead
    | MessagesFound
)
Question = (
    ReadConversation
    | ReadChats
    | ReadTrash
    | ReadPieces
    | ReadRecord
    | ReadPrompt
    | MeasureStore
    | MeasureUse
    | MeasureModelUse
    | ReadModelUse
    | FindMessages
)
