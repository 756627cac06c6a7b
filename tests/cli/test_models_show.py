from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.cli import table
from app.core.errors import ExitCode
from tests.cli.conftest import CommandLine
from tests.hub.loopback_hub import LoopbackHub

pytestmark = pytest.mark.usefixtures("listed")


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    for name in ("http_proxy", "HTTP_PROXY", "TOKENLIGHT_OFFLINE", "HF_HUB_OFFLINE", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    files = {"t-Q8_0.gguf": b"x" * 1063, "t-F16-00001-of-00002.gguf": b"x" * 999, "mmproj-t-F16.gguf": b"x"}
    with LoopbackHub(files) as made:
        made.info |= {
            "gated": "manual",
            "gguf": {"total": 1000, "architecture": "ll\x1bama"},
            "tags": ["license:mit"],
        }
        made.card = b"# Tiny\n\x1b[2JHello"
        monkeypatch.setenv("HF_ENDPOINT", made.endpoint)
        yield made


def test_a_repository_is_shown_with_its_files_by_quantisation(line: CommandLine, hub: LoopbackHub) -> None:
    assert line.run("models", "show", hub.repository, "--card") == 0, line.err
    lines = line.out.splitlines()
    assert (
        lines[0] == hub.repository and "License: mit; terms: to accept on its page, then authors answer" in line.out
    )
    rows = [row.split() for row in lines if row.endswith(".gguf")]
    assert rows[0] == ["F16", "999", "B", "–", "–", "–", "1", "of", "2", "t-F16-00001-of-00002.gguf"]
    assert rows[1] == ["*", "Q8_0", "1.0", "KiB", "8.5", "unknown", "fits", "1", "t-Q8_0.gguf"]
    assert rows[2][:2] == ["F16", "(projector)"] and rows[2][-4:-2] == ["–", "–"]
    assert "* The largest that fits on this machine" in line.out
    assert "judged as a dense model: a mixture of experts would be quicker" in line.out, "its files are none"
    assert lines[-2:] == ["# Tiny", "[2JHello"] and "\x1b" not in line.out


def test_a_repository_as_json_and_offline(
    line: CommandLine, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert line.run("models", "show", hub.repository, "--json") == 0, line.err
    (told,) = line.lines()
    assert told["repository"]["id"] == hub.repository and told["card"]["text"] == "# Tiny\n[2JHello"
    best = told["quantisations"][1]
    assert told["recommended"] == best["files"][0]["path"] and told["recommended_reason"].startswith("The largest")
    assert told["recommended_note"].startswith("Its header could not be read")
    assert (best["verdict"], best["state"], best["expected_loss"]) == ("fits", None, None) and best["verdict_reason"]
    assert [each["name"] for each in told["quantisations"]] == ["F16", "Q8_0", "F16"] and told["problem"] is None
    monkeypatch.setenv("TOKENLIGHT_OFFLINE", "1")
    assert line.run("models", "show", hub.repository) == 0
    assert line.out.startswith("Read 1 second ago. Now: Tokenlight is offline")


def test_a_long_name_keeps_the_table_within_the_screen_and_is_whole_for_a_program() -> None:
    rows = [("*", "Q4_K_M", f"folder/{'x' * 90}-Q4_K_M.gguf"), ("", "Q8_0", "short.gguf")]
    narrow = table.table(("", "Quantisation", "File"), rows, 60)
    assert max(map(len, narrow)) <= 60 and narrow[1].endswith("x-Q4_K_M.gguf") and "…" in narrow[1]
    assert narrow[2].endswith("short.gguf")
    assert rows[0][2] in table.table(("", "Quantisation", "File"), rows)[1]


def test_a_file_that_cannot_be_read_is_counted(line: CommandLine, hub: LoopbackHub) -> None:
    hub.pointers["t-Q8_0.gguf"] = {"size": "much"}
    assert line.run("models", "show", hub.repository) == 0, line.err
    assert "Q8_0" not in line.out and "1 entry of the hub's answer could not be read" in line.out
    assert line.run("models", "show", hub.repository, "--json") == 0 and line.lines()[-1]["unread"] == 1


def test_what_is_empty_or_no_repository(line: CommandLine, hub: LoopbackHub) -> None:
    hub.files, hub.card = {}, None
    assert line.run("models", "show", hub.repository, "--card") == 0
    assert "holds no GGUF file" in line.out and line.out.endswith("It has no card.\n")
    assert line.run("models", "show", "nothing") == ExitCode.WRONG_USE
    assert "type ORG/REPO" in line.err


def test_what_a_repository_says_of_itself_floods_no_terminal(line: CommandLine, hub: LoopbackHub) -> None:
    long = "l\x1b" * 10_000
    name = "n" * 500 + "-Q4_0.gguf"
    hub.files[name] = b"x" * 10
    hub.info |= {"gguf": {"total": 1000, "architecture": long}, "tags": [f"license:{long}"]}
    assert line.run("models", "show", hub.repository) == 0, line.err
    assert "(510 characters)" in line.out and "\x1b" not in line.out
    assert max(map(len, line.out.splitlines())) < 4 * table.MOST_CELL
