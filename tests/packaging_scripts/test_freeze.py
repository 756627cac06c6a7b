"""Freezing: made once, made again when something changed, and never half a folder; PyInstaller itself is not run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from devtools import freeze, frozen_folder, system_libraries
from devtools.console import Problem
from devtools.freeze import Wish, program_file
from devtools.layout import Layout
from devtools.processes import Outcome

PYPROJECT = '[project]\ndependencies = ["numpy", "llama-cpp-python==0.3.36"]\n[build-system]\nrequires = []\n'


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(tmp_path / "checkout", tmp_path / "cache", windows=False)
    for name in ("app/core/version.py", "resources/x.json", "packaging/constraints.txt", "packaging/frozen/start.py"):
        path = layout.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('VERSION = "1.2.3"\n', encoding="utf-8")
    (layout.root / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    return layout


@pytest.fixture
def libraries(tmp_path: Path) -> Path:
    folder = tmp_path / "lib"
    folder.mkdir()
    (folder / "libllama.so.0").write_bytes(b"library")
    return folder


class Builder:
    """Stands for pip, the look for Python's library, and PyInstaller; remembers what it was asked."""

    def __init__(self) -> None:
        self.commands: list[list[str]] = []
        self.environment: Mapping[str, str] = {}
        self.fails = ""

    def logged(
        self,
        command: Sequence[str | Path],
        log: Path,
        on_line: Callable[[str], None],
        environment: Mapping[str, str] | None = None,
    ) -> Outcome:
        words = [str(word) for word in command]
        self.commands.append(words)
        if self.fails and self.fails in words:
            return Outcome(1, "line before\nthe reason\n")
        on_line("100 INFO: Processing hook from 'somewhere'")
        if "PyInstaller" in words:
            self.environment = environment or {}
            target = Path(words[words.index("--distpath") + 1]) / "tokenlight"
            target.mkdir(parents=True)
            (target / program_file("tokenlight")).write_text("program")
            work = Path(words[words.index("--workpath") + 1]) / "tokenlight"
            work.mkdir(parents=True)
            (work / program_file("extra")).write_text("program of tests")
        return Outcome(0, "")

    @property
    def builds(self) -> int:
        """How often PyInstaller was run."""
        return sum("PyInstaller" in command for command in self.commands)


@pytest.fixture
def builder(monkeypatch: pytest.MonkeyPatch) -> Builder:
    made = Builder()
    monkeypatch.setattr(freeze, "logged", made.logged)
    monkeypatch.setattr(freeze, "_icon", lambda layout, workshop: workshop / "icon")
    monkeypatch.setattr(frozen_folder, "check", lambda *arguments: None)
    return made


@pytest.fixture
def wish(layout: Layout, libraries: Path) -> Wish:
    return Wish(layout.root / "dist", libraries)


def test_an_unchanged_checkout_is_frozen_once(layout: Layout, wish: Wish, builder: Builder) -> None:
    assert not freeze.is_current(layout, wish)
    assert freeze.ensure(layout, wish) == wish.folder
    assert freeze.ensure(layout, wish) == wish.folder
    assert builder.builds == 1
    assert freeze.is_current(layout, wish)
    assert sorted(path.name for path in wish.output.iterdir()) == ["tokenlight", "tokenlight.stamp"]


@pytest.mark.parametrize(
    "changed",
    ["app/new.py", "resources/x.json", "packaging/frozen/hooks/h.py", "packaging/constraints.txt", "pyproject.toml"],
)
def test_whatever_goes_in_makes_it_anew(layout: Layout, wish: Wish, builder: Builder, changed: str) -> None:
    freeze.ensure(layout, wish)
    path = layout.root / changed
    path.parent.mkdir(exist_ok=True)
    path.write_text(PYPROJECT.replace("numpy", "numpy>=2"), encoding="utf-8")
    assert not freeze.is_current(layout, wish)
    freeze.ensure(layout, wish)
    assert builder.builds == 2


def test_another_library_and_another_program_of_tests_make_it_anew(
    layout: Layout, wish: Wish, builder: Builder, libraries: Path, tmp_path: Path
) -> None:
    freeze.ensure(layout, wish)
    (libraries / "libllama.so.0").write_bytes(b"another")
    freeze.ensure(layout, wish)
    driver = tmp_path / "driver.py"
    driver.write_text("1")
    driven = Wish(wish.output, libraries, driver)
    freeze.ensure(layout, driven)
    assert driven.extra.read_text() == "program of tests"
    driver.write_text("2")
    freeze.ensure(layout, driven)
    assert builder.builds == 4
    assert builder.commands[-1][-2:] == ["--extra-program", str(driver)]


