from __future__ import annotations

import socket

import pytest

from app.core.errors import ExitCode
from app.system.resources import Resources
from tests.cli.conftest import CommandLine

pytestmark = pytest.mark.usefixtures("listed")


def test_one_is_named_with_its_reason_and_how_to_get_it(line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_given: object, **_named: object) -> None:
        pytest.fail("no connection is made")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert line.run("models", "recommend") == 0, line.err
    reason, purpose, command, *more, small, small_command, empty, head = line.out.splitlines()[
        : line.out.splitlines().index("") + 2
    ]
    rows = line.out.splitlines()[line.out.splitlines().index(head) + 1 :]
    assert "Qwen3 32B gives the best answers that this machine has memory for" in reason
    assert "SmolLM2 360M is only 369 MiB" in small and small_command.split()[:3] == [
        "tokenlight",
        "models",
        "download",
    ]
    assert purpose.strip().endswith(".") and empty == ""
    assert command.strip().startswith("tokenlight models download Qwen/Qwen3-32B-GGUF:Qwen3-32B-Q4_K_M.gguf")
    assert head.split() == ["Model", "For", "Parameters", "Size", "Context", "License", "Here"]
    (best,) = (row for row in rows if row.startswith("*"))
    assert best.startswith("* Qwen3 32B") and bool(more) != best.endswith("  fits")
    assert rows[0].split()[:2] == ["SmolLM2", "135M"] and rows[-1].split()[:2] == ["Llama", "3.3"]


@pytest.mark.parametrize("words", [("models", "recommend", "--json"), ("models", "--json", "recommend")])
def test_as_json(line: CommandLine, words: tuple[str, ...]) -> None:
    assert line.run(*words) == 0, line.err
    (found,) = line.lines()
    assert set(found) == {"recommended", "reason", "starter", "starter_reason", "models"}
    assert found["recommended"].startswith("Qwen/Qwen3-32B-GGUF:")
    first = found["models"][0]
    assert first["verdict"] == "fits" and first["verdict_reason"].endswith("free.")
    assert {"name", "purpose", "languages", "license", "context", "size", "sha256", "revision"} <= set(first)


def test_an_engine_that_does_not_start_leaves_main_memory(line: CommandLine) -> None:
    line.desk.engine.on_command = lambda _command: line.desk.engine.die()
    assert line.run("models", "recommend", "--json") == 0, line.err
    (found,) = line.lines()
    assert all(each["verdict"] != "unknown" for each in found["models"])


def test_a_damaged_catalogue_is_one_sentence(line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Resources, "catalogue", lambda _self: "[[model")
    assert line.run("models", "recommend") == ExitCode.MODEL_UNUSABLE
    assert line.out.count("\n") == 1 and "catalogue of recommended models is damaged" in line.out
