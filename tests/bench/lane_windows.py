"""The figure of the window while a comparison is written: real window offscreen, real store, an engine with a script."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

import msgspec

from app.engine.scripted import Script
from tests.bench.arithmetic import BenchError, Measurement, runs
from tests.bench.long_chats import LEAST_SPEED
from tests.bench.long_texts import CONTEXT, QUESTION, answer_of
from tests.bench.setting import Setting
from tests.bench.windows import WORST_STALL_MS, Window

MODULE = "tests.bench.lanes_window_process"
LANES = 8
TOKENS = 600
TOKENS_PER_S = 100.0
"""Of each lane."""
SCRIPT_SHARE = 1.1
"""The script is so much faster: drawing eight tokens a step takes some of its time."""


def ui_stall_8_lanes(setting: Setting) -> Measurement:
    """Measure how late a 4 ms timer of the window's thread fires while 8 lanes stream 100 tokens/s each: p99 and worst."""
    # Each lane says what the others say, beginning elsewhere: no two of them look the same.
    answers = tuple(answer_of(TOKENS + 10 * lane) for lane in range(LANES))
    script = Script(answers=answers, tokens_per_s=SCRIPT_SHARE * TOKENS_PER_S, context=CONTEXT)
    with tempfile.TemporaryDirectory(prefix="tokenlight-bench-") as folder:
        path = Path(folder) / "script.json"
        path.write_bytes(msgspec.json.encode(script))
        window = Window(Path(folder) / "home", "--fake-engine", str(path), module=MODULE)
        with window.child:
            window.load(path, 1)
            p99s, worst, rates = [], [], []
            for number in runs(setting.seconds, 3):
                answer = window.child.ask("compare", text=f"{QUESTION} {number}", lanes=LANES)
                slowest = min(answer["rates"], default=0.0)
                if len(answer["rates"]) < LANES or slowest < LEAST_SPEED * TOKENS_PER_S:
                    raise BenchError(
                        f"A lane streamed {slowest:.0f} tokens/s where it should stream {TOKENS_PER_S:.0f}."
                    )
                if answer["page"] != "compare" or min(answer["tokens"]) < TOKENS / 2:
                    raise BenchError("The window does not show lanes that are long enough to measure.")
                late = sorted(answer["late_ms"])
                p99s.append(late[int(0.99 * (len(late) - 1))])
                worst.append(late[-1])
                rates.append(round(slowest))
        p99 = statistics.median(p99s)
        more = {"p99_ms": round(p99, 2), "worst_ms": round(max(worst), 2), "worst_bar_ms": WORST_STALL_MS}
        more |= {"worst_runs_ms": [round(each, 2) for each in worst], "rates": rates}
        return Measurement(p99, p99s, more=more, holds=max(worst) <= WORST_STALL_MS)
