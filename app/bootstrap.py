"""The composition root: the one place that knows every implementation. No Qt."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from app.core.ports import DryRunPort, EnginePort, EventSink, StorePort
from app.engine.client import EngineClient
from app.engine.dry_run_client import DryRunClient
from app.engine.incarnation import BackendKind
from app.hub.download_queue import DownloadQueue
from app.hub.hub import Hub
from app.hub.library import OtherModels
from app.services.answer_what_if import AnswerWhatIf
from app.services.answers import Answers
from app.services.ask import Ask
from app.services.attention import Attention
from app.services.comparison_analysis import ComparisonAnalysis
from app.services.disk_use import DiskUse
from app.services.doctor import Doctor
from app.services.edited_count import EditedCount
from app.services.embedding_row import EmbeddingRow
from app.services.engine_session import EngineSession
from app.services.file_export import FileExport
from app.services.hub_services import HubJobs, HubServices, hub_services
from app.services.inspecting import Inspecting
from app.services.kept_states import KeptStates
from app.services.kv_map import KVMap
from app.services.laboratory import Laboratory
from app.services.lane_outlook import LaneOutlook
from app.services.library_files import FileKeepers, FileTools, LibraryFiles
from app.services.live import Live
from app.services.load_check import CheckModel, LoadCheck
from app.services.load_options import LoadOptionsDraft
from app.services.loop_picture import LoopPicture
from app.services.machine import Machine
from app.services.measuring import Measuring, measuring
from app.services.memory import Memory
from app.services.model_check import check_model, check_script
from app.services.models import Models
from app.services.next_token import NextToken
from app.services.notices import Notices
from app.services.operations import Operations
from app.services.other_token import OtherToken
from app.services.planner_services import PlanPorts, planner_services
from app.services.preset_services import preset_services
from app.services.process_views import ProcessViews
from app.services.program import Program
from app.services.prompt_cost import PromptCosts
from app.services.prompt_count import PromptCount
from app.services.prompt_scores import PromptScores
from app.services.reproducing import Reproducing
from app.services.sampling import Sampling
from app.services.sent_files import SentFiles
from app.services.talk import Talk, talk_services
from app.services.templates import Templates
from app.services.timeline import Timeline
from app.services.vocabulary import Vocabulary
from app.store.store import Store
from app.system.hardware_sampler import HardwareSampler
from app.system.inbox import Inbox
from app.system.jobs import Jobs
from app.system.logs import Logs
from app.system.memory import main_memory
from app.system.model_moves import trash_of_module
from app.system.model_sources import ModelSources
from app.system.offline_switch import OfflineSwitch
from app.system.paths import Paths, find_paths
from app.system.resources import Resources, checkout_models, find_plain_library, find_resources
from app.system.settings_file import SettingsFile
from app.system.state_folder import StateFolder


@dataclass(frozen=True)
class Options:
    """What changes how the program is put together."""

    fake_engine: bool = False
    """Run the scripted backend in the engine process instead of llama.cpp."""
    window: bool = False
    """The program gets a window; otherwise it is a command."""


MakeEngine = Callable[[EventSink, str], EnginePort]
"""Makes the engine from where events go and the path of its log."""
MakeDryRun = Callable[[EventSink], DryRunPort]
"""Makes what works out memory, from where events go."""
MakeStore = Callable[[Path, EventSink], StorePort]
"""Makes the store from its folder and where events go."""
WINDOW_CHECK = "app.gui.platform_check"
"""Tries Qt in a process of its own; named here, and loaded in that process alone."""
TRASH = "app.gui.qt_trash"
"""Moves files to the system's trash; loaded when somebody does that."""


def build(options: Options) -> Program:
    """Make the program with an engine process; starts no process and no thread."""

    backend: BackendKind = "scripted" if options.fake_engine else "llama"
    plain_folder = str(find_plain_library() or "")

    def make_engine(sink: EventSink, log: str) -> EnginePort:
        return EngineClient(sink, log_path=log, backend=backend, plain_folder=plain_folder)

    def make_dry_run(sink: EventSink) -> DryRunPort:
        return DryRunClient(sink, backend=backend, plain_folder=plain_folder)

    return assemble(options, make_engine, make_dry_run, check_script if options.fake_engine else check_model)


