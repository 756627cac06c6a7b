"""The header of one file of a hub's page, read in the background: what a mixture of experts takes, no size tells.

Must not know what is judged by it.
"""

from __future__ import annotations

import msgspec

from app.core.errors import UserError
from app.core.hub_model import HubModel
from app.core.hub_page import HubPage
from app.core.hub_watch import HubWatch
from app.core.job_events import LanesAnalysed
from app.core.model_kind import NotForChat
from app.core.ports import HubPort
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.planner.planned_model import PlannedModel, planned_model
from app.services.latest_job import LatestJob
from app.system.jobs import Jobs

JOB = "page header"
_Key = tuple[str, str, str]


class HeaderRead(msgspec.Struct, frozen=True):
    """What is known of a page by a header: the model, or why there is none; neither while it is read."""

    model: PlannedModel | None = None
    problem: Sentence | None = None
    is_other: bool = False
    """Whether there is none because the file is for something else than chat, as the problem says."""

    @property
    def is_under_way(self) -> bool:
        """Whether it is still read."""
        return self.model is None and self.problem is None


NOTHING_TO_READ = HeaderRead(problem=translate("Recommending", "No file of it can be read."))


class PageHeader:
    """One at a time, that of the page that was wanted last; what was read is kept until the program ends."""

    def __init__(self, hub: HubPort, asking: Jobs) -> None:
        """`asking` are the threads that wait for the hub."""
        self.changed: Signal[()] = Signal()
        """More is known of the page that is wanted."""
        self.known = NOTHING_TO_READ
        """Of the page that was wanted last."""
        self._hub = hub
        self._kept: dict[_Key, HeaderRead] = {}
        self._wanted: HubModel | None = None
        self._watch = HubWatch()
        self._job: LatestJob[HeaderRead] = LatestJob(asking, JOB, self._take)

    def want(self, page: HubPage) -> None:
        """Have a header of a page read, or nothing where it is known or none of its files is a model."""
        self.rest()
        self._wanted = readable_model(page)
        self._begin()

    def again(self) -> None:
        """Try once more what failed, now that the hub may be asked."""
        if self.known.problem is not None and self._wanted is not None and not self.known.is_other:
            self._begin()
            self.changed.emit()

    def rest(self) -> None:
        """Read nothing any more."""
        self._watch.cancel()
        self._job.forget()
        self._wanted = None

    def take(self, event: LanesAnalysed) -> None:
        """Take in what was read."""
        self._job.take(event)

    def read_now(self, page: HubPage) -> HeaderRead:
        """Return what a header tells; waits for the network."""
        wanted = readable_model(page)
        return NOTHING_TO_READ if wanted is None else _read(self._hub, wanted, HubWatch())

    def _begin(self) -> None:
        wanted = self._wanted
        if wanted is None:
            self.known = NOTHING_TO_READ
            return
        self.known = self._kept.get(_key(wanted), HeaderRead())
        if self.known.is_under_way:
            hub, watch = self._hub, HubWatch()
            self._watch = watch
            self._job.want(lambda: _read(hub, wanted, watch))

    def _take(self, read: HeaderRead | None) -> None:
        self.known = read or HeaderRead(problem=_broken())
        if self._wanted is not None and (self.known.model is not None or self.known.is_other):
            self._kept[_key(self._wanted)] = self.known
        self.changed.emit()


def readable_model(page: HubPage) -> HubModel | None:
    """Return the model whose header tells most for the least that is fetched: of few files, and a small one."""
    whole = [each for each in page.quantisations if not each.is_projector and not each.missing_parts]
    if not whole:
        return None
    return page.model(min(whole, key=lambda each: (len(each.files), each.size)))


def _read(hub: HubPort, wanted: HubModel, watch: HubWatch) -> HeaderRead:
    try:
        return HeaderRead(planned_model(hub.headers(wanted, watch), wanted.size))
    except UserError as error:
        return HeaderRead(problem=error.sentence, is_other=isinstance(error, NotForChat))


def _key(model: HubModel) -> _Key:
    return model.repository, model.revision, model.path


def _broken() -> Sentence:
    return translate("Hub", "Something went wrong with what the hub told; the log has the details.")
