"""What to get for this machine: of the catalogue the model that suits it best, and of a repository's files the one.

The catalogue ships with the program, so that this works offline; of a hub one header is read, that of the page that is open.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.core.catalogue import Catalogue, CatalogueModel, read_catalogue
from app.core.commands import ListDevices
from app.core.events import DevicesListed, EngineGone, Event, Failed
from app.core.hub_page import HubPage
from app.core.job_events import LanesAnalysed
from app.core.model import LoadOptions
from app.core.ports import EnginePort
from app.core.quality import QualityTable, read_quality
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.planner.memory_plan import PlannedDevice, Verdict
from app.planner.suited import most_read, usual
from app.services.fit_badges import FitBadges
from app.services.fit_verdict import Fit, fit_now, fit_of
from app.services.judged_page import judge_page
from app.services.latest_job import LatestJob
from app.services.page_header import HeaderRead, PageHeader
from app.services.planning_devices import PlanningDevices
from app.services.recommended_files import FileChoice, planned_guess
from app.services.units import byte_size
from app.system.jobs import Jobs
from app.system.resources import Resources

CATALOGUE_JOB, FILES_JOB = "recommended models", "recommended files"
MIXTURE_SHARE = 0.7
STEP_BYTES = 512 << 20
"""Memory that is free counts anew in such steps: whether a model fits now is said anew for no less."""
MOST_STARTER_BYTES = 500_000_000
"""Of a model to begin with at once: it is here in a minute or two."""


class JudgedModel(msgspec.Struct, frozen=True):
    """One model of the catalogue on this machine."""

    model: CatalogueModel
    fit: Fit
    """By what is free now."""
    usually: Verdict = "unknown"
    """By what is usually free on this machine, which does not change."""


class ModelChoice(msgspec.Struct, frozen=True):
    """The catalogue on this machine, and the model of it that is recommended."""

    models: tuple[JudgedModel, ...] = ()
    recommended: CatalogueModel | None = None
    reason: Sentence | None = None
    """Why it is; or why none is."""
    starter: CatalogueModel | None = None
    """A much smaller one, to begin with while the other is on its way; None where that is small itself."""
    starter_reason: Sentence | None = None


class Recommending:
    """Works out what somebody wants to know, in jobs; `changed` follows."""

    def __init__(
        self,
        resources: Resources,
        fits: FitBadges,
        here: PlanningDevices,
        engine: EnginePort,
        jobs: Jobs,
        header: PageHeader,
    ) -> None:
        self.changed: Signal[()] = Signal()
        """Another model, or another file, is recommended, or nothing is any more."""
        self.models = ModelChoice()
        """The catalogue; empty until it was wanted and read."""
        self.files = FileChoice()
        """The files of the page that was wanted last; empty while they are judged."""
        self._resources = resources
        self._fits = fits
        self._engine = engine
        self._read: tuple[Catalogue, QualityTable] | None = None
        self._page: HubPage | None = None
        self._header = header
        self._followers: set[object] = set()
        """Who looks at the model that is recommended."""
        self._listing: int | None = None
        self._asked: tuple[object, ...] = ()
        """What was worked out last."""
        self._catalogue: LatestJob[ModelChoice] = LatestJob(jobs, CATALOGUE_JOB, self._take_models)
        self._judging: LatestJob[FileChoice] = LatestJob(jobs, FILES_JOB, self._take_files)
        here.changed.connect(self._look)
        header.changed.connect(self._look)

    @property
    def is_followed(self) -> bool:
        """Whether somebody looks at the model that is recommended."""
        return bool(self._followers)

    def want_models(self, who: object) -> None:
        """Have worked out which model of the catalogue suits this machine, and again when that has other memory.

        It is followed until `who`, and everybody else who wanted it, rests.
        """
        self._followers.add(who)
        if not self._fits.devices:
            self.list_devices()
        self._look()

    def want_files(self, page: HubPage) -> None:
        """Have worked out which file of a page suits this machine: by sizes at once, and anew when a header is read."""
        self._page, self.files, self._asked = page, FileChoice(), ()
        self._header.want(page)
        if not self._fits.devices:
            self.list_devices()
        self._look()

    def rest_models(self, who: object) -> None:
        """`who` looks no more at the model that suits this machine; what is known stays known."""
        self._followers.discard(who)

    def rest_files(self) -> None:
        """Follow no more which file of a page does."""
        self._page = None
        self._header.rest()

    def look_again(self) -> None:
        """Read the header that could not be read, now that the program is offline or no longer is."""
        self._header.again()

    def take(self, event: LanesAnalysed) -> None:
        """Take in what was worked out."""
        self._catalogue.take(event)
        self._judging.take(event)
        self._header.take(event)

    def take_listed(self, event: Event) -> None:
        """Take in which devices there are; where that cannot be told, there is main memory."""
        match event:
            case DevicesListed(request=self._listing):
                self._fits.note(event.devices)
            case Failed(request=self._listing) | EngineGone() if self._listing is not None:
                self._fits.note(())
            case _:
                return
        self._listing = None
        self._look()

    @property
    def is_listed(self) -> bool:
        """Whether nothing is waited for that tells which devices there are."""
        return self._listing is None

    def models_now(self) -> ModelChoice:
        """Return what the catalogue has for this machine; reads it, and takes some milliseconds a model."""
        return choose_model(self._tables()[0], self._fits.devices)

    def files_now(self, page: HubPage) -> FileChoice:
        """Return what of a page suits this machine; waits for the network, which a page of earlier does not ask again."""
        header = HeaderRead(problem=page.problem) if page.problem is not None else self._header.read_now(page)
        return judge_page(page, header, self._fits.devices, *self._tables())

    def list_devices(self) -> None:
        """Ask which devices there are, which needs no model."""
        self._listing = self._engine.new_request()
        self._engine.send(ListDevices(self._listing))

    def _look(self) -> None:
        if not self._followers and self._page is None:
            return  # nobody looks, and the system is asked for nothing
        devices = self._fits.devices
        free = tuple(None if device.free is None else device.free // STEP_BYTES for device in devices)
        asked = (free, self.is_followed, self._page, self._header.known)
        if asked == self._asked:
            return
        self._asked = asked
        if self._followers:
            self._catalogue.want(lambda: choose_model(self._tables()[0], devices))
        if self._page is not None:
            page, header = self._page, self._header.known
            self._judging.want(lambda: judge_page(page, header, devices, *self._tables()))

    def _tables(self) -> tuple[Catalogue, QualityTable]:
        if self._read is None:
            self._read = read_catalogue(self._resources.catalogue()), read_quality(self._resources.quality_table())
        return self._read

    def _take_models(self, choice: ModelChoice | None) -> None:
        if choice is not None and choice != self.models:
            self.models = choice
            self.changed.emit()

    def _take_files(self, choice: FileChoice | None) -> None:
        if choice is not None and choice != self.files:
            self.files = choice
            self.changed.emit()


def choose_model(catalogue: Catalogue, devices: Sequence[PlannedDevice]) -> ModelChoice:
    """Return whether each model of the catalogue fits on some devices, and which to begin with; never raises."""
    if catalogue.problem is not None:
        return ModelChoice(reason=catalogue.problem)
    suited, most = usual(devices), most_read(devices)
    judged = tuple(_judged(model, devices, suited) for model in catalogue.models)
    chats = [each for each in judged if each.model.kind == "chat"]
    fitting = [each for each in chats if each.usually == "fits"]
    quick = [each for each in fitting if most is None or each.model.read_bytes <= most]
    if quick:
        best = max(quick, key=_worth)
        starter = _starter(best, quick)
        return ModelChoice(
            judged,
            best.model,
            _why(best, is_bounded=len(quick) < len(fitting)),
            starter,
            None if starter is None else _why_starter(starter),
        )
    near = [each for each in chats if each.usually in ("less_context", "partly")]
    if near:
        smallest = min(near, key=lambda each: each.model.size)
        return ModelChoice(judged, smallest.model, smallest.fit.reason)
    if all(each.fit.verdict == "unknown" for each in judged):
        return ModelChoice(judged, None, judged[0].fit.reason)
    return ModelChoice(
        judged,
        None,
        translate("Recommending", "No model that Tokenlight knows fits into the memory of this machine."),
    )


def _judged(model: CatalogueModel, devices: Sequence[PlannedDevice], suited: Sequence[PlannedDevice]) -> JudgedModel:
    file = planned_guess(model.name, model.size, model.parameters, model.context)
    now, usually = (fit_of(file, LoadOptions(), tuple(each)) for each in (devices, suited))
    return JudgedModel(model, fit_now(now, usually), usually.verdict)


def _starter(best: JudgedModel, quick: Sequence[JudgedModel]) -> CatalogueModel | None:
    """Return the best of the small ones that fit; none beside one that is no larger."""
    small = [each for each in quick if each.model.size <= MOST_STARTER_BYTES < best.model.size]
    return max(small, key=_worth).model if small else None


def _worth(each: JudgedModel) -> float:
    """Return what a model can do, about: a mixture is nearer to all of its experts than to those that work on a token."""
    model = each.model
    return float(model.parameters**MIXTURE_SHARE * (model.active or model.parameters) ** (1 - MIXTURE_SHARE))


def _why(each: JudgedModel, *, is_bounded: bool) -> Sentence:
    if is_bounded:
        return translate(
            "Recommending",
            "Of the models that Tokenlight knows, {name} gives the best answers that this machine has memory for and"
            " can write about as fast as you read.",
            name=each.model.name,
        )
    return translate(
        "Recommending",
        "Of the models that Tokenlight knows, {name} gives the best answers that this machine has memory for.",
        name=each.model.name,
    )


def _why_starter(model: CatalogueModel) -> Sentence:
    return translate(
        "Recommending",
        "To try everything at once: {name} is only {size}, so it is here soon. It is too small to know much.",
        name=model.name,
        size=byte_size(model.size),
    )
