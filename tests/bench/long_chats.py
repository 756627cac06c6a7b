"""The figures of long chats: what a token costs the window in one, and how it opens, takes keys, stops and forgets.

Every one runs the real window offscreen and a real store; the engine process follows a script, so that nothing but the
length differs between what is compared.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from app.engine.scripted import Script
from tests.bench.arithmetic import BenchError, Measurement, runs
from tests.bench.children import Answer
from tests.bench.long_texts import QUESTION, TOKENS_PER_S, answer_of, part, section, streaming, tokens_of
from tests.bench.setting import Setting
from tests.bench.windows import MEGABYTE, WORST_STALL_MS, Window
from tests.bench.written_chats import write_chats

MODULE = "tests.bench.long_window_process"
SHORT_ANSWER, LONG_ANSWER, MEASURED = 200, 20_000, 600
"""Tokens of the answers that are compared, and how many of the long one are measured, at its end."""
BEGINNINGS = (0, 2, 4)
"""With which part the short answers for a long one begin: as many tokens are measured of both, and of each part."""
SHORT_CHAT, LONG_CHAT = 10, 2_000
VERY_LONG_CHAT = 10_000
"""Messages."""
CHAT_TOKENS = 100_000
STALL_TOKENS = 3_000
KEYS = "Light is what we see, and what is left of it. "
KEY_REST_MS = 150
"""Somebody types about so fast; what a key sets off comes between two."""
MANY = 50
STOPPED_AT = 300
LEAST_SPEED = 0.9
"""Of the speed that was wanted, so much must have come: a slower engine would spare the window work."""


@contextmanager
def opened(script: Script, lengths: Sequence[int] = (), answer: Callable[[int], str] = part) -> Iterator[LongWindow]:
    """Open a window on a script, in a home with conversations of so many messages."""
    with tempfile.TemporaryDirectory(prefix="tokenlight-bench-") as folder:
        path = Path(folder) / "script.json"
        path.write_bytes(msgspec.json.encode(script))
        chats = write_chats(Path(folder) / "home", lengths, answer)
        window = LongWindow(Path(folder) / "home", path, chats)
        with window.child:
            window.load(path, 1)
            yield window


class LongWindow(Window):
    """The application's window with long chats to open."""

    def __init__(self, home: Path, script: Path, chats: Sequence[int]) -> None:
        super().__init__(home, "--fake-engine", str(script), module=MODULE)
        self.chats = chats

    def open(self, chat: int, messages: int) -> Answer:
        """Open a conversation, whose messages are counted."""
        answer = self.child.ask("open", chat=chat)
        if answer["turns"] < messages or not answer["at_end"]:
            raise BenchError("The window does not show the end of the chat that was written for it.")
        return answer

    def stream(self, text: str, first: int, last: int) -> Answer:
        """Stream an answer and look at its tokens from one to another; without a text the last answer is written again."""
        answer = self.child.ask("stream", text=text, first=first, last=last)
        if not answer["tokens"]:
            raise BenchError("The answer of the script ended too early to measure.")
        return answer


def token_cost_long_answer(setting: Setting) -> Measurement:
    """Measure the processor time a token at the end of an answer of 20,000, by that in answers of 200."""
    answers = [answer_of(SHORT_ANSWER, turned=begun) for begun in BEGINNINGS] + [answer_of(LONG_ANSWER)]
    with opened(streaming(*answers, paced_last=MEASURED)) as window:
        rounds = []
        for _ in runs(setting.seconds, 3):
            short = []
            for _ in BEGINNINGS:
                window.child.ask("new")
                short.append(window.stream(QUESTION, 1, SHORT_ANSWER - 10))
            window.child.ask("new")
            rounds.append((short, [window.stream(QUESTION, LONG_ANSWER - MEASURED, LONG_ANSWER - 10)]))
        return _cost_ratio(rounds)


def token_cost_long_chat(setting: Setting) -> Measurement:
    """Measure the processor time a token of an answer in a chat of 2,000 messages, by that in one of 10."""
    with opened(streaming(answer_of(MEASURED)), (SHORT_CHAT, LONG_CHAT)) as window:
        rounds = []
        for number in runs(setting.seconds, 5):
            costs: list[list[Answer]] = []
            for chat, messages in zip(window.chats, (SHORT_CHAT, LONG_CHAT), strict=True):
                window.open(chat, messages)
                costs.append([window.stream("" if number else QUESTION, 1, MEASURED - 10)])
            rounds.append((costs[0], costs[1]))
        return _cost_ratio(rounds)


def _cost_ratio(rounds: Sequence[tuple[Sequence[Answer], Sequence[Answer]]]) -> Measurement:
    """Return what the second costs by the first, in the process and beside it on the window's thread alone."""
    ratios, on_thread = [], []
    for short, long in rounds:
        check_speed([*short, *long])
        ratios.append(per_token(long, "cpu_s") / per_token(short, "cpu_s"))
        on_thread.append(per_token(long, "thread_s") / per_token(short, "thread_s"))
    more = {
        "on_window_thread": round(statistics.median(on_thread), 3),
        "short_us": [round(1e6 * per_token(short, "cpu_s")) for short, _ in rounds],
        "long_us": [round(1e6 * per_token(long, "cpu_s")) for _, long in rounds],
    }
    return Measurement(statistics.median(ratios), ratios, more=more)


