"""The figures of the whole application: what the window costs the decode, the processor, the memory and the patience.

Every one runs the real window offscreen, the real engine and a real store, in processes of their own.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.arithmetic import BenchError, Measurement, ratio_to_control, runs
from tests.bench.children import Answer, Child
from tests.bench.contenders import FEWEST_TOKENS, NEXT_SEED, SEEDS_TRIED, ChildDecoder, Text
from tests.bench.setting import CELLS, Setting
from tests.bench.turns import Turns

SYSTEM = "You are a patient storyteller who never hurries."
QUESTION = (
    "Tell the long story of a lighthouse keeper who finds a map in a bottle, with every detail of the island, of the "
    "weather, of the people in the harbour and of what the keeper thinks on the way there."
)
PROMPT = f"<|im_start|>system\n{SYSTEM}<|im_end|>\n<|im_start|>user\n{QUESTION}<|im_end|>\n<|im_start|>assistant\n"
"""What the window sends, as the bare loop gets it: the caches are equally full."""
SLICE_TOKENS = 64
LONG_TOKENS = 150
FEWEST_ROUNDS = 8
SIZE = (1280, 800)
TITLE_BAR_PX = 40
"""What a window leaves free for the bar over it, with room to spare."""
SCREEN = {
    "name": "one",
    "x": 0,
    "y": 0,
    "width": SIZE[0],
    "height": SIZE[1] + TITLE_BAR_PX,
    "logicalDpi": 96,
    "dpr": 1,
}
"""Qt's usual offscreen screen is too narrow for the figures beside the chat."""
START = "tests.bench.window_start"
MODULE = "tests.bench.window_process"
CLOSE_SECONDS = 30.0
WORST_STALL_MS = 50.0
MEGABYTE = 1e6


class Window:
    """The application's window in a process of its own, in a home of its own."""

    def __init__(self, home: Path, *words: str, module: str = MODULE, **environment: str) -> None:
        self.home = home
        screens = home.parent / "screens.json"
        screens.write_text(json.dumps({"screens": [SCREEN]}), encoding="utf-8")
        qt = {"QT_QPA_PLATFORM": f"offscreen:configfile={screens}"}
        self.started_ns = time.perf_counter_ns()
        own = {"TOKENLIGHT_HOME": str(home), "TOKENLIGHT_OWN_MODELS_ONLY": "1"}
        self.child = Child(START, module, *words, environment={**qt, **own, **environment})
        self.engine = 0

    @property
    def process_id(self) -> int:
        """The process that evaluates."""
        return self.engine

    def load(self, model: Path, threads: int) -> None:
        """Load a model and wait until it is ready."""
        answer = self.child.ask("load", model=str(model), threads=threads, cells=CELLS)
        if not answer["all_open"] or tuple(answer["size"]) != SIZE:
            raise BenchError(
                "The window is not as large as it should be, or does not show everything that costs time."
            )
        self.engine = int(answer["engine"])

    def ask(self, tokens: int, seed: int, *, watch: bool = False, page: str = "chat") -> Answer:
        """Let it write an answer that is long enough to measure."""
        for attempt in range(SEEDS_TRIED):
            answer = self.child.ask(
                "ask",
                system=SYSTEM,
                text=QUESTION,
                tokens=tokens,
                seed=seed + attempt * NEXT_SEED,
                watch=watch,
                page=page,
            )
            if answer["steps"] >= FEWEST_TOKENS - 1:
                return answer
        raise BenchError("The answers of the model are too short to measure.")

    def slice(self, seed: int) -> float:
        """Return the speed of one slice in tokens/s, by the engine's clock."""
        answer = self.ask(SLICE_TOKENS, seed)
        return float(answer["steps"] / answer["ns"] * 1e9)


@contextmanager
def opened(setting: Setting, threads: int = 2) -> Iterator[Window]:
    """Open a window in a fresh home, with the model loaded."""
    with tempfile.TemporaryDirectory(prefix="tokenlight-bench-") as folder:
        window = Window(Path(folder) / "home", str(setting.model))
        with window.child:
            window.load(setting.model, threads)
            window.ask(SLICE_TOKENS, 0)
            yield window


def decode_in_window(setting: Setting, threads: int) -> Measurement:
    """Measure decode through the whole application against bare loops in processes of their own."""
    with (
        Child("tests.bench.bare_process", str(setting.model), str(threads)) as first,
        Child("tests.bench.bare_process", str(setting.model), str(threads)) as second,
        opened(setting, threads) as window,
    ):
        text = Text(first.ask("tokenize", text=PROMPT)["ids"], SLICE_TOKENS)
        contenders = (ChildDecoder(first, text), window, ChildDecoder(second, text))
        turns = Turns({contender.process_id for contender in contenders})
        for contender in contenders:
            turns.take(contender, 0)
        turns.idle_cpu = 0.0
        ratios, control = [], []
        for number in runs(setting.seconds, FEWEST_ROUNDS):
            reference, ours, twin = (turns.take(each, number + 1) for each in contenders)
            ratios.append(ours / reference)
            control.append(twin / reference)
        return ratio_to_control(ratios, control)


