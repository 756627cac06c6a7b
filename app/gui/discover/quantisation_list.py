"""The models of a repository by quantisation: what each takes, and whether it fits; projectors stand apart."""

from __future__ import annotations

from collections import Counter

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem

from app.core.hub_page import HubQuantisation
from app.gui import theme
from app.gui.discover.words import shown
from app.gui.icons import Icons
from app.gui.widgets.fit_badge import fit_icon, fit_reason, fit_word
from app.gui.widgets.words import hint_of, render
from app.services.recommended_files import FileChoice, JudgedFile, loss_words
from app.services.units import UNKNOWN, byte_size, count

MOST_ROWS = 200
"""Of a repository with more, people search for the others: nobody reads thousands, and making them takes long."""
_NAME, _SIZE, _BITS, _LOSS, _FIT = range(5)
_GIVE_WAY = (_BITS, _LOSS)
"""These columns are away where there is no room for all, the first one first."""
_NAME_PX = 176
"""So much room names have before all columns are shown: that of a short one that is recommended."""


class QuantisationList(QTreeWidget):
    """One line for each; all parts of a model in several files are one."""

    chosen = Signal()
    """Another one is chosen."""
    download_wanted = Signal()
    """Somebody pressed Enter on one, or clicked twice."""

    def __init__(self, icons: Icons, themes: theme.Themes) -> None:
        super().__init__()
        self._icons, self._themes = icons, themes
        self._rows: list[tuple[HubQuantisation, QTreeWidgetItem]] = []
        self._quantisations: tuple[HubQuantisation, ...] = ()
        self._times: Counter[tuple[str, bool]] = Counter()
        """How often each name is there."""
        self._words: tuple[str, ...] = ()
        self._choice = FileChoice()
        self._notes: list[QTreeWidgetItem] = []
        """Lines that are no models."""
        self._is_chosen = False
        """Whether somebody chose one of them."""
        self.setObjectName("discover_quantisations")
        self.setAccessibleName(self.tr("Quantisations of this model"))
        self.setProperty("look", "rows")
        self.setRootIsDecorated(False)
        self.setItemsExpandable(False)
        self.setIndentation(0)
        self.setUniformRowHeights(True)
        self.setAllColumnsShowFocus(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHeaderLabels(
            [
                self.tr("Quantisation"),
                self.tr("Size"),
                self.tr("Bits per weight"),
                self.tr("Expected loss"),
                self.tr("Fits here"),
            ]
        )
        heads = self.headerItem()
        heads.setToolTip(_BITS, hint_of(self.tr("What one number of the model takes: fewer bits, less exact")))
        heads.setToolTip(_LOSS, hint_of(self.tr("How much worse the model gets, by what was published of others")))
        for column in (_SIZE, _BITS):
            heads.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        header = self.header()
        header.setSectionsMovable(False)
        header.setStretchLastSection(False)
        self._widen_by_themselves(True)
        header.setSectionResizeMode(_NAME, QHeaderView.ResizeMode.Stretch)
        self.itemSelectionChanged.connect(self._note_chosen)
        self.itemActivated.connect(lambda _item, _column: self.download_wanted.emit())

    @property
    def current(self) -> HubQuantisation | None:
        """The one that is chosen."""
        items = self.selectedItems()
        return next((each for each, item in self._rows if items and item is items[0]), None)

    @property
    def is_long(self) -> bool:
        """Whether more are there than are shown at once."""
        return len(self._quantisations) > MOST_ROWS

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the columns that there is room for; nothing is cut, and whether a model fits is always there."""
        super().resizeEvent(event)
        self._fit_columns()
        current = self.currentItem()
        if current is not None:  # what is recommended can be seen in a lower list as well
            self.scrollToItem(current)

    def show_quantisations(self, quantisations: tuple[HubQuantisation, ...]) -> None:
        """Show those of another repository; the first one is chosen until another is recommended."""
        if quantisations == self._quantisations:
            return
        self._quantisations, self._is_chosen, self._choice = quantisations, False, FileChoice()
        self._times = Counter((each.name, each.is_projector) for each in quantisations)
        self._fill()

    def narrow(self, text: str) -> None:
        """Show those whose paths hold all words of a text; what is chosen stays so where it is among them."""
        words = tuple(text.casefold().split())
        if words != self._words:
            self._words = words
            self._fill()

    def _widen_by_themselves(self, is_so: bool) -> None:
        """Let columns follow their widest words, or not while many words change: each would measure all rows."""
        modes = QHeaderView.ResizeMode
        for column in (_SIZE, _BITS, _LOSS, _FIT):
            self.header().setSectionResizeMode(column, modes.ResizeToContents if is_so else modes.Fixed)

    def _fit_columns(self) -> None:
        header = self.header()
        for column in _GIVE_WAY:
            self.setColumnHidden(column, False)  # what is hidden tells no width
        needed = {
            column: max(self.sizeHintForColumn(column), header.sectionSizeHint(column))
            for column in (_SIZE, _BITS, _LOSS, _FIT)
        }
        room = self.viewport().width() - min(theme.scaled(_NAME_PX), self.sizeHintForColumn(_NAME))
        for column in _GIVE_WAY:
            is_away = sum(needed.values()) > room
            self.setColumnHidden(column, is_away)
            if is_away:
                del needed[column]

    def _fill(self) -> None:
        before = self.current
        found = [each for each in self._quantisations if all(word in each.path.casefold() for word in self._words)]
        seen = found[:MOST_ROWS]
        first = self._choice.recommended
        if all(each.path != first for each in seen):
            seen = [*(each for each in found if each.path == first), *seen][:MOST_ROWS]
        with QSignalBlocker(self):
            self.clear()
            self._rows, self._notes = [], []
            for each in seen:
                if each.is_projector and not (self._rows and self._rows[-1][0].is_projector):
                    self._add_note(self.tr("Projectors: what lets the model see or hear; no models themselves"))
                self._add(each)
            if len(found) > len(seen):
                more = count(len(found) - len(seen))
                self._add_note(self.tr("… and {count} more: search for a part of the name").format(count=more))
            elif self._quantisations and not found:
                self._add_note(self.tr("None of its files is called so."))
            again = next((item for each, item in self._rows if each == before), None)
            if again is None and self._rows:
                again = self._rows[0][1]
            if again is not None:
                self.setCurrentItem(again)
        self._show_judged_rows()
        self.chosen.emit()

    def show_choice(self, choice: FileChoice) -> None:
        """Say of each whether it fits and what it loses, in the colours in force; what is recommended is chosen."""
        self._choice = choice
        if choice.recommended and all(each.path != choice.recommended for each, _ in self._rows):
            self._fill()
        else:
            self._show_judged_rows()

    def _show_judged_rows(self) -> None:
        choice, judged = self._choice, {file.path: file for file in self._choice.files}
        self._widen_by_themselves(False)
        for note in self._notes:
            note.setForeground(_NAME, self._themes.current.colour("muted"))
        for each, item in self._rows:
            if each.is_projector or each.missing_parts:
                continue
            is_recommended = each.path == choice.recommended
            name = self._name_of(each)
            item.setText(_NAME, self.tr("{name} · recommended").format(name=name) if is_recommended else name)
            if is_recommended and not self._is_chosen:
                with QSignalBlocker(self):
                    self.setCurrentItem(item)
                self.chosen.emit()
            self._show_judged(each, item, judged.get(each.path))
        self._widen_by_themselves(True)
        self._fit_columns()
        # no higher than its rows; those that a search leaves out keep their room, so that nothing jumps
        rows = max(self.topLevelItemCount(), len(self._quantisations))
        header = self.header().sizeHint().height()
        self.setMaximumHeight(self.sizeHintForRow(0) * rows + header + 2 * self.frameWidth())

    def _show_judged(self, each: HubQuantisation, item: QTreeWidgetItem, judged: JudgedFile | None) -> None:
        fit, loss = (judged.fit, judged.loss) if judged is not None else (None, None)
        item.setText(_FIT, fit_word(fit))
        item.setIcon(_FIT, fit_icon(fit, self._icons, self._themes.current))
        item.setToolTip(_FIT, hint_of(fit_reason(fit)))
        item.setData(_FIT, Qt.ItemDataRole.AccessibleTextRole, f"{fit_word(fit)}. {fit_reason(fit)}")
        item.setText(_LOSS, render(loss_words(loss)) if loss is not None else UNKNOWN)
        unknown = self.tr("Nothing was published for a model of its size in so many bits.")
        words = self.tr("The model is about {percent} % less sure of its next token than in 16 bits.")
        said = words.format(percent=f"{loss.percent:.1f}") if loss is not None else unknown
        item.setToolTip(_LOSS, hint_of(said))
        item.setToolTip(_NAME, hint_of(self._hint_of(each, item)))

    def _note_chosen(self) -> None:
        self._is_chosen = True
        self.chosen.emit()

    def _add(self, each: HubQuantisation) -> None:
        bits = f"{each.bits_per_weight:.1f}" if each.bits_per_weight is not None else UNKNOWN
        item = QTreeWidgetItem([self._name_of(each), byte_size(each.size), bits, "", ""])
        for column in (_SIZE, _BITS):
            item.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if each.bits_per_weight is None:
            untold = self.tr("The hub does not tell how many parameters it has.")
            item.setToolTip(_BITS, hint_of(self.tr("A projector is no model.") if each.is_projector else untold))
        item.setToolTip(_NAME, hint_of(self._hint_of(each, item)))
        self.addTopLevelItem(item)
        self._rows.append((each, item))

    def _add_note(self, words: str) -> None:
        item = QTreeWidgetItem([words])
        item.setFlags(Qt.ItemFlag.ItemIsEnabled)
        item.setFont(_NAME, theme.font(theme.SMALL_PX))
        item.setToolTip(_NAME, hint_of(words))
        self._notes.append(item)
        self.addTopLevelItem(item)
        item.setFirstColumnSpanned(True)

    def _hint_of(self, each: HubQuantisation, item: QTreeWidgetItem) -> str:
        """Return a name that may be cut, where its file lies, and what stands in columns that may be away."""
        pair, heads = self.tr("{caption}: {value}"), self.headerItem()
        said = [pair.format(caption=heads.text(column), value=item.text(column)) for column in _GIVE_WAY]
        known = [words for words, column in zip(said, _GIVE_WAY, strict=True) if item.text(column)]
        return "\n".join([item.text(_NAME), shown(each.path), *([] if each.is_projector else known)])

    def _name_of(self, each: HubQuantisation) -> str:
        name = shown(each.name)
        if self._times[each.name, each.is_projector] > 1:
            name = self.tr("{name} · {file}").format(name=name, file=shown(each.path))
        files, missing = len(each.files), each.missing_parts
        if missing:
            words = self.tr("{name} · {there} of {all} parts")
            return words.format(name=name, there=files, all=files + missing)
        return self.tr("{name} · {count} parts").format(name=name, count=files) if files > 1 else name
