from __future__ import annotations

import subprocess
import sys
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from app.core.errors import UserError
from app.core.hub_model import HubReference
from app.core.hub_search import HubQuery
from app.hub.hub_api import Kept, Question, hub_api
from app.hub.limits import Limits
from app.hub.reading import HubReader
from app.hub.web import Web
from tests.hub.conftest import reader
from tests.hub.loopback_hub import LoopbackHub


def test_what_huggingface_hub_asks_goes_through_our_proxy(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with Limits(8) as limits, hub_api(Web(hub.endpoint, proxies={}), hub.endpoint, limits, Kept) as (api, _):
        assert list(api.list_models(limit=1)) == []
    monkeypatch.setenv("http_proxy", hub.endpoint)
    with pytest.raises(UserError, match="no such model"):
        HubReader({"HF_ENDPOINT": "http://hub.invalid"}).search(HubQuery("x"))
    assert [path.partition("?")[0] for _, path, _ in hub.asked] == ["/api/models", "http://hub.invalid/api/models"]


def test_huggingface_hub_asks_nothing_by_itself(hub: LoopbackHub) -> None:
    with Limits(8) as limits, hub_api(Web(hub.endpoint), hub.endpoint, limits, Kept) as (api, _):
        pass
    with pytest.raises(LookupError):
        list(api.list_models(limit=1))
    assert hub.asked == []


def test_it_tries_no_second_time_and_waits_for_nothing(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    def sleep(_: float) -> None:
        raise AssertionError

    monkeypatch.setattr(time, "sleep", sleep)
    hub.searching = lambda request: request.send_text("", 429, Retry_After=7)
    with pytest.raises(UserError, match="fewer requests"):
        reader(hub).search(HubQuery("x"))
    assert len(hub.asked) == 1


def test_it_asks_for_nothing_more_than_it_was_asked_and_writes_nothing(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.AGENT_HARNESSES_PATH", str(tmp_path / "written"))
    monkeypatch.setattr("huggingface_hub.utils._detect_agent._registry", None)
    reader(hub).search(HubQuery("x"))
    reader(hub).models(HubReference(hub.repository))
    assert [path.partition("?")[0] for _, path, _ in hub.asked] == [
        "/api/models",
        f"/api/models/{hub.repository}/tree/main",
    ]
    assert list(tmp_path.iterdir()) == []


def test_its_own_token_is_never_sent(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_of_another_program")
    reader(hub).search(HubQuery("x"))
    assert "authorization" not in hub.asked[0][2]


def test_a_hub_that_is_only_put_together_loads_nothing_of_it() -> None:
    code = (
        "import sys; from app.hub.hub import Hub; import app.bootstrap; Hub({})\n"
        "print(sorted({'huggingface_hub', 'httpx2', 'keyring', 'truststore', 'ssl'} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert told.stdout.strip() == "[]"


def test_a_name_that_huggingface_hub_does_not_take_is_on_no_hub(hub: LoopbackHub) -> None:
    class HFValidationError(ValueError):
        """Called like theirs, and another one."""

    def asks(limits: Limits) -> AbstractContextManager[tuple[Any, Question]]:
        return hub_api(Web(hub.endpoint), hub.endpoint, limits, Kept)

    with Limits(8) as limits, pytest.raises(UserError, match="no such model"), asks(limits) as (api, _):
        api.model_info("org/-name--")
    with Limits(8) as limits, pytest.raises(UserError, match="cannot be read"), asks(limits):
        raise HFValidationError
    assert hub.asked == []
