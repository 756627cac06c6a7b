"""`GPU layers: auto`: all layers where they fit, fewer where another program holds the memory."""

from __future__ import annotations

from app.core.devices import Device
from gpu_check import ballast
from gpu_check.engine import Engine, on_device
from gpu_check.model_file import WIDE, any_prompt, write_hollow
from gpu_check.report import Report
from gpu_check.setting import GIB, Setting

SHARE_LEFT = 0.6
"""How much of what the whole model takes is left free beside the ballast."""
MARGIN_BYTES = 1 * GIB
"""What the choice leaves free on a large GPU."""
ANSWER_TOKENS = 8
PROMPT_TOKENS = 32


def automatic(setting: Setting) -> None:
    """Load with auto on the free device, then on a full one."""
    report, device = setting.report, setting.device
    if device is None:
        report.left_out("auto", "there is no GPU to choose layers for")
        return
    with Engine(setting) as engine:
        info = engine.open(str(setting.model), engine.options(None))
        chosen = f"{info.gpu_layers} of {setting.all_layers} layers"
        report.fact("auto_when_free", chosen, info.gpu_layers == setting.all_layers)
    with Engine(setting) as engine:
        whole = engine.measure(str(setting.model), engine.options(setting.all_layers))
        needed = on_device(whole.memory, device.name).total or 0
        now = next(each for each in engine.devices().devices if each.name == device.name)
    if setting.is_real and now.free is not None:
        _beside_ballast(setting, device, now.free - int(SHARE_LEFT * needed) - MARGIN_BYTES)
    else:
        _with_a_large_model(setting, now)


def _beside_ballast(setting: Setting, device: Device, size: int) -> None:
    """Load for real while another process holds most of the GPU."""
    with ballast.held(device.name, size) as taken, Engine(setting) as engine:
        info = engine.open(str(setting.model), engine.options(None))
        _, finished = engine.say(any_prompt(PROMPT_TOKENS, 21, setting.shape), ANSWER_TOKENS)
        note = f"beside {taken / GIB:.1f} GiB, answered {len(finished.ids) // 4} tokens"
        _tell_fewer(setting.report, info.gpu_layers, setting.all_layers, note)


def _with_a_large_model(setting: Setting, device: Device) -> None:
    """Only ask: a program that stands in for a GPU has all of main memory, whatever others hold of it."""
    room = device.free or device.total or 0
    path = write_hollow(setting.work / "hollow.gguf", WIDE)
    try:
        with Engine(setting) as engine:
            asked = engine.measure(str(path), engine.options(None))
    finally:
        path.unlink()
    chosen = WIDE.layers + 1 if asked.options.gpu_layers is None else asked.options.gpu_layers
    note = f"asked for a model of {WIDE.total_bytes / GIB:.1f} GiB on {room / GIB:.1f} GiB"
    _tell_fewer(setting.report, chosen, WIDE.layers + 1, note)


def _tell_fewer(report: Report, chosen: int, everything: int, note: str) -> None:
    report.fact("auto_when_full", f"{chosen} of {everything} layers", 0 < chosen < everything, note)
