"""Writes long chats into a home, through the store itself."""

from __future__ import annotations

import json
import threading
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path

from app.core.commands import SettingsChange
from app.core.conversation import Chunk, Conversation, Message, StoredAnswer
from app.core.events import Event
from app.core.metrics import ItlQuantiles, KVUse, Metrics, TtftParts
from app.core.sampling import SamplingSettings
from app.core.store_commands import EndAnswer, KeepChunk, KeepConversation, KeepQuestion, OpenStore
from app.core.store_events import Kept
from app.store.store import Store
from tests.bench.arithmetic import BenchError
from tests.bench.long_texts import QUESTION, part, vocabulary

FIRST = 1_700_000_000_000_000
APART = 1_000_000
"""Between the ids of two conversations, whose messages lie between them."""
KEPT_S = 120.0


def write_chats(
    home: Path,
    lengths: Sequence[int],
    answer: Callable[[int], str] = part,
    question: str = QUESTION,
    *,
    is_shown: bool = False,
) -> list[int]:
    """Write conversations of so many messages each and return their ids; the window begins with the last, or a new one."""
    home.mkdir(parents=True, exist_ok=True)
    kept = threading.Semaphore(0)

    def hear(event: Event) -> None:
        if isinstance(event, Kept):
            kept.release()

    store = Store(home, hear)
    store.send(OpenStore())
    chats = []
    for place, length in enumerate(lengths):
        chats.append(FIRST + place * APART)
        _write(store, chats[-1], length, answer, question)
        for _ in range(0, length, 2):
            if not kept.acquire(timeout=KEPT_S):
                raise BenchError("The chats could not be written.")
    store.close()
    last = str(chats[-1]) if is_shown else ""
    (home / "settings.json").write_text(json.dumps({"last_conversation": last}), encoding="utf-8")
    return chats


def _write(store: Store, chat: int, length: int, answer: Callable[[int], str], asked_text: str) -> None:
    now_ms = chat // 1000
    head = Conversation(chat, f"A chat of {length} messages", now_ms, now_ms)
    parent = None
    for number in range(0, length, 2):
        asked, answered = chat + number + 1, chat + number + 2
        question = Message(asked, chat, parent, "user", asked_text.format(n=number), now_ms)
        text = answer(number // 2)
        ids = array("i", vocabulary().tokenize(text, special=False))
        store.send(KeepQuestion(number, head, (question,), StoredAnswer(answered, "open")))
        store.send(KeepChunk(Chunk(answered, text, ids.tobytes())))
        store.send(EndAnswer(Message(answered, chat, asked, "assistant", text, now_ms), ended(answered, len(ids))))
        parent = answered
    store.send(KeepConversation(Conversation(chat, head.title, now_ms, now_ms, leaf=parent)))


def ended(message: int, tokens: int) -> StoredAnswer:
    """Return how an answer of so many tokens was written."""
    metrics = Metrics(
        ttft_ms=112.4,
        ttft_parts_ms=TtftParts(0.1, 0.8, 96.0, 12.0, 0.0),
        prompt_tokens=60,
        prompt_tokens_from_cache=20,
        prefill_tokens_per_s=131.0,
        decode_tokens_per_s=77.0,
        sampled_tokens=tokens,
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
