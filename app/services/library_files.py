"""Renames the models in our own folder and moves them to the trash, after it was said what uses them.

Files of other programs, and those in folders that people added, stay as they are. What keeps the path of a model that
has another name follows it; a model is unloaded first, because Windows moves no file that is in use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from app.core.events import EngineGone, Hello, Unloaded
from app.core.job_events import LanesAnalysed
from app.core.model import FoundModel, ModelRef
from app.core.ports import EnginePort, OtherModelsPort, StorePort
from app.core.signal import Signal
from app.core.store_commands import ReadModelUse
from app.core.store_events import ModelUseRead
from app.core.words import Sentence, translate
from app.services import file_uses
from app.services.chat_presets import ChatPresets
from app.services.downloads import Downloads
from app.services.engine_session import EngineSession
from app.services.file_naming import FileNaming
from app.services.file_uses import Deed, Users
from app.services.latest_job import LatestJob
from app.services.models import Models
from app.services.notices import Notice, Notices
from app.services.planner_services import PlannerServices
from app.system.jobs import Jobs
from app.system.model_moves import NotMoved, Trash, rename_together, trash_together
from app.system.model_sources import ModelSources
from app.system.own_models import FileLook, look_around
from app.system.settings_file import SettingsFile

LOOK_JOB, DEED_JOB = "own files", "own files moved"


class FileTools(NamedTuple):
    """What the files are looked at and moved with."""

    own: Path
    """Our own folder."""
    others: OtherModelsPort
    trash: Trash
    jobs: Jobs
    sources: ModelSources


class FileKeepers(NamedTuple):
    """Those who keep the paths of models."""

    models: Models
    session: EngineSession
    settings: SettingsFile
    presets: ChatPresets
    downloads: Downloads
    planner: PlannerServices
    notices: Notices


class _Done(NamedTuple):
    """What became of a deed: the files' new path, empty in the trash, or why there is none."""

    path: str = ""
    problem: Sentence | None = None


