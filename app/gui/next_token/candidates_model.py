"""The candidates as a list that Qt's views and screen readers understand: what each one is called and says.

Knows no service and draws nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QAccessible

from app.gui.widgets.stage_words import cutter_words
from app.gui.widgets.token_words import per_cent, visible
from app.gui.widgets.words import hint_of, render
from app.services.next_token import CandidateRow
from app.services.units import count, stop_words

_Index = QModelIndex | QPersistentModelIndex


class CandidatesModel(QAbstractListModel):
    """A few tokens, most likely first."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[CandidateRow, ...] = ()
        self.can_take = False
        """Whether a token can be chosen: none is drawn yet."""

    @property
    def rows(self) -> tuple[CandidateRow, ...]:
        """All entries, most likely first."""
        return self._rows

    def show_rows(self, rows: Sequence[CandidateRow]) -> None:
        """Show other tokens; whoever stands on an entry stays on it."""
        before, self._rows = len(self._rows), tuple(rows)
        after = len(self._rows)
        if after == before:
            if rows and QAccessible.isActive():  # who only looks sees what is painted; a view would lay out all anew
                self.dataChanged.emit(self.index(0), self.index(after - 1))
            return
        self.beginResetModel()
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008  Qt's own default
        """Return how many tokens are shown."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: _Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """Return a token's text, its sentence for people who cannot see it or point at it, or all of it."""
        row = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self.shown_text(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return hint_of(self.sentence(row))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self.sentence(row)
        return None

    def shown_text(self, row: CandidateRow) -> str:
        """Return what a token says with its white space visible, or its number where nobody knows what it says."""
        if row.is_end:
            return render(stop_words("end"))
        if row.text is None:
            return self.tr("token {number}").format(number=row.token)
        return visible(row.text) or self.tr("(no text)")

    def sentence(self, row: CandidateRow) -> str:
        """Return everything that a row shows, in words."""
        name = self._named(row)
        if row.rank is None:
            return self.tr("{token} was drawn; its figures are known once the answer has ended").format(token=name)
        raw = self.tr("{token}: {raw}\u00a0% raw").format(token=name, raw=per_cent(row.raw))
        if row.after is None:
            became = self.tr("after the chain: not known")
        elif row.cut_by is None:
            became = self.tr("{after}\u00a0% after the chain").format(after=per_cent(row.after))
        else:
            became = self.tr("cut by {stage}").format(stage=cutter_words(row.cut_by))
        parts = [raw, became]
        if row.rank > len(self._rows):
            parts.append(self.tr("rank {rank}").format(rank=count(row.rank)))
        if row.is_drawn:
            parts.append(self.tr("this one was drawn"))
        if self.can_take:
            parts.append(self.tr("a click or Enter chooses it"))
        return ", ".join(parts)

    def _named(self, row: CandidateRow) -> str:
        """Return a token as a sentence names it: in quotation marks what it says, and for an end its raw text too."""
        if row.is_end:
            return f"{self.shown_text(row)} ({visible(row.text)})" if row.text else self.shown_text(row)
        return f"“{self.shown_text(row)}”"

    def rank_text(self, row: CandidateRow) -> str:
        """Return a token's place among all, for a row that does not stand there."""
        return "" if row.rank is None else f"#{count(row.rank)}"

    @property
    def drawn_place(self) -> int | None:
        """Which entry is the token that was drawn; None where nobody knows."""
        return next((place for place, row in enumerate(self._rows) if row.is_drawn), None)
