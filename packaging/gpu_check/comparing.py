"""Lanes of a comparison on the device: how fast 1, 4 and 8 of them are, and that equal ones say the same.

The prompt is evaluated once for all lanes. “The same” is what it is everywhere: equal tokens, or two at the first
difference of which neither is likelier than the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np

from app.core.events import Compared, Finished, LaneFinished, LaneTokens
from app.core.sampling import PRESETS
from app.probability.record import TokenRecords, join_blocks, read_records
from gpu_check.engine import Engine
from gpu_check.model_file import any_prompt
from gpu_check.setting import Setting
from tests.bench.arithmetic import BenchError
from tests.bench.engine_user import token_prompt

LANES = (1, 4, 8)
SEEDS_TRIED = 5
NEAR = 0.02
"""In log-probability."""


@dataclass(frozen=True)
class _Lanes:
    """What equal lanes said."""

    ends: list[Finished]
    records: list[TokenRecords]

    @property
    def tokens_per_s(self) -> float:
        """Of all lanes together."""
        return sum(end.metrics.decode_tokens_per_s or 0.0 for end in self.ends)

    @property
    def apart(self) -> float:
        """How far the tokens at the first differences are from each other, at most, in log-probability."""
        return max((_gap(self.records[0], other) for other in self.records[1:]), default=0.0)


def comparing(setting: Setting) -> None:
    """Measure the speed of all lanes together, and compare equal ones."""
    report = setting.report
    with Engine(setting) as engine:
        engine.open(str(setting.model), engine.options(setting.all_layers))
        alone = 0.0
        for lanes in LANES:
            told = _long_enough(engine, setting, lanes)
            alone = alone or told.tokens_per_s
            note = f"{told.tokens_per_s / alone:.2f} times one lane's" if lanes > 1 else ""
            report.measured(f"lanes_{lanes}", told.tokens_per_s, "tok/s", note=note)
            if lanes > 1:
                report.measured(f"lanes_{lanes}_apart", told.apart, "in log-prob", NEAR)


def _long_enough(engine: Engine, setting: Setting, lanes: int) -> _Lanes:
    """Return lanes whose answers are long enough to measure; the first of two runs loads the kernels."""
    sizes = setting.sizes
    for seed in range(SEEDS_TRIED):
        prompt = any_prompt(sizes.prefill_tokens, seed, setting.shape)
        for _ in range(2):
            told = _run(engine, prompt, lanes, sizes.decode_tokens)
        if 2 * len(told.records[0]) >= sizes.decode_tokens:
            return told
    raise BenchError("The answers of the model are too short to measure.")


def _run(engine: Engine, prompt: list[int], lanes: int, tokens: int) -> _Lanes:
    greedy = msgspec.structs.replace(PRESETS["Greedy"], max_tokens=tokens)
    request = engine.compare(token_prompt(prompt), (greedy,) * lanes)
    ends: dict[int, Finished] = {}
    blocks: list[list[bytes]] = [[] for _ in range(lanes)]
    while True:
        match engine.next().event:
            case LaneTokens(request=number, lane=lane, tokens=part) if number == request:
                blocks[lane].append(part.record)
            case LaneFinished(request=number, lane=lane, finished=end) if number == request:
                ends[lane] = end
            case Compared(request=number) if number == request:
                records = [read_records(join_blocks(each)) for each in blocks]
                return _Lanes([ends[lane] for lane in range(lanes)], records)


def _gap(first: TokenRecords, second: TokenRecords) -> float:
    """Return how far the two tokens at the first difference are apart in both answers, at most; 0 where none differs."""
    shorter = min(len(first), len(second))
    different = np.flatnonzero(first.tokens[:shorter] != second.tokens[:shorter])
    if not len(different):
        return 0.0
    place = int(different[0])
    ours, theirs = int(first.tokens[place]), int(second.tokens[place])
    return max(_distance(records, place, ours, theirs) for records in (first, second))


def _distance(records: TokenRecords, place: int, one: int, other: int) -> float:
    ids, near = records.alternatives(place)
    found = [float(near[ids == token][0]) if token in ids else float("-inf") for token in (one, other)]
    return abs(found[0] - found[1])
