"""A library of many models: how soon its list is on the screen, and what it takes of the memory."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from tests.bench.arithmetic import BenchError, Measurement, runs
from tests.bench.setting import Setting
from tests.bench.windows import MEGABYTE, Window
from tests.gguf_bytes import Entry, raw_gguf

FILES = 500
MODULE = "tests.bench.library_process"
MOST_MEMORY_MB = 50.0
TOKENS = 2_000
"""Entries of each vocabulary."""


def library_500(setting: Setting) -> Measurement:
    """Measure the time from the wish to see the models until 500 stand in the menu, in windows that never saw them.

    `memory_mb` is what the window's process has grown by once all their headers were read.
    """
    times: list[float] = []
    grown: list[float] = []
    for _ in runs(setting.seconds):
        with tempfile.TemporaryDirectory(prefix="tokenlight-bench-") as folder:
            home = Path(folder) / "home"
            window = Window(home, str(setting.model), module=MODULE)
            with window.child as child:
                window.load(setting.model, 2)
                before = int(child.ask("memory")["bytes"])
                _write(home / "written")
                (home / "written").rename(home / "models")  # all at once: the folders are being watched
                times.append(float(child.ask("first_list", count=FILES)["ms"]))
                child.ask("read", count=FILES)
                grown.append((int(child.ask("memory")["bytes"]) - before) / MEGABYTE)
    if not times:
        raise BenchError("There was no time for a single window.")
    memory = max(grown)
    more = {
        "first_list_ms": round(statistics.median(times), 1),
        "memory_mb": round(memory, 1),
        "memory_bar": MOST_MEMORY_MB,
    }
    return Measurement(statistics.median(times), times, more=more, holds=memory <= MOST_MEMORY_MB)


def _write(folder: Path) -> None:
    """Write small models with names of all sorts, each with a vocabulary of its own."""
    tokens = [f"token{number}" for number in range(TOKENS)]
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(FILES):
        entries: dict[str, Entry] = {
            "general.architecture": "llama",
            "general.name": f"Model {number}",
            "llama.block_count": 2,
            "llama.context_length": 4096,
            "llama.embedding_length": 64,
            "tokenizer.ggml.model": "gpt2",
            "tokenizer.ggml.tokens": tokens,
        }
        (folder / f"model-{number:03d}-Q8_0.gguf").write_bytes(raw_gguf(entries))
