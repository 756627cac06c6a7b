"""The table of figures: what is measured, in which unit, against which bar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tests.bench.arithmetic import Bar, Measurement
from tests.bench.candidates import candidates_redraw
from tests.bench.checkpoints import checkpoint_cost
from tests.bench.decoding import against_bare, against_high_level, record_cost
from tests.bench.dry_running import dry_run
from tests.bench.frozen import frozen_start
from tests.bench.prefilling import cancel_prefill, prefill, reuse
from tests.bench.setting import Setting
from tests.bench.starting import engine_start


@dataclass(frozen=True)
class Figure:
    """A bar and how to measure what should reach it."""

    bar: Bar
    measure: Callable[[Setting], Measurement]


FIGURES = (
    Figure(Bar("decode_cli_1_thread", "ratio", 0.95, "higher"), partial(against_bare, threads=1)),
    Figure(Bar("decode_cli_2_threads", "ratio", 0.93, "higher"), partial(against_bare, threads=2)),
    Figure(Bar("decode_vs_high_level", "ratio", 1.10, "higher"), against_high_level),
    Figure(Bar("record_cost", "ratio", 0.96, "higher"), record_cost),
    Figure(Bar("prefill", "ratio", 0.97, "higher"), prefill),
    Figure(Bar("reuse", "ratio", 1.1, "lower"), reuse),
    Figure(Bar("cancel_prefill", "s", 0.5, "lower"), cancel_prefill),
    Figure(Bar("checkpoint_cost", "ratio", 0.98, "higher"), checkpoint_cost),
    Figure(Bar("dry_run", "s", 0.5, "lower"), dry_run),
    Figure(Bar("engine_start", "s", 0.6, "lower"), engine_start),
    Figure(Bar("frozen_start", "s", 0.5, "lower"), frozen_start),
    Figure(Bar("candidates_redraw", "ms", 16.0, "lower"), candidates_redraw),
)
