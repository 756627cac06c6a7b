"""Models of a hub that are planned before they are here, read from a hub on this machine that does as the tests want."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.hub_watch import HubWatch
from app.core.model import LoadOptions
from app.planner.quantised import OtherFile
from app.services.fit_verdict import fit_of
from app.services.hub_models import HubChoice, HubModels, HubRead, hub_path, other_files
from tests.desk import Desk
from tests.hub.loopback_hub import GUARD_S, LoopbackHub, Request
from tests.hub.planned_hub import BEGUN, NAMES, begin_and_wait, planned_hub


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LoopbackHub]:
    with planned_hub(tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
def models(hub: LoopbackHub, desk: Desk) -> HubModels:
    """The models of that hub; the program ends before the hub does."""
    return desk.program.planner.models.hub


def after(desk: Desk, path: str) -> HubRead:
    """Return what is known of a model once nothing is read any more."""
    models = desk.program.planner.models.hub
    models.read(path)
    desk.until(lambda: models.get(path).state not in ("waiting", "reading"))
    return models.get(path)


def refused(desk: Desk, path: str, state: str = "failed") -> str:
    read = after(desk, path)
    assert read.state == state and read.model is None and read.problem is not None
    text = read.problem.english()
    assert text.endswith(".") and "\n" not in text
    planned = desk.program.planner.models.get(path)
    assert planned is not None and planned.problem == read.problem
    return text


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        ("org/tiny-GGUF", "hub:org/tiny-GGUF"),
        (" org/tiny-GGUF:Q8_0 ", "hub:org/tiny-GGUF:Q8_0"),
        ("https://huggingface.co/org/tiny-GGUF/", "hub:org/tiny-GGUF"),
        ("hf.co/org/tiny-GGUF:Q8_0", "hub:org/tiny-GGUF:Q8_0"),
        ("https://huggingface.co/org/tiny-GGUF/tree/main?show=all", "hub:org/tiny-GGUF"),
        ("https://huggingface.co/org/tiny/blob/main/a/b%20c.gguf#top", "hub:org/tiny:a/b c.gguf"),
        ("https://huggingface.co/org/tiny/resolve/main/b.gguf?download=true", "hub:org/tiny:b.gguf"),
        ("https://example.com/org/tiny", None),
        ("https://huggingface.co/datasets/org/tiny", None),
        ("https://huggingface.co/org", None),
        ("tiny", None),
        ("/models/tiny.gguf", None),
        ("", None),
    ],
)
def test_a_model_is_named_as_people_type_or_paste_it(typed: str, path: str | None) -> None:
    assert hub_path(typed) == path


def test_nothing_is_asked_before_somebody_says_so(hub: LoopbackHub, models: HubModels, desk: Desk) -> None:
    path = "hub:org/tiny-GGUF"
    planned = desk.program.planner.models
    planned.want(path)
    file = planned.get(path)
    desk.settle()
    assert hub.asked == [] and models.get(path).state == "unread"
    assert file is not None and file.model is None and file.problem is not None
    assert file.problem.english().startswith("org/tiny-GGUF of the hub was not read")


def test_a_model_that_was_not_read_is_unknown_to_badge_and_plan(
    hub: LoopbackHub, models: HubModels, desk: Desk
) -> None:
    planner, path = desk.program.planner, "hub:org/tiny-GGUF"
    planner.planning.watch(on=True)
    planner.planning.choose_model(path)
    assert planner.planning.view is None and planner.planning.problem == models.get(path).problem
    assert not planner.planning.can_load
    file = planner.models.get(path)
    assert file is not None
    fit = fit_of(file, LoadOptions(), planner.devices.here)
    assert fit.verdict == "unknown" and fit.reason == file.problem
    planner.fits.want("somebody", [path])
    desk.until(lambda: planner.fits.get(path))
    assert planner.fits.get(path) == fit


def test_the_usual_quantisation_of_a_repository_is_read_and_the_others_are_offered(
    hub: LoopbackHub, models: HubModels, desk: Desk
) -> None:
    told: list[str] = []
    desk.program.planner.models.changed.connect(told.append)
    read = after(desk, "hub:org/tiny-GGUF")
    assert read.state == "read" and read.problem is None and read.model is not None
    assert (read.model.name, read.model.layers) == ("tiny-Q8_0", 3)
    assert read.received > 0 and read.model.file_bytes == len(hub.files[NAMES[1]])
    assert read.chosen == f"hub:org/tiny-GGUF:{NAMES[1]}"
    assert {(choice.words, choice.path) for choice in read.choices} == {
        ("F16", f"hub:org/tiny-GGUF:{NAMES[0]}"),
        ("Q8_0", "hub:org/tiny-GGUF"),
    }
    assert told[-1] == "hub:org/tiny-GGUF"


def test_another_quantisation_is_read_without_another_listing(
    hub: LoopbackHub, models: HubModels, desk: Desk
) -> None:
    after(desk, "hub:org/tiny-GGUF")
    read = after(desk, f"hub:org/tiny-GGUF:{NAMES[0]}")
    assert read.model is not None and read.model.layers == 2
    assert len([path for _, path, _ in hub.asked if path.startswith("/api/")]) == 1


@pytest.mark.parametrize(
    ("file", "is_same"),
    [
        ("Tiny-UD-Q4_K_XL.gguf", True),
        ("Q4_K_M/tiny-Q4_K_M-00001-of-00002.gguf", True),
        ("tiny-fp16.gguf", True),
        ("tinier-Q4_K_M.gguf", False),
        ("draft/tiny-0.6B-Q4_K_M.gguf", False),
    ],
)
def test_other_files_of_a_model_differ_from_it_by_the_quantisation_alone(file: str, is_same: bool) -> None:
    files = (HubChoice("hub:a/b", "Q8_0", 9, "tiny-Q8_0.gguf"), HubChoice(f"hub:a/b:{file}", "other", 5, file))
    read = HubRead("hub:a/b", "read", choices=files, chosen="hub:a/b:tiny-Q8_0.gguf")
    other = OtherFile("other", f"hub:a/b:{file}", 5)
    assert other_files(read) == ((other,) if is_same else ())
    assert other_files(HubRead("hub:a/b")) is None


def test_a_quantisation_can_be_named(hub: LoopbackHub, models: HubModels, desk: Desk) -> None:
    read = after(desk, "hub:org/tiny-GGUF:f16")
    assert read.model is not None and read.model.layers == 2 and read.chosen.endswith(NAMES[0])
    assert "holds no “Q2_K”" in refused(desk, "hub:org/tiny-GGUF:Q2_K")


def test_what_a_hub_refuses_is_said_and_can_be_tried_again(hub: LoopbackHub, models: HubModels, desk: Desk) -> None:
    assert "has no such model or file" in refused(desk, "hub:org/other")
    for status in (401, 403):
        hub.listing = lambda request, status=status: request.send_text("no", status)
        assert "without permission" in refused(desk, "hub:org/tiny-GGUF")
    hub.listing = None
    hub.delivering = lambda request: request.send_text("later", 503)
    assert "trouble of its own (503)" in refused(desk, "hub:org/tiny-GGUF")
    assert len(models.get("hub:org/tiny-GGUF").choices) == 2
    hub.delivering = None
    assert after(desk, "hub:org/tiny-GGUF").state == "read"


def test_a_length_that_is_a_lie_is_refused(hub: LoopbackHub, models: HubModels, desk: Desk) -> None:
    hub.delivering = lambda request: request.send_part(
        hub.content_of(request), Content_Range=f"bytes 0-{request.asked_range[1] if request.asked_range else 0}/99"
    )
    assert "two lengths of this file" in refused(desk, "hub:org/tiny-GGUF")
    size = len(hub.files[NAMES[1]])
    entry = {"type": "file", "path": NAMES[1], "size": size + 5000, "lfs": {"size": size + 5000, "oid": "0"}}
    hub.delivering = None
    hub.listing = lambda request: request.send_text(json.dumps([entry]), 200, "application/json")
    assert refused(desk, "hub:org/tiny-GGUF")


def test_a_slow_hub_tells_how_much_has_come_and_can_be_cancelled(
    hub: LoopbackHub, models: HubModels, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models._look, "_after_s", 0.0)
    hub.delivering = lambda request: begin_and_wait(hub, request)
    path, other = "hub:org/tiny-GGUF", f"hub:org/tiny-GGUF:{NAMES[0]}"
    models.read(path)
    models.read(other)
    desk.until(lambda: models.get(path).received >= BEGUN)
    assert models.get(path).state == "reading" and models.get(other).state == "waiting"
    assert desk.program.planner.models.get(path) is None
    models.cancel(path)
    hub.delivering = None
    now = models.get(path)
    assert now.state == "cancelled" and now.problem is not None and "cancelled" in now.problem.english()
    desk.until(lambda: models.get(other).state == "read")
    assert models.get(path).state == "cancelled"
    models.read(other)
    models.cancel(other)
    assert models.get(other).state == "read"
    assert after(desk, path).state == "read"


def test_one_that_waits_can_be_cancelled(hub: LoopbackHub, models: HubModels, desk: Desk) -> None:

    def hang(_request: Request) -> None:
        hub.ended.wait(GUARD_S)

    hub.listing = hang
    first, second = "hub:org/a", "hub:org/b"
    models.read(first)
    models.read(second)
    models.cancel(second)
    models.cancel(first)
    desk.until(lambda: models._now is None)
    assert {models.get(first).state, models.get(second).state} == {"cancelled"}
    assert not any("org/b" in path for _, path, _ in hub.asked)


def test_offline_opens_no_socket(
    hub: LoopbackHub, models: HubModels, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(socket, "create_connection", fail)
    monkeypatch.setattr(socket.socket, "connect", fail)
    monkeypatch.setenv("TOKENLIGHT_OFFLINE", "1")
    text = refused(desk, "hub:org/tiny-GGUF", "offline")
    assert "is offline because TOKENLIGHT_OFFLINE is set" in text and hub.asked == []


def test_a_job_that_breaks_is_told(
    models: HubModels, desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("app.services.hub_models.planned_model", lambda *_: 1 / 0)
    assert "nobody expected" in refused(desk, "hub:org/tiny-GGUF")
    assert "hub model" in caplog.text


def test_whoever_is_to_end_a_reading_is_called_however_late_it_comes() -> None:
    watch, ended = HubWatch(), list[int]()
    watch.ended_by(lambda: ended.append(1))
    watch.cancel()
    watch.ended_by(lambda: ended.append(2))
    assert ended == [1, 2] and watch.is_cancelled


def test_the_end_of_the_program_ends_a_reading(hub: LoopbackHub, models: HubModels, desk: Desk) -> None:
    asked = threading.Event()

    def hang(_request: Request) -> None:
        asked.set()
        hub.ended.wait(GUARD_S)

    hub.listing = hang
    models.read("hub:org/tiny-GGUF")
    assert asked.wait(GUARD_S)
    desk.program.stop()
    assert not any(thread.name.startswith("job-") for thread in threading.enumerate())
