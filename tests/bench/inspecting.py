"""How long the page Inside takes to open on a long answer, from the click to its first picture with tokens and colours."""

from __future__ import annotations

import statistics
import tempfile
import threading
from array import array
from pathlib import Path

import msgspec
import numpy as np

from app.core.conversation import Chunk, Conversation, Message
from app.core.events import Event
from app.core.store_commands import EndAnswer, KeepChunk, KeepConversation, KeepQuestion, OpenStore
from app.core.store_events import Kept
from app.probability.record import RecordWriter
from app.probability.row import RowReader
from app.store.store import Store
from tests.bench.arithmetic import BenchError, Measurement, runs
from tests.bench.long_chats import LongWindow
from tests.bench.long_texts import QUESTION, answer_of, part, streaming, vocabulary
from tests.bench.setting import Setting
from tests.bench.written_chats import FIRST, KEPT_S, ended

TOKENS = 5_000
BLOCK = 5
"""So many tokens have one block of the record, as where 75 a second are written."""
ROWS = 64
"""So many different rows the tokens come from."""


def inspector_open(setting: Setting) -> Measurement:
    """Measure opening the inspector on an answer of 5,000 tokens with all of their alternatives, in ms, once more.

    Beside it stands the first time of a session, which also makes the page: how long it took, and for how long at most the
    window heard nobody meanwhile.
    """
    with tempfile.TemporaryDirectory(prefix="tokenlight-bench-") as folder:
        path = Path(folder) / "script.json"
        path.write_bytes(msgspec.json.encode(streaming(part(0))))
        chat, per_token = _write(Path(folder) / "home")
        window = LongWindow(Path(folder) / "home", path, [chat])
        took: list[float] = []
        late: list[float] = []
        with window.child:
            window.load(path, 1)
            window.open(chat, 2)
            window.child.ask("idle")
            for _ in runs(setting.seconds, 3):
                answer = window.child.ask("inspect")
                if answer["tokens"] != TOKENS or answer["recorded"] != TOKENS:
                    raise BenchError("The inspector does not show the answer with its record.")
                took.append(float(answer["ms"]))
                late.append(max(answer["late_ms"], default=0.0))
                window.child.ask("leave")
                window.child.ask("idle")
    first, *again = took
    more = {
        "first_ms": round(first, 1),
        "first_stall_ms": round(late[0], 1),
        "worst_stall_ms_again": round(max(late[1:]), 1),
        "record_bytes": round(per_token),
    }
    return Measurement(statistics.median(again), again, more=more)


def _write(home: Path) -> tuple[int, float]:
    """Write a chat with one long answer and its record; return its id, and how many bytes a token's record takes."""
    home.mkdir(parents=True)
    kept = threading.Event()

    def hear(event: Event) -> None:
        if isinstance(event, Kept):
            kept.set()

    store = Store(home, hear)
    store.send(OpenStore())
    now_ms, asked, answered = FIRST // 1000, FIRST + 1, FIRST + 2
    head = Conversation(FIRST, "A long answer", now_ms, now_ms)
    text = answer_of(TOKENS)
    ids = vocabulary().tokenize(text, special=False)
    question = Message(asked, FIRST, None, "user", QUESTION.format(n=0), now_ms)
    whole = msgspec.structs.replace(ended(answered, TOKENS), tokenizer=vocabulary().name)
    store.send(KeepQuestion(1, head, (question,), msgspec.structs.replace(whole, state="open")))
    size = 0
    for first, block in _blocks(ids):
        size += len(block)
        said = text if first == 0 else ""
        store.send(KeepChunk(Chunk(answered, said, array("i", ids[first : first + BLOCK]).tobytes(), block)))
    store.send(EndAnswer(Message(answered, FIRST, asked, "assistant", text, now_ms), whole))
    store.send(KeepConversation(msgspec.structs.replace(head, leaf=answered)))
    if not kept.wait(KEPT_S):
        raise BenchError("The chat could not be written.")
    store.close()
    (home / "settings.json").write_text("{}", encoding="utf-8")
    return FIRST, size / len(ids)


def _blocks(ids: list[int]) -> list[tuple[int, bytes]]:
    """Return the blocks of a record with as many alternatives as a model's have, each with its first token."""
    chance, size = np.random.default_rng(1), vocabulary().size
    falling = -1.6 * np.log(np.arange(size) + 1.0)
    rows = [chance.permutation(falling * chance.uniform(0.8, 2.0)).astype(np.float32) for _ in range(ROWS)]
    writer, blocks = RecordWriter(size), []
    for place, token in enumerate(ids):
        row = rows[place % ROWS]
        facts = RowReader(size).read(row)
        writer.add(token, float(row[token]), facts, facts.rank(token), 0.5, 13_000_000 * place)
        if len(writer) == BLOCK or place == len(ids) - 1:
            blocks.append((place - len(writer) + 1, writer.take()))
    return blocks