def assemble(
    options: Options,
    make_engine: MakeEngine,
    make_dry_run: MakeDryRun,
    check: CheckModel = check_model,
    make_store: MakeStore = Store,
) -> Program:
    """Make all services around an engine and join them."""
    ground = _ground(options, make_engine, make_dry_run, make_store)
    paths, resources, _, inbox, jobs, settings, engine, dry_run, store = ground
    machine = Machine(HardwareSampler(inbox.put))
    sources = ModelSources(paths.data / "model_sources.json")
    models = Models([paths.models, *checkout_models()], settings, jobs, others := OtherModels(os.environ))
    templates, sampling, notices = Templates(resources, settings), Sampling(settings), Notices()
    models.source_of = sources.of
    looks = LoadCheck(jobs, settings, dry_run, sources.checked(check), main_memory)
    states = KeptStates(StateFolder(paths.cache / "states"), engine, settings, jobs, notices, main_memory)
    session = EngineSession(engine, settings, templates, notices, looks, states.place)
    talk = talk_services(store, session, sampling, settings, notices, jobs, models)
    vocabulary = Vocabulary(session, engine, store, asks=options.window)
    memory = Memory(session, dry_run, engine, settings, asks=options.window)
    records = _records(talk, session, engine, store, sampling, vocabulary, jobs)
    counts = _counts(session, engine, talk, templates, settings, sampling, machine)
    live = Live(session, lambda: memory.gpu_is_there, talk.chat, talk.answers, lambda: talk.conversations.heads)
    measured = measuring(live, session, settings, jobs, resources, memory, machine)
    hub, of_hub = _of_hub(options, paths, inbox, settings, sources)
    ports = PlanPorts(engine, dry_run, hub, store, of_hub.hub_jobs.questions, of_hub.offline)
    planner = planner_services(models, session, measured, settings, jobs, resources, ports)
    keepers = FileKeepers(models, session, settings, talk.chat_presets, of_hub.downloads, planner, notices)
    return Program(
        **ground._asdict(),
        notices=notices,
        models=models,
        templates=templates,
        session=session,
        sampling=sampling,
        kept_states=states,
        **talk._asdict(),
        **of_hub._asdict(),
        **_files(
            FileTools(paths.models, others, trash_of_module(TRASH), jobs, sources), keepers, ports, notices
        )._asdict(),
        **counts._asdict(),
        **preset_services(talk, sampling, session, models, jobs, notices)._asdict(),
        load_options=LoadOptionsDraft(session, dry_run, settings, jobs, check, main_memory, planner.load_plan),
        vocabulary=vocabulary,
        reproducing=Reproducing(session, store, vocabulary, talk.chat, talk.conversations, models),
        **records._asdict(),
        views=_views(session, engine, talk.answers, records, counts, measured, vocabulary),
        planner=planner,
        live=live,
        memory=memory,
        machine=machine,
        **_commands(engine, session, models, templates, settings, paths, check)._asdict(),
    )


class _Ground(NamedTuple):
    """What services stand on."""

    paths: Paths
    resources: Resources
    logs: Logs
    inbox: Inbox
    jobs: Jobs
    settings: SettingsFile
    engine: EnginePort
    dry_run: DryRunPort
    store: StorePort


def _ground(options: Options, make_engine: MakeEngine, make_dry_run: MakeDryRun, make_store: MakeStore) -> _Ground:
    """Make what has no use for any service."""
    paths, logs, inbox = find_paths(os.environ), Logs(), Inbox()
    logs.open(paths.window_log if options.window else paths.command_log, paths.crash_log)
    jobs = Jobs(inbox.put)
    settings = SettingsFile(paths.settings_file, jobs.submit)
    engine = make_engine(inbox.put, str(paths.engine_log) if logs.writes_files else "")
    dry_run, store = make_dry_run(inbox.put), make_store(paths.data, inbox.put)
    return _Ground(paths, find_resources(), logs, inbox, jobs, settings, engine, dry_run, store)


