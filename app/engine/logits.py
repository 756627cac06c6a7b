"""The row of logits: taken from llama.cpp after a decode and handed to `app.probability` for its facts.

Owns the buffers of one answer; the row itself belongs to llama.cpp and is valid until the next decode.
"""

from __future__ import annotations

from app.core.errors import UserError
from app.core.words import translate
from app.engine.backend import Backend, Row
from app.probability.row import RowFacts, RowReader, UnusableRow


class BrokenLogits(UserError):
    """A row that is no distribution."""

    def __init__(self) -> None:
        super().__init__(
            translate(
                "Engine",
                "The model computed values that are not numbers, so its file is probably damaged. "
                "Download it again or choose another model.",
            )
        )


class Logits:
    """Reads each step's row once."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._reader = RowReader(backend.vocabulary.size)

    def take(self, place: int = -1) -> tuple[Row, RowFacts]:
        """Return a row of the last decode, shape (vocabulary,), and its facts. Raises `BrokenLogits`.

        The facts are good until the next row is taken.
        """
        return self.read(self._backend.logits(place))

    def read(self, row: Row) -> tuple[Row, RowFacts]:
        """Return a row that was kept, and its facts. Raises `BrokenLogits`."""
        try:
            return row, self._reader.read(row)
        except UnusableRow as error:
            raise BrokenLogits from error
