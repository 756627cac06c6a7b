"""The services behind the planner: what models there are, what they could run on, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from app.core.events import DevicesListed, EngineGone, Failed, MemoryMeasured
from app.core.job_events import LanesAnalysed
from app.core.ports import DryRunPort, EnginePort, HubPort, StorePort
from app.services.chat_use import ChatUse
from app.services.engine_session import EngineSession
from app.services.fit_badges import FitBadges
from app.services.hub_models import HubModels
from app.services.load_plan import LoadPlan
from app.services.measuring import Measuring
from app.services.model_viewing import ModelViewing
from app.services.models import Models
from app.services.page_header import PageHeader
from app.services.plan_command import PlanCommand, PlanSources
from app.services.plan_comparison import PlanComparison
from app.services.planning import Planning
from app.services.planning_devices import PlanningDevices
from app.services.planning_models import PlanningModels
from app.services.recommending import Recommending
from app.system.jobs import Jobs
from app.system.memory import main_memory
from app.system.offline_switch import OfflineSwitch
from app.system.resources import Resources
from app.system.settings_file import SettingsFile


class PlanPorts(NamedTuple):
    """What plans are asked of."""

    engine: EnginePort
    dry_run: DryRunPort
    hub: HubPort
    store: StorePort
    hub_jobs: Jobs
    """The threads that wait for the hub."""
    offline: OfflineSwitch


@dataclass(frozen=True)
class PlannerServices:
    """What plans are made of."""

    models: PlanningModels
    devices: PlanningDevices
    planning: Planning
    command: PlanCommand
    comparison: PlanComparison
    """Models beside GPUs."""
    chat_use: ChatUse
    """How long people's chats are."""
    fits: FitBadges
    load_plan: LoadPlan
    recommending: Recommending
    """What to get for this machine."""
    viewing: ModelViewing
    """What a model file holds."""

    def take(self, event: LanesAnalysed) -> None:
        """Hand on what a job has worked out."""
        self.models.hub.take(event)
        self.models.take(event)
        self.devices.take(event)
        self.planning.take(event)
        self.comparison.take(event)
        self.fits.take(event)
        self.load_plan.take(event)
        self.recommending.take(event)
        self.viewing.take(event)

    def take_measured(self, event: MemoryMeasured | Failed) -> None:
        """Hand on what a dry run said."""
        self.planning.take_measured(event)
        self.comparison.take_measured(event)
        self.fits.take_measured(event)
        self.take_listed(event)

    def take_listed(self, event: DevicesListed | MemoryMeasured | Failed | EngineGone) -> None:
        """Hand on which devices there are, or why that was not told."""
        self.recommending.take_listed(event)

    def stop(self) -> None:
        """Read nothing more from a hub."""
        self.models.hub.stop()
        self.recommending.rest_files()


def planner_services(
    models: Models,
    session: EngineSession,
    measured: Measuring,
    settings: SettingsFile,
    jobs: Jobs,
    resources: Resources,
    ports: PlanPorts,
) -> PlannerServices:
    """Make them; nothing is read before somebody asks."""
    devices = PlanningDevices(session, measured, settings, jobs, resources.gpu_table, main_memory)
    planned = PlanningModels(models, HubModels(ports.hub, ports.hub_jobs, jobs), jobs)
    planning = Planning(session, planned, devices, settings, ports.dry_run, jobs)
    sources = PlanSources(ports.engine, ports.dry_run, ports.hub, resources.gpu_table, main_memory)
    comparison = PlanComparison(planned, devices, session, settings, ports.dry_run, jobs)
    planning.use.join(comparison.use)
    fits = FitBadges(session, models, settings, measured.memory, ports.dry_run, planning, jobs)
    header = PageHeader(ports.hub, ports.hub_jobs)
    recommending = Recommending(resources, fits, devices, ports.engine, jobs, header)
    ports.offline.changed.connect(recommending.look_again)
    return PlannerServices(
        planned,
        devices,
        planning,
        PlanCommand(sources, models, settings),
        comparison,
        ChatUse(ports.store, ports.engine),
        fits,
        LoadPlan(fits, planned, jobs),
        recommending,
        ModelViewing(jobs),
    )
