"""What the commands run: pytest's arguments, the checks, and what tidying removes."""

from __future__ import annotations

from pathlib import Path

import pytest

from devtools import tasks
from devtools.layout import Layout
from devtools.tasks import checks, clean, pytest_arguments


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(tmp_path / "checkout", tmp_path / "cache", windows=False)
    for name in ("app/core/__pycache__", "tests", "models", ".git/objects/__pycache__", ".venv/bin"):
        (layout.root / name).mkdir(parents=True)
    return layout


def test_the_fast_tests_are_spread_over_the_cores() -> None:
    assert pytest_arguments(2, everything=False, arguments=[]) == [
        "-n",
        "2",
        "--dist",
        "loadfile",
        "--no-loadscope-reorder",
    ]
    assert pytest_arguments(32, everything=False, arguments=[])[:2] == ["-n", "4"]
    assert pytest_arguments(1, everything=False, arguments=[]) == []


def test_all_brings_the_slow_ones_and_what_people_add_comes_last() -> None:
    chosen = pytest_arguments(2, everything=True, arguments=["-k", "cancel", "-n0"])
    assert chosen[-5:] == ["-m", "slow or not slow", "-k", "cancel", "-n0"]


@pytest.mark.parametrize("argument", ["--pdb", "-s", "--trace"])
def test_a_debugger_gets_the_terminal_for_itself(argument: str) -> None:
    assert pytest_arguments(8, everything=False, arguments=[argument]) == [argument]


def test_lint_covers_style_types_and_contracts(layout: Layout) -> None:
    found = checks(layout)
    assert list(found) == ["ruff check", "ruff format", "mypy", "import contracts"]
    assert found["mypy"][-2:] == ["app", "tests"]


def test_every_check_runs_also_after_one_has_failed(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[str] = []

    def attached(command: list[str], cwd: Path) -> int:
        ran.append(" ".join(command))
        return 1 if "ruff" in command else 0

    monkeypatch.setattr(tasks, "attached", attached)
    assert tasks.lint(layout) == 1
    assert len(ran) == 4
    assert "Not clean: ruff check and ruff format." in capsys.readouterr().err
    monkeypatch.setattr(tasks, "attached", lambda command, cwd: 0)
    assert tasks.lint(layout) == 0


def test_the_application_opens_on_the_starter_model_or_on_what_people_name(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []
    monkeypatch.chdir(tmp_path)
    Path("my.gguf").touch()

    def replace_with(command: list[str | Path], cwd: Path) -> int:
        ran.append([str(part) for part in command])
        return 0

    monkeypatch.setattr(tasks, "replace_with", replace_with)
    tasks.run(layout, [])
    tasks.run(layout, ["ask", "Hello"])
    tasks.bench(layout, ["--json"])
    tasks.run(layout, ["my.gguf"])
    tasks.run(layout, ["ask", "Why? " * 1000])
    python = str(layout.python)
    assert ran[0] == [python, "-m", "app", str(layout.models / "SmolLM2-135M-Instruct.Q4_1.gguf")]
    assert ran[1] == [python, "-m", "app", "ask", "Hello"]
    assert ran[3] == [python, "-m", "app", str(tmp_path / "my.gguf")]
    assert ran[2] == [python, "-m", "app", "bench", "--json"]
    assert ran[4] == [python, "-m", "app", "ask", "Why? " * 1000]


def test_what_people_add_to_the_tests_reaches_pytest_in_its_order(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []

    def attached(command: list[str | Path], cwd: Path) -> int:
        ran.append([str(part) for part in command])
        return 5

    monkeypatch.setattr(tasks, "attached", attached)
    assert tasks.test(layout, everything=False, arguments=["tests/core", "-k", "a or b"]) == 5
    assert ran[0][:3] == [str(layout.python), "-m", "pytest"]
    assert ran[0][-3:] == ["tests/core", "-k", "a or b"]


def test_cleaning_keeps_models_and_everything_of_git(layout: Layout) -> None:
    for name in (
        "models/a.gguf",
        "models/a.partial",
        "app/core/x.py",
        ".mypy_cache/x",
        "tokenlight.egg-info/x",
    ):
        path = layout.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert clean(layout, models=False) == 0
    left = sorted(str(path.relative_to(layout.root).as_posix()) for path in layout.root.rglob("*") if path.is_file())
    assert left == ["app/core/x.py", "models/a.gguf"]
    assert (layout.root / ".git" / "objects" / "__pycache__").is_dir()
    assert not layout.venv.exists()
    assert not (layout.root / "app" / "core" / "__pycache__").exists()


def test_cleaning_removes_models_when_told_and_works_on_a_clean_checkout(layout: Layout) -> None:
    (layout.models / "a.gguf").touch()
    clean(layout, models=True)
    assert list(layout.models.iterdir()) == []
    assert clean(layout, models=True) == 0


@pytest.mark.parametrize(
    ("words", "absolute"),
    [(["ask", "notes"], []), (["ask", "notes", "--model", "notes"], [3]), (["My.GGUF"], [0]), (["other.gguf"], [])],
)
def test_only_a_model_that_is_there_gets_its_whole_path(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], absolute: list[int]
) -> None:
    for name in ("notes", "My.GGUF"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    started: list[str] = []

    def replace_with(command: list[str | Path], _cwd: Path) -> int:
        started.extend(map(str, command))
        return 0

    monkeypatch.setattr(tasks, "replace_with", replace_with)
    tasks.run(layout, words)
    expected = [str(tmp_path / word) if index in absolute else word for index, word in enumerate(words)]
    assert started[-len(words) :] == expected
