"""How far the planner's formulae are from what llama.cpp says: cache and states, weights, buffers for computing."""

from __future__ import annotations

from tests.bench.arithmetic import Measurement
from tests.bench.children import Answer, Child
from tests.bench.setting import Setting
from tests.sparse_models import ALL

WEIGHTS_BAR_PERCENT, COMPUTE_BAR_PERCENT = 1.0, 5.0


def kv_formula_error(_setting: Setting) -> Measurement:
    """Compare cache and states of every model, and the bytes of one cell of those that run."""
    with Child("tests.bench.formula_process") as child:
        found = {name: child.ask("compare", name=name) for name in ALL}
        cells = child.ask("cells")
    runs = [float(answer["kv_mib"]) for answer in found.values()]
    more = {
        "models": len(found),
        "configurations": sum(int(answer["configurations"]) for answer in found.values()),
        "cell_bytes": cells["cell_bytes"],
        "cells": cells["cells"],
    }
    return Measurement(max(runs), runs, more=more, holds=cells["cell_bytes"] == 0)


def buffer_formula_error(_setting: Setting) -> Measurement:
    """Compare weights and buffers; only dense and sliding-window models are judged by the buffers."""
    with Child("tests.bench.formula_process") as child:
        found = {name: child.ask("compare", name=name) for name in ALL}
    devices = dict.fromkeys(device for answer in found.values() for device in answer["weights_of_devices"])
    weights = {device: _worst_weights(found, device) for device in devices}
    runs = [
        max(float(answer["weights_percent"]), *answer["weights_of_devices"].values()) for answer in found.values()
    ]
    compute = _compute(found, judged=True)
    worst = max(compute.values(), key=abs)
    more = {
        "weights_percent": weights,
        "compute_percent": worst,
        "compute_bar": COMPUTE_BAR_PERCENT,
        "compute_met": abs(worst) <= COMPUTE_BAR_PERCENT,
        "compute": compute,
        "compute_of_others": _compute(found, judged=False),
    }
    return Measurement(max(runs), runs, more=more, holds=abs(worst) <= COMPUTE_BAR_PERCENT)


def _worst_weights(found: dict[str, Answer], device: str) -> float:
    return round(max(float(answer["weights_of_devices"][device]) for answer in found.values()), 3)


def _compute(found: dict[str, Answer], *, judged: bool) -> dict[str, float]:
    return {
        name: round(float(answer["compute_percent"]), 2)
        for name, answer in found.items()
        if answer["judged"] is judged
    }
