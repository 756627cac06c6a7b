"""The command `plan` where the hub refuses, fails or is not to be asked."""

from __future__ import annotations

import pytest

from tests.cli.conftest import CommandLine
from tests.hub.loopback_hub import LoopbackHub


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
