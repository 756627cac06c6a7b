"""What the parent process finds out by itself, as values of the one event union."""

from __future__ import annotations

import msgspec

from app.core.devices import GpuReport, MainMemory
from app.core.download import DownloadChanged, DownloadGone
from app.core.found_file import FolderState
from app.core.model import FoundModel, ModelRef
from app.core.words import Sentence


class ModelsListed(msgspec.Struct, frozen=True, tag="models_listed"):
    """The model files on this machine, from a job of the parent process."""

    models: tuple[FoundModel, ...]
    unread: int = 0
    """Of so many nothing but name and size is known; they are read next."""
    request: int = 0
    """Which of all searches found them."""
    folders: dict[str, FolderState] = {}
    """How it stands with those that people added."""


class FoldersLooked(msgspec.Struct, frozen=True, tag="folders_looked"):
    """Whether the folders of models hold other files than were listed, from a job of the parent process."""

    has_changed: bool
    took_s: float = 0.0


class LastModelFound(msgspec.Struct, frozen=True, tag="last_model_found"):
    """Whether the model that was used last still has its file, from a job of the parent process."""

    path: str
    """Empty when no model was used yet."""
    is_there: bool


class PresetModelFound(msgspec.Struct, frozen=True, tag="preset_model_found"):
    """Whether the model of a preset has its file, from a job of the parent process."""

    number: int
    """Which of all wishes for such a model it is."""
    path: str
    is_there: bool


class ModelChecked(msgspec.Struct, frozen=True, tag="model_checked"):
    """What a model file says of itself before it is loaded, from a job of the parent process."""

    request: int
    file: FoundModel
    ref: ModelRef | None
    """None when the file has a problem."""


class HardwareSampled(msgspec.Struct, frozen=True, tag="hardware_sampled"):
    """Main memory and GPUs as they are now; posted while somebody looks and something has changed."""

    memory: MainMemory
    gpus: GpuReport


class Summoned(msgspec.Struct, frozen=True, tag="summoned"):
    """Somebody started the program once more: its window comes to the front, with the model that was named."""

    model: str = ""


class ConversationMade(msgspec.Struct, frozen=True, tag="conversation_made"):
    """A job has made what is shown of a long conversation that was read; it is where the job was told to put it."""

    request: int
    conversation: int


class LanesAnalysed(msgspec.Struct, frozen=True, tag="lanes_analysed"):
    """A job has worked out something about lanes; it is where the job was told to put it."""

    request: int
    job: str


class FileSaved(msgspec.Struct, frozen=True, tag="file_saved"):
    """A job has made a file that somebody wanted, and has written it unless there was a problem."""

    request: int
    problem: Sentence | None = None


class DocumentRead(msgspec.Struct, frozen=True, tag="document_read"):
    """A job has read a file that somebody attaches to a message, unless there was a problem."""

    request: int
    framed: str = ""
    """The file as it stands in a message."""
    problem: Sentence | None = None


class JobFailed(msgspec.Struct, frozen=True, tag="job_failed"):
    """A job of the parent process ended with an error that nobody expected; its traceback is in the log."""

    job: str
    sentence: Sentence


JobEvent = (
    ModelsListed
    | FoldersLooked
    | LastModelFound
    | PresetModelFound
    | ModelChecked
    | HardwareSampled
    | Summoned
    | ConversationMade
    | LanesAnalysed
    | FileSaved
    | DocumentRead
    | DownloadChanged
    | DownloadGone
    | JobFailed
)
"""What the parent process finds out by itself."""
