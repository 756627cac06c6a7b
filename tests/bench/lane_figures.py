"""How long the arithmetic of a comparison takes, as the window asks for it: its analysis, and lanes under other settings."""

from __future__ import annotations

import dataclasses
import statistics
import time

import numpy as np
import numpy.typing as npt

from app.core.commands import SettingsChange
from app.core.sampling import SamplingSettings
from app.probability.record import RecordWriter, join_blocks, read_records
from app.probability.row import RowReader
from app.services.analysing import analyse, replayed
from app.services.lane_inputs import LaneInput, LaneInputs
from app.services.piece_table import PieceTable
from tests.bench.arithmetic import BenchError, Measurement, runs
from tests.bench.setting import Setting
from tests.made_up_steps import pieces_of

LANES = 8
TOKENS = 2000
SHARED = 100
"""Each lane leaves the first one so many tokens later than the one before it."""
VOCABULARY = 1000
BLOCK = 32
"""So many tokens have one block of the record."""
SEED = 7
Tokens = npt.NDArray[np.int32]
SETTINGS = (
    *(SamplingSettings(temperature=value) for value in (0.4, 0.8, 1.2, 1.6)),
    SamplingSettings(top_k=0, top_p=0.8),
    SamplingSettings(top_k=0, top_p=1.0, min_p=0.1),
    SamplingSettings(top_k=10),
    SamplingSettings(xtc_probability=0.5),
)
TYPICAL = SamplingSettings(typical_p=0.9)


def divergence_of_lanes(setting: Setting) -> Measurement:
    """Measure 8 lanes of 2,000 tokens: all that is told of them, and each under the settings of the next, in ms."""
    inputs = _inputs()
    took, parts = [], []
    for _ in runs(setting.seconds):
        inputs = dataclasses.replace(inputs)  # as lanes are that were never looked at
        began = time.perf_counter_ns()
        found = analyse(inputs)
        told = time.perf_counter_ns()
        others = SETTINGS[1:] + SETTINGS[:1]
        results = [replayed(inputs, index, other) for index, other in enumerate(others)]
        ended = time.perf_counter_ns()
        took.append((ended - began) / 1e6)
        parts.append((told - began, ended - told))
        is_replayed = all(each is not None and len(each.tokens) == TOKENS for each in results)
        if not is_replayed or None in found.divergences[1:] or len(found.tree) <= LANES:
            raise BenchError("The lanes were not told apart.")
    began = time.perf_counter_ns()
    replayed(inputs, 0, TYPICAL)
    typical = (time.perf_counter_ns() - began) / 1e6
    names = ("analysis_ms", "what_if_ms")
    medians = [round(statistics.median(column) / 1e6, 2) for column in zip(*parts, strict=True)]
    more: dict[str, object] = dict(zip(names, medians, strict=True))
    more["typical_lane_ms"] = round(typical, 2)
    more["alternatives"] = round(_alternatives(inputs), 1)
    return Measurement(statistics.median(took), took, more=more)


def _inputs() -> LaneInputs:
    """Return the lanes as they are taken down when a comparison has ended."""
    chance = np.random.default_rng(SEED)
    first = _tokens(chance)
    said = [f" w{token}".encode() for token in range(VOCABULARY)]
    lanes = []
    for number, settings in enumerate(SETTINGS):
        shared = number * SHARED if number else TOKENS
        tokens = np.concatenate((first[:shared], _tokens(chance)[shared:]))
        if shared < TOKENS:
            tokens[shared] = (first[shared] + 1) % VOCABULARY
        lanes.append(_lane(number, tokens, settings, said))
    return LaneInputs(1, 0, tuple(lanes), b"", PieceTable(pieces_of(said)), is_whole=True)


def _lane(number: int, tokens: Tokens, settings: SamplingSettings, said: list[bytes]) -> LaneInput:
    return LaneInput(
        index=number,
        message=number,
        text=b"".join(said[token] for token in tokens.tolist()).decode(),
        ids=tokens.tobytes(),
        blocks=_blocks(tokens),
        settings=settings,
        changes=(SettingsChange(0, settings),),
        seed=SEED,
        metrics=None,
        stop_reason="length",
    )


def _tokens(chance: np.random.Generator) -> Tokens:
    """Return tokens of likely ranks, which are their ids here."""
    drawn = np.minimum(chance.exponential(4.0, TOKENS), VOCABULARY - 1)
    return drawn.astype(np.int32)


def _blocks(tokens: Tokens) -> tuple[bytes, ...]:
    """Return a record with half as many alternatives again as the starter model's answers have, at least."""
    chance = np.random.default_rng(SEED)
    writer, reader = RecordWriter(VOCABULARY), RowReader(VOCABULARY)
    blocks = []
    for token in tokens.tolist():
        falling = -chance.uniform(1.4, 3.4) * np.log(np.arange(VOCABULARY) + chance.uniform(0.5, 3.0))
        row = falling.astype(np.float32)
        facts = reader.read(row)
        writer.add(token, float(row[token]), facts, facts.rank(token), 0.5, 0)
        if len(writer) == BLOCK:
            blocks.append(writer.take())
    return (*blocks, writer.take()) if len(writer) else tuple(blocks)


def _alternatives(inputs: LaneInputs) -> float:
    """Return how many alternatives a token has stored."""
    records = [read_records(join_blocks(list(lane.blocks))) for lane in inputs.lanes]
    return statistics.mean(each.alternative_ids.size / TOKENS for each in records)