def _views(
    session: EngineSession,
    engine: EnginePort,
    answers: Answers,
    records: _Records,
    counts: _Counts,
    measured: Measuring,
    vocabulary: Vocabulary,
) -> ProcessViews:
    """Make what the parts of the page Inside look at."""
    inspecting = records.inspecting
    attention = Attention(session, engine, inspecting, vocabulary)
    embedding = EmbeddingRow(session, inspecting, attention)
    operations = Operations(session, inspecting)
    operations.gpu_names = lambda: measured.memory.gpu_names
    for each in (attention, operations):
        each.reading.expected = measured.calibrating.reading_speed
        measured.calibrating.changed.connect(each.changed.emit)
    return ProcessViews(
        attention=attention,
        kv_map=KVMap(session, answers, measured.live, counts.prompt_count, vocabulary),
        operations=operations,
        timeline=Timeline(session, answers, records.inspecting, measured.live),
        bandwidth=measured.bandwidth,
        calibrating=measured.calibrating,
        loop=LoopPicture(session, answers, inspecting, records.next_token, vocabulary, embedding),
    )


class _Files(NamedTuple):
    """What writes files for people, and what lies on the disk."""

    file_export: FileExport
    disk_use: DiskUse
    library_files: LibraryFiles


def _files(tools: FileTools, keepers: FileKeepers, ports: PlanPorts, notices: Notices) -> _Files:
    library = LibraryFiles(tools, keepers, ports.store, ports.engine)
    return _Files(FileExport(tools.jobs, notices), DiskUse(ports.store, ports.engine), library)


def _of_hub(
    options: Options, paths: Paths, inbox: Inbox, settings: SettingsFile, sources: ModelSources
) -> tuple[Hub, HubServices]:
    offline = OfflineSwitch(os.environ, settings, in_window=options.window)
    hub = Hub(os.environ, paths.cache / "hub", paths.data, offline, in_window=options.window)
    # commands keep no queue: what they were stopped in goes on with the same command
    kept = paths.data / "downloads.json" if options.window else None
    queue = DownloadQueue(hub.connect, paths.models, kept, inbox.put, offline.reason, sources.note)
    return hub, hub_services(queue, paths.models, hub, settings, HubJobs.of(inbox.put), offline)


class _Commands(NamedTuple):
    """What commands of the terminal do."""

    ask: Ask
    doctor: Doctor


def _commands(
    engine: EnginePort,
    session: EngineSession,
    models: Models,
    templates: Templates,
    settings: SettingsFile,
    paths: Paths,
    check: CheckModel,
) -> _Commands:
    ask = Ask(session, models, templates, settings, check)
    return _Commands(ask, Doctor(engine, paths, settings, models, WINDOW_CHECK))


class _Counts(NamedTuple):
    """What counts prompts before they are sent."""

    prompt_count: PromptCount
    prompt_costs: PromptCosts
    edited_count: EditedCount
    sent_files: SentFiles
    lane_outlook: LaneOutlook


class _Records(NamedTuple):
    """What reads rows and records token by token."""

    comparison_analysis: ComparisonAnalysis
    answer_what_if: AnswerWhatIf
    inspecting: Inspecting
    other_token: OtherToken
    prompt_scores: PromptScores
    next_token: NextToken
    laboratory: Laboratory


def _records(
    talk: Talk,
    session: EngineSession,
    engine: EnginePort,
    store: StorePort,
    sampling: Sampling,
    vocabulary: Vocabulary,
    jobs: Jobs,
) -> _Records:
    chat = talk.chat
    inspecting = Inspecting(chat, session, store, vocabulary, jobs)
    next_token = NextToken(session, engine, sampling, vocabulary, talk.answers, talk.conversations)
    return _Records(
        ComparisonAnalysis(talk.comparing, session, store, vocabulary, jobs),
        AnswerWhatIf(chat, session, store, vocabulary, jobs),
        inspecting,
        OtherToken(session, chat, talk.answers, talk.comparing, inspecting, sampling),
        PromptScores(session, inspecting),
        next_token,
        Laboratory(chat, session, sampling, vocabulary, inspecting, jobs, next_token.watch_whole),
    )


def _counts(
    session: EngineSession,
    engine: EnginePort,
    talk: Talk,
    templates: Templates,
    settings: SettingsFile,
    sampling: Sampling,
    machine: Machine,
) -> _Counts:
    """Make what counts prompts."""
    count = PromptCount(session, engine, talk.chat, templates, settings, sampling)
    costs = PromptCosts(session, engine, talk.chat, templates, talk.system_prompt, count, settings)
    edited = EditedCount(session, engine, talk.chat, templates, settings, count)
    sent = SentFiles(session, engine, talk.chat, talk.answers)
    return _Counts(count, costs, edited, sent, LaneOutlook(session, engine, talk.chat, templates, settings, machine))
