"""The program as the window and the command line get it: its services, its events, its start and its end."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import assert_never

from app.core.attention import AttentionProgress, AttentionRead
from app.core.download import DownloadChanged, DownloadGone
from app.core.events import (
    Compared,
    DevicesListed,
    EngineEvent,
    EngineGone,
    Event,
    Failed,
    Finished,
    Held,
    Hello,
    LaneFinished,
    LanesPlanned,
    LaneTokens,
    Loaded,
    LoadProgress,
    MemoryMeasured,
    PiecesListed,
    PrefillProgress,
    PromptReady,
    Rendered,
    Step,
    Tokenized,
    Tokens,
    Unloaded,
)
from app.core.job_events import (
    ConversationMade,
    DocumentRead,
    FileSaved,
    FoldersLooked,
    HardwareSampled,
    JobEvent,
    JobFailed,
    LanesAnalysed,
    LastModelFound,
    ModelChecked,
    ModelsListed,
    PresetModelFound,
    Summoned,
)
from app.core.kept_state import StateKept
from app.core.operations import BandwidthMeasured, OperationsProgress, OperationsTimed
from app.core.ports import DryRunPort, EnginePort, StorePort
from app.core.prompt_scores import PromptScored, ScoreProgress
from app.core.replay_events import Reproduced
from app.core.signal import Signal
from app.core.store_events import StoreEvent
from app.services.answer_what_if import AnswerWhatIf
from app.services.answers import Answers
from app.services.ask import Ask
from app.services.attaching import Attaching
from app.services.branches import Branches
from app.services.chat import Chat
from app.services.chat_folders import ChatFolders
from app.services.chat_presets import ChatPresets
from app.services.comparing import Comparing
from app.services.comparison_analysis import ComparisonAnalysis
from app.services.conversations import Conversations
from app.services.discovering import Discovering
from app.services.disk_use import DiskUse
from app.services.doctor import Doctor
from app.services.download_ends import watch_ends
from app.services.downloads import Downloads
from app.services.edited_count import EditedCount
from app.services.engine_session import EngineSession
from app.services.exporting import ChatExport
from app.services.file_export import FileExport
from app.services.first_model import begin_with
from app.services.grammar_editing import GrammarEditing
from app.services.hub_services import HubJobs
from app.services.hub_token import HubTokenKeeping
from app.services.importing import ChatImport
from app.services.inspecting import Inspecting
from app.services.kept_states import KeptStates
from app.services.laboratory import Laboratory
from app.services.lane_outlook import LaneOutlook
from app.services.last_words import take_last_words
from app.services.library_files import LibraryFiles
from app.services.live import Live
from app.services.load_options import LoadOptionsDraft
from app.services.machine import Machine
from app.services.memory import Memory
from app.services.message_search import MessageSearch
from app.services.model_notes import ModelNotes
from app.services.model_sampling import ModelSampling
from app.services.models import Models
from app.services.next_token import NextToken
from app.services.notices import Notice, Notices
from app.services.other_token import OtherToken
from app.services.planner_services import PlannerServices
from app.services.preset_model import PresetModels
from app.services.preset_use import PresetUse
from app.services.process_views import ProcessViews
from app.services.prompt_cost import PromptCosts
from app.services.prompt_count import PromptCount
from app.services.prompt_scores import PromptScores
from app.services.queue import Queue
from app.services.reproducing import Reproducing
from app.services.sampling import Sampling
from app.services.sent_files import SentFiles
from app.services.step_mode import StepMode
from app.services.store_dispatch import hand_on_from_store
from app.services.system_prompt import SystemPrompt
from app.services.templates import Templates
from app.services.trash import Trash
from app.services.unsaved_settings import UnsavedSettings
from app.services.vocabulary import Vocabulary
from app.services.wishes import Wish
from app.system.inbox import Inbox
from app.system.jobs import Jobs
from app.system.logs import Logs
from app.system.offline_switch import OfflineSwitch
from app.system.paths import Paths
from app.system.resources import Resources
from app.system.settings_file import SettingsFile


@dataclass(frozen=True)
class Program:
    """All services, made and joined by `bootstrap`."""

    paths: Paths
    resources: Resources
    logs: Logs
    inbox: Inbox
    jobs: Jobs
    engine: EnginePort
    dry_run: DryRunPort
    store: StorePort
    settings: SettingsFile
    notices: Notices
    models: Models
    templates: Templates
    session: EngineSession
    sampling: Sampling
    grammar_editing: GrammarEditing
    model_notes: ModelNotes
    model_sampling: ModelSampling
    message_search: MessageSearch
    answers: Answers
    chat: Chat
    queue: Queue
    attaching: Attaching
    branches: Branches
    conversations: Conversations
    chat_folders: ChatFolders
    chat_export: ChatExport
    chat_import: ChatImport
    comparing: Comparing
    trash: Trash
    disk_use: DiskUse
    prompt_count: PromptCount
    system_prompt: SystemPrompt
    prompt_costs: PromptCosts
    edited_count: EditedCount
    sent_files: SentFiles
    lane_outlook: LaneOutlook
    chat_presets: ChatPresets
    preset_models: PresetModels
    preset_use: PresetUse
    load_options: LoadOptionsDraft
    vocabulary: Vocabulary
    reproducing: Reproducing
    comparison_analysis: ComparisonAnalysis
    answer_what_if: AnswerWhatIf
    inspecting: Inspecting
    prompt_scores: PromptScores
    other_token: OtherToken
    laboratory: Laboratory
    views: ProcessViews
    planner: PlannerServices
    file_export: FileExport
    next_token: NextToken
    live: Live
    step_mode: StepMode
    memory: Memory
    ask: Ask
    machine: Machine
    doctor: Doctor
    downloads: Downloads
    discovering: Discovering
    hub_token: HubTokenKeeping
    hub_jobs: HubJobs
    offline: OfflineSwitch
    library_files: LibraryFiles
    kept_states: KeptStates
    summoned: Signal[str] = field(default_factory=Signal)
    """The program was started once more: the window comes to the front, with the model of this path if there is one."""

    def start(self, model: Path | None) -> None:
        """Begin as a window does: load the model that was named, or used last, or is the first usable one.

        What another start asked for meanwhile is newer, and stays.
        """
        self.conversations.start()
        self.kept_states.start(self.chat.deleted)
        watch_ends(self.downloads, self.models, self.notices, self.session)
        self.downloads.start()
        if self.settings.problems:
            first, *more = self.settings.problems
            self.notices.post(Notice(first, level="hint", more=tuple(more), lasts=True))
        if model is None:
            self.models.look_for_last()
            return
        if self.session.phase == "no_model":
            self.session.use(Wish(model))
        self.models.refresh()

    def dispatch(self, event: Event) -> None:
        """Hand an event to the service that it is for."""
        if isinstance(event, StoreEvent):
            hand_on_from_store(self, event)
        elif isinstance(event, JobEvent):
            self._hand_on_from_job(event)
        else:
            self._hand_on_from_engine(event)
        self._unsaved_settings.look()

    @cached_property
    def _unsaved_settings(self) -> UnsavedSettings:
        return UnsavedSettings(self.settings, self.notices)

    def _hand_on_from_job(self, event: JobEvent) -> None:
        match event:
            case ModelsListed() | FoldersLooked():
                self.models.take(event)
            case LastModelFound():
                begin_with(event, self.session, self.models, self.notices)
            case PresetModelFound():
                self.preset_models.take(event)
            case ModelChecked():
                self.session.take(event)
                self.load_options.take(event)
            case HardwareSampled():
                self.machine.take(event)
            case Summoned():
                self.summoned.emit(event.model)
            case ConversationMade():
                self.conversations.take(event)
            case LanesAnalysed():
                self._take_analysed(event)
            case DocumentRead():
                self.attaching.take(event)
            case FileSaved():
                self.file_export.take(event)
            case DownloadChanged() | DownloadGone():
                self.downloads.take(event)
            case JobFailed(job="settings"):
                self._unsaved_settings.take(event)
            case JobFailed():
                self.notices.post(Notice(event.sentence))
            case _:
                assert_never(event)

    def _hand_on_from_engine(self, event: EngineEvent) -> None:
        match event:
            case Tokenized() | Rendered():
                self._take_count(event)
            case PiecesListed():
                self.vocabulary.take(event)
            case Hello() | Unloaded():
                for told in (self.machine, self.doctor, self.library_files):
                    told.take(event)
            case MemoryMeasured():
                for each in (self.session, self.load_options, self.memory):
                    each.take(event)
                self.planner.take_measured(event)
            case LoadProgress() | Loaded() | PromptReady() | PrefillProgress() | Tokens() | Step() | Held():
                self.session.take(event)
            case Finished() | Reproduced() | LanesPlanned() | LaneTokens() | LaneFinished() | Compared():
                self.session.take(event)
            case ScoreProgress() | PromptScored() | AttentionProgress() | AttentionRead():
                self.session.take(event)
            case OperationsProgress() | OperationsTimed() | BandwidthMeasured():
                self.session.take(event)
            case StateKept():
                self.kept_states.take(event)
            case DevicesListed():
                self.memory.take(event)
                self.doctor.take(event)
                self.planner.take_listed(event)
            case EngineGone():
                for gone in (self.session, self.machine, self.doctor, self.library_files):
                    gone.take(event)
                self.planner.take_listed(event)
            case Failed():
                for service in (self.session, self.memory, self.doctor, self.load_options, self.vocabulary):
                    service.take(event)
                self.planner.take_measured(event)
                self._take_count(event)
            case _:
                assert_never(event)

    def _take_analysed(self, event: LanesAnalysed) -> None:
        jobs = (self.comparison_analysis, self.answer_what_if, self.inspecting, self.laboratory, self.grammar_editing)
        of_models = (self.discovering, self.hub_token, self.library_files, self.kept_states)
        of_chats = (self.chat_export, self.chat_import)
        for each in (*of_chats, *jobs, *of_models, self.views.calibrating, self.planner):
            each.take(event)

    def _take_count(self, event: Tokenized | Rendered | Failed) -> None:
        for counting in (self.prompt_count, self.prompt_costs, self.edited_count, self.sent_files, self.lane_outlook):
            counting.take(event)
        if not isinstance(event, Rendered):
            self.views.attention.take(event)

    def stop(self) -> None:
        """End everything in order: the samples, the answers, the engine, the chats, the jobs, the settings, the logs."""
        self.machine.stop()
        self.downloads.stop()
        self.planner.stop()
        self.discovering.stop()
        self.answers.shown = None  # nobody reads a draft any more: what comes to nothing stays with its question
        self.answers.stop_all()
        self.comparing.stop()
        self.ask.cancel()
        self.engine.close()
        take_last_words(self.inbox, self.session)
        self.dry_run.close()
        self.store.close()
        self.hub_jobs.stop()
        self.jobs.stop()
        self.chat_export.stop()
        if (failed := self.settings.write()) is not None:
            self.inbox.put(failed)
        self.logs.close()
