"""The engine process as the checks use it: loads with options, short answers, and never longer than there is time.

It must not know what is checked.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import msgspec

from app.core.commands import ListDevices, Load, MeasureMemory
from app.core.events import DevicesListed, Finished, Loaded, MemoryMeasured, Tokens, Unloaded
from app.core.metrics import DeviceMemory
from app.core.model import LoadOptions, ModelInfo
from app.core.sampling import PRESETS, SamplingSettings
from gpu_check.setting import Setting, TimeIsUp
from tests.bench.arithmetic import BenchError
from tests.bench.engine_user import Arrival, EngineUser, token_prompt

NO_GPU = {"CUDA_VISIBLE_DEVICES": "", "GGML_VK_VISIBLE_DEVICES": ""}
"""What hides every GPU from a process."""
UNLOAD_S = 10.0
LOG_LINES = 60


def settings(tokens: int, seed: int) -> SamplingSettings:
    """Return the ordinary settings for an answer of so many tokens."""
    return msgspec.structs.replace(PRESETS["Balanced"], max_tokens=tokens, seed=seed)


class Engine(EngineUser):
    """One client with one engine process, until the run's time is up."""

    def __init__(self, setting: Setting) -> None:
        super().__init__()
        self._setting = setting

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the process; after a failure what it printed goes into the log."""
        if kind is not None:
            printed = Path(self._folder.name) / "engine.log"
            lines = printed.read_text(encoding="utf-8", errors="replace").splitlines() if printed.exists() else []
            self._setting.report.keep("\n".join(("The engine printed:", *lines[-LOG_LINES:])))
        super().__exit__(kind, value, trace)

    def next(self) -> Arrival:
        """Return the next event; raises `BenchError` when the engine refuses or is gone, `TimeIsUp` at the end."""
        arrival = self.next_within(self._setting.left_s())
        if arrival is None:
            raise TimeIsUp
        return arrival

    def options(self, gpu_layers: int | None, context: int = 0) -> LoadOptions:
        """Return the options of a load with the run's sizes."""
        sizes = self._setting.sizes
        return LoadOptions(
            context=context or sizes.context,
            gpu_layers=gpu_layers,
            threads=self._setting.threads,
            micro_batch=sizes.micro_batch,
        )

    def open(self, path: str, options: LoadOptions) -> ModelInfo:
        """Load a model."""
        request = self.client.new_request()
        self.client.send(Load(request, path, options))
        return self.wait(Loaded, request).model

    def devices(self) -> DevicesListed:
        """Ask what there is to compute on."""
        request = self.client.new_request()
        self.client.send(ListDevices(request))
        return self.wait(DevicesListed, request)

    def measure(self, path: str, options: LoadOptions) -> MemoryMeasured:
        """Ask what a load would take."""
        request = self.client.new_request()
        self.client.send(MeasureMemory(request, path, options))
        return self.wait(MemoryMeasured, request)

    def say(self, ids: list[int], tokens: int, seed: int = 1) -> tuple[list[Tokens], Finished]:
        """Generate behind a prompt and return the answer's events."""
        return self.answer(self.generate(token_prompt(ids), settings(tokens, seed)))

    def unload(self) -> None:
        """End the engine process and wait until it is gone."""
        self.client.unload()
        while (arrival := self.next_within(min(UNLOAD_S, self._setting.left_s()))) is not None:
            if isinstance(arrival.event, Unloaded):
                return
        raise BenchError(f"The engine did not end within {UNLOAD_S:.0f} seconds.")


def on_device(memory: tuple[DeviceMemory, ...], name: str) -> DeviceMemory:
    """Return what the engine has on a device; zeros where it has nothing there."""
    return next((each for each in memory if each.device == name), DeviceMemory(name, 0, 0, 0))


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Let processes that are started in this block have these variables."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value
