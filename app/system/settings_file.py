"""The settings file: one value with everything people chose, of which only the differences are written.

A value that cannot be read costs that value and never the start; the file is replaced whole or not at all.
"""

from __future__ import annotations

import errno
import shutil
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from app.core.chat_preset import ChatSettings
from app.core.commands import RecordKind, WhenFull
from app.core.events import Event
from app.core.job_events import JobFailed
from app.core.kept_comparison import KeptComparison
from app.core.load_estimate import LoadEstimate
from app.core.machine_speed import KeptAnswers, KnownMemory
from app.core.model import LoadOptions
from app.core.own_gpu import OwnGpu
from app.core.preset_names import distinct
from app.core.sampling import PRESETS, SamplingSettings
from app.core.words import Sentence, translate
from app.system import lenient_json
from app.system.settings_words import listed, unread_sentence
from app.system.struct_fields import differences, read_struct
from app.system.whole_file import replace_whole

Theme = Literal["system", "light", "dark", "contrast"]
Submit = Callable[[str, Callable[[], Event | None]], None]
"""How the writing is handed to a background thread."""
Later = Callable[[float, Callable[[], None]], None]
"""Calls something after so many seconds, on a thread of its own."""
RETRY_SECONDS = 5.0
"""After so long a writing that failed is tried again, though nothing changed."""
LEAST_AT_ONCE, MOST_AT_ONCE = 1, 8
MOST_STATES_GB = 1000
"""Downloads."""
LEAST_TEXT_SIZE, MOST_TEXT_SIZE = 70, 200
"""In percent."""

MAX_BYTES = 16 << 20
"""A larger file is not this program's."""


class ModelSettings(msgspec.Struct, frozen=True):
    """What is remembered of one model: how it last loaded well, and what people chose for it."""

    name: str = ""
    options: LoadOptions | None = None
    template: str | None = None
    """Name of a shipped template; one that no longer ships leaves the model its own."""
    estimates: tuple[LoadEstimate, ...] = ()
    """What the last loads took beside what was estimated, the newest last."""
    sampling: SamplingSettings | None = None
    """What a new chat with it begins with, where people set that for this model alone."""


class Settings(msgspec.Struct, frozen=True):
    """Everything people can set, with the defaults of a fresh installation."""

    theme: Theme = "system"
    text_size: Annotated[int, msgspec.Meta(ge=LEAST_TEXT_SIZE, le=MOST_TEXT_SIZE)] = 100
    """Of what people read and write, in percent of its usual size."""
    last_model: str | None = None
    """Path of the model that was loaded last."""
    model_folders: tuple[str, ...] = ()
    """Folders that are searched for models beside the program's own."""
    downloads_at_once: Annotated[int, msgspec.Meta(ge=LEAST_AT_ONCE, le=MOST_AT_ONCE)] = 2
    """How many models may be downloaded at the same time."""
    offline: bool = False
    """Whether no connection to the internet is opened."""
    system_prompt: str = ""
    thinking_tags: tuple[str, ...] = ()
    """Tags around thinking that people name beside those of the models' templates."""
    unfold_thinking: bool = False
    """Whether thinking is unfolded while it is written."""
    chats: ChatSettings = ChatSettings()
    """Presets of whole chats, and system prompts that are not in force yet."""
    sampling: SamplingSettings = SamplingSettings()
    """What a new chat starts with."""
    when_full: WhenFull = "stop"
    """What becomes of a prompt that the context cannot hold."""
    kept_states_gb: Annotated[int, msgspec.Meta(ge=0, le=MOST_STATES_GB)] = 0
    """How much of what models have read of chats may be kept on disk, in GB; 0 keeps nothing."""
    keep_record: RecordKind = "all"
    """What is kept of every token of an answer."""
    presets: dict[str, SamplingSettings] = {}
    """People's own presets by name."""
    last_preset: str = ""
    """The preset that was chosen last."""
    last_conversation: str = ""
    """Id of the conversation that was open last; no number, because those end at 32 bits here."""
    chat_folders: tuple[str, ...] = ()
    """Folders of chats that people made, empty ones too."""
    folded_folders: tuple[str, ...] = ()
    """Those whose chats are not shown."""
    shortcuts: dict[str, tuple[str, ...]] = {}
    """Keys that people chose, by the action: those not named have their usual ones."""
    palette_recent: tuple[str, ...] = ()
    """What was chosen in the command palette last, the latest first."""
    history_shown: bool = True
    panel_shown: bool = True
    panel_pinned: bool = False
    """Whether the side panel stands beside the chat in a narrow window, too."""
    sections: tuple[str, ...] = ()
    """The sections of the side panel from top to bottom; those not named come after them."""
    folded: tuple[str, ...] = ("sampling_more",)
    """The sections, and the parts of them, that are folded."""
    reduce_motion: bool = False
    loop_tour_seen: bool = False
    window: str = ""
    """Size and place of the window, in Qt's own form, base64."""
    models: dict[str, ModelSettings] = {}
    """By `ModelRef.identity`."""
    memory_speeds: dict[str, KnownMemory] = {}
    """How fast the memory of each device was when it was measured, by ggml's name of it."""
    answers_here: dict[str, KeptAnswers] = {}
    """What answers showed of this machine's speed, by device and, of the processor, threads."""
    gpus: dict[str, OwnGpu] = {}
    """GPUs that people added to the planner's table, by name."""
    comparison: KeptComparison | None = None
    """What was compared last in the planner; None before anybody chose."""


