"""Joins what measures this machine: what is around an answer, the speed of its memories, and what answers show of both."""

from __future__ import annotations

from typing import NamedTuple

from app.planner.gpu_table import read_gpu_table
from app.services.bandwidth import Bandwidth
from app.services.calibrating import Calibrating
from app.services.engine_session import EngineSession
from app.services.live import Live
from app.services.machine import Machine
from app.services.memory import Memory
from app.system.jobs import Jobs
from app.system.memory import main_memory
from app.system.resources import Resources
from app.system.settings_file import SettingsFile


class Measuring(NamedTuple):
    """What measures, each joined to the others."""

    live: Live
    bandwidth: Bandwidth
    calibrating: Calibrating
    memory: Memory
    machine: Machine


def measuring(
    live: Live,
    session: EngineSession,
    settings: SettingsFile,
    jobs: Jobs,
    resources: Resources,
    memory: Memory,
    machine: Machine,
) -> Measuring:
    """Return it; the table of GPUs is read when it is first wanted."""
    bandwidth = Bandwidth(session, settings, main_memory)
    calibrating = Calibrating(session, settings, jobs, lambda: read_gpu_table(resources.gpu_table()).gpus)
    calibrating.devices = lambda: memory.devices
    memory.changed.connect(calibrating.look_at_devices)
    witness = live.witness
    witness.gpus = lambda: memory.gpus_in_use(machine.gpus)
    witness.ceiling, witness.expected = bandwidth.ceiling, calibrating.expected
    witness.expected_reading = calibrating.expected_reading
    machine.changed.connect(witness.look_at_machine)
    witness.ended.connect(calibrating.note)
    bandwidth.changed.connect(live.know_bandwidth)
    return Measuring(live, bandwidth, calibrating, memory, machine)