def per_token(answers: Sequence[Answer], what: str) -> float:
    """Return the seconds that a token of some answers took."""
    return sum(float(each[what]) for each in answers) / sum(int(each["tokens"]) for each in answers)


def check_speed(answers: Sequence[Answer]) -> None:
    """Raise `BenchError` where the engine was slower than its script."""
    slowest = min(float(each["rate"]) for each in answers)
    if slowest < LEAST_SPEED * TOKENS_PER_S:
        raise BenchError(f"The engine streamed {slowest:.0f} tokens/s where it should stream {TOKENS_PER_S:.0f}.")


def ui_stall_long_chat(setting: Setting) -> Measurement:
    """Measure how late a 4 ms timer of the window's thread fires while an answer streams into a chat of 100,000 tokens."""
    messages = 2 * round(CHAT_TOKENS / tokens_of(section(0) + QUESTION))
    with opened(streaming(answer_of(STALL_TOKENS)), [messages], section) as window:
        window.open(window.chats[0], messages)
        p99s, worst, rates = [], [], []
        for number in runs(setting.seconds, 3):
            answer = window.stream("" if number else QUESTION, 1, STALL_TOKENS - 10)
            late = sorted(answer["late_ms"])
            p99s.append(late[int(0.99 * (len(late) - 1))])
            worst.append(late[-1])
            rates.append(round(float(answer["rate"])))
            check_speed([answer])
        p99 = statistics.median(p99s)
        more = {"p99_ms": round(p99, 2), "worst_ms": round(max(worst), 2), "worst_bar_ms": WORST_STALL_MS}
        more |= {"worst_runs_ms": [round(each, 2) for each in worst], "rates": rates}
        return Measurement(p99, p99s, more=more, holds=max(worst) <= WORST_STALL_MS)


def open_long_chat(setting: Setting) -> Measurement:
    """Measure opening a chat of 10,000 messages, from the click to the first picture of its end, in ms."""
    with opened(streaming(part(0)), [VERY_LONG_CHAT]) as window:
        took, late = [], []
        for _ in runs(setting.seconds):
            answer = window.open(window.chats[0], VERY_LONG_CHAT)
            took.append(float(answer["ms"]))
            late.append(max(answer["late_ms"], default=0.0))
            window.child.ask("new")
            window.child.ask("idle")
        more = {"worst_stall_ms": round(max(late), 2), "stalls_ms": [round(each, 2) for each in late]}
        return Measurement(statistics.median(took), took, more=more)


def key_to_paint(setting: Setting) -> Measurement:
    """Measure a key in the composer of a chat of 10,000 messages to its picture, in ms: the median, the worst beside it."""
    with opened(streaming(part(0)), [VERY_LONG_CHAT]) as window:
        window.open(window.chats[0], VERY_LONG_CHAT)
        window.child.ask("idle")
        took: list[float] = []
        for _ in runs(setting.seconds):
            for key in KEYS:
                took.append(float(window.child.ask("press", key=key)["ms"]))
                window.child.ask("rest", ms=KEY_REST_MS)
        return Measurement(statistics.median(took), took, more=_worst(took))


def memory_many_chats(setting: Setting) -> Measurement:
    """Measure the resident memory after 50 chats of 10,000 messages were opened, by that after the first."""
    with opened(streaming(part(0)), [VERY_LONG_CHAT] * MANY) as window:
        sizes = []
        for chat in window.chats:
            window.open(chat, VERY_LONG_CHAT)
            window.child.ask("idle")
            sizes.append(int(window.child.ask("memory")["bytes"]) / MEGABYTE)
        more = {"sizes_mb": [round(size, 1) for size in sizes]}
        return Measurement(sizes[-1] / sizes[0], [sizes[-1] / sizes[0]], more=more)


def stop_to_still(setting: Setting) -> Measurement:
    """Measure Stop, pressed while an answer streams, to the last change that can be seen, in ms."""
    with opened(streaming(answer_of(STALL_TOKENS))) as window:
        took: list[float] = []
        last: list[str] = []
        for _ in runs(setting.seconds):
            window.child.ask("new")
            answer = window.child.ask("stop_at", text=QUESTION, tokens=STOPPED_AT)
            if answer["busy"] or not answer["changes"] or answer["tokens"] >= STALL_TOKENS:
                raise BenchError("The answer was not stopped.")
            at_ms, name = max(answer["changes"])
            took.append(float(at_ms))
            last.append(str(name))
        return Measurement(statistics.median(took), took, more={**_worst(took), "last_changes": last})


def _worst(took: Sequence[float]) -> dict[str, object]:
    return {"worst_ms": round(max(took), 2)}
