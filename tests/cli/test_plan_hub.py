"""The command `plan` for models of a hub, also where that refuses, fails or is not to be asked."""

from __future__ import annotations

import pytest

from app.core.devices import Device
from tests.cli.conftest import CommandLine
from tests.cli.test_plan import GPU, asked, gpus, plan
from tests.fake_dry_run import FakeDryRun
from tests.hub.loopback_hub import LoopbackHub

__all__ = ["asked", "gpus"]


def test_a_repository_is_a_line_for_each_model_read_by_its_header_alone(
    line: CommandLine, hub: LoopbackHub, asked: FakeDryRun
) -> None:
    found = plan(line, hub.repository, "--gpu", "L4,T4")
    assert [(each["path"], each["layers"], len(each["plans"])) for each in found["models"]] == [
        ("tiny-F16.gguf", 2, 2),
        ("tiny-Q8_0.gguf", 3, 2),
    ]
    assert [each["is_best"] for each in found["models"]] == [False, True]
    assert line.run("plan", hub.repository) == 0
    assert asked.asked == [] and "* tiny" in line.out


def test_one_model_of_a_repository_is_planned_for_this_machine(
    line: CommandLine, hub: LoopbackHub, asked: FakeDryRun, gpus: list[Device]
) -> None:
    gpus.append(GPU)
    found = plan(line, f"{hub.repository}:Q8_0")
    (told,) = found["models"]
    assert (told["path"], told["plans"][0]["name"]) == ("tiny-Q8_0.gguf", "NVIDIA L4")
    assert told["plans"][0]["devices"][0]["weights"]["source"] == "formula"


def test_what_a_hub_refuses_is_a_sentence(line: CommandLine, hub: LoopbackHub) -> None:
    hub.listing = lambda request: request.send_text("no", 401)
    assert line.run("plan", "org/secret") == 3
    assert "without permission" in line.err and line.out == ""
    assert line.run("plan", f"{hub.repository}:Q2_K") == 3


def test_a_hub_that_fails_is_not_asked_again_for_each_model(line: CommandLine, hub: LoopbackHub) -> None:
    hub.delivering = lambda request: request.send_text("later", 503)
    assert line.run("plan", hub.repository) == 3
    assert "has trouble of its own (503)" in line.err and line.out == ""
    assert len([1 for where, _, _ in hub.asked if where == "store"]) == 1


def test_a_broken_file_of_a_repository_costs_only_its_line(line: CommandLine, hub: LoopbackHub) -> None:
    hub.files["tiny-F16.gguf"] = b"GGUF" + bytes(400)
    assert line.run("plan", hub.repository, "--gpu", "L4") == 0
    assert "  tiny-F16.gguf\n    Cannot be used: This model is in version 0" in line.out
    assert "* tiny" in line.out


def test_offline_is_a_sentence(line: CommandLine, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKENLIGHT_OFFLINE", "1")
    assert line.run("plan", hub.repository) == 3
    assert "is offline because TOKENLIGHT_OFFLINE is set" in line.err and hub.asked == []
