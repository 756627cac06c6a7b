"""A search over 100,000 messages: how soon the first results are there, from the store of the program itself."""

from __future__ import annotations

import queue
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from app.core.conversation import Conversation, Message, StoredAnswer
from app.core.events import Event
from app.core.store_commands import EndAnswer, FindMessages, KeepQuestion, OpenStore
from app.core.store_events import MessagesFound, SearchReady, StoreOpened
from app.store.keeper import StoreWork
from app.store.search_index import FILE_NAME
from app.store.store import Store
from app.store.writing import Writer
from tests.bench.arithmetic import BenchError, Measurement, runs
from tests.bench.setting import Setting

CHATS, QUESTIONS = 500, 100
"""Each question has its answer: 100,000 messages."""
WORDS_IN_QUESTION, WORDS_IN_ANSWER = 20, 120
FIRST = 1_700_000_000_000_000
WAIT_S = 600.0
RARE, PHRASE, PAIR = "Xylophonistin", "C++ (50%) AND", "漢字"
SEARCHES = {
    "common": "ing",
    "word": "water",
    "rare": RARE,
    "inside": RARE[3:9].upper(),
    "phrase": PHRASE,
    "cjk": PAIR,
    "letter": "a",
    "two_letters": "%)",
    "two_common_letters": "te",
    "nowhere": "nowhere at all",
}
_Event = TypeVar("_Event")
_SYLLABLES = [
    "wa",
    "ter",
    "ing",
    "sun",
    "light",
    "ca",
    "che",
    "to",
    "ken",
    "mo",
    "del",
    "pro",
    "ba",
    "bi",
    "li",
    "ty",
    "de",
    "code",
    "lay",
    "er",
    "me",
    "mo",
    "ry",
    "gra",
    "di",
    "ent",
]


def search(setting: Setting) -> Measurement:
    """Measure the time from a question to its first results: the slowest of searches of several kinds."""
    with tempfile.TemporaryDirectory(prefix="tokenlight-bench-") as folder:
        home = Path(folder)
        _write(home)
        events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        store = Store(home, events.put)
        try:
            indexing_s = _open(store, events)
            index_bytes = sum(path.stat().st_size for path in home.glob(f"{FILE_NAME}*"))
            times: dict[str, list[float]] = {name: [] for name in SEARCHES}
            for _ in runs(setting.seconds / 25):
                for name, text in SEARCHES.items():
                    times[name].append(_first_results_ms(store, events, text))
        finally:
            store.close()
    medians = {name: statistics.median(each) for name, each in times.items()}
    slowest = max(medians, key=lambda name: medians[name])
    more = {
        **{f"{name}_ms": round(median, 1) for name, median in medians.items()},
        "slowest": slowest,
        "indexing_s": round(indexing_s, 1),
        "index_mb": round(index_bytes / 1_000_000, 1),
    }
    return Measurement(medians[slowest], times[slowest], more=more)


def _write(home: Path) -> None:
    """Write the chats as the store does, in few transactions."""
    work = StoreWork(home, lambda _event: None)
    work.do((OpenStore(),))
    connection = work.database.connection
    if connection is None:
        raise BenchError("The chats could not be written.")
    writer, chosen = Writer(connection), random.Random(7)
    words = ["".join(chosen.choices(_SYLLABLES, k=chosen.randint(1, 4))) for _ in range(20_000)] + ["water"] * 200
    for chat in range(CHATS):
        connection.execute("BEGIN IMMEDIATE")
        for change in _chat(chat, words, chosen):
            writer.write(change)
        connection.execute("COMMIT")
    work.close()


def _chat(chat: int, words: list[str], chosen: random.Random) -> Iterator[KeepQuestion | EndAnswer]:
    """Yield the questions and answers of one chat; what is seldom stands in the oldest alone."""
    key, now_ms = FIRST + chat * 1_000_000, FIRST // 1000 + chat
    head, parent = Conversation(key, f"Chat {chat}", now_ms, now_ms), None
    for number in range(QUESTIONS):
        asked, answered = key + 2 * number + 1, key + 2 * number + 2
        seldom = f" {RARE} {PHRASE} 以{PAIR}写" if chat == number == 0 else ""
        question = " ".join(chosen.choices(words, k=WORDS_IN_QUESTION)) + seldom
        yield KeepQuestion(
            0, head, (Message(asked, key, parent, "user", question, now_ms),), StoredAnswer(answered, "open")
        )
        text = " ".join(chosen.choices(words, k=WORDS_IN_ANSWER))
        yield EndAnswer(Message(answered, key, asked, "assistant", text, now_ms), StoredAnswer(answered, "done"))
        parent = answered


def _open(store: Store, events: queue.SimpleQueue[Event]) -> float:
    """Open the store and wait until all messages are indexed; return how long that took."""
    store.send(OpenStore())
    _wait(events, StoreOpened)
    began = time.perf_counter()
    store.send(FindMessages(0, RARE))
    if not _wait(events, MessagesFound).is_whole:
        _wait(events, SearchReady)
    return time.perf_counter() - began


def _first_results_ms(store: Store, events: queue.SimpleQueue[Event], text: str) -> float:
    """Return the time until something is found, or until it is known that nothing is."""
    began = time.perf_counter()
    place = None
    while True:
        store.send(FindMessages(1, text, place))
        page = _wait(events, MessagesFound)
        if page.found or page.rest is None:
            return (time.perf_counter() - began) * 1000
        place = page.rest


def _wait(events: queue.SimpleQueue[Event], kind: type[_Event]) -> _Event:
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        try:
            event = events.get(timeout=WAIT_S)
        except queue.Empty as empty:
            raise BenchError("The store did not answer.") from empty
        if isinstance(event, kind):
            return event
    raise BenchError("The store did not answer.")
