"""More than any search asks for, and more than any answer of a hub holds."""

from __future__ import annotations

import msgspec
import pytest

from app.core.errors import ExitCode, UserError
from app.core.hub_search import HubQuery
from app.hub.hub_api import MOST_COMMAS
from tests.hub.loopback_hub import LoopbackHub
from tests.hub.test_searching import QUERY, answers, reader


@pytest.mark.parametrize("query", [HubQuery("x" * 100_000), HubQuery("", license="x" * 201)])
def test_more_than_any_name_is_not_searched_for(hub: LoopbackHub, query: HubQuery) -> None:
    with pytest.raises(UserError, match="at most 200 characters") as told:
        reader(hub).search(query)
    assert told.value.exit_code == ExitCode.WRONG_USE and not hub.asked


def test_an_answer_with_more_values_than_any_is_not_taken_apart(
    hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.searching = answers(text="[" + "[]," * (MOST_COMMAS + 1) + "[]]")
    taken = list[bytes]()
    monkeypatch.setattr(msgspec.json, "decode", taken.append)
    with pytest.raises(UserError, match="cannot be read"):
        reader(hub).search(QUERY)
    assert not taken
