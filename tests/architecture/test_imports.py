"""What each part loads, seen in a fresh interpreter, and the import contracts of `pyproject.toml`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
QT = ("PySide6", "shiboken6", "pyqtgraph")
NETWORK = ("huggingface_hub", "httpx", "requests", "urllib.request", "http.client")

LIST_LOADED = """
import importlib, json, pkgutil, sys
package = importlib.import_module(sys.argv[1])
for each in pkgutil.walk_packages(getattr(package, "__path__", ()), sys.argv[1] + "."):
    if each.name not in sys.argv[2:]:
        importlib.import_module(each.name)
print(json.dumps(sorted(sys.modules)))
"""


def loaded_by(code: str) -> set[str]:
    """Return all modules that a fresh interpreter has loaded after running a line."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def loaded_with(name: str, *without: str) -> set[str]:
    """Return all modules that a fresh interpreter has loaded after importing a package with all that is in it."""
    done = subprocess.run(
        [sys.executable, "-c", LIST_LOADED, name, *without],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


WAITED_FOR = ("numpy", "pygments", "markdown_it", "pyqtgraph", "llama_cpp", "jinja2", "ziamath")
"""What costs a noticeable part of the start and is needed by the first answer or by a page at the earliest."""


def test_the_window_starts_without_what_only_later_steps_need() -> None:
    loaded = loaded_by("import app.gui.application, app.bootstrap")
    assert "PySide6.QtWidgets" in loaded
    assert sorted(loaded.intersection(WAITED_FOR)) == []


@pytest.mark.parametrize(
    ("package", "forbidden"),
    [
        ("app.core", (*QT, *NETWORK, "numpy", "sqlite3", "llama_cpp", "psutil")),
        ("app.system", (*QT, *NETWORK, "sqlite3", "llama_cpp")),
        ("app.probability", (*QT, *NETWORK, "sqlite3", "llama_cpp", "jinja2", "psutil")),
        ("app.services", (*QT, *NETWORK, "sqlite3", "llama_cpp", "jinja2")),
        ("app.cli", (*QT, *NETWORK, "sqlite3", "llama_cpp", "jinja2")),
        ("app.bootstrap", (*QT, *NETWORK, "sqlite3", "llama_cpp", "jinja2")),
        ("app.hub.hub", (*NETWORK, "threading", "ssl")),
        ("app.hub", (*QT, "sqlite3", "llama_cpp", "jinja2", "numpy", "psutil")),
        ("app.engine.client", (*QT, *NETWORK, "sqlite3", "llama_cpp", "jinja2")),
        ("app.engine", (*QT, *NETWORK, "sqlite3", "psutil", "platformdirs")),
    ],
)
def test_a_part_loads_nothing_that_it_must_not_know(package: str, forbidden: tuple[str, ...]) -> None:
    loaded = loaded_with(package)
    assert package in loaded
    assert sorted(loaded.intersection(forbidden)) == []


def test_the_spawn_target_loads_nothing_of_ours() -> None:
    loaded = loaded_with("app.engine.entry")
    assert sorted(name for name in loaded if name.startswith("app.")) == ["app.engine", "app.engine.entry"]


def test_the_import_contracts_are_kept() -> None:
    scripts = Path(sys.executable).parent
    command = scripts / ("lint-imports.exe" if os.name == "nt" else "lint-imports")
    done = subprocess.run(
        [command, "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout
