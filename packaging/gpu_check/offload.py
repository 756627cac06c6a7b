"""All, half and no layers on the GPU: where the engine says things lie, the dry run before it, and the driver's word.

One load answers all of it, since loads are what takes time.
"""

from __future__ import annotations

import math

from app.core.events import MemoryMeasured
from app.core.metrics import DeviceMemory
from app.core.model import ModelInfo
from gpu_check.engine import Engine, on_device
from gpu_check.meters import Watch
from gpu_check.model_file import any_prompt
from gpu_check.report import Line
from gpu_check.setting import Setting

SAME_PERCENT = 1.0
LEAST_BYTES = 1024**2
"""Sizes are told in hundredths of a MiB: differences of what is smaller than one are rounding."""
MEGABYTE = 1e6
DRIVER_MB = 1500.0
"""More than this, beside the engine's own, is no driver's share of one process."""
UNTOLD_MB = 64.0
"""The driver may show this much less than the engine says: both round, and not all of a buffer is touched."""
GROWTH_MB = 64.0
"""While generating, the driver may still load a kernel; a cache that grew would take far more."""
LEFT_BEHIND_MB = 64.0
WARM_UP_TOKENS = 4
WATCHED_TOKENS = 32
FIELDS = ("weights", "kv", "compute", "state", "output")


def offload(setting: Setting) -> None:
    """Load with all, half and no layers on the GPU."""
    everything = setting.all_layers
    for name, gpu_layers in (("all", everything), ("half", everything // 2), ("none", 0)):
        _load_and_look(setting, f"offload_{name}", gpu_layers)


def difference_percent(measured: int | None, real: int | None) -> float:
    """Return how far two sizes are apart, in per cent of the real one; infinite where only one is known."""
    if measured is None and real is None:
        return 0.0
    if measured is None or real is None:
        return math.inf if (measured or real) else 0.0
    return 100 * abs(measured - real) / max(real, LEAST_BYTES)


def worst_difference(dry: tuple[DeviceMemory, ...], real: tuple[DeviceMemory, ...]) -> tuple[float, str]:
    """Return the largest difference over all devices in per cent, and which figure that is."""
    worst = (0.0, "")
    for name in dict.fromkeys(each.device for each in (*dry, *real)):
        for field in FIELDS:
            before, after = getattr(on_device(dry, name), field), getattr(on_device(real, name), field)
            worst = max(worst, (difference_percent(before, after), f"{name} {field}: {before} against {after} bytes"))
    return worst


def _load_and_look(setting: Setting, name: str, gpu_layers: int) -> None:
    meter = setting.meter
    before = meter.used(None)
    with Engine(setting) as engine:
        options = engine.options(gpu_layers)
        dry = engine.measure(str(setting.model), options)
        info = engine.open(str(setting.model), options)
        _tell_layers(setting, name, info, gpu_layers)
        prompt = any_prompt(setting.sizes.prefill_tokens, 1, setting.shape)
        _, finished = engine.say(prompt, WARM_UP_TOKENS)
        memory = finished.metrics.memory
        _tell_sizes(setting, name, info, memory, gpu_layers)
        _tell_dry_run(setting, name, dry, memory)
        warm = meter.used(engine.process_id)
        with Watch(meter, engine.process_id) as watch:
            engine.say(prompt, min(WATCHED_TOKENS, setting.sizes.decode_tokens))
        _tell_use(setting, name, memory, warm - before, watch.highest - warm)
        engine.unload()
    left = (meter.used(None) - before) / MEGABYTE
    bar = LEFT_BEHIND_MB if meter.sees_gpu else None
    setting.report.measured(f"{name}_left_behind", left, "MB", bar, note=f"{meter.name} after unloading")


def _tell_layers(setting: Setting, name: str, info: ModelInfo, gpu_layers: int) -> None:
    expected = gpu_layers if setting.device is not None else 0
    setting.report.fact(
        f"{name}_layers", f"{info.gpu_layers} of {setting.all_layers} layers", info.gpu_layers == expected
    )


def _tell_sizes(
    setting: Setting, name: str, info: ModelInfo, memory: tuple[DeviceMemory, ...], gpu_layers: int
) -> None:
    for each in memory:
        sizes = (f"{field} {getattr(each, field) / MEGABYTE:,.1f} MB" for field in FIELDS if getattr(each, field))
        setting.report.say(f"  {each.device}: {', '.join(sizes)}")
    if setting.device is None:
        return
    ours = on_device(memory, setting.device.name)
    expected = setting.shape.bytes_on_gpu(gpu_layers), setting.shape.kv_bytes_on_gpu(gpu_layers, info.context)
    for what, told, wanted in (("weights", ours.weights, expected[0]), ("kv", ours.kv, expected[1])):
        note = f"{(told or 0) / MEGABYTE:,.1f} MB of {wanted / MEGABYTE:,.1f} MB on {setting.device.name}"
        value = difference_percent(told or 0, wanted)
        setting.report.measured(f"{name}_{what}", value, "% off", SAME_PERCENT, note=note)


def _tell_dry_run(setting: Setting, name: str, dry: MemoryMeasured, memory: tuple[DeviceMemory, ...]) -> None:
    value, which = worst_difference(dry.memory, memory)
    setting.report.measured(f"{name}_dry_run", value, "% off", SAME_PERCENT, note=which)


def _tell_use(setting: Setting, name: str, memory: tuple[DeviceMemory, ...], used: int, growth: int) -> None:
    """Tell what the meter shows beside the engine's sum, and that nothing is allocated while generating."""
    meter, report = setting.meter, setting.report
    device = setting.device.name if setting.device is not None else ""
    told = [each.total or 0 for each in memory if each.device == device or not meter.sees_gpu]
    rest = (used - sum(told)) / MEGABYTE
    ok = -UNTOLD_MB <= rest <= DRIVER_MB if meter.sees_gpu else None
    note = f"{meter.name} {used / MEGABYTE:,.0f} MB, the engine's sum {sum(told) / MEGABYTE:,.0f} MB"
    report.add(Line(f"{name}_driver", round(rest, 1), "MB", DRIVER_MB if ok is not None else None, ok=ok, note=note))
    bar = GROWTH_MB if meter.sees_gpu else None
    report.measured(f"{name}_growth", growth / MEGABYTE, "MB", bar, note="while generating")