def test_the_plain_build_beside_one_for_a_gpu_comes_along(
    layout: Layout, libraries: Path, builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freeze, "_libraries_of", lambda layout: libraries)
    wish = Wish(layout.root / "dist")
    freeze.ensure(layout, wish)
    assert "--plain-libraries" not in builder.commands[-1]
    plain = layout.venv / "llama_cpu" / "lib"
    plain.mkdir(parents=True)
    (plain / "libllama.so.0").write_bytes(b"plain")
    assert not freeze.is_current(layout, wish)
    freeze.ensure(layout, wish)
    words = builder.commands[-1]
    assert words[words.index("--libraries") + 1] == str(libraries)
    assert words[words.index("--plain-libraries") + 1] == str(plain)


def test_what_nobody_ships_changes_nothing(layout: Layout, wish: Wish, builder: Builder) -> None:
    freeze.ensure(layout, wish)
    (layout.root / "app" / "__pycache__").mkdir()
    (layout.root / "app" / "__pycache__" / "x.pyc").write_bytes(b"x")
    (layout.root / "pyproject.toml").write_text(PYPROJECT + "[tool.ruff]\n", encoding="utf-8")
    freeze.ensure(layout, wish)
    assert builder.builds == 1


def test_a_folder_that_lost_its_program_is_made_anew(layout: Layout, wish: Wish, builder: Builder) -> None:
    freeze.ensure(layout, wish)
    shutil.rmtree(wish.folder)
    freeze.ensure(layout, wish)
    assert builder.builds == 2


def test_a_failure_says_the_reason_and_leaves_nothing_half_done(layout: Layout, wish: Wish, builder: Builder) -> None:
    freeze.ensure(layout, wish)
    (layout.root / "app" / "new.py").touch()
    builder.fails = "PyInstaller"
    with pytest.raises(Problem, match=r"PyInstaller failed \(the reason\)"):
        freeze.ensure(layout, wish)
    assert [path.name for path in wish.output.iterdir()] == ["tokenlight"]
    assert not freeze.is_current(layout, wish)


def test_a_folder_that_does_not_work_is_not_put_in_place(
    layout: Layout, wish: Wish, builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(folder: Path, program: str, says: str, home: Path) -> None:
        raise Problem(f"{program} does not say {says}")

    monkeypatch.setattr(frozen_folder, "check", check)
    with pytest.raises(Problem, match=r"does not say Tokenlight 1\.2\.3"):
        freeze.ensure(layout, wish)
    assert list(wish.output.iterdir()) == []


def test_pyinstaller_is_installed_once_and_apart(layout: Layout, wish: Wish, builder: Builder) -> None:
    freeze.ensure(layout, wish)
    (layout.root / "app" / "new.py").touch()
    freeze.ensure(layout, wish)
    installs = [command for command in builder.commands if "pip" in command]
    assert len(installs) == 1
    assert installs[0][installs[0].index("--only-binary") + 1] == ":all:"
    tools, root, scripts = builder.environment["PYTHONPATH"].split(os.pathsep)
    assert Path(tools).parent == layout.cache
    assert (root, scripts) == (str(layout.root), str(layout.root / "packaging"))


def test_a_failing_installation_of_pyinstaller_is_said_and_tried_again(
    layout: Layout, wish: Wish, builder: Builder
) -> None:
    builder.fails = "pip"
    with pytest.raises(Problem, match="PyInstaller could not be installed"):
        freeze.ensure(layout, wish)
    assert [path.name for path in layout.cache.iterdir() if path.is_dir()] == []
    builder.fails = ""
    freeze.ensure(layout, wish)


def test_a_python_without_its_library_is_said_before_anything_is_made(
    layout: Layout, wish: Wish, builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder.fails = freeze.LIBRARY_OF_PYTHON
    monkeypatch.setattr(system_libraries, "package_manager", lambda: "apt")
    with pytest.raises(Problem, match=r"sudo apt install libpython3\.\d+"):
        freeze.ensure(layout, wish)
    assert builder.builds == 0


def test_people_are_told_whom_the_folder_is_for(
    layout: Layout,
    libraries: Path,
    builder: Builder,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(freeze, "_libraries_of", lambda layout: libraries)
    assert freeze.run(layout, None, None) == 0
    own = capsys.readouterr().out
    assert "For this machine only" in own
    assert str(layout.root / "dist" / "tokenlight") in own
    assert freeze.run(layout, layout.root / "out", libraries) == 0
    assert "For this machine only" not in capsys.readouterr().out
    with pytest.raises(Problem, match="There is no folder"):
        freeze.run(layout, None, libraries / "none")
