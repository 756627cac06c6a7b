-- The database as version 1 of it was released; a change goes into a new migration and never here.
PRAGMA application_id = 1414293876;
PRAGMA user_version = 1;
CREATE TABLE conversation (
    id INTEGER PRIMARY KEY, title TEXT NOT NULL, folder TEXT NOT NULL DEFAULT '', pinned INTEGER NOT NULL DEFAULT 0,
    created_ms INTEGER NOT NULL, changed_ms INTEGER NOT NULL, deleted_ms INTEGER, leaf INTEGER,
    system_prompt TEXT NOT NULL DEFAULT '', settings TEXT, model TEXT);
CREATE TABLE message (
    id INTEGER PRIMARY KEY, conversation INTEGER NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
    parent INTEGER, role TEXT NOT NULL, created_ms INTEGER NOT NULL, deleted_ms INTEGER, text TEXT NOT NULL);
CREATE INDEX message_conversation ON message (conversation);
CREATE TABLE answer (
    message INTEGER PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE, state TEXT NOT NULL,
    record_bytes INTEGER NOT NULL DEFAULT 0, tokenizer TEXT NOT NULL DEFAULT '', seed INTEGER, ttft_ms REAL,
    stop_reason TEXT, comparison INTEGER, lane INTEGER, model_name TEXT NOT NULL DEFAULT '', model TEXT,
    settings TEXT, metrics TEXT, reason TEXT, notes TEXT);
CREATE INDEX answer_open ON answer (message) WHERE state = 'open';
CREATE INDEX answer_record_bytes ON answer (record_bytes);
CREATE TABLE answer_prompt (
    message INTEGER PRIMARY KEY, base INTEGER, shared INTEGER NOT NULL, dropped TEXT, id_width INTEGER NOT NULL,
    spans BLOB, ids BLOB NOT NULL);
CREATE INDEX answer_prompt_base ON answer_prompt (base);
CREATE TABLE chunk (
    id INTEGER PRIMARY KEY, answer INTEGER NOT NULL, number INTEGER NOT NULL, text TEXT NOT NULL,
    id_width INTEGER NOT NULL, ids BLOB NOT NULL, record BLOB NOT NULL);
CREATE UNIQUE INDEX chunk_answer ON chunk (answer, number);
CREATE TABLE vocabulary (id INTEGER PRIMARY KEY, tokenizer TEXT NOT NULL UNIQUE, tokens INTEGER NOT NULL);
CREATE TABLE piece (
    vocabulary INTEGER NOT NULL REFERENCES vocabulary (id) ON DELETE CASCADE, id INTEGER NOT NULL,
    bytes BLOB NOT NULL, PRIMARY KEY (vocabulary, id)) WITHOUT ROWID;
CREATE TABLE comparison (
    id INTEGER PRIMARY KEY, message INTEGER NOT NULL REFERENCES message (id) ON DELETE CASCADE,
    baseline INTEGER, layout TEXT);
CREATE INDEX comparison_message ON comparison (message);
CREATE TABLE attachment (
    id INTEGER PRIMARY KEY, message INTEGER NOT NULL REFERENCES message (id) ON DELETE CASCADE,
    name TEXT NOT NULL, tokens INTEGER, text TEXT NOT NULL);
CREATE INDEX attachment_message ON attachment (message);
