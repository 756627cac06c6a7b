"""What attention costs: from the click to its picture, by a bare prefill of the same number of tokens."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from tests.bench.arithmetic import BenchError, Measurement, ratio_to_neighbours, runs
from tests.bench.bare_loop import MICRO_BATCH
from tests.bench.children import Child
from tests.bench.setting import CELLS, Setting, any_prompt
from tests.bench.windows import Window

TOKENS = 500
THREADS = 2
ALL_LAYERS, FLASH_OFF = -1, 0


def attention_open(setting: Setting) -> Measurement:
    """Measure attention of one token over 500, all layers, against prefills without flash attention before and after it."""
    bare_words = (str(setting.model), str(THREADS), str(ALL_LAYERS), str(CELLS), str(MICRO_BATCH), str(FLASH_OFF))
    with (
        tempfile.TemporaryDirectory(prefix="tokenlight-bench-") as folder,
        Child("tests.bench.bare_process", *bare_words) as bare,
    ):
        window = Window(Path(folder) / "home", str(setting.model), module="tests.bench.attention_process")
        with window.child:
            window.load(setting.model, THREADS)
            _attend(window, 0)
            references, measured = [_prefill(bare, 0)], []
            for number in runs(setting.seconds):
                measured.append(_attend(window, 2 * number + 1))
                references.append(_prefill(bare, 2 * number + 2))
    more = {
        "attention_s": [round(seconds, 3) for seconds in measured],
        "bare_prefill_s": [round(seconds, 3) for seconds in references],
    }
    return replace(ratio_to_neighbours(references, measured), more=more)


def _prefill(bare: Child, seed: int) -> float:
    return float(bare.ask("prefill", prompt=any_prompt(TOKENS, seed))["ns"]) / 1e9


def _attend(window: Window, seed: int) -> float:
    answer = window.child.ask("attend", ids=any_prompt(TOKENS, seed))
    if answer["tokens"] != TOKENS or not answer["layers"]:
        raise BenchError("The window does not show the attention of the token.")
    return float(answer["ns"]) / 1e9
