"""What is searched for and what is open, with a hub on this machine that does as the tests want."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.core.hub_search import HubQuery
from app.services.discovering import Discovering
from tests.desk import Desk
from tests.hub.hanging import Hanging
from tests.hub.loopback_hub import GUARD_S, LoopbackHub


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    for name in ("http_proxy", "HTTP_PROXY", "TOKENLIGHT_OFFLINE", "HF_HUB_OFFLINE", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with LoopbackHub({"tiny-Q8_0.gguf": b"x"}) as made:
        made.found = [{"id": f"org/number-{number}"} for number in range(5)]
        made.card = b"# Tiny"
        monkeypatch.setenv("HF_ENDPOINT", made.endpoint)
        yield made


@pytest.fixture
def discovering(hub: LoopbackHub, desk: Desk) -> Discovering:
    """What asks that hub; the program ends before the hub does."""
    return desk.program.discovering


def searched(desk: Desk, query: HubQuery) -> Discovering:
    """Search and wait for what comes of it."""
    discovering = desk.program.discovering
    discovering.search(query)
    desk.until(lambda: not discovering.is_searching)
    return discovering


def opened(desk: Desk, repository: str) -> Discovering:
    """Open a page and wait for it."""
    discovering = desk.program.discovering
    discovering.open(repository)
    desk.until(lambda: not discovering.is_reading)
    return discovering


def ids(discovering: Discovering) -> list[str]:
    assert discovering.listing is not None
    return [each.id.rpartition("-")[2] for each in discovering.listing.repositories]


def shown(discovering: Discovering) -> tuple[bool, str, bool]:
    """Return whether there is a page, of which repository, and whether it is being read."""
    return discovering.page is not None, discovering.repository, discovering.is_reading


def test_nothing_is_asked_before_somebody_says_so(hub: LoopbackHub, discovering: Discovering, desk: Desk) -> None:
    desk.settle()
    assert hub.asked == [] and discovering.listing is None and not discovering.is_searching


def test_a_search_is_told_while_it_runs_and_when_it_has_found(desk: Desk, discovering: Discovering) -> None:
    states: list[tuple[bool, bool]] = []
    discovering.searched.connect(lambda: states.append((discovering.is_searching, discovering.listing is not None)))
    searched(desk, HubQuery("number"))
    assert states == [(True, False), (False, True)] and ids(discovering) == list("01234")


def test_the_newest_search_counts_and_the_one_before_is_ended(
    hub: LoopbackHub, desk: Desk, discovering: Discovering
) -> None:
    hanging = hub.searching = Hanging()
    discovering.search(HubQuery("first"))
    assert hanging.begun.wait(GUARD_S)
    hub.searching = None
    discovering.search(HubQuery("second"))
    discovering.search(HubQuery("third"))
    desk.until(lambda: not discovering.is_searching)
    assert hanging.gone.wait(GUARD_S)
    assert discovering.query == HubQuery("third") and ids(discovering) == list("01234")
    asked = [path for _, path, _ in hub.asked]
    assert len(asked) == 2 and "search=first" in asked[0] and "search=third" in asked[1]


def test_what_comes_next_is_added_once_each_to_what_is_there(
    hub: LoopbackHub, desk: Desk, discovering: Discovering
) -> None:
    searched(desk, HubQuery("number", limit=2))
    assert ids(discovering) == list("01") and discovering.has_more
    hub.found.insert(0, {"id": "org/number-9"})  # everything has moved by one meanwhile
    discovering.search_further()
    discovering.search_further()
    desk.until(lambda: not discovering.is_searching)
    assert ids(discovering) == list("012") and len(hub.asked) == 2
    for _ in range(2):
        discovering.search_further()
        desk.until(lambda: not discovering.is_searching)
    assert ids(discovering) == list("01234") and not discovering.has_more and len(hub.asked) == 3


def test_where_nothing_more_comes_what_is_there_stays_and_says_why(
    hub: LoopbackHub, desk: Desk, discovering: Discovering
) -> None:
    searched(desk, HubQuery("number", limit=2))
    hub.searching = lambda request: request.send_text("", 503)
    discovering.search_further()
    desk.until(lambda: not discovering.is_searching)
    assert ids(discovering) == list("01") and discovering.search_problem is not None
    hub.searching = None
    discovering.search_further()
    desk.until(lambda: not discovering.is_searching)
    assert ids(discovering) == list("0123") and discovering.search_problem is None


def test_a_new_search_that_fails_shows_nothing_of_the_one_before(
    hub: LoopbackHub, desk: Desk, discovering: Discovering
) -> None:
    searched(desk, HubQuery("number"))
    hub.searching = lambda request: request.send_text("", 429, Retry_After=7)
    searched(desk, HubQuery("other"))
    assert discovering.listing is None and discovering.search_problem is not None
    assert "again in 7 s" in discovering.search_problem.english()


def test_offline_the_same_search_and_page_are_shown_with_their_age(
    hub: LoopbackHub, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched(desk, HubQuery("number"))
    opened(desk, hub.repository)
    asked = len(hub.asked)
    monkeypatch.setenv("TOKENLIGHT_OFFLINE", "1")
    discovering = searched(desk, HubQuery("number"))
    opened(desk, hub.repository)
    assert (
        discovering.listing is not None and discovering.listing.age_s > 0 and discovering.listing.problem is not None
    )
    assert discovering.page is not None and discovering.page.age_s > 0 and discovering.page.card.text == "# Tiny"
    assert len(hub.asked) == asked


def test_a_page_is_read_shown_and_closed(hub: LoopbackHub, desk: Desk) -> None:
    discovering = opened(desk, hub.repository)
    assert discovering.page is not None and discovering.page.quantisations[0].name == "Q8_0"
    discovering.open(hub.repository)
    assert shown(discovering) == (True, hub.repository, True)
    discovering.close()
    assert shown(discovering) == (False, "", False)
    desk.settle()
    assert shown(discovering) == (False, "", False)


def test_a_page_of_another_repository_shows_nothing_of_the_one_before(hub: LoopbackHub, desk: Desk) -> None:
    discovering = opened(desk, hub.repository)
    discovering.open("org/other")
    assert shown(discovering) == (False, "org/other", True)
    desk.until(lambda: not discovering.is_reading)
    assert shown(discovering) == (False, "org/other", False)


def test_while_a_search_runs_nothing_further_of_the_one_before_is_asked(
    hub: LoopbackHub, desk: Desk, discovering: Discovering
) -> None:
    searched(desk, HubQuery("number", limit=2))
    hub.found = [{"id": f"org/other-{number}"} for number in range(3)]
    discovering.search(HubQuery("other", limit=2))
    discovering.search_further()
    desk.until(lambda: not discovering.is_searching)
    assert "cursor" not in hub.asked[-1][1] and ids(discovering) == list("01")


def test_the_newest_page_counts_and_the_one_before_is_ended(
    hub: LoopbackHub, desk: Desk, discovering: Discovering
) -> None:
    hanging = hub.describing = Hanging()
    discovering.open(hub.repository)
    assert hanging.begun.wait(GUARD_S)
    opened(desk, "org/other")
    assert hanging.gone.wait(GUARD_S)
    assert discovering.repository == "org/other" and discovering.page is None
    assert discovering.page_problem is not None and "no such model" in discovering.page_problem.english()


def test_what_hangs_is_ended_with_the_program(hub: LoopbackHub, desk: Desk, discovering: Discovering) -> None:
    hanging = hub.searching = Hanging()
    discovering.search(HubQuery("first"))
    assert hanging.begun.wait(GUARD_S)
    desk.program.stop()
    assert hanging.gone.wait(GUARD_S)
