from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.errors import ExitCode, UserError
from tests.cli.conftest import CommandLine
from tests.desk import Desk
from tests.hub.loopback_hub import LoopbackHub

FOUND: list[dict[str, object]] = [
    {"id": "org/tiny-GGUF", "downloads": 1200, "gated": False, "lastModified": "2026-03-04T05:06:07.000Z"},
    {"id": "org/asks-GGUF", "gated": "auto", "tags": ["license:a\x1b[2Jb"], "gguf": {"total": 1_100_000_000}},
]


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    for name in ("http_proxy", "HTTP_PROXY", "TOKENLIGHT_OFFLINE", "HF_HUB_OFFLINE", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with LoopbackHub({}) as made:
        made.found = FOUND
        monkeypatch.setenv("HF_ENDPOINT", made.endpoint)
        yield made


def test_a_search_is_a_table_with_dashes_for_what_is_not_told(line: CommandLine, hub: LoopbackHub) -> None:
    assert line.run("models", "search", "tiny", "--sort", "likes", "--limit", "5") == 0, line.err
    head, tiny, asks = line.out.splitlines()
    assert head.split()[0] == "Repository"
    assert tiny.split() == ["org/tiny-GGUF", "1,200", "–", "2026-03-04", "–", "–", "–", "–", "none"]
    assert asks.startswith("org/asks-GGUF") and asks.endswith("to accept") and "\x1b" not in asks
    assert "sort=likes" in hub.asked[0][1] and "limit=5" in hub.asked[0][1]


@pytest.mark.parametrize("words", [("models", "search", "tiny", "--json"), ("models", "--json", "search", "tiny")])
def test_a_search_as_json(line: CommandLine, hub: LoopbackHub, words: tuple[str, ...]) -> None:
    assert line.run(*words) == 0, line.err
    (found,) = line.lines()
    assert [each["id"] for each in found["repositories"]] == ["org/tiny-GGUF", "org/asks-GGUF"]
    assert found["age_s"] == 0 and found["problem"] is None


def test_offline_the_same_search_says_how_old_it_is(
    line: CommandLine, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    line.run("models", "search", "tiny")
    monkeypatch.setenv("TOKENLIGHT_OFFLINE", "1")
    assert line.run("models", "search", "tiny") == 0, line.err
    assert line.out.startswith("Found 1 second ago. Now: Tokenlight is offline") and "org/tiny-GGUF" in line.out
    assert line.run("models", "search", "new") != 0
    assert "offline" in line.err and not line.out


def test_with_the_switch_in_the_settings_nothing_is_asked_and_that_is_said(
    line: CommandLine, hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line.desk.program.paths.settings_file.parent.mkdir(parents=True, exist_ok=True)
    line.desk.program.paths.settings_file.write_text('{"offline": true}')
    line.desk = Desk(tmp_path / "home", monkeypatch)  # a later start, which reads them
    assert line.run("models", "search", "tiny") != 0
    assert "offline because “Stay offline” is on: turn it off in the preferences" in line.err
    assert hub.asked == [] and not line.out
    line.desk.program.stop()


def test_what_is_not_found_and_what_is_not_said(line: CommandLine, hub: LoopbackHub) -> None:
    hub.found = []
    assert line.run("models", "search", "nothing") == 0
    assert line.out == "No model was found: try a shorter name.\n"
    assert line.run("models", "search", " ") == ExitCode.WRONG_USE
    assert "such as qwen" in line.err


def test_a_search_is_narrowed_by_license_language_kind_and_size(line: CommandLine, hub: LoopbackHub) -> None:
    hub.found = [
        {"id": f"org/n-{at}", "gguf": {"total": size, "architecture": "qwen3"}}
        for at, size in enumerate((600_000_000, 4_000_000_000, 4_100_000_000, 8_000_000_000))
    ]
    words = ("models", "search", "n", "--json", "--limit", "1", "--at-least", "0.7b", "--at-most", "4.1 B")
    assert line.run(*words, "--kind", "Qwen3", "--license", "mit", "--language", "de") == 0, line.err
    (found,) = line.lines()
    assert [each["id"] for each in found["repositories"]] == ["org/n-1"]
    assert "filter=license%3Amit&filter=de" in hub.asked[0][1]


def test_what_the_filters_leave_nothing_of_says_where_it_looked(line: CommandLine, hub: LoopbackHub) -> None:
    hub.page_entries = 1
    hub.found = FOUND * 9
    assert line.run("models", "search", "n", "--kind", "none") == 0
    assert line.out == "No model was found among the first: ask for less, or name more of it.\n"


@pytest.mark.parametrize("typed", ["4", "B", "-4B", "4K", "1e3B", "4 billion", "٤B", "9" * 9 + "B"])
def test_a_size_that_is_none_is_told(line: CommandLine, typed: str) -> None:
    with pytest.raises(UserError, match="takes a size such as 500M or 4B"):
        line.run("models", "search", "n", f"--at-most={typed}")
