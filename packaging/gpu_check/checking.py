"""The checks in their order: `python -m gpu_check.start BACKEND OUT WORK SECONDS CHECK...`.

Runs where `gpu_check.__main__` has prepared everything. A check that fails costs only itself.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from app.core.devices import GPU_KINDS, Device
from app.core.events import DevicesListed
from gpu_check.automatic import automatic
from gpu_check.cancelling import cancelling
from gpu_check.comparing import comparing
from gpu_check.engine import Engine
from gpu_check.logits import logits
from gpu_check.meters import ProcessMeter, meter_for
from gpu_check.model_file import TINY
from gpu_check.offload import offload
from gpu_check.planning import planning
from gpu_check.predicting import predicting
from gpu_check.report import Report
from gpu_check.scoring import scoring
from gpu_check.setting import GIB, REAL, SOFT, Setting, TimeIsUp, is_real, shape_for, write_models
from gpu_check.speed import speed

T = TypeVar("T")
CHECKS: dict[str, Callable[[Setting], None]] = {
    "offload": offload,
    "logits": logits,
    "speed": speed,
    "cancel": cancelling,
    "lanes": comparing,
    "score": scoring,
    "auto": automatic,
    "plan": planning,
    "predict": predicting,
}


def main(arguments: Sequence[str]) -> int:
    """Carry out the checks that are named and return 0, whatever they found."""
    backend, out, work, seconds, *names = arguments
    setting = Setting(
        backend=backend,
        report=Report(Path(out), fresh=False),
        work=Path(work),
        ends_at=time.monotonic() + float(seconds),
        device=None,
        meter=ProcessMeter(),
        shape=TINY,
        sizes=SOFT,
    )
    listed = _guarded(setting, "devices", lambda: _devices(setting))
    if listed is None:
        return 0
    setting = _on_device(setting, listed)
    _guarded(setting, "model", lambda: _write(setting))
    for name, check in CHECKS.items():
        if name in names:
            _guarded(setting, name, partial(check, setting))
    return 0


def _devices(setting: Setting) -> DevicesListed:
    with Engine(setting) as engine:
        return engine.devices()


def _on_device(setting: Setting, listed: DevicesListed) -> Setting:
    """Tell the devices and return the setting for the one that is checked."""
    ours = (each for each in listed.devices if each.backend.lower() == setting.backend and each.kind in GPU_KINDS)
    device = next(ours, None)
    facts = listed.library
    setting.report.fact("library", facts.folder, note=f"{facts.version}: {', '.join(facts.backends)}")
    shown = "; ".join(_shown(each) for each in listed.devices)
    ok = device is not None or setting.backend == "cpu"
    setting.report.fact("devices", shown, ok, "" if ok else " ".join(note.english() for note in facts.notes))
    return replace(
        setting,
        device=device,
        meter=meter_for(device.bus_id) if device is not None and is_real(device) else ProcessMeter(),
        shape=shape_for(device, setting.work),
        sizes=REAL if is_real(device) else SOFT,
    )


def _shown(device: Device) -> str:
    size = f" {device.total / GIB:.1f} GiB" if device.total else ""
    return f"{device.name} ({device.description}{size})"


def _write(setting: Setting) -> None:
    began = time.monotonic()
    write_models(setting)
    size = setting.shape.total_bytes / 1e9
    setting.report.measured("model_written", time.monotonic() - began, "s", note=f"{size:.2f} GB, Q4_0")


def _guarded(setting: Setting, name: str, check: Callable[[], T]) -> T | None:
    """Carry out one check and return what it does; the time being up, or a fault, is a line of its own."""
    setting.report.say(f"- {name}")
    try:
        setting.left_s()
        return check()
    except TimeIsUp:
        setting.report.missed(name, "the time was up")
    except Exception as error:  # noqa: BLE001  a machine with a GPU is borrowed for minutes: the other checks go on
        setting.report.keep(traceback.format_exc())
        setting.report.missed(name, f"{type(error).__name__}: {error}")
    return None
