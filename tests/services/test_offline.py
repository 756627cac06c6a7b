"""Going offline while the hub is being asked, and online again: what is shown meanwhile, and that nothing is asked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.core.hub_search import HubQuery
from app.services.discovering import Discovering
from tests.desk import Desk
from tests.hub.hanging import Hanging
from tests.hub.loopback_hub import GUARD_S, LoopbackHub

QUERY = HubQuery("tiny")


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    for name in ("http_proxy", "HTTP_PROXY", "TOKENLIGHT_OFFLINE", "HF_HUB_OFFLINE", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with LoopbackHub({"tiny-Q8_0.gguf": b"x"}) as made:
        made.found = [{"id": "org/tiny-GGUF"}]
        monkeypatch.setenv("HF_ENDPOINT", made.endpoint)
        yield made


@pytest.fixture
def discovering(hub: LoopbackHub, desk: Desk) -> Discovering:
    """What asks that hub; the program ends before the hub does."""
    return desk.program.discovering


def rests(desk: Desk) -> Discovering:
    """Wait until nothing is asked any more."""
    discovering = desk.program.discovering
    desk.until(lambda: not discovering.is_searching and not discovering.is_reading)
    return discovering


def test_a_search_that_runs_is_ended_and_answered_with_what_it_found_before(
    hub: LoopbackHub, desk: Desk, discovering: Discovering
) -> None:
    discovering.search(QUERY)
    first = rests(desk).listing
    hanging = hub.searching = Hanging()
    discovering.search(QUERY)
    assert hanging.begun.wait(GUARD_S)
    desk.program.offline.set(True)
    second = rests(desk).listing
    assert hanging.gone.wait(GUARD_S)
    assert first is not None and second is not None and second.repositories == first.repositories
    assert second.age_s > 0 and second.problem == desk.program.offline.reason()


def test_what_was_never_asked_says_why_it_is_not_now(hub: LoopbackHub, desk: Desk, discovering: Discovering) -> None:
    hanging = hub.searching = Hanging()
    discovering.search(QUERY)
    assert hanging.begun.wait(GUARD_S)
    desk.program.offline.set(True)
    assert rests(desk).listing is None and discovering.search_problem == desk.program.offline.reason()
    planned = desk.program.planner.models.hub
    planned.read("hub:org/tiny-GGUF")
    desk.until(lambda: planned.get("hub:org/tiny-GGUF").state == "offline")
    assert len(hub.asked) == 1


def test_what_is_shown_tells_its_age_and_is_fresh_again_afterwards(
    hub: LoopbackHub, desk: Desk, discovering: Discovering
) -> None:
    discovering.search(QUERY)
    discovering.open("org/tiny-GGUF")
    rests(desk)
    asked = len(hub.asked)
    desk.program.offline.set(True)
    rests(desk)
    assert discovering.listing is not None and discovering.listing.age_s > 0
    assert discovering.page is not None and discovering.page.age_s > 0 and len(hub.asked) == asked
    desk.program.offline.set(False)
    rests(desk)
    assert discovering.listing.age_s == discovering.page.age_s == 0 and len(hub.asked) == 2 * asked


def test_nothing_is_asked_because_somebody_is_online_again(
    hub: LoopbackHub, desk: Desk, discovering: Discovering
) -> None:
    desk.program.offline.set(True)
    desk.program.offline.set(False)
    discovering.search(QUERY)
    rests(desk)
    discovering.look_again(is_offline=False)
    assert not discovering.is_searching and len(hub.asked) == 1, "what is fresh is not asked for again"
