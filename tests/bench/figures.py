"""The table of figures: what is measured, in which unit, against which bar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tests.bench.arithmetic import Bar, Measurement
from tests.bench.attending import attention_open
from tests.bench.candidates import candidates_redraw
from tests.bench.checkpoints import checkpoint_cost
from tests.bench.decoding import against_bare, against_high_level, features_closed, record_cost
from tests.bench.downloads import checksum_cost, download_vs_curl, resume_refetch
from tests.bench.dry_running import dry_run
from tests.bench.formulas import WEIGHTS_BAR_PERCENT, buffer_formula_error, kv_formula_error
from tests.bench.frozen import frozen_start
from tests.bench.headers import header_bytes
from tests.bench.inspecting import inspector_open
from tests.bench.kept import gui_memory, record_bytes
from tests.bench.kv_map import kv_map_paint
from tests.bench.lane_figures import divergence_of_lanes
from tests.bench.lane_speeds import batch_step_4, compare_prefill, compare_vs_sequential, share_prompt
from tests.bench.lane_windows import ui_stall_8_lanes
from tests.bench.library import library_500
from tests.bench.long_chats import (
    key_to_paint,
    memory_many_chats,
    open_long_chat,
    stop_to_still,
    token_cost_long_answer,
    token_cost_long_chat,
    ui_stall_long_chat,
)
from tests.bench.loop_page import decode_loop_page
from tests.bench.planner_page import planner_page
from tests.bench.predicting import measured_here_error
from tests.bench.prefilling import cancel_prefill, prefill, reuse
from tests.bench.published_runs import published_runs_error
from tests.bench.resuming import resume_from_disk
from tests.bench.sampler_cards import sampler_cards
from tests.bench.searching import search
from tests.bench.setting import Setting
from tests.bench.starting import engine_start
from tests.bench.windows import (
    close_worst,
    decode_in_window,
    first_paint_extra,
    gui_cpu,
    start_to_usable,
    ui_stall,
)


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
    Figure(Bar("decode_features_closed", "ratio", 0.97, "higher"), features_closed),
    Figure(Bar("prefill", "ratio", 0.97, "higher"), prefill),
    Figure(Bar("reuse", "ratio", 1.1, "lower"), reuse),
    Figure(Bar("cancel_prefill", "s", 0.5, "lower"), cancel_prefill),
    Figure(Bar("checkpoint_cost", "ratio", 0.98, "higher"), checkpoint_cost),
    Figure(Bar("resume_from_disk", "ratio", 0.15, "lower"), resume_from_disk),
    Figure(Bar("compare_vs_sequential", "ratio", 0.5, "lower"), compare_vs_sequential),
    Figure(Bar("compare_prefill", "ratio", 1.0, "lower"), compare_prefill),
    Figure(Bar("batch_step_4", "ratio", 1.05, "lower"), batch_step_4),
    Figure(Bar("share_prompt", "ms", 1.0, "lower"), share_prompt),
    Figure(Bar("dry_run", "s", 0.5, "lower"), dry_run),
    Figure(Bar("kv_formula_error", "MiB", 0.01, "lower"), kv_formula_error),
    Figure(Bar("buffer_formula_error", "%", WEIGHTS_BAR_PERCENT, "lower"), buffer_formula_error),
    Figure(Bar("engine_start", "s", 0.6, "lower"), engine_start),
    Figure(Bar("frozen_start", "s", 0.5, "lower"), frozen_start),
    Figure(Bar("decode_1_thread", "ratio", 0.94, "higher"), partial(decode_in_window, threads=1)),
    Figure(Bar("decode_2_threads", "ratio", 0.85, "higher"), partial(decode_in_window, threads=2)),
    Figure(Bar("gui_cpu", "%", 8.0, "lower"), gui_cpu),
    Figure(Bar("ui_stall", "ms", 16.0, "lower"), ui_stall),
    Figure(Bar("first_paint_extra", "ms", 20.0, "lower"), first_paint_extra),
    Figure(Bar("start_to_usable", "s", 0.8, "lower"), start_to_usable),
    Figure(Bar("gui_memory", "MB", 150.0, "lower"), gui_memory),
    Figure(Bar("candidates_redraw", "ms", 16.0, "lower"), candidates_redraw),
    Figure(Bar("sampler_cards", "ms", 16.0, "lower"), sampler_cards),
    Figure(Bar("search", "ms", 50.0, "lower"), search),
    Figure(Bar("record_bytes", "bytes", 250.0, "lower"), record_bytes),
    Figure(Bar("close_worst", "s", 3.0, "lower"), close_worst),
    Figure(Bar("token_cost_long_answer", "ratio", 1.2, "lower"), token_cost_long_answer),
    Figure(Bar("token_cost_long_chat", "ratio", 1.2, "lower"), token_cost_long_chat),
    Figure(Bar("ui_stall_long_chat", "ms", 16.0, "lower"), ui_stall_long_chat),
    Figure(Bar("open_long_chat", "ms", 200.0, "lower"), open_long_chat),
    Figure(Bar("key_to_paint", "ms", 16.0, "lower"), key_to_paint),
    Figure(Bar("memory_many_chats", "ratio", 1.2, "lower"), memory_many_chats),
    Figure(Bar("stop_to_still", "ms", 100.0, "lower"), stop_to_still),
    Figure(Bar("ui_stall_8_lanes", "ms", 16.0, "lower"), ui_stall_8_lanes),
    Figure(Bar("inspector_open", "ms", 100.0, "lower"), inspector_open),
    Figure(Bar("attention_open", "ratio", 2.0, "lower"), attention_open),
    Figure(Bar("kv_map_paint", "ms", 16.0, "lower"), kv_map_paint),
    Figure(Bar("planner_page", "ms", 16.0, "lower"), planner_page),
    Figure(Bar("decode_loop_page", "ratio", 0.95, "higher"), decode_loop_page),
    Figure(Bar("published_runs_error", "%", 8.0, "lower"), published_runs_error),
    Figure(Bar("measured_here_error", "%", 15.0, "lower"), measured_here_error),
    Figure(Bar("divergence_8x2000", "ms", 100.0, "lower"), divergence_of_lanes),
    Figure(Bar("download_vs_curl", "ratio", 0.95, "higher"), download_vs_curl),
    Figure(Bar("checksum_cost", "%", 5.0, "lower"), checksum_cost),
    Figure(Bar("resume_refetch", "MB", 10.0, "lower"), resume_refetch),
    Figure(Bar("library_500", "ms", 300.0, "lower"), library_500),
    Figure(Bar("header_bytes", "MB", 1.0, "lower"), header_bytes),
)
