"""Hands what the store says to the services that it is for."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from app.core.store_events import (
    ChatsRead,
    ConversationRead,
    Kept,
    MessagesFound,
    ModelUseMeasured,
    ModelUseRead,
    PiecesRead,
    PromptRead,
    RecordRead,
    Restored,
    SearchReady,
    StoreEvent,
    StoreFailed,
    StoreMeasured,
    StoreOpened,
    StoreRecovered,
    StoreRenewed,
    TrashRead,
    UseMeasured,
)

if TYPE_CHECKING:
    from app.services.program import Program


def hand_on_from_store(program: Program, event: StoreEvent) -> None:
    """Hand an event on."""
    match event:
        case StoreOpened() | StoreRenewed():
            program.conversations.take(event)
            program.model_notes.take(event)
        case ConversationRead() | StoreFailed() | StoreRecovered():
            program.conversations.take(event)
        case ChatsRead():
            program.chat_export.take_read(event)
            program.chat_import.take_read(event)
        case ModelUseMeasured():
            program.model_notes.take(event)
        case Kept():
            program.answers.take_kept(event)
            program.comparing.take_kept(event)
            program.chat_import.take_kept(event)
        case PiecesRead():
            program.vocabulary.take(event)
            program.chat_export.take_pieces(event)
            _take_read(program, event)
        case PromptRead():
            program.answers.take_prompt_read(event)
            program.reproducing.take(event)
            _take_read(program, event)
        case RecordRead():
            program.reproducing.take(event)
            _take_read(program, event)
        case MessagesFound() | SearchReady():
            program.message_search.take(event)
        case TrashRead() | Restored():
            program.trash.take(event)
        case StoreMeasured():
            program.disk_use.take(event)
        case UseMeasured():
            program.planner.chat_use.take(event)
        case ModelUseRead():
            program.library_files.take(event)
        case _:
            assert_never(event)


def _take_read(program: Program, event: PiecesRead | PromptRead | RecordRead) -> None:
    for each in (program.comparison_analysis, program.answer_what_if, program.inspecting):
        each.take_read(event)
