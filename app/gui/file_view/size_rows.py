"""The bars of a chart of sizes as rows: which parts each is made of, and how it is said. Draws nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtCore import QAbstractListModel, QCoreApplication, QModelIndex, QPersistentModelIndex, Qt

from app.core.gguf_view import GgufView, PlaceSize, TypeSize
from app.gui.file_view.chart_looks import LETTERS
from app.gui.widgets.words import hint_of, render
from app.services.units import byte_size, count
from app.services.viewing_words import kind_words, one_line, place_words

translate = QCoreApplication.translate
_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
BAR_ROLE = int(Qt.ItemDataRole.UserRole)
MOST_TYPES = 64
"""Bars of types: no model has so many, and ggml knows no more."""


class Bar(NamedTuple):
    """One bar: how large it is (None is unknown), and its parts by the number of their look."""

    size: int | None
    parts: tuple[tuple[int, int], ...]


class Chart(NamedTuple):
    """All bars, what the looks stand for, and what is said of a bar, which is made when it is seen."""

    bars: tuple[Bar, ...] = ()
    names: tuple[str, ...] = ()
    name_of: Callable[[int], str] = lambda _bar: ""
    said_of: Callable[[int], str] = lambda _bar: ""


def layer_chart(view: GgufView, *, by_type: bool) -> Chart:
    """Return a bar for each layer, made of what its tensors are for, or of their types."""
    totals: Counter[str] = Counter()
    for place in view.places:
        for part in place.parts:
            totals[part.type if by_type else part.kind] += part.size
    order = [name for name, _size in totals.most_common()]
    last = len(LETTERS) - 1
    looks = {name: min(number, last) for number, name in enumerate(order)}
    kinds = {part.kind for place in view.places for part in place.parts}
    words = {str(kind): render(kind_words(kind)) for kind in kinds}
    names = [one_line(name) if by_type else words[name] for name in order]
    if len(names) > len(LETTERS):
        names = [*names[:last], translate("FileView", "Other types")]
    bars = []
    for place in view.places:
        sizes: Counter[int] = Counter()
        for part in place.parts:
            sizes[looks[part.type if by_type else part.kind]] += part.size
        bars.append(Bar(place.size, tuple(sorted(sizes.items()))))
    return Chart(
        tuple(bars),
        tuple(names),
        lambda row: render(place_words(view.places[row])),
        lambda row: _place_said(view.places[row], bars[row].parts, names),
    )


def type_chart(types: Sequence[TypeSize], names: Sequence[str] = ()) -> Chart:
    """Return a bar for each type; those that have a look among `names` keep it."""
    shown = types[:MOST_TYPES]
    last = len(LETTERS) - 1 if names else 0
    bars = []
    for row in shown:
        name = one_line(row.type)
        bars.append(Bar(row.size, ((names.index(name) if name in names else last, row.size or 0),)))
    return Chart(tuple(bars), tuple(names), lambda row: one_line(shown[row].type), lambda row: _type_said(shown[row]))


class SizeRows(QAbstractListModel):
    """Gives a view the bars."""

    def __init__(self) -> None:
        super().__init__()
        self.chart = Chart()
        self.most = 0
        """The largest bar."""

    def show(self, chart: Chart) -> None:
        """Show other bars; where they are as many the one that is chosen stays."""
        is_same = len(chart.bars) == len(self.chart.bars)
        if not is_same:
            self.beginResetModel()
        self.chart = chart
        self.most = max((bar.size or sum(size for _look, size in bar.parts) for bar in chart.bars), default=0)
        if not is_same:
            self.endResetModel()
        elif chart.bars:
            self.dataChanged.emit(self.index(0), self.index(len(chart.bars) - 1))

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        """Return how many bars there are."""
        return 0 if parent.isValid() else len(self.chart.bars)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return what a bar shows and says."""
        bar = self.chart.bars[index.row()]
        match role:
            case _ if role == BAR_ROLE:
                return bar
            case Qt.ItemDataRole.DisplayRole:
                return self.chart.name_of(index.row())
            case Qt.ItemDataRole.AccessibleTextRole:
                return self.chart.said_of(index.row())
            case Qt.ItemDataRole.ToolTipRole:
                return hint_of(self.chart.said_of(index.row()))
        return None


def _place_said(place: PlaceSize, parts: Sequence[tuple[int, int]], names: Sequence[str]) -> str:
    one, several = (
        translate("FileView", "{place}: {size} in 1 tensor"),
        translate("FileView", "{place}: {size} in {count} tensors"),
    )
    words = one if place.tensors == 1 else several
    said = words.format(place=render(place_words(place)), size=byte_size(place.size), count=count(place.tensors))
    shares = [f"{names[look]} {byte_size(size)}" for look, size in sorted(parts, key=lambda part: -part[1])]
    return f"{said}. {', '.join(shares)}" if shares else said


def _type_said(row: TypeSize) -> str:
    one = translate("FileView", "{type}: {size}, {numbers} numbers in 1 tensor")
    several = translate("FileView", "{type}: {size}, {numbers} numbers in {count} tensors")
    words = one if row.tensors == 1 else several
    return words.format(
        type=one_line(row.type), size=byte_size(row.size), numbers=count(row.elements), count=count(row.tensors)
    )
