"""Our own folder with a model in it, and what somebody does to the models there."""

from __future__ import annotations

from pathlib import Path

from app.core.model import FoundModel
from app.services.library_files import LibraryFiles
from tests.desk import Desk


def found(desk: Desk, name: str) -> FoundModel:
    """Search, and return the model of a file."""
    models = desk.program.models
    models.refresh()
    desk.until(lambda: any(Path(each.path).name == name and each.is_read for each in models.found))
    return next(each for each in models.found if Path(each.path).name == name)


def begin(desk: Desk, name: str = "apple.gguf") -> FoundModel:
    """Look at a model as a dialog does."""
    model = found(desk, name)
    desk.program.library_files.begin(model)
    desk.until(lambda: desk.program.library_files.is_ready)
    return model


def said(files: LibraryFiles, deed: str) -> str:
    return "\n".join(each.english() for each in files.uses("rename" if deed == "rename" else "trash"))


def hindered(files: LibraryFiles) -> str:
    return files.hindrance.english() if files.hindrance is not None else ""


def done(desk: Desk) -> str:
    """Wait for the end of a deed, and return why it came to nothing."""
    files = desk.program.library_files
    desk.until(lambda: not files.is_busy)
    return files.problem.english() if files.problem is not None else ""
