"""Shows what the sentence at the end of the live figures rests on: opens the card, keeps it true, and puts it away."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QPoint, QRect, Qt, Signal

from app.core.diagnosis import Diagnosis
from app.gui.icons import Icons
from app.gui.live.diagnosis_card import DiagnosisCard
from app.gui.live.end_text import EndText


class WhyShown(QObject):
    """Makes the card when somebody first wants it; pressing the sentence again puts it away."""

    timeline_wanted = Signal()
    """Somebody wants to see the time of the answer as a picture."""
    remedy_wanted = Signal(object)
    """Somebody wants the change that would help most, a `Remedy`."""
    made = Signal(object)
    """The card was made."""

    def __init__(self, end: EndText, icons: Icons, diagnosis: Callable[[], Diagnosis | None]) -> None:
        super().__init__(end)
        self._end = end
        self._icons = icons
        self._diagnosis = diagnosis
        self.card: DiagnosisCard | None = None
        end.why_wanted.connect(self.toggle)

    def toggle(self) -> None:
        """Show the card, or put it away where it is shown."""
        if self.card is not None and not self.card.isHidden():
            self.card.put_away()
        elif (diagnosis := self._diagnosis()) is not None:
            card = self._made()
            card.show_diagnosis(diagnosis, self._place())
            card.setFocus(Qt.FocusReason.PopupFocusReason)

    def show_again(self) -> None:
        """Show what is known now, where the card is shown."""
        card, diagnosis = self.card, self._diagnosis()
        if card is None or card.isHidden():
            return
        if diagnosis is None:
            card.put_away()
        else:
            card.show_diagnosis(diagnosis, self._place())

    def put_away(self) -> None:
        """Hide the card."""
        if self.card is not None:
            self.card.put_away()

    def _made(self) -> DiagnosisCard:
        if self.card is None:
            self.card = DiagnosisCard(self._end.window(), self._icons)
            self.card.timeline_wanted.connect(self.timeline_wanted)
            self.card.details.remedy_wanted.connect(self.remedy_wanted)
            self.card.closed.connect(self._give_back)
            self.made.emit(self.card)
        return self.card

    def _give_back(self) -> None:
        """Let the keyboard be where it came from."""
        if self._end.isVisible():
            self._end.sentence.setFocus(Qt.FocusReason.PopupFocusReason)

    def _place(self) -> QRect:
        return QRect(self._end.mapToGlobal(QPoint()), self._end.size())
