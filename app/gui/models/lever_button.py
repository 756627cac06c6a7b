"""The changes that would help a load that does not fit as it is, behind one button: each with what it saves."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QPushButton

from app.gui.widgets.lever_words import lever_text
from app.gui.widgets.words import hint_of, set_hint
from app.services.load_plan import LoadLever

MOST_SHOWN = 6


class LeverButton(QPushButton):
    """Not there where nothing lacks; its place stays, so that nothing moves."""

    chosen = Signal(object)
    """Somebody wants a change: options by name."""

    def __init__(self) -> None:
        super().__init__(self.tr("What would help"))
        self.setObjectName("levers_button")
        self.setAutoDefault(False)
        set_hint(self, self.tr("Changes that need less memory, each with what it saves."))
        staying = self.sizePolicy()
        staying.setRetainSizeWhenHidden(True)
        self.setSizePolicy(staying)
        self._shown: tuple[LoadLever, ...] = ()
        self._levers = QMenu(self)
        self._levers.setObjectName("levers_menu")
        self._levers.setToolTipsVisible(True)
        self.setMenu(self._levers)
        self.hide()

    @property
    def shown(self) -> tuple[LoadLever, ...]:
        """The changes that are offered, in their order."""
        return self._shown

    def show_levers(self, levers: tuple[LoadLever, ...]) -> None:
        """Offer other changes; an open menu of the same ones stays as it is."""
        shown = _picked(levers)
        if shown != self._shown:
            self._shown = shown
            self._levers.clear()
            for number, lever in enumerate(shown):
                self._add(number, lever)
        self.setVisible(bool(shown))

    def _add(self, number: int, lever: LoadLever) -> None:
        words = lever_text(lever.words, lever.saves, fits=lever.fits)
        entry = self._levers.addAction(words.replace("&", "&&"))
        entry.setObjectName(f"lever_{number}")
        hint = self.tr("Choose this, and see at once what comes of it")
        if lever.changes:
            entry.triggered.connect(lambda _checked=False: self.chosen.emit(dict(lever.changes)))
        else:
            entry.setEnabled(False)
            hint = self.tr("{change}. Choose another file of this model.").format(change=words)
        entry.setToolTip(hint_of(hint))


def _picked(levers: tuple[LoadLever, ...]) -> tuple[LoadLever, ...]:
    """Return the changes to show: those that are enough before the others, another file last."""
    ordered = sorted(levers, key=lambda lever: (not lever.changes, not lever.fits))
    return tuple(ordered[:MOST_SHOWN])
