"""What chats cost that are kept: the memory of a window that shows a long one, and the bytes of the per-token record."""

from __future__ import annotations

import json
import sqlite3
import statistics
import tempfile
import threading
from contextlib import closing
from pathlib import Path

import numpy as np

from app.core.commands import SettingsChange
from app.core.conversation import Chunk, Conversation, Message, StoredAnswer
from app.core.events import Event
from app.core.metrics import ItlQuantiles, KVUse, Metrics, TtftParts
from app.core.sampling import SamplingSettings
from app.core.store_commands import EndAnswer, KeepChunk, KeepConversation, KeepQuestion, OpenStore
from app.core.store_events import Kept
from app.probability.record import read_records
from app.store.packing import unpack_blocks
from app.store.store import Store
from tests.bench.arithmetic import BenchError, Measurement, runs
from tests.bench.setting import Setting
from tests.bench.windows import MEGABYTE, QUESTION, Window, opened

MESSAGES = 200
CONVERSATION = 1_700_000_000_000_000
ANSWER_TOKENS = 150
ANSWER = (
    "Sunlight is a mixture of **all colours**, and air scatters the short waves most:\n\n- blue is scattered far more than"
    " red;\n- violet more still, but the sun sends less of it and the eye sees it less.\n\n```python\nfor colour, wave in"
    ' (("red", 700), ("blue", 450)):\n    print(colour, wave ** -4)\n```\n\nAt sunset the way through the air is long,'
    " so that what is left is red.\n"
)


def gui_memory(setting: Setting) -> Measurement:
    """Measure the resident memory of the window's process that shows a chat of 200 messages, after an answer."""
    sizes = []
    for _ in runs(setting.seconds):
        with tempfile.TemporaryDirectory(prefix="tokenlight-bench-") as folder:
            home = Path(folder) / "home"
            write_chat(home)
            window = Window(home, str(setting.model))
            with window.child as child:
                window.load(setting.model, 2)
                if int(child.ask("state")["turns"]) != MESSAGES:
                    raise BenchError("The window does not show the chat that was written for it.")
                child.ask("more", text=QUESTION, tokens=ANSWER_TOKENS)
                sizes.append(int(child.ask("memory")["bytes"]) / MEGABYTE)
    return Measurement(statistics.median(sizes), sizes)


def record_bytes(setting: Setting) -> Measurement:
    """Measure the bytes that a token's record takes on disk: the median over answers of the model at temperature 0.8."""
    per_token: list[float] = []
    alternatives: list[int] = []
    with opened(setting) as window:
        for number in runs(setting.seconds):
            window.ask(ANSWER_TOKENS, number + 1)
        window.child.ask("settled")
        with closing(sqlite3.connect(window.home / "tokenlight.sqlite3")) as connection:
            for (answer,) in connection.execute("SELECT message FROM answer").fetchall():
                packed = connection.execute("SELECT record FROM chunk WHERE answer = ?", (answer,)).fetchall()
                records = [read_records(block) for (record,) in packed for block in unpack_blocks(record)]
                tokens = sum(len(each) for each in records)
                if tokens:
                    per_token.append(sum(len(record) for (record,) in packed) / tokens)
                    alternatives.extend(int(count) for each in records for count in np.diff(each.offsets))
    median = statistics.median(alternatives)
    return Measurement(statistics.median(per_token), per_token, more={"median_alternatives": median})


def write_chat(home: Path) -> None:
    """Write a chat of 200 messages into a home, and let the window show it when it starts."""
    home.mkdir(parents=True, exist_ok=True)
    kept = threading.Semaphore(0)

    def hear(event: Event) -> None:
        if isinstance(event, Kept):
            kept.release()

    store = Store(home, hear)
    store.send(OpenStore())
    head = Conversation(CONVERSATION, "A long chat", CONVERSATION // 1000, CONVERSATION // 1000)
    parent = None
    for number in range(0, MESSAGES, 2):
        asked, answered = CONVERSATION + number + 1, CONVERSATION + number + 2
        question = Message(
            asked, CONVERSATION, parent, "user", f"Question {number}: {QUESTION}", CONVERSATION // 1000
        )
        answer = Message(answered, CONVERSATION, asked, "assistant", ANSWER, CONVERSATION // 1000)
        store.send(KeepQuestion(number, head, (question,), StoredAnswer(answered, "open")))
        store.send(KeepChunk(Chunk(answered, ANSWER, bytes(4 * ANSWER_TOKENS))))
        store.send(EndAnswer(answer, _ended(answered)))
        parent = answered
    head = Conversation(CONVERSATION, head.title, head.created_ms, head.changed_ms, leaf=parent)
    store.send(KeepConversation(head))
    for _ in range(0, MESSAGES, 2):
        kept.acquire(timeout=30)
    store.close()
    (home / "settings.json").write_text(json.dumps({"last_conversation": str(CONVERSATION)}), encoding="utf-8")


def _ended(message: int) -> StoredAnswer:
    metrics = Metrics(
        ttft_ms=112.4,
        ttft_parts_ms=TtftParts(0.1, 0.8, 96.0, 12.0, 0.0),
        prompt_tokens=60,
        prompt_tokens_from_cache=20,
        prefill_tokens_per_s=131.0,
        decode_tokens_per_s=77.0,
        sampled_tokens=ANSWER_TOKENS,
        itl_ms=ItlQuantiles(13.0, 15.0, 19.0),
        kv=KVUse(210, 4096, 210 * 23_040),
        memory=(),
        traffic_gb_per_s=7.5,
    )
    return StoredAnswer(
        message,
        "done",
        model_name="SmolLM2 135M",
        settings=(SettingsChange(0, SamplingSettings()),),
        seed=7,
        metrics=metrics,
        stop_reason="end",
    )
