"""The commands that run something of a checkout that is set up: the application, tests, checks, benchmarks, tidying.

It must not set anything up.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from devtools import starter_model
from devtools.console import complain, listing, say
from devtools.machine import core_count
from devtools.processes import attached, replace_with

if TYPE_CHECKING:
    from collections.abc import Sequence

    from devtools.layout import Layout

# Engine tests compute on every core, so more workers than this only wait for one another.
MOST_WORKERS = 4
SPREAD = ("--dist", "loadfile", "--no-loadscope-reorder")
"""File by file as they were collected: xdist puts few tests last, and those are the long stories of whole processes."""
NEEDS_THE_TERMINAL = {"--pdb", "--trace", "-s", "--capture=no"}
CACHES = (
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".import_linter_cache",
    ".hypothesis",
    "build",
    "dist",
)
CHECKED = ("app", "packaging", "tests")


def _is_model(word: str, before: str) -> bool:
    """Return whether a word names a model file that is there; a prompt may look like any other file."""
    named = before == "--model" or word.lower().endswith(".gguf")
    return named and os.path.isfile(word)  # noqa: PTH113  pathlib raises for long names


def run(layout: Layout, arguments: Sequence[str]) -> int:
    """Open the application on the starter model, or on what people name."""
    # The application starts in the checkout, so a model named from elsewhere needs its whole path.
    chosen = [
        str(Path(each).absolute()) if _is_model(each, before) else each
        for each, before in zip(arguments, ["", *arguments], strict=False)
    ]
    chosen = chosen or [str(starter_model.path_in(layout))]
    return replace_with([layout.python, "-m", "app", *chosen], layout.root)


def bench(layout: Layout, arguments: Sequence[str]) -> int:
    """Run the benchmarks."""
    return replace_with([layout.python, "-m", "app", "bench", *arguments], layout.root)


def pytest_arguments(cores: int, everything: bool, arguments: Sequence[str]) -> list[str]:
    """Return pytest's arguments; what people add comes last and wins."""
    alone = not NEEDS_THE_TERMINAL.isdisjoint(arguments)
    workers = 1 if alone else min(cores, MOST_WORKERS)
    spread = ["-n", str(workers), *SPREAD] if workers > 1 else []
    return [*spread, *(["-m", "slow or not slow"] if everything else []), *arguments]


def test(layout: Layout, everything: bool, arguments: Sequence[str]) -> int:
    """Run the fast tests, or all of them."""
    chosen = pytest_arguments(core_count(), everything, arguments)
    return attached([layout.python, "-m", "pytest", *chosen], layout.root)


def checks(layout: Layout) -> dict[str, list[str]]:
    """Return the checks of `lint` by name."""
    python, folders = str(layout.python), [name for name in CHECKED if (layout.root / name).is_dir()]
    return {
        "ruff check": [python, "-m", "ruff", "check", "."],
        "ruff format": [python, "-m", "ruff", "format", "--check", "."],
        "mypy": [python, "-m", "mypy", *folders],
        "import contracts": [str(layout.scripts / "lint-imports"), "--no-logo"],
    }


def lint(layout: Layout) -> int:
    """Run every check, also after one has failed, and name those that did."""
    failed = []
    for name, command in checks(layout).items():
        say(f"- {name}")
        if attached(command, layout.root) != 0:
            failed.append(name)
    if failed:
        complain(f"Not clean: {listing(failed)}.")
        return 1
    return 0


def clean(layout: Layout, models: bool) -> int:
    """Remove what the set-up and the tools left in the checkout; the shared cache stays."""
    targets = [layout.venv, *(layout.root / name for name in CACHES), *layout.root.glob("*.egg-info")]
    for folder, names, _ in os.walk(layout.root):
        names[:] = [name for name in names if name not in (".git", ".venv")]
        targets += [layout.root / folder / name for name in names if name == "__pycache__"]
    targets += [*layout.models.glob("*.partial"), *(layout.models.glob("*.gguf") if models else ())]
    removed = [path for path in targets if path.exists()]
    for path in removed:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    say(f"Removed {len(removed)} files and folders. Builds of llama.cpp stay in {layout.cache}.")
    return 0
