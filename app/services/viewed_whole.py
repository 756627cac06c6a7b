"""What is too long to be shown at once of a file that somebody looks at: one entry in full, and its tokens to search.

Both are read in jobs when somebody asks; a reason for seeing nothing is a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from app.core.errors import UserError
from app.core.gguf_whole import TokenTable, WholeValue, token_table, whole_value
from app.core.job_events import LanesAnalysed
from app.core.model_file import OpenFile
from app.core.printable import printable
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.latest_job import LatestJob
from app.system.jobs import Jobs
from app.system.model_files import OpenFiles, lost

VALUE_JOB, TOKENS_JOB = "model entry", "model tokens"
T = TypeVar("T")


class ShownValue(msgspec.Struct, frozen=True):
    """An entry in full, or why it cannot be read."""

    key: str
    whole: WholeValue | None = None
    """None while it is read, and where there is a problem."""
    shown: str = ""
    """The same, and nothing in it turns the text around or hides."""
    problem: Sentence | None = None


class ShownTokens(msgspec.Struct, frozen=True):
    """The tokens that were looked for."""

    table: TokenTable = TokenTable()
    rows: Sequence[int] = ()
    """Which of them, by their ids."""
    problem: Sentence | None = None


class ViewedValue:
    """The entry that somebody wants to see all of; `changed` follows when it was read."""

    def __init__(self, jobs: Jobs) -> None:
        self.changed: Signal[()] = Signal()
        """It was read, or could not be."""
        self.shown = ShownValue("")
        self._job: LatestJob[ShownValue] = LatestJob(jobs, VALUE_JOB, self._take)

    def open(self, path: Path, key: str) -> None:
        """Have an entry read."""
        self.shown = ShownValue(key)

        def work() -> ShownValue:
            whole, problem = _read(path, lambda name, open_file: whole_value(name, open_file, key))
            shown = (
                "\n".join(printable(line.replace("\t", "    ")) for line in whole.text.splitlines()) if whole else ""
            )
            return ShownValue(key, whole, shown, problem)

        self._job.want(work)

    def close(self) -> None:
        """Want nothing any more."""
        self.shown = ShownValue("")
        self._job.forget()

    def take(self, event: LanesAnalysed) -> None:
        """Take in what a job has read."""
        self._job.take(event)

    def _take(self, result: ShownValue | None) -> None:
        self.shown = ShownValue(self.shown.key, problem=_broke()) if result is None else result
        self.changed.emit()


class ViewedTokens:
    """The vocabulary of the file that is looked at; `changed` follows when other tokens are to be seen."""

    def __init__(self, jobs: Jobs) -> None:
        self.changed: Signal[()] = Signal()
        """Other tokens are shown, or something is being read."""
        self.shown = ShownTokens()
        self._path: Path | None = None
        self._words = ""
        self._job: LatestJob[ShownTokens] = LatestJob(jobs, TOKENS_JOB, self._take)

    @property
    def is_reading(self) -> bool:
        """Whether what is shown is not yet what was wished for."""
        return self._job.is_busy

    def open(self, path: Path) -> None:
        """Have the vocabulary of a file read, unless that is done already."""
        if path != self._path:
            self._path, self.shown = path, ShownTokens()
            self._want()

    def search(self, words: str) -> None:
        """Have only those tokens shown that these words are in, or whose number they are."""
        if words != self._words:
            self._words = words
            if self._path is not None:
                self._want()

    def close(self) -> None:
        """Forget it all."""
        self._path, self.shown, self._words = None, ShownTokens(), ""
        self._job.forget()

    def take(self, event: LanesAnalysed) -> None:
        """Take in what a job has found."""
        self._job.take(event)

    def _want(self) -> None:
        path, words, known = self._path, self._words, self.shown
        assert path is not None

        def work() -> ShownTokens:
            table, problem = known.table, known.problem
            if not table.texts and problem is None:
                read, problem = _read(path, token_table)
                table = read or TokenTable()
            return ShownTokens(table, _found(table, words), problem)

        self._job.want(work)
        self.changed.emit()

    def _take(self, result: ShownTokens | None) -> None:
        self.shown = ShownTokens(problem=_broke()) if result is None else result
        self.changed.emit()


def _found(table: TokenTable, words: str) -> Sequence[int]:
    """Return which tokens have the words in them, whatever their case; the one whose number it is comes first."""
    if not words:
        return range(len(table.texts))
    wanted = words.casefold()
    found = [number for number, text in enumerate(table.texts) if wanted in text.casefold()]
    number = int(words) if words.isascii() and words.isdecimal() and len(words) < 10 else -1
    if 0 <= number < len(table.texts):
        return [number, *(each for each in found if each != number)]
    return found


def _read(path: Path, read: Callable[[str, OpenFile], T]) -> tuple[T | None, Sentence | None]:
    try:
        with OpenFiles(path.parent) as files:
            return read(path.name, files.open), None
    except UserError as error:
        return None, error.sentence
    except OSError as error:
        return None, lost(path, error)


def _broke() -> Sentence:
    return translate("ModelViewing", "This file could not be shown: the log of the program says why.")
