"""How a database came to be what it is: one small function for each version, and nothing is ever taken out of the list.

Each runs in a transaction of its own together with the new version number, so that a kill leaves the old or the new.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence

APPLICATION_ID = 0x544C6974
"""Names the file as this program's: “TLit”."""

Migration = Callable[[sqlite3.Connection], None]

_VERSION_1 = (
    f"PRAGMA application_id = {APPLICATION_ID}",
    """CREATE TABLE conversation (
        id INTEGER PRIMARY KEY, title TEXT NOT NULL, folder TEXT NOT NULL DEFAULT '', pinned INTEGER NOT NULL DEFAULT 0,
        created_ms INTEGER NOT NULL, changed_ms INTEGER NOT NULL, deleted_ms INTEGER, leaf INTEGER,
        system_prompt TEXT NOT NULL DEFAULT '', settings TEXT, model TEXT)""",
    # A parent is no foreign key: a message must be kept whatever became of the one before it.
    """CREATE TABLE message (
        id INTEGER PRIMARY KEY, conversation INTEGER NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
        parent INTEGER, role TEXT NOT NULL, created_ms INTEGER NOT NULL, deleted_ms INTEGER, text TEXT NOT NULL)""",
    "CREATE INDEX message_conversation ON message (conversation)",
    """CREATE TABLE answer (
        message INTEGER PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE, state TEXT NOT NULL,
        record_bytes INTEGER NOT NULL DEFAULT 0, tokenizer TEXT NOT NULL DEFAULT '', seed INTEGER, ttft_ms REAL,
        stop_reason TEXT, comparison INTEGER, lane INTEGER, model_name TEXT NOT NULL DEFAULT '', model TEXT,
        settings TEXT, metrics TEXT, reason TEXT, notes TEXT)""",
    "CREATE INDEX answer_open ON answer (message) WHERE state = 'open'",
    "CREATE INDEX answer_record_bytes ON answer (record_bytes)",
    """CREATE TABLE answer_prompt (
        message INTEGER PRIMARY KEY, base INTEGER, shared INTEGER NOT NULL, dropped TEXT, id_width INTEGER NOT NULL,
        spans BLOB, ids BLOB NOT NULL)""",
    "CREATE INDEX answer_prompt_base ON answer_prompt (base)",
    """CREATE TABLE chunk (
        id INTEGER PRIMARY KEY, answer INTEGER NOT NULL, number INTEGER NOT NULL, text TEXT NOT NULL,
        id_width INTEGER NOT NULL, ids BLOB NOT NULL, record BLOB NOT NULL)""",
    "CREATE UNIQUE INDEX chunk_answer ON chunk (answer, number)",
    "CREATE TABLE vocabulary (id INTEGER PRIMARY KEY, tokenizer TEXT NOT NULL UNIQUE, tokens INTEGER NOT NULL)",
    """CREATE TABLE piece (
        vocabulary INTEGER NOT NULL REFERENCES vocabulary (id) ON DELETE CASCADE, id INTEGER NOT NULL,
        bytes BLOB NOT NULL, PRIMARY KEY (vocabulary, id)) WITHOUT ROWID""",
    """CREATE TABLE comparison (
        id INTEGER PRIMARY KEY, message INTEGER NOT NULL REFERENCES message (id) ON DELETE CASCADE,
        baseline INTEGER, layout TEXT)""",
    "CREATE INDEX comparison_message ON comparison (message)",
    """CREATE TABLE attachment (
        id INTEGER PRIMARY KEY, message INTEGER NOT NULL REFERENCES message (id) ON DELETE CASCADE,
        name TEXT NOT NULL, tokens INTEGER, text TEXT NOT NULL)""",
    "CREATE INDEX attachment_message ON attachment (message)",
)


_VERSION_2 = (
    # No foreign key: 0 is the chat that has no message yet, which is no conversation.
    """CREATE TABLE draft (
        conversation INTEGER PRIMARY KEY, changed_ms INTEGER NOT NULL, text TEXT NOT NULL, pasted TEXT)""",
    "CREATE INDEX draft_changed ON draft (changed_ms)",
)


_VERSION_3 = (
    "ALTER TABLE message ADD COLUMN edited INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX message_parent ON message (parent)",
    # Where all messages of a conversation stand is read from here, without their texts.
    "CREATE INDEX message_place ON message (conversation, deleted_ms, parent, role)",
    "CREATE INDEX message_deleted ON message (deleted_ms) WHERE deleted_ms IS NOT NULL",
    "ALTER TABLE answer ADD COLUMN thinking TEXT",
    "CREATE INDEX answer_lane ON answer (message) WHERE comparison IS NOT NULL",
    # A long conversation is read at once without its chunks and prompts: these repeat what lies there.
    "ALTER TABLE answer ADD COLUMN dropped INTEGER",
    "ALTER TABLE answer ADD COLUMN ids BLOB",
)


_VERSION_4 = (
    # What a run could not write lies in a file until a later one takes it over: by digest, so that none does twice.
    "CREATE TABLE taken_over (digest BLOB PRIMARY KEY) WITHOUT ROWID",
    # Days since 1970 on which the chats were open: a clock that is wrong once must not empty the trash.
    "CREATE TABLE used_day (day INTEGER PRIMARY KEY)",
    "DROP INDEX IF EXISTS message_place",
    "DROP INDEX IF EXISTS answer_lane",
)


