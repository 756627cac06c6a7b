"""The figures of all lanes as a table that is sorted by any of them: a row a lane. Knows no widget and draws nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from app.core.comparison import LETTERS
from app.gui import theme
from app.gui.widgets.words import hint_of, render
from app.services.lane_analysis import Analysis, LaneFigures
from app.services.units import UNKNOWN, count, stop_words

VALUE_ROLE, LANE_ROLE = int(Qt.ItemDataRole.UserRole), int(Qt.ItemDataRole.UserRole) + 1
_Index = QModelIndex | QPersistentModelIndex
_Figures = Callable[[LaneFigures], float | None]


class Column(NamedTuple):
    """One figure of every lane."""

    title: str
    hint: str
    value: _Figures
    shown: Callable[[float], str]
    """With as many decimals in every row, so that digits stand below each other."""


class FiguresModel(QAbstractTableModel):
    """Rows in the order that people chose; the first column is the lane's letter and name."""

    def __init__(self) -> None:
        super().__init__()
        self._lanes: list[tuple[int, str, LaneFigures]] = []
        self._interrupted: set[int] = set()
        """Lanes that did not come to an end."""
        self._is_whole = True
        self._baseline = 0
        self._sorted: tuple[int, Qt.SortOrder] = (0, Qt.SortOrder.AscendingOrder)
        self.columns = self._make_columns()
        """All but the first and the last one."""

    @property
    def lanes(self) -> list[int]:
        """Indices of the lanes, in the order that they are shown in."""
        return [lane for lane, _name, _figures in self._lanes]

    def show_analysis(self, analysis: Analysis | None, names: Sequence[tuple[int, str]]) -> None:
        """Show the figures of lanes, each with its name; before there is an analysis nothing is known of them."""
        self.beginResetModel()
        unknown = LaneFigures(0, 0)
        self._lanes = []
        self._interrupted.clear()
        for lane, name in names:
            found = analysis.lane(lane) if analysis is not None else None
            if found is not None and not found.is_open and found.figures.stop_reason is None:
                self._interrupted.add(lane)
            self._lanes.append((lane, name, found.figures if found is not None else unknown))
        self._is_whole = analysis is not None and analysis.is_whole
        self._baseline = analysis.baseline if analysis is not None else -1
        self._sort()
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008  Qt's own default
        """Return how many lanes there are."""
        return 0 if parent.isValid() else len(self._lanes)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008  Qt's own default
        """Return how many columns there are."""
        return 0 if parent.isValid() else len(self.columns) + 2

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> object:
        """Return the title of a column and what it means."""
        if orientation is Qt.Orientation.Vertical:
            return None
        titles = [self.tr("Lane"), *(each.title for each in self.columns), self.tr("Ended")]
        hints = ["", *(each.hint for each in self.columns), self.tr("Why the lane ended")]
        if role == Qt.ItemDataRole.DisplayRole:
            return titles[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return hint_of(hints[section])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if 0 < section <= len(self.columns) else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: _Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """Return what a cell shows, says or is worth."""
        lane, _name, figures = self._lanes[index.row()]
        place = index.column()
        if role == LANE_ROLE:
            return lane
        if role == Qt.ItemDataRole.FontRole:
            return theme.font(theme.SMALL_PX, bold=place == 0)
        if role == VALUE_ROLE:
            return self.value(figures, place)
        if role == Qt.ItemDataRole.DisplayRole:
            return self._shown(index.row(), place)
        if role == Qt.ItemDataRole.ToolTipRole:
            return hint_of(self._hint(index.row(), place))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            title = self.headerData(place, Qt.Orientation.Horizontal)
            return f"{title}: {self._shown(index.row(), place)}"
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Show the lanes in the order of a column; what is not known comes last."""
        self.layoutAboutToBeChanged.emit()
        self._sorted = (column, order)
        self._sort()
        self.layoutChanged.emit()

    def value(self, figures: LaneFigures, place: int) -> float | None:
        """Return a figure as a number; None where it is not known."""
        if not 0 < place <= len(self.columns):
            return None
        found = self.columns[place - 1].value(figures)
        return found if found is not None and math.isfinite(found) else None

    def most(self, place: int) -> float:
        """Return the largest figure of a column, which its longest bar stands for."""
        found = (self.value(figures, place) for _lane, _name, figures in self._lanes)
        return max((abs(each) for each in found if each is not None), default=0.0)

    def _shown(self, row: int, place: int) -> str:
        lane, name, figures = self._lanes[row]
        if place == 0:
            return f"{LETTERS[lane]}  {name}"
        if place > len(self.columns):
            reason = figures.stop_reason
            unfinished = self.tr("interrupted") if lane in self._interrupted else UNKNOWN
            return render(stop_words(reason)) if reason is not None else unfinished
        found = self.value(figures, place)
        return UNKNOWN if found is None else self.columns[place - 1].shown(found)

    def _hint(self, row: int, place: int) -> str:
        lane, name, figures = self._lanes[row]
        if place == 0:
            return name
        if place > len(self.columns):
            is_told = figures.stop_reason is not None or lane in self._interrupted
            return "" if is_told else self.tr("The lane has not ended.")
        if self.value(figures, place) is None:
            return self._reason(figures)
        hint = self.columns[place - 1].hint
        if figures.recorded < figures.length:
            words = self.tr("Of the {recorded} tokens of {length} that were recorded.")
            hint += "\n" + words.format(recorded=count(figures.recorded), length=count(figures.length))
        return hint

    def _reason(self, figures: LaneFigures) -> str:
        """Return why a figure is not known."""
        if not self._is_whole and figures.stop_reason is None:
            return self.tr("It is known once the lane has ended.")
        if not figures.recorded:
            return self.tr("No probabilities were recorded for this lane.")
        return self.tr("The lane has too few tokens for it.")

    def _sort(self) -> None:
        place, order = self._sorted
        is_down = order is Qt.SortOrder.DescendingOrder
        if not 0 < place <= len(self.columns):
            self._lanes.sort(key=lambda each: each[0] if place == 0 else each[2].stop_reason or "", reverse=is_down)
            return
        known = [each for each in self._lanes if self.value(each[2], place) is not None]
        others = [each for each in self._lanes if self.value(each[2], place) is None]
        known.sort(key=lambda each: self.value(each[2], place) or 0.0, reverse=is_down)
        self._lanes = known + others

    def _make_columns(self) -> tuple[Column, ...]:
        return (
            Column(
                self.tr("Tokens"),
                self.tr("How long the answer is, the token that ends it included"),
                lambda each: float(each.length) if each.length else None,
                lambda value: count(int(value)),
            ),
            Column(
                self.tr("Mean log p"),
                self.tr("How likely the model found the tokens, on average: nearer to 0 is likelier"),
                lambda each: each.mean_log_probability,
                lambda value: f"{value:.2f}".replace("-", "−"),
            ),
            Column(
                self.tr("Perplexity"),
                self.tr("Between how many equally likely tokens the model seemed to choose each time"),
                lambda each: each.perplexity,
                lambda value: f"{value:,.2f}",
            ),
            Column(
                self.tr("Entropy"),
                self.tr("How undecided the model was, on average, in nats"),
                lambda each: each.mean_entropy,
                lambda value: f"{value:.2f}",
            ),
            Column(
                self.tr("Repetition"),
                self.tr("Share of the sequences of four tokens that came up before"),
                lambda each: each.repetition,
                lambda value: f"{100 * value:.1f} %",
            ),
            Column(
                self.tr("tok/s"),
                self.tr("Tokens per second while it was written, with all lanes of the wave at once"),
                lambda each: each.tokens_per_s,
                lambda value: f"{value:,.1f}",
            ),
            Column(
                self.tr("p50 ms"),
                self.tr("The usual gap between two tokens, in milliseconds"),
                lambda each: each.itl_p50_ms,
                lambda value: f"{value:,.1f}",
            ),
        )
