"""The rows of the library for a list of Qt: nothing is made of a row before it is seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QIcon

from app.core.model import FoundModel
from app.gui.discover.library_words import line_of, problem_of, translate
from app.gui.discover.words import shown
from app.gui.widgets.fit_badge import FitLook, fit_icon, fit_reason, fit_word
from app.gui.widgets.labels import in_parts
from app.gui.widgets.words import hint_of
from app.services.fit_verdict import Fit
from app.services.units import count

_Index = QModelIndex | QPersistentModelIndex


class LibraryRows(QAbstractListModel):
    """Rows keep their places while facts of them become known."""

    def __init__(self, look: FitLook) -> None:
        super().__init__()
        self._look = look
        self._rows: tuple[FoundModel, ...] = ()
        self._loaded = ""
        self._favourites: frozenset[str] = frozenset()
        self._copies: Mapping[str, int] = {}

    def show(
        self,
        rows: tuple[FoundModel, ...],
        loaded: str,
        favourites: frozenset[str] = frozenset(),
        copies: Mapping[str, int] | None = None,
    ) -> None:
        """Show these, of which some are favourites, and some have so many copies, by their path.

        The list is made anew only where other models are in it.
        """
        is_same = [row.path for row in rows] == [row.path for row in self._rows]
        if not is_same:
            self.beginResetModel()
        self._rows, self._loaded, self._favourites, self._copies = rows, loaded, favourites, copies or {}
        if not is_same:
            self.endResetModel()
        else:
            self.fits_changed()

    def fits_changed(self) -> None:
        """Something else is known of the rows."""
        if self._rows:
            self.dataChanged.emit(self.index(0), self.index(len(self._rows) - 1))

    def row_of(self, path: str) -> int | None:
        """Return where a model stands; None where it is not shown."""
        return next((number for number, row in enumerate(self._rows) if row.path == path), None)

    def model_at(self, row: int) -> FoundModel | None:
        """Return the model of a row."""
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def _icon(self, model: FoundModel, fit: Fit | None) -> QIcon:
        """Return the picture of the verdict; without one, that there is something to be read of it."""
        look = self._look.themes.current
        if fit is not None or model.is_usable:
            return fit_icon(fit, self._look.icons, look, on_accent=True)
        return self._look.icons.icon("hint", look.colour("muted"), None, look.colour("on_accent"))

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008  Qt's own signature
        """Return how many there are."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return what a row shows."""
        model = self.model_at(index.row())
        if model is None:
            return None
        fit = self._look.fits.get(model.path) if model.is_usable else None
        word = fit_word(fit) if fit is not None else ""
        facts = line_of(model, is_loaded=model.path == self._loaded, fit=word)
        if copies := self._copies.get(model.path):
            facts.append(translate("Library", "one of {count} copies").format(count=count(copies + 1)))
        match role:
            case Qt.ItemDataRole.DisplayRole:
                name = f"★ {shown(model.name)}" if model.path in self._favourites else shown(model.name)
                return f"{name}\n{in_parts(facts)}"
            case Qt.ItemDataRole.DecorationRole:
                return self._icon(model, fit)
            case Qt.ItemDataRole.ToolTipRole:
                reason = fit_reason(fit) if fit is not None else problem_of(model)
                said = (shown(model.name), " · ".join(facts), model.path, reason)
                return hint_of("\n".join(part for part in said if part))
            case Qt.ItemDataRole.AccessibleTextRole:
                starred = [translate("Library", "favourite")] if model.path in self._favourites else []
                return ". ".join([shown(model.name), *starred, *facts])
            case Qt.ItemDataRole.ForegroundRole:
                return self._look.themes.current.colour("muted") if not model.is_usable else None
        return None
