"""Values into rows: each change of the store as SQL, inside a transaction that somebody else begins and ends.

Nothing here may refuse a word: what a message belongs to is made up where it is missing.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Sequence

from app.core.chat import clean_text
from app.core.conversation import Conversation, Message, StoredAnswer
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
from app.core.whole_chat import WholeChat
from app.store import columns, deletions, trash
from app.store.changes import Change, EndOpenAnswers, Stretch, TakenOver
from app.store.comparisons import keep_comparison
from app.store.copying import copy_branch
from app.store.drafts import keep_draft
from app.store.faults import fault_of
from app.store.model_notes import keep_note
from app.store.packing import pack_blocks, pack_ids
from app.store.pieces import keep_pieces
from app.store.prompts import PromptRows
from app.store.reading import read_ids, read_text
from app.store.whole_chats import keep_answer_parts, keep_comparisons, keep_files

_log = logging.getLogger(__name__)


class Writer:
    """Writes changes through one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.prompts = PromptRows(connection)

    def write(self, change: Change) -> None:
        """Write one change."""
        match change:
            case Stretch():
                self._add_stretch(change)
            case KeepConversation(conversation):
                self._keep_conversation(conversation)
            case KeepQuestion(_, conversation, messages, answer):
                self._begin(conversation, messages)
                parent = messages[-1].id if messages else None
                self._begin_answer(conversation.id, answer, parent, conversation.changed_ms)
            case KeepLanes(_, conversation, messages, comparison, answers):
                self._begin(conversation, messages)
                for answer in answers:
                    self._begin_answer(conversation.id, answer, comparison.parent, comparison.created_ms)
                keep_comparison(self._connection, comparison)
            case KeepComparison(comparison):
                keep_comparison(self._connection, comparison)
            case KeepPrompt(prompt):
                self.prompts.keep(prompt)
                self._connection.execute(
                    "UPDATE answer SET dropped = ? WHERE message = ?", (len(prompt.dropped) or None, prompt.message)
                )
            case EndAnswer(message, answer):
                self._keep_message(message)
                self._keep_answer(answer)
                self._join_ids(answer.message)
            case RemoveMessages(removed, deleted_ms):
                trash.remove(self._connection, removed, deleted_ms)
            case RestoreMessages(removed):
                trash.take_back(self._connection, removed)
            case EraseTrash(erased_in, erased):
                trash.give_up(self._connection, erased_in, erased)
            case CopyBranch(_, head):
                self._keep_conversation(head)
                copy_branch(self._connection, self.prompts, change)
            case KeepChat(_, chat):
                self._keep_chat(chat)
            case KeepDraft(draft, changed_ms):
                keep_draft(self._connection, draft, changed_ms)
            case KeepModelNote(note, changed_ms):
                keep_note(self._connection, note, changed_ms)
            case KeepPieces(pieces, vocabulary):
                keep_pieces(self._connection, pieces, vocabulary)
            case EndOpenAnswers():
                end_open_answers(self._connection)
            case TakenOver(digest):
                self._connection.execute("INSERT OR IGNORE INTO taken_over (digest) VALUES (?)", (digest,))

    def _keep_chat(self, chat: WholeChat) -> None:
        self._begin(chat.head, chat.messages)
        for whole in chat.answers:
            self._keep_answer(whole.answer)
            keep_answer_parts(self._connection, whole)
        keep_comparisons(self._connection, chat)
        keep_files(self._connection, chat.files)

    def _begin(self, conversation: Conversation, messages: Sequence[Message]) -> None:
        """Keep what somebody asks in a conversation."""
        self._keep_conversation(conversation)
        self._stay(conversation)
        for message in messages:
            self._keep_message(message)

    def _begin_answer(self, conversation: int, answer: StoredAnswer, parent: int | None, created_ms: int) -> None:
        """Keep how an answer will be written, with its message, which is empty where it is not there."""
        self._connection.execute(
            "INSERT OR IGNORE INTO message (id, conversation, parent, role, created_ms, text) "
            "VALUES (?, ?, ?, 'assistant', ?, '')",
            (answer.message, conversation, parent, created_ms),
        )
        self._keep_answer(answer)

    def _keep_conversation(self, conversation: Conversation) -> None:
        self._note_deletion(conversation)
        self._connection.execute(
            "INSERT INTO conversation (id, title, folder, pinned, created_ms, changed_ms, deleted_ms, leaf, "
            "system_prompt, settings, model) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (id) DO UPDATE SET title = excluded.title, folder = excluded.folder, "
            "pinned = excluded.pinned, created_ms = excluded.created_ms, changed_ms = excluded.changed_ms, "
            # What is to be erased may be gone in part.
            f"deleted_ms = CASE conversation.deleted_ms WHEN {deletions.TO_ERASE} THEN conversation.deleted_ms "
            "ELSE excluded.deleted_ms END, leaf = excluded.leaf, system_prompt = excluded.system_prompt, "
            "settings = excluded.settings, model = excluded.model",
            (
                conversation.id,
                clean_text(conversation.title),
                clean_text(conversation.folder),
                conversation.pinned,
                conversation.created_ms,
                conversation.changed_ms,
                conversation.deleted_ms,
                conversation.leaf,
                clean_text(conversation.system_prompt),
                columns.to_json(conversation.settings),
                columns.to_json(conversation.model),
            ),
        )

    def _note_deletion(self, conversation: Conversation) -> None:
        """Take down when a conversation is deleted, the first time it is kept as deleted."""
        deletion = conversation.deleted_ms
        known = "SELECT EXISTS (SELECT 1 FROM conversation WHERE id = ? AND deleted_ms = ?)"
        if deletion and not self._connection.execute(known, (conversation.id, deletion)).fetchone()[0]:
            deletions.note(self._connection, deletion)

    def _stay(self, conversation: Conversation) -> None:
        """Erase no conversation in which somebody asks something, though it was to be."""
        if conversation.deleted_ms is None:
            self._connection.execute("UPDATE conversation SET deleted_ms = NULL WHERE id = ?", (conversation.id,))

    def _keep_message(self, message: Message) -> None:
        self._connection.execute(
            "INSERT OR IGNORE INTO conversation (id, title, created_ms, changed_ms) VALUES (?, '', ?, ?)",
            (message.conversation, message.created_ms, message.created_ms),
        )
        self._connection.execute(
            "INSERT INTO message (id, conversation, parent, role, created_ms, deleted_ms, edited, text) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET conversation = excluded.conversation, "
            "parent = excluded.parent, role = excluded.role, created_ms = excluded.created_ms, "
            # An answer that ends after its branch was deleted stays deleted.
            "deleted_ms = COALESCE(message.deleted_ms, excluded.deleted_ms), edited = excluded.edited, "
            "text = excluded.text",
            (
                message.id,
                message.conversation,
                message.parent,
                message.role,
                message.created_ms,
                message.deleted_ms,
                message.edited,
                clean_text(message.text),
            ),
        )

    def _keep_answer(self, answer: StoredAnswer) -> None:
        self._connection.execute(
            "INSERT INTO answer (message, state, tokenizer, seed, ttft_ms, stop_reason, comparison, lane, model_name, "
            "model, settings, metrics, reason, notes, thinking) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (message) DO UPDATE SET state = excluded.state, tokenizer = excluded.tokenizer, "
            "seed = excluded.seed, ttft_ms = excluded.ttft_ms, stop_reason = excluded.stop_reason, "
            "comparison = excluded.comparison, lane = excluded.lane, model_name = excluded.model_name, "
            "model = excluded.model, settings = excluded.settings, metrics = excluded.metrics, "
            "reason = excluded.reason, notes = excluded.notes, thinking = excluded.thinking, ids = NULL",
            (
                answer.message,
                answer.state,
                clean_text(answer.tokenizer),
                answer.seed,
                answer.ttft_ms,
                answer.stop_reason,
                answer.comparison,
                answer.lane,
                clean_text(answer.model_name),
                columns.to_json(answer.model),
                columns.to_json(answer.settings or None),
                columns.to_json(answer.metrics),
                columns.to_json(answer.reason),
                columns.to_json(answer.notes or None),
                columns.to_json(answer.thinking),
            ),
        )

    def _join_ids(self, answer: int) -> None:
        """Keep the tokens of an answer that ended in one place, where a long conversation is read without its chunks."""
        ids = read_ids(self._connection, answer)
        self._connection.execute("UPDATE answer SET ids = ? WHERE message = ?", (ids, answer))

    def _add_stretch(self, stretch: Stretch) -> None:
        ids, width = pack_ids(b"".join(stretch.ids))
        record = pack_blocks(stretch.blocks)
        text = clean_text("".join(stretch.texts))
        same = "SELECT EXISTS (SELECT 1 FROM chunk WHERE answer = ? AND text = ? AND ids = ? AND record = ?)"
        if stretch.once and self._connection.execute(same, (stretch.answer, text, ids, record)).fetchone()[0]:
            return
        self._connection.execute(
            "INSERT INTO chunk (answer, number, text, id_width, ids, record) SELECT ?1, "
            "(SELECT COALESCE(MAX(number) + 1, 0) FROM chunk WHERE answer = ?1), ?2, ?3, ?4, ?5",
            (stretch.answer, text, width, ids, record),
        )
        self._connection.execute(
            "UPDATE answer SET record_bytes = record_bytes + ?, ids = NULL WHERE message = ?",
            (len(record), stretch.answer),
        )


def end_open_answers(connection: sqlite3.Connection) -> None:
    """Mark the answers that are open as interrupted, and give their messages the text that was written."""
    for (answer,) in connection.execute("SELECT message FROM answer WHERE state = 'open'").fetchall():
        text = read_text(connection, answer)
        if text:
            connection.execute("UPDATE message SET text = ? WHERE id = ?", (text, answer))
        connection.execute("UPDATE answer SET state = 'interrupted' WHERE message = ?", (answer,))


def written(connection: sqlite3.Connection, writer: Writer, change: Change) -> bool:
    """Write one change, or leave no trace of it when it cannot be written whatever the disk is like."""
    connection.execute("SAVEPOINT change")
    try:
        writer.write(change)
    except (sqlite3.Error, ValueError, TypeError, ArithmeticError) as error:
        if fault_of(error) is not None:
            raise
        _log.exception("A change could not be written: %s", type(change).__name__)
        writer.prompts.forget()
        connection.execute("ROLLBACK TO change")
        connection.execute("RELEASE change")
        return False
    connection.execute("RELEASE change")
    return True
