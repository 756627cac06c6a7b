"""Finds models on a hub: what is searched for and what was found, and the page of one repository.

Of searches, and of pages, only the newest counts: the one before is ended, so that nobody waits for what is not wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

from app.core.errors import ExitCode, UserError
from app.core.hub_model import ServerFailed
from app.core.hub_page import HubPage
from app.core.hub_search import HubListing, HubQuery
from app.core.hub_watch import HubWatch
from app.core.job_events import LanesAnalysed
from app.core.ports import DiscoverPort
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.latest_job import LatestJob
from app.system.jobs import Jobs

SEARCH, PAGE = "hub search", "hub page"
T = TypeVar("T")


_Answer = tuple[T | None, Sentence | None, bool]
"""What came of a question: what was told, or why nothing was, and whether an access token may help."""


class Discovering:
    """Asks the hub; nothing is asked of it before somebody says so."""

    def __init__(self, hub: DiscoverPort, jobs: Jobs) -> None:
        self.searched: Signal[()] = Signal()
        """A search began, ended, found something or failed."""
        self.paged: Signal[()] = Signal()
        """The same for the page of a repository."""
        self.query: HubQuery | None = None
        """What was searched for last."""
        self.listing: HubListing | None = None
        """What that found; while a newer search runs, what the one before did."""
        self.search_problem: Sentence | None = None
        """Why the last search found nothing, or nothing more; its listing may tell of another."""
        self._search_wants_token = False
        self.repository = ""
        """Whose page is open; empty is none."""
        self.page: HubPage | None = None
        self.page_problem: Sentence | None = None
        """Why the page that is open cannot be shown."""
        self.page_wants_token = False
        """Whether an access token, or another one, may open that page."""
        self._hub = hub
        self._search: LatestJob[_Answer[HubListing]] = LatestJob(jobs, SEARCH, self._take_listing)
        self._page: LatestJob[_Answer[HubPage]] = LatestJob(jobs, PAGE, self._take_page)
        self._search_watch, self._page_watch = HubWatch(), HubWatch()
        self._goes_on = False
        """Whether the search that runs adds to what is there."""

    @property
    def is_searching(self) -> bool:
        """Whether a search runs that counts."""
        return self._search.is_busy

    @property
    def is_reading(self) -> bool:
        """Whether the page that is open is being read."""
        return self._page.is_busy

    @property
    def has_more(self) -> bool:
        """Whether the hub has more of what was searched for."""
        return self.listing is not None and bool(self.listing.next)

    @property
    def search_wants_token(self) -> bool:
        """Whether an access token, or another one, may have the hub answer the search."""
        if self.search_problem is not None:
            return self._search_wants_token
        return self.listing is not None and self.listing.wants_token

    def search(self, query: HubQuery) -> None:
        """Search for something else, or the same anew; without a text, for what is there at all."""
        self.query, self._goes_on = msgspec.structs.replace(query, cursor=""), False
        self._begin_search(self.query)

    def search_further(self) -> None:
        """Add the next ones to what was found; nothing where there are none, or a search runs."""
        if self.listing is None or self.query is None or not self.has_more or self.is_searching:
            return
        self._goes_on = True
        self._begin_search(msgspec.structs.replace(self.query, cursor=self.listing.next))

    def open(self, repository: str) -> None:
        """Read the page of a repository, or read it anew."""
        self._page_watch.cancel()
        if repository != self.repository:
            self.page = None
        self.repository, self.page_problem, self._page_watch = repository, None, HubWatch()
        self.page_wants_token = False
        watch = self._page_watch
        self._page.want(lambda: _asked(lambda: self._hub.describe(repository, watch)))
        self.paged.emit()

    def look_again(self, is_offline: bool) -> None:
        """Ask once more for what is shown, now that the program is offline or no longer is.

        What was being asked when it went offline has ended, and is answered with what was told before.
        """
        is_old = self.search_problem is not None or (self.listing is not None and self.listing.problem is not None)
        if self.query is not None and not self.is_searching and (is_offline or is_old):
            self.search(self.query)
        is_old = self.page_problem is not None or (self.page is not None and self.page.problem is not None)
        if self.repository and not self.is_reading and (is_offline or is_old):
            self.open(self.repository)

    def forget_search(self) -> None:
        """End the search and close what it led to: nothing is searched for."""
        self._search_watch.cancel()
        self._search.forget()
        self.query, self.listing, self.search_problem = None, None, None
        self.close()
        self.searched.emit()

    def close(self) -> None:
        """Close the page that is open."""
        self._page_watch.cancel()
        self._page.forget()
        self.repository, self.page, self.page_problem, self.page_wants_token = "", None, None, False
        self.paged.emit()

    def stop(self) -> None:
        """Ask nothing any more."""
        self._search_watch.cancel()
        self._page_watch.cancel()
        self._search.forget()
        self._page.forget()

    def take(self, event: LanesAnalysed) -> None:
        """Take in what a job was told."""
        self._search.take(event)
        self._page.take(event)

    def search_now(self, query: HubQuery) -> HubListing:
        """Return what is found, or what was found before where the hub cannot be asked; waits for the network."""
        if not query.text.strip():
            raise UserError(
                translate("Hub", "Nothing to search for: say a part of a model's name, such as qwen."),
                ExitCode.WRONG_USE,
            )
        return self._hub.search(query)

    def describe_now(self, repository: str) -> HubPage:
        """Return what a repository holds and says of itself, or what it did before; waits for the network."""
        return self._hub.describe(repository)

    def _begin_search(self, query: HubQuery) -> None:
        self._search_watch.cancel()
        self.search_problem, self._search_watch = None, HubWatch()
        watch = self._search_watch
        self._search.want(lambda: _asked(lambda: self._hub.search(query, watch)))
        self.searched.emit()

    def _take_listing(self, answer: _Answer[HubListing] | None) -> None:
        told, self.search_problem, self._search_wants_token = answer or (None, _broken(), False)
        if told is not None and self._goes_on and self.listing is not None:
            known = {each.id for each in self.listing.repositories}
            more = tuple(each for each in told.repositories if each.id not in known)
            told = msgspec.structs.replace(
                told, repositories=self.listing.repositories + more, unread=self.listing.unread + told.unread
            )
        if told is not None or not self._goes_on:
            self.listing = told
        self.searched.emit()

    def _take_page(self, answer: _Answer[HubPage] | None) -> None:
        told, self.page_problem, self.page_wants_token = answer or (None, _broken(), False)
        if told is not None:
            self.page = told
        self.paged.emit()


def _asked(ask: Callable[[], T]) -> _Answer[T]:
    try:
        return ask(), None, False
    except UserError as error:
        return None, error.sentence, isinstance(error, ServerFailed) and error.wants_token


def _broken() -> Sentence:
    return translate("Hub", "Something went wrong with what the hub told; the log has the details.")
