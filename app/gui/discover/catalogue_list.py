"""The models that Tokenlight knows itself, for whoever has searched for nothing: the recommended one first."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem

from app.core.catalogue import CatalogueModel
from app.gui import theme
from app.gui.discover.catalogue_words import purpose_of
from app.gui.icons import Icons
from app.gui.widgets.fit_badge import fit_icon, fit_reason, fit_word
from app.gui.widgets.labels import in_parts
from app.gui.widgets.words import hint_of
from app.services.recommending import JudgedModel, ModelChoice
from app.services.units import byte_size


class CatalogueList(QListWidget):
    """Two lines for each: its name, and its size with whether it fits; smallest first behind the recommended one."""

    chosen = Signal()
    """Somebody chose another one."""

    def __init__(self, icons: Icons, themes: theme.Themes) -> None:
        super().__init__()
        self._icons, self._themes = icons, themes
        self._choice = ModelChoice()
        self._judged: tuple[JudgedModel, ...] = ()
        self.setObjectName("catalogue_list")
        self.setAccessibleName(self.tr("Models that Tokenlight knows"))
        self.setProperty("look", "rows")
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.itemSelectionChanged.connect(self.chosen)

    @property
    def current(self) -> JudgedModel | None:
        """The one that is chosen."""
        items = self.selectedItems()
        name = items[0].data(Qt.ItemDataRole.UserRole) if items else None
        return next((each for each in self._judged if each.model.name == name), None)

    @property
    def recommended(self) -> CatalogueModel | None:
        """The one that is recommended."""
        return self._choice.recommended

    def show_choice(self, choice: ModelChoice) -> None:
        """Show what fits now; what somebody chose stays chosen, else the recommended one is."""
        before = self.current
        self._choice = choice
        first = choice.recommended
        self._judged = tuple(sorted(choice.models, key=lambda each: first is None or each.model.name != first.name))
        with QSignalBlocker(self):
            if [self.item(row).data(Qt.ItemDataRole.UserRole) for row in range(self.count())] != self._names():
                self.clear()
                for _ in self._judged:
                    self.addItem(QListWidgetItem())
            for row, each in enumerate(self._judged):
                self._show_model(self.item(row), each)
            name = before.model.name if before is not None else ""
            self.setCurrentRow(self._names().index(name) if name in self._names() else min(0, self.count() - 1))

    def _names(self) -> list[str]:
        return [each.model.name for each in self._judged]

    def _show_model(self, item: QListWidgetItem, each: JudgedModel) -> None:
        model, fit = each.model, each.fit
        is_first = self._choice.recommended is not None and model.name == self._choice.recommended.name
        facts = [byte_size(model.size), fit_word(fit)]
        if is_first:
            facts.insert(0, self.tr("recommended"))
        item.setText(f"{model.name}\n{in_parts(facts)}")
        item.setIcon(fit_icon(fit, self._icons, self._themes.current, on_accent=True))
        item.setData(Qt.ItemDataRole.UserRole, model.name)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, ". ".join([model.name, *facts, purpose_of(model)]))
        item.setToolTip(hint_of("\n".join([model.name, " · ".join(facts), purpose_of(model), fit_reason(fit)])))
