"""What chats cost that are kept: the memory of a window that shows a long one, and the bytes of the per-token record."""

from __future__ import annotations

import sqlite3
import statistics
import tempfile
from contextlib import closing
from pathlib import Path

import numpy as np

from app.probability.record import read_records
from app.store.packing import unpack_blocks
from tests.bench.arithmetic import BenchError, Measurement, runs
from tests.bench.setting import Setting
from tests.bench.windows import MEGABYTE, QUESTION, Window, opened
from tests.bench.written_chats import write_chats

MESSAGES = 200
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
            write_chats(home, [MESSAGES], lambda _: ANSWER, question=f"Question {{n}}: {QUESTION}", is_shown=True)
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