_VERSION_5 = (
    # When a deletion was, and from which day on its month counts, by the deletion that rows are marked with.
    "CREATE TABLE deletion (number INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, from_day INTEGER NOT NULL)",
)


_VERSION_6 = (
    # All that is known of a comparison; a parent is no foreign key, and where answers begin a conversation there is none.
    "ALTER TABLE comparison RENAME TO comparison_of_version_1",
    """CREATE TABLE comparison (
        id INTEGER PRIMARY KEY, conversation INTEGER NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
        parent INTEGER, created_ms INTEGER NOT NULL, lanes TEXT, baseline INTEGER, layout TEXT, kept TEXT, plan TEXT,
        prefill TEXT)""",
    "CREATE INDEX comparison_conversation ON comparison (conversation)",
    "CREATE INDEX answer_comparison ON answer (comparison) WHERE comparison IS NOT NULL",
    """INSERT INTO comparison (id, conversation, parent, created_ms, baseline, layout)
        SELECT old.id, conversation, message.id, created_ms, baseline, layout FROM comparison_of_version_1 AS old
        JOIN message ON message.id = old.message WHERE old.id IN (SELECT comparison FROM answer)""",
    "DROP TABLE comparison_of_version_1",
    # A lane of no comparison is an answer like others.
    """UPDATE answer SET comparison = NULL, lane = NULL
        WHERE comparison IS NOT NULL AND comparison NOT IN (SELECT id FROM comparison)""",
)


_VERSION_7 = (
    # What people say of a model of their library; its number is there for what a damaged page may leave.
    """CREATE TABLE model_note (
        id INTEGER PRIMARY KEY, model TEXT NOT NULL, changed_ms INTEGER NOT NULL, note TEXT NOT NULL DEFAULT '',
        name TEXT NOT NULL DEFAULT '', favourite INTEGER NOT NULL DEFAULT 0)""",
    "CREATE UNIQUE INDEX model_note_model ON model_note (model)",
)


_VERSION_8 = (
    # Messages whose text the search index does not know as it is now, or that it must forget.
    "CREATE TABLE unsearched (message INTEGER PRIMARY KEY)",
    """CREATE TRIGGER message_written AFTER INSERT ON message WHEN NEW.text <> ''
        BEGIN INSERT OR IGNORE INTO unsearched (message) VALUES (NEW.id); END""",
    """CREATE TRIGGER message_changed AFTER UPDATE OF text ON message WHEN OLD.text IS NOT NEW.text
        BEGIN INSERT OR IGNORE INTO unsearched (message) VALUES (NEW.id); END""",
    """CREATE TRIGGER message_gone AFTER DELETE ON message
        BEGIN INSERT OR IGNORE INTO unsearched (message) VALUES (OLD.id); END""",
    # Which index belongs to these messages, and how often it was brought up to date.
    "CREATE TABLE search_index (key BLOB NOT NULL, round INTEGER NOT NULL)",
    "INSERT INTO search_index (key, round) VALUES (randomblob(16), 0)",
)


def _first_tables(connection: sqlite3.Connection) -> None:
    for statement in _VERSION_1:
        connection.execute(statement)


def _drafts(connection: sqlite3.Connection) -> None:
    for statement in _VERSION_2:
        connection.execute(statement)


def _trees(connection: sqlite3.Connection) -> None:
    for statement in _VERSION_3:
        connection.execute(statement)
    for message, dropped in connection.execute(
        "SELECT message, dropped FROM answer_prompt WHERE dropped IS NOT NULL"
    ):
        try:
            count = len(json.loads(dropped))
        except (ValueError, TypeError):
            continue
        connection.execute("UPDATE answer SET dropped = ? WHERE message = ?", (count, message))


def _wrong_clocks(connection: sqlite3.Connection) -> None:
    for statement in _VERSION_4:
        connection.execute(statement)


def _deletions(connection: sqlite3.Connection) -> None:
    for statement in _VERSION_5:
        connection.execute(statement)


def _comparisons(connection: sqlite3.Connection) -> None:
    for statement in _VERSION_6:
        connection.execute(statement)


def _model_notes(connection: sqlite3.Connection) -> None:
    for statement in _VERSION_7:
        connection.execute(statement)


def _search(connection: sqlite3.Connection) -> None:
    for statement in _VERSION_8:
        connection.execute(statement)


MIGRATIONS: tuple[Migration, ...] = (
    _first_tables,
    _drafts,
    _trees,
    _wrong_clocks,
    _deletions,
    _comparisons,
    _model_notes,
    _search,
)
"""The n-th leads from version n to n + 1; `execute` only, because `executescript` would commit."""


def version_of(connection: sqlite3.Connection) -> int:
    """Return the version of the tables: 0 is an empty database."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def tables_of(connection: sqlite3.Connection) -> frozenset[str]:
    """Return the names of the tables."""
    return frozenset(name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring a database to the last version; foreign keys are off meanwhile, because tables may be made anew."""
    connection.execute("PRAGMA foreign_keys = OFF")
    for version in range(version_of(connection), len(migrations)):
        connection.execute("BEGIN IMMEDIATE")
        try:
            migrations[version](connection)
            connection.execute(f"PRAGMA user_version = {version + 1}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    connection.execute("PRAGMA foreign_keys = ON")