def gui_cpu(setting: Setting) -> Measurement:
    """Measure the processor time of the window's process while an answer streams, in per cent of one core."""
    with opened(setting) as window:
        shares = []
        for number in runs(setting.seconds):
            answer = window.ask(LONG_TOKENS, number + 1)
            shares.append(100 * answer["cpu_s"] / answer["wall_s"])
        return Measurement(statistics.median(shares), shares)


def ui_stall(setting: Setting) -> Measurement:
    """Measure how late a 4 ms timer of the window's thread fires while an answer streams: p99, and the worst beside it."""
    with opened(setting) as window:
        p99s, worst = [], []
        for number in runs(setting.seconds):
            late = sorted(window.ask(LONG_TOKENS, number + 1, watch=True)["late_ms"])
            p99s.append(late[int(0.99 * (len(late) - 1))])
            worst.append(late[-1])
        p99 = statistics.median(p99s)
        more = {"p99_ms": round(p99, 2), "worst_ms": round(max(worst), 2), "worst_bar_ms": WORST_STALL_MS}
        return Measurement(p99, p99s, more=more, holds=max(worst) <= WORST_STALL_MS)


def first_paint_extra(setting: Setting) -> Measurement:
    """Measure send to the first visible character, minus the engine's own time to it; the first send counts."""
    first: list[float] = []
    later: list[float] = []
    for _ in runs(setting.seconds):
        with tempfile.TemporaryDirectory(prefix="tokenlight-bench-") as folder:
            window = Window(Path(folder) / "home", str(setting.model))
            with window.child:
                window.load(setting.model, 2)
                first.append(float(window.ask(FEWEST_TOKENS, 1)["extra_ms"]))
                later.extend(float(window.ask(FEWEST_TOKENS, seed)["extra_ms"]) for seed in (2, 3, 4))
    value = max(statistics.median(first), statistics.median(later))
    more = {"first_ms": [round(each, 2) for each in first], "later_ms": [round(each, 2) for each in later]}
    return Measurement(value, first + later, more=more)


def start_to_usable(setting: Setting) -> Measurement:
    """Measure from the start of the process to a window that is painted and listens, the model loading behind it."""
    with tempfile.TemporaryDirectory(prefix="tokenlight-bench-") as folder:
        # As an installed program starts: compiled by an earlier start, whatever is set here about bytecode.
        compiled = {"PYTHONPYCACHEPREFIX": f"{folder}/compiled", "PYTHONDONTWRITEBYTECODE": ""}
        _painted_s(Path(folder) / "first", setting, compiled)
        homes = (Path(folder) / f"home-{number}" for number in runs(setting.seconds))
        seconds = [_painted_s(home, setting, compiled) for home in homes]
    return Measurement(statistics.median(seconds), seconds)


def _painted_s(home: Path, setting: Setting, compiled: dict[str, str]) -> float:
    window = Window(home, str(setting.model), **compiled)
    with window.child:
        return (int(window.child.ask("painted")["at_ns"]) - window.started_ns) / 1e9


def close_worst(setting: Setting) -> Measurement:
    """Measure closing the window to the end of its process while it loads, reads a prompt and writes: the worst."""
    seconds: dict[str, list[float]] = {"load": [], "prefill": [], "decode": []}
    for _ in runs(setting.seconds):
        for phase, took in seconds.items():
            took.append(_close_in(phase, setting))
    worst = {phase: round(max(took), 3) for phase, took in seconds.items()}
    return Measurement(max(worst.values()), [value for took in seconds.values() for value in took], more=worst)


def _close_in(phase: str, setting: Setting) -> float:
    with tempfile.TemporaryDirectory(prefix="tokenlight-bench-") as folder:
        window = Window(Path(folder) / "home", str(setting.model))
        with window.child as child:
            child.ask("painted")
            if phase == "load":
                _wait(child, "phase", {"starting", "loading", "ready"})
            else:
                window.load(setting.model, 2)
                text = QUESTION * (40 if phase == "prefill" else 1)
                child.ask("begin", system=SYSTEM, text=text, tokens=0, seed=1)
                _wait(child, "turn", {"waiting"} if phase == "prefill" else {"writing"})
            began = int(child.ask("close")["at_ns"])
            try:
                child.wait(CLOSE_SECONDS)
            except subprocess.TimeoutExpired:
                raise BenchError(f"The window did not end within {CLOSE_SECONDS:.0f} s in {phase}.") from None
            return (time.perf_counter_ns() - began) / 1e9


def _wait(child: Child, what: str, wanted: set[str]) -> None:
    while child.ask("state")[what] not in wanted:
        pass
