"""The planner's formula against what a load really takes, on the device and in main memory.

With the planner's own functions; it must not know what llama.cpp's dry run says, which is another check.
"""

from __future__ import annotations

from app.core.devices import MAIN_MEMORY, GpuReport
from app.core.metrics import DeviceMemory
from app.planner.layout import all_layers
from app.planner.memory_plan import DevicePlan
from app.planner.plan_options import plan_options
from app.planner.planning import plan_memory
from app.services.planning_devices import planned_here
from app.services.planning_models import read_planned
from app.system.memory import main_memory
from gpu_check.engine import Engine, on_device
from gpu_check.model_file import any_prompt
from gpu_check.offload import MEGABYTE, difference_percent
from gpu_check.setting import Setting

WEIGHTS_PERCENT, COMPUTE_PERCENT = 1.0, 5.0
KV_BYTES = 0.01 * 1024**2
"""Sizes are told in hundredths of a MiB."""
LEAST_JUDGED = 4 * 1024**2
"""Of a buffer that is smaller, a rounding is many per cent."""
WARM_UP_TOKENS = 4


def planning(setting: Setting) -> None:
    """Load with all and with half of the layers on the GPU; without one, once."""
    everything = setting.all_layers
    ways = (("all", everything), ("half", everything // 2)) if setting.device is not None else (("cpu", 0),)
    for name, gpu_layers in ways:
        _plan_and_load(setting, f"plan_{name}", gpu_layers)


def _plan_and_load(setting: Setting, name: str, gpu_layers: int) -> None:
    report, meter = setting.report, setting.meter
    model = read_planned(setting.model)
    with Engine(setting) as engine:
        options = engine.options(gpu_layers)
        listed = engine.devices().devices if setting.device is not None else ()
        ours = [each for each in listed if setting.device is not None and each.name == setting.device.name]
        plan = plan_memory(
            model, plan_options(options, model.trained_context), planned_here(ours, GpuReport(), main_memory())
        )
        verdict = f"{plan.verdict}: {plan.gpu_layers} of {all_layers(model)} layers"
        report.fact(f"{name}_verdict", verdict, plan.verdict in ("fits", "partly"))
        before = meter.used(None)
        engine.open(str(setting.model), options)
        _, finished = engine.say(any_prompt(setting.sizes.prefill_tokens, 1, setting.shape), WARM_UP_TOKENS)
        used = meter.used(engine.process_id) - before
        engine.unload()
    for device in plan.devices:
        place = "gpu" if device.is_gpu else "main"
        real = on_device(finished.metrics.memory, device.name if device.is_gpu else MAIN_MEMORY)
        _tell(setting, f"{name}_{place}", device, real)
        if device.is_gpu and meter.sees_gpu:
            value = difference_percent(device.taken, used)
            note = (
                f"{(device.taken or 0) / MEGABYTE:,.0f} MB estimated in all, {meter.name} {used / MEGABYTE:,.0f} MB"
            )
            report.measured(f"{name}_{place}_driver", value, "% off", note=note)


def _tell(setting: Setting, name: str, device: DevicePlan, real: DeviceMemory) -> None:
    """Tell how far the formula is from what was allocated; where nothing lies there is no line."""
    report = setting.report
    kept = abs((device.kv.bytes or 0) - (real.kv or 0)) + abs((device.state.bytes or 0) - (real.state or 0))
    if device.kv.bytes is None or device.state.bytes is None:
        report.missed(f"{name}_cache", "the formula does not know this model's cache")
    else:
        note = f"{(device.kv.bytes + device.state.bytes) / MEGABYTE:,.1f} MB estimated"
        report.measured(f"{name}_cache", kept / 1024**2, "MiB off", KV_BYTES / 1024**2, note=note)
    compute = None if real.compute is None and real.output is None else (real.compute or 0) + (real.output or 0)
    for what, estimate, there, bar in (
        ("weights", device.weights.bytes, real.weights, WEIGHTS_PERCENT),
        ("compute", device.compute.bytes, compute, COMPUTE_PERCENT),
    ):
        if estimate or there:
            note = f"{(estimate or 0) / MEGABYTE:,.1f} MB estimated, {(there or 0) / MEGABYTE:,.1f} MB allocated"
            judged = bar if max(estimate or 0, there or 0) >= LEAST_JUDGED else None
            report.measured(f"{name}_{what}", difference_percent(estimate, there), "% off", judged, note=note)