class LibraryFiles:
    """One model at a time: it is looked at, then something is done with it or not."""

    def __init__(self, tools: FileTools, keepers: FileKeepers, store: StorePort, engine: EnginePort) -> None:
        self.changed: Signal[()] = Signal()
        """More is known of the model, or something stands against it no longer, or something was done."""
        self.moved: Signal[frozenset[str], str] = Signal()
        """The file with these paths has another one now; empty is the trash."""
        self.problem: Sentence | None = None
        """Why the last deed came to nothing."""
        self.done_path: str | None = None
        """Where the model is after the last deed; empty in the trash, None while nothing was done."""
        self._tools, self._keepers = tools, keepers
        self._store, self._engine = store, engine
        self._model: FoundModel | None = None
        self._known: tuple[str, ...] = ()
        """Paths of which it was looked whether they lead to it."""
        self._is_watched = False
        self._look: FileLook | None = None
        self._request: int | None = None
        self._chats: tuple[str, ...] | None = None
        self._waiting: Callable[[], _Done] | None = None
        """What is done once the engine has let go of the file."""
        self._loads_again = False
        self._looking: LatestJob[FileLook] = LatestJob(tools.jobs, LOOK_JOB, self._take_look)
        self._doing: LatestJob[_Done] = LatestJob(tools.jobs, DEED_JOB, self._take_done)
        keepers.session.changed.connect(self._follow)
        keepers.downloads.changed.connect(self._follow)

    def refusal(self, model: FoundModel) -> Sentence | None:
        """Return why a file is not ours to change, as far as its path alone tells; None where it may be."""
        if model.origin != "own":
            return file_uses.of_others(model.origin)
        is_ours = Path(model.path).is_relative_to(self._tools.own)
        return None if is_ours else file_uses.of_added_folder()

    def begin(self, model: FoundModel) -> None:
        """Look at a model, and who uses it; `changed` follows."""
        if self.is_busy:
            return
        self._model, self.problem, self.done_path, self._is_watched = model, None, None, True
        self._look = self._chats = self._request = None
        identity = self._keepers.models.identity_of(model.path)
        size, _, digest = identity.partition("-")
        if digest:
            self._request = self._engine.new_request()
            self._store.send(ReadModelUse(self._request, ModelRef(int(size), digest)))
        self._look_around()

    def forget(self) -> None:
        """Nobody asks about it any more; what is being done goes on, and is told where it fails."""
        self._is_watched = False
        if not self.is_busy:
            self._model = self._look = None
            self._looking.forget()

    @property
    def is_loaded(self) -> bool:
        """Whether it is unloaded first."""
        return self._users.is_loaded

    @property
    def is_ready(self) -> bool:
        """Whether it was looked at and nothing is being done."""
        is_known = self._request is None or self._chats is not None
        return self._look is not None and is_known and not self._looking.is_busy and not self.is_busy

    @property
    def is_busy(self) -> bool:
        """Whether something is being done."""
        return self._doing.is_busy or self._waiting is not None

    @property
    def hindrance(self) -> Sentence | None:
        """What stands against both deeds now."""
        return file_uses.hindrance(self._look, self._users) if self._look is not None else None

    @property
    def size(self) -> int:
        """Bytes of all its files; 0 while it is not known."""
        return self._look.size if self._look is not None else 0

    def uses(self, deed: Deed) -> tuple[Sentence, ...]:
        """Return what is to be said before it is done."""
        return file_uses.uses(deed, self._look, self._users) if self._look is not None else ()

    @property
    def naming(self) -> FileNaming:
        """What it is called, and may be called."""
        return FileNaming(self._path, self._look)

    def rename(self, typed: str) -> None:
        """Give its files another name; `changed` follows."""
        naming, path = self.naming, self._path
        if naming.look is None or not self._may_begin() or naming.problem(typed) is not None:
            return
        pairs = naming.pairs(typed)
        new = dict(pairs).get(path, path)

        def do() -> _Done:
            try:
                rename_together(pairs)
            except NotMoved as error:
                return _Done(problem=file_uses.failure("rename", error))
            return _Done(new)

        self._do(do, loads_again=True)

    def move_to_trash(self) -> None:
        """Move its files to the system's trash; `changed` follows."""
        if self._look is None or not self._may_begin():
            return
        # what is left of a download goes last: without the model it would be nothing
        files, trash = (*self._look.files, *self._look.partials), self._tools.trash

        def do() -> _Done:
            try:
                trash_together(files, trash)
            except NotMoved as error:
                return _Done(problem=file_uses.failure("trash", error))
            return _Done()

        self._do(do, loads_again=False)

    def take(self, event: LanesAnalysed | ModelUseRead | Hello | Unloaded | EngineGone) -> None:
        """Take in what a job has found or done, which chats were written with it, and that the engine has ended."""
        match event:
            case LanesAnalysed():
                self._looking.take(event)
                self._doing.take(event)
            case ModelUseRead(request=request) if request == self._request:
                self._chats = event.titles
                self.changed.emit()
            case Unloaded() | EngineGone() if self._waiting is not None:
                work, self._waiting = self._waiting, None
                self._doing.want(work)
            case _:
                pass

    @property
    def _users(self) -> Users:
        """Who uses the model."""
        model, session = self._model, self._keepers.session
        if model is None:
            return Users()
        same = self._look.same if self._look is not None else frozenset((model.path,))
        loaded, wish, phase = session.model, session.wish, session.phase
        is_loaded = loaded is not None and loaded.path in same
        is_wished = wish is not None and str(wish.path) in same
        identity = self._keepers.models.identity_of(model.path)
        return Users(
            is_loaded=is_loaded,
            is_loading=(is_wished or is_loaded) and phase in ("starting", "loading"),
            is_answering=phase == "busy",
            is_wanted=is_wished or self._keepers.settings.values.last_model in same,
            presets=tuple(
                name
                for name, preset in self._keepers.presets.all.items()
                if preset.model is not None
                and (preset.model.path in same or (bool(identity) and preset.model.identity == identity))
            ),
            chats=self._chats,
            copy=self._copy(identity, same),
            download=self._download(),
        )

    @property
    def _path(self) -> str:
        return self._model.path if self._model is not None else ""

    @property
    def _paths(self) -> frozenset[str]:
        """All paths that lead to the model."""
        return (self._look.same if self._look is not None else frozenset()) | {self._path}

    def _may_begin(self) -> bool:
        return not self.is_busy and self.hindrance is None

    def _look_around(self) -> None:
        path, tools, folders = self._path, self._tools, self._keepers.models.folders
        self._known = known = tuple(self._kept_paths())
        self._looking.want(lambda: look_around(path, tools.own, folders, tools.others.find(), known))

    def _kept_paths(self) -> Iterable[str]:
        """Return every path of a model that is kept anywhere, each once."""
        session, settings = self._keepers.session, self._keepers.settings.values
        paths = [settings.last_model or ""]
        paths += [session.model.path] if session.model is not None else []
        paths += [str(wish.path) for wish in (session.wish, session.refused) if wish is not None]
        paths += [preset.model.path for preset in self._keepers.presets.all.values() if preset.model is not None]
        paths += [row.path for row in self._keepers.downloads.rows]
        paths += [self._keepers.planner.planning.path]
        paths += [path for path, _ in settings.comparison.models] if settings.comparison is not None else []
        return dict.fromkeys(path for path in (self._path, *paths) if path)

    def _copy(self, identity: str, same: frozenset[str]) -> str:
        """Return where else the same model was found."""
        models = self._keepers.models
        others = (each.path for each in models.found if identity and models.identity_of(each.path) == identity)
        return next((path for path in others if path not in same and path != self._path), "")

    def _download(self) -> str:
        """Return the state of a download that writes into the files of the model."""
        mine = set(self._look.files) if self._look is not None else {self._path}
        for row in self._keepers.downloads.rows:
            folder = Path(row.path).parent
            goals = {str(folder / file.path.rpartition("/")[2]) for file in row.wanted.files} if row.path else set()
            if row.state != "done" and goals & mine:
                return row.state
        return ""

    def _do(self, work: Callable[[], _Done], *, loads_again: bool) -> None:
        """Have it done, once the engine has let go of the file."""
        session, engine = self._keepers.session, self._engine
        is_loaded, old, sources = self._users.is_loaded, self._paths, self._tools.sources

        def do() -> _Done:
            done = work()
            if done.problem is None:
                sources.follow(old, done.path)
            return done

        self._loads_again, self.problem = loads_again and is_loaded, None
        if is_loaded and engine.running:
            self._waiting = do
            session.unload()
        else:
            self._doing.want(do)
        self.changed.emit()

    def _take_look(self, look: FileLook | None) -> None:
        self._look = look or FileLook("gone")
        self.changed.emit()

    def _take_done(self, done: _Done | None) -> None:
        broken = translate("LibraryFiles", "It failed in a way that nobody expected; the log has the details.")
        done = done or _Done(problem=broken)
        self.problem = done.problem
        if done.problem is None:
            self._tell_moved(done.path)
        if self._loads_again:
            self._loads_again = False
            self._keepers.session.restart()
        self._keepers.models.refresh()
        if not self._is_watched:
            if done.problem is not None:
                self._keepers.notices.post(Notice(done.problem))
            self.forget()
        elif done.problem is not None:
            self._look_around()  # what was looked at may be otherwise now
        self.changed.emit()

    def _tell_moved(self, path: str) -> None:
        """Let all who keep the old path know the new one."""
        old, keepers = self._paths, self._keepers
        keepers.session.follow(old, path)
        keepers.presets.follow(old, path)
        keepers.downloads.follow(old, path)
        if path and keepers.planner.planning.path in old:
            keepers.planner.planning.choose_model(path, is_same=True)
        keepers.planner.comparison.follow(old, path)
        if keepers.settings.values.last_model in old:
            keepers.settings.change(last_model=path or None)
        if not path and self._model is not None:
            gone = translate("LibraryFiles", "“{name}” is in the trash of this system.", name=self._model.name)
            keepers.notices.post(Notice(gone, level="hint", brief=True))  # in place of the offer to load it again
        self.done_path = path
        self.moved.emit(old, path)

    def _follow(self) -> None:
        """Something else is loaded, or downloaded: what that means for the file may be another thing."""
        if self._model is None or self.is_busy or self.done_path is not None:
            return
        if set(self._kept_paths()) - set(self._known):
            self._look_around()
        self.changed.emit()