def after(seconds: float, call: Callable[[], None]) -> None:
    """Call something later, unless the program ends before."""
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()


class SettingsFile:
    """Keeps the settings in memory and writes every change soon, on a thread that it is handed."""

    def __init__(self, path: Path, submit: Submit, later: Later = after) -> None:
        self._path = path
        self._submit = submit
        self._later = later
        self._lock = threading.Lock()
        self._write_lock = threading.Lock()
        self._submitted = False
        """Whether a writing is on its way that will find the latest values."""
        self._waits = False
        """Whether another try comes after a while."""
        self._failure: Sentence | None = None
        self._problems: list[Sentence] = []
        self._values = self._written = self._read()

    @property
    def values(self) -> Settings:
        """The settings as they are now."""
        return self._values

    @property
    def problems(self) -> tuple[Sentence, ...]:
        """What could not be read when the file was opened."""
        return tuple(self._problems)

    @property
    def is_saved(self) -> bool:
        """Whether everything is in the file."""
        return self._values is self._written

    @property
    def unsaved(self) -> frozenset[str]:
        """The names of the settings of which the file does not have the present value."""
        values, written = self._values, self._written
        return frozenset(name for name in values.__struct_fields__ if getattr(values, name) != getattr(written, name))

    def change(self, **changes: object) -> None:
        """Use other values for some settings from now on, and write them soon."""
        with self._lock:
            values = msgspec.structs.replace(self._values, **changes)
            if values == self._values:
                return
            self._values = values
            submitted, self._submitted = self._submitted, True
        if not submitted:
            self._submit("settings", self.write)

    def model(self, identity: str) -> ModelSettings:
        """Return what is remembered of a model."""
        return self._values.models.get(identity, ModelSettings())

    def remember_model(self, identity: str, remembered: ModelSettings) -> None:
        """Remember something of a model."""
        self.change(models={**self._values.models, identity: remembered})

    def write(self) -> Event | None:
        """Write the differences if there are unwritten ones; the event says that it failed, and it is tried again."""
        with self._write_lock:
            with self._lock:
                self._submitted, values = False, self._values
            if values is self._written:
                return None
            try:
                self._replace(msgspec.json.format(msgspec.json.encode(differences(values)), indent=2))
            except OSError as error:
                self._failure = translate(
                    "Settings",
                    "The settings could not be saved in {path} ({reason}): free some space or check the folder.",
                    path=str(self._path.parent),
                    reason=error.strerror or type(error).__name__,
                )
                self._write_later()
                return JobFailed("settings", self._failure)
            self._written, self._failure = values, None
            return None

    def _write_later(self) -> None:
        with self._lock:
            waits, self._waits = self._waits, True
        if not waits:
            self._later(RETRY_SECONDS, self._try_again)

    def _try_again(self) -> None:
        self._waits = False
        self._submit("settings", self._write_again)

    def _write_again(self) -> Event | None:
        """Write as before; the same failure is not told again and again to people who know of it."""
        known = self._failure
        event = self.write()
        return event if self._failure != known else None

    def _replace(self, content: bytes) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        replace_whole(self._path, content)

    def _read(self) -> Settings:
        try:
            raw, mended = lenient_json.read(_content(self._path))
        except FileNotFoundError:
            return Settings()
        except OSError as error:
            self._problems.append(
                translate(
                    "Settings",
                    "The settings in {path} cannot be read ({reason}), so the defaults are in force.",
                    path=str(self._path),
                    reason=error.strerror or type(error).__name__,
                )
            )
            return Settings()
        except ValueError:
            return self._put_aside()
        if not isinstance(raw, dict):
            return self._put_aside()
        unread: list[str] = []
        settings = read_struct(Settings, raw, "", unread)
        folders = tuple(folder for folder in settings.model_folders if "\0" not in folder)
        if folders != settings.model_folders:
            unread.append("model_folders")
        settings = msgspec.structs.replace(settings, sampling=settings.sampling.validated(), model_folders=folders)
        named = with_names_that_fit(settings)
        if unread:
            self._problems.append(unread_sentence(unread))
        if mended:
            self._problems.append(
                translate(
                    "Settings",
                    "Damaged or twice in the settings file, and taken over as far as that could be read: {names}.",
                    names=listed(mended),
                )
            )
        if named != settings:
            self._problems.append(_renamed(settings, named))
        if self._problems:
            self._keep_copy()
        return named

    def _put_aside(self) -> Settings:
        aside = self._path.with_name(f"{self._path.name}.unreadable")
        try:
            self._path.replace(aside)
        except OSError:
            aside = self._path
        self._problems.append(
            translate(
                "Settings",
                "The settings file was damaged, so the defaults are in force; the old file is kept as {path}.",
                path=str(aside),
            )
        )
        return Settings()

    def _keep_copy(self) -> None:
        """Keep the file as it was, because the next change writes what could not be read as its default."""
        aside = self._path.with_name(f"{self._path.name}.unreadable")
        try:
            shutil.copyfile(self._path, aside)
        except OSError as error:
            told = translate(
                "Settings",
                "The old file could not be kept beside it ({reason}): copy {path} before you change a setting.",
                path=str(self._path),
                reason=error.strerror or type(error).__name__,
            )
        else:
            told = translate("Settings", "The file as it was is kept as {path}.", path=str(aside))
        self._problems.append(told)


def _content(path: Path) -> bytes:
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "it is no ordinary file")
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise OSError(errno.EFBIG, "it is larger than 16 MiB")
    return content


def with_names_that_fit(settings: Settings) -> Settings:
    """Return the settings with presets whose names could have been typed, and which all differ to people."""
    own, chats = distinct(settings.presets, PRESETS), distinct(settings.chats.presets)
    if all(name == new for names in (own, chats) for name, new in names.items()):
        return settings
    last, start = settings.last_preset, settings.chats.start_with
    return msgspec.structs.replace(
        settings,
        presets={own[name]: values for name, values in settings.presets.items()},
        last_preset=last if last in PRESETS else own.get(last, last),
        chats=msgspec.structs.replace(
            settings.chats,
            presets={chats[name]: preset for name, preset in settings.chats.presets.items()},
            start_with=chats.get(start, start) if start else "",
        ),
    )


def _renamed(before: Settings, now: Settings) -> Sentence:
    new = [*(now.presets.keys() - before.presets.keys()), *(now.chats.presets.keys() - before.chats.presets.keys())]
    return translate(
        "Settings",
        "Presets whose names were empty, taken or not to be shown have other names now: {names}.",
        names=listed(sorted(new)),
    )
