"""What a hub lists in a broken way is left out and counted; all else is found."""

from __future__ import annotations

import pytest

from app.core.hub_search import unread_words
from tests.hub.loopback_hub import LoopbackHub
from tests.hub.test_searching import FULL, QUERY, reader

BROKEN: list[object] = [7, None, [], "text", {}, {"id": 3}, {"id": "../x"}, {"id": "org/b", "downloads": "many"}]


@pytest.mark.parametrize("broken", BROKEN)
def test_one_entry_that_cannot_be_read_is_counted_and_the_others_are_found(hub: LoopbackHub, broken: object) -> None:
    hub.found = [FULL, broken, {"id": "org/plain-GGUF"}]  # type: ignore[list-item]
    listing = reader(hub).search(QUERY)
    assert [found.id for found in listing.repositories] == ["org/tiny-GGUF", "org/plain-GGUF"]
    assert listing.unread == 1 and unread_words(1).english().startswith(
        "1 entry of the hub's answer could not be read"
    )


def test_what_is_broken_in_a_list_of_an_entry_costs_no_more_than_itself(hub: LoopbackHub) -> None:
    card = {"license": ["mit", 3, None], "language": ["de", {}, "en"], "license_name": 5}
    hub.found = [{**FULL, "tags": ["gguf", 7, None, "en"], "cardData": card}]
    listing = reader(hub).search(QUERY)
    (found,) = listing.repositories
    assert (found.tags, found.license, found.languages, listing.unread) == (("gguf", "en"), "mit", ("de", "en"), 0)
