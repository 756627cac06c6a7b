"""Pairs of settings of which each parts two lanes in its own way."""

from __future__ import annotations

from typing import Any

from app.core.sampling import STAGES

PENALISED: dict[str, Any] = {"presence_penalty": 2.0, "penalty_last_n": -1}
DRY: dict[str, Any] = {"dry_multiplier": 3.0, "dry_allowed_length": 1, "dry_sequence_breakers": ()}
HOT_FIRST: dict[str, Any] = {"order": ("temperature", *STAGES[:-1])}
LATE: dict[str, Any] = {"order": ("top_k", "top_p", "min_p", "penalties", "dry", "typical", "xtc", "temperature")}
NO_DRY: dict[str, Any] = {"dry_sequence_breakers": ()}
PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "top-k before typical": ({"top_k": 40, "typical_p": 0.6}, {"top_k": 6, "typical_p": 0.6}),
    "top-k before top-p": ({"top_k": 40, "top_p": 0.9}, {"top_k": 5, "top_p": 0.9}),
    "penalties before top-k": ({"top_k": 5}, {"top_k": 5, **PENALISED}),
    "penalties before top-p": ({"top_p": 0.8}, {"top_p": 0.8, **PENALISED}),
    "penalties before min-p": ({"min_p": 0.1}, {"min_p": 0.1, **PENALISED}),
    "penalties before XTC": (
        {"top_k": 30, "xtc_probability": 0.6, "xtc_threshold": 0.15},
        {"top_k": 30, "xtc_probability": 0.6, "xtc_threshold": 0.15, **PENALISED},
    ),
    "penalties and top-k before top-p": ({"top_k": 40, "top_p": 0.8}, {"top_k": 8, "top_p": 0.8, **PENALISED}),
    "typical and top-k": ({"top_k": 30, "typical_p": 0.9}, {"top_k": 12, "typical_p": 0.5}),
    "temperature": ({"top_k": 20, "temperature": 0.6}, {"top_k": 20, "temperature": 1.7}),
    "temperature and top-k": ({"top_k": 30, "temperature": 0.7}, {"top_k": 12, "temperature": 1.4}),
    "XTC": ({"top_k": 20}, {"top_k": 20, "xtc_probability": 0.5, "xtc_threshold": 0.05}),
    "greedy and penalties": ({"temperature": 0.0}, {"temperature": 0.0, **PENALISED}),
    "greedy, penalties and DRY": ({"temperature": 0.0, **NO_DRY}, {"temperature": 0.0, **PENALISED, **DRY}),
    "one greedy": ({"top_k": 20}, {"temperature": 0.0}),
    "one greedy with penalties": ({"top_k": 3, "temperature": 0.3}, {"temperature": 0.0, **PENALISED}),
    "temperature first": ({"top_p": 0.7, "temperature": 2.0}, {"top_p": 0.7, "temperature": 2.0, **HOT_FIRST}),
    "temperature first and top-p": (
        {"top_p": 0.7, "temperature": 1.8},
        {"top_p": 0.8, "temperature": 1.8, **HOT_FIRST},
    ),
    "penalties behind the filters": (
        {"top_k": 12, "top_p": 0.8, **PENALISED},
        {"top_k": 12, "top_p": 0.8, **PENALISED, **LATE},
    ),
    "penalties behind the filters, and other filters": (
        {"top_k": 12, "min_p": 0.1, **PENALISED},
        {"top_k": 6, "min_p": 0.1, **PENALISED, **LATE},
    ),
    "one order, other filters": (
        {"top_k": 20, "temperature": 1.6, **HOT_FIRST},
        {"top_p": 0.7, "temperature": 1.6, **HOT_FIRST},
    ),
    "one order for both": ({"top_k": 8, "top_p": 0.9, **HOT_FIRST}, {"top_k": 30, "top_p": 0.9}),
    "without top-k": ({"top_k": 8, "top_p": 0.9}, {"top_k": 8, "top_p": 0.9, "off": ("top_k",)}),
    "without top-k, and penalties before top-p": (
        {"top_k": 8, "top_p": 0.8, "off": ("top_k",)},
        {"top_k": 8, "top_p": 0.8, **PENALISED},
    ),
    "without temperature": ({"top_k": 20, "temperature": 0.0, "off": ("temperature",)}, {"temperature": 0.0}),
    "only the seed": ({"top_k": 20}, {"top_k": 20}),
}


APART = {
    "temperature first",
    "temperature first and top-p",
    "penalties behind the filters",
    "penalties behind the filters, and other filters",
}
"""Where the order of what the lanes do differs."""
