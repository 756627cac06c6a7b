"""Time by operation, on request: the button with what it costs, how far it is, and two stacked bars with their table."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from app.core.operations import OperationsTimed, OperationTime
from app.gui import theme
from app.gui.inside.pass_row import PassRow, cost_words, progress_of_another, progress_words
from app.gui.inside.timing.operation_words import (
    bar_words,
    key_of,
    kind_words,
    note_words,
    share_words,
    shares,
    tensor_core_words,
)
from app.gui.inside.timing.operations_bar import NumberedPart, NumberSwatch, OperationsBar
from app.gui.widgets.gauge import lightness_step
from app.gui.widgets.labels import label
from app.gui.widgets.words import render, set_hint
from app.services.attention_cost import AttentionCost
from app.services.operations import Operations
from app.services.units import count

_HUES = ("stage_decode", "stage_prefill")
_STEPS = (2, 6, 4, 5, 3, 1, 0)
"""The longest has the hue of its stage itself; those behind it are ever further from it."""


class OperationsPanel(QWidget):
    """Follows the service."""

    result_came = Signal()
    """What somebody asked for here is shown: it needs room below the button."""

    def __init__(self, operations: Operations, themes: theme.Themes) -> None:
        super().__init__()
        self.setObjectName("operations_panel")
        self._operations = operations
        self._themes = themes
        self._shown: OperationsTimed | None = None
        self._awaits = False
        """Whether somebody clicked here, and what came of it is not known yet."""
        self._rows: list[QWidget] = []
        self._swatches: list[tuple[NumberSwatch, int, int]] = []
        """With the hue and the step of it."""
        self.title = label(self.tr("Time by operation"), bold=True, name="operations_title")
        self._row = row = PassRow("operations", self.tr("How many tokens were read"))
        self.ask, self.progress, self.cancel, self.said = row.ask, row.progress, row.cancel, row.said
        self.found = QWidget()
        self.bars = tuple(OperationsBar(f"operations_{name}", themes) for name in ("decode", "prefill"))
        self._names = (label(), label())
        self._table = QGridLayout()
        self.note = label(look="muted", pixels=theme.SMALL_PX, name="operations_note")
        self.note.setWordWrap(True)
        self.cores = label(look="muted", pixels=theme.SMALL_PX, name="operations_tensor_cores")
        self.cores.setWordWrap(True)
        self._lay_out()
        self.ask.clicked.connect(lambda _checked=False: self._begin())
        self.cancel.clicked.connect(lambda _checked=False: operations.cancel())
        themes.changed.connect(self._colour)
        self._disconnect = operations.changed.connect(self.show_known)
        self.show_known()

    def disconnect_services(self) -> None:
        """Listen to the service no longer."""
        self._disconnect()

    def show_known(self) -> None:
        """Show what can be done, what goes on, what came of it, or why neither."""
        service, before = self._operations, self._shown
        found, progress = service.found, service.progress
        is_open = progress is not None
        refusal = service.hindrance if not is_open else None
        self.ask.setText(self.tr("Take one step apart") if found is None else self.tr("Take it apart again"))
        self.ask.setEnabled(refusal is None)
        self._row.show_state(progress, asks=True)
        cost = service.cost
        set_hint(self.ask, self._hint(cost))
        if progress is not None:
            said = self._progress_words(*progress)
        elif (problem := refusal or service.problem) is not None:
            said = render(problem)
        else:
            said = cost_words(cost)
        self.said.setText(said)
        self._show_found(found)
        if self._awaits and not is_open:
            self._awaits = False
            if found is not None and found is not before:
                self.result_came.emit()

    def _begin(self) -> None:
        self._awaits = self._operations.begin()

    def _lay_out(self) -> None:
        inner = QVBoxLayout(self.found)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(theme.SPACE_XS)
        for name, bar in zip(self._names, self.bars, strict=True):
            inner.addWidget(name)
            inner.addWidget(bar)
        self._table.setHorizontalSpacing(theme.SPACE_M)
        self._table.setVerticalSpacing(theme.SPACE_XS)
        self._table.setColumnStretch(5, 1)
        inner.addSpacing(theme.SPACE_S)
        inner.addLayout(self._table)
        inner.addSpacing(theme.SPACE_S)
        inner.addWidget(self.note)
        inner.addWidget(self.cores)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, theme.SPACE_M, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self.title)
        column.addLayout(self._row)
        column.addWidget(self.found)

    def _hint(self, cost: AttentionCost | None) -> str:
        hint = self.tr(
            "Compute one decode step and many tokens at once, as in a prefill, once more, operation by operation. A second context is "
            "made for it beside the chat's, which stays as it is, and is given back afterwards."
        )
        return f"{hint}\n{cost_words(cost)}" if cost is not None else hint

    def _progress_words(self, done: int, total: int) -> str:
        if not self._operations.is_of_another:
            return progress_words(done, total)
        return progress_of_another(done, total)

    def _show_found(self, found: OperationsTimed | None) -> None:
        gpu = self._operations.tensor_cores_of if found is not None else ""
        self.cores.setText(tensor_core_words(found, gpu) if found is not None and gpu else "")
        self.cores.setVisible(bool(gpu))
        if found is self._shown and found is not None:
            return
        self._shown = found
        self.found.setVisible(found is not None)
        for gone in self._rows:
            self._table.removeWidget(gone)
            gone.hide()
            gone.deleteLater()
        self._rows, self._swatches = [], []
        if found is None:
            return
        titles = (self.tr("One decode step"), self.tr("{tokens} tokens at once, as in a prefill"))
        named = (titles[0], titles[1].format(tokens=count(found.chunk)))
        for bar, name, title, times in zip(self.bars, self._names, named, (found.decode, found.prefill), strict=True):
            name.setText(title)
            words = bar_words(title, times)
            bar.setAccessibleName(words)
            set_hint(bar, words)
        self._fill_table(found)
        self.note.setText(note_words(found))
        self._colour()

    def _fill_table(self, found: OperationsTimed) -> None:
        kinds = _kinds(found)
        columns = (shares(found.decode), shares(found.prefill))
        for column, words in enumerate((self.tr("Decode"), self.tr("Prefill")), 1):
            self._put(label(words, look="muted", pixels=theme.SMALL_PX), 0, 2 * column)
        for row, each in enumerate(kinds, 1):
            words = kind_words(each)
            name = label(words)
            name.setObjectName(f"operation_{row}")
            said = [share_words(found_in.get(key_of(each))) for found_in in columns]
            name.setAccessibleName(
                self.tr("{kind}: {decode} of a decode step, {prefill} of a prefill").format(
                    kind=words, decode=said[0], prefill=said[1]
                )
            )
            self._put(name, row, 0)
            for column, share in enumerate(said):
                swatch = NumberSwatch(row, self._themes)
                self._swatches.append((swatch, column, row - 1))
                self._put(swatch, row, 2 * column + 1)
                self._put(label(share), row, 2 * column + 2)

    def _put(self, widget: QWidget, row: int, column: int) -> None:
        self._rows.append(widget)
        side = Qt.AlignmentFlag.AlignRight if isinstance(widget, QLabel) and column else Qt.AlignmentFlag(0)
        self._table.addWidget(widget, row, column, side)

    def _colour(self) -> None:
        found, look = self._shown, self._themes.current
        if found is None:
            return
        places = {key_of(each): place for place, each in enumerate(_kinds(found))}
        for bar, hue, times in zip(self.bars, _HUES, (found.decode, found.prefill), strict=True):
            bar.show_parts(
                [
                    NumberedPart(share, places[key] + 1, _shade(look, hue, places[key]), _pattern(places[key]))
                    for key, share in shares(times).items()
                ]
            )
        for swatch, column, step in self._swatches:
            swatch.show_colour(_shade(look, _HUES[column], step), _pattern(step))


def _shade(look: theme.Theme, hue: str, place: int) -> QColor:
    step = _STEPS[place % len(_STEPS)]
    return lightness_step(look.colour(hue), step, look.colour("text"), look.colour("surface"))


def _pattern(place: int) -> int:
    """Return which lines lie over the shade: there are fewer shades than a model may have kinds."""
    return place // len(_STEPS)


def _kinds(found: OperationsTimed) -> list[OperationTime]:
    """Return the kinds of both, those of the step first, the longest of them first."""
    seen = {key_of(each) for each in found.decode}
    return [*found.decode, *(each for each in found.prefill if key_of(each) not in seen)]
