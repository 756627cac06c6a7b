"""What a GGUF file holds, and what differs between two: read in a job, whatever the file is for.

Must not know how it is drawn; every reason for seeing nothing is a sentence.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from app.core.errors import UserError
from app.core.gguf_difference import GgufDifference, difference_of
from app.core.gguf_view import GgufView, TensorColumn, named_tensors, sorted_tensors
from app.core.gguf_viewing import read_view
from app.core.job_events import LanesAnalysed
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.latest_job import LatestJob
from app.services.viewed_whole import ViewedTokens, ViewedValue
from app.services.viewing_words import fenced
from app.system.jobs import Jobs
from app.system.model_files import OpenFiles, lost

VIEW_JOB = "model view"


class ViewedFiles(msgspec.Struct, frozen=True):
    """One file, or two beside each other; where one cannot be read, why, and nothing else."""

    paths: tuple[Path, ...] = ()
    views: tuple[GgufView, ...] = ()
    difference: GgufDifference | None = None
    """None where it is one file."""
    templates: tuple[str, ...] = ()
    """Of the first file, each as coloured code in Markdown."""
    problem: Sentence | None = None
    broken: Path | None = None
    """Which of them cannot be read."""


class _Order(msgspec.Struct, frozen=True):
    """How people want tensors to be sorted, and which of them they look for."""

    column: TensorColumn = "file"
    descending: bool = False
    words: str = ""


class ModelViewing:
    """The files that somebody looks at; `changed` follows when they were read, or sorted anew."""

    def __init__(self, jobs: Jobs) -> None:
        self.changed: Signal[()] = Signal()
        """Something else is to be seen, or something is being read."""
        self.value, self.tokens = ViewedValue(jobs), ViewedTokens(jobs)
        """Of the first file what is read only when somebody wants to see all of it."""
        self.shown = ViewedFiles()
        """Of the tensors the views have the order that was wished for."""
        self._paths: tuple[Path, ...] = ()
        self._order = _Order()
        self._read = ViewedFiles()
        """As it was read, in the order of the file."""
        self._job: LatestJob[tuple[ViewedFiles, ViewedFiles]] = LatestJob(jobs, VIEW_JOB, self._take)

    @property
    def is_reading(self) -> bool:
        """Whether what is shown is not yet what was wished for."""
        return self._job.is_busy

    @property
    def order(self) -> tuple[TensorColumn, bool]:
        """What tensors are sorted by, and whether the largest come first."""
        return self._order.column, self._order.descending

    def open(self, path: Path, other: Path | None = None) -> None:
        """Have a file read, or two and what differs between them; files that were read before are read again."""
        self.value.close()
        self.tokens.close()
        self._paths = (path,) if other is None else (path, other)
        self._read = self.shown = ViewedFiles(self._paths)
        self._want()

    def sort(self, column: TensorColumn, *, descending: bool = False) -> None:
        """Have the tensors sorted, also those of files that are opened later."""
        self._arrange(_Order(column, descending, self._order.words))

    def narrow(self, words: str) -> None:
        """Have only those tensors shown whose name or type has these words; also of files that are opened later."""
        self._arrange(msgspec.structs.replace(self._order, words=words))

    def close(self) -> None:
        """Show nothing any more."""
        self.value.close()
        self.tokens.close()
        self._paths, self._read, self.shown = (), ViewedFiles(), ViewedFiles()
        self._job.forget()
        self.changed.emit()

    def take(self, event: LanesAnalysed) -> None:
        """Take in what a job has read."""
        self._job.take(event)
        self.value.take(event)
        self.tokens.take(event)

    def _arrange(self, order: _Order) -> None:
        if order != self._order:
            self._order = order
            if self._paths:
                self._want()

    def _want(self) -> None:
        paths, order, known = self._paths, self._order, self._read

        def work() -> tuple[ViewedFiles, ViewedFiles]:
            read = known if known.views or known.problem else _with_templates(view_files(*paths))
            return read, _in_order(read, order)

        self._job.want(work)
        self.changed.emit()

    def _take(self, result: tuple[ViewedFiles, ViewedFiles] | None) -> None:
        if result is None:
            broke = translate("ModelViewing", "This file could not be shown: the log of the program says why.")
            self._read = self.shown = ViewedFiles(self._paths, problem=broke)
        else:
            self._read, self.shown = result
        self.changed.emit()


def view_files(path: Path, other: Path | None = None) -> ViewedFiles:
    """Read one file, or two and what differs; takes a moment, and never raises for what a file or a disk does."""
    paths = (path,) if other is None else (path, other)
    views = []
    for each in paths:
        try:
            with OpenFiles(each.parent) as files:
                views.append(read_view(each.name, files.open))
        except UserError as error:
            return ViewedFiles(paths, problem=error.sentence, broken=each)
        except OSError as error:
            return ViewedFiles(paths, problem=lost(each, error), broken=each)
    return ViewedFiles(paths, tuple(views), difference_of(*views) if len(views) > 1 else None)


def _with_templates(files: ViewedFiles) -> ViewedFiles:
    made = tuple(fenced(each.text) for view in files.views[:1] for each in view.templates)
    return msgspec.structs.replace(files, templates=made)


def _in_order(files: ViewedFiles, order: _Order) -> ViewedFiles:
    if order == _Order():
        return files
    views = tuple(
        msgspec.structs.replace(
            view,
            tensors=sorted_tensors(
                named_tensors(view.tensors, order.words), order.column, descending=order.descending
            ),
        )
        for view in files.views
    )
    return msgspec.structs.replace(files, views=views)
