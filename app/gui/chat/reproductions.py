"""The cards of answers that are written once more, each under its answer, and the entry in the menu that begins it."""

from __future__ import annotations

from PySide6.QtCore import QObject, QRect, Signal
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from app.gui import theme
from app.gui.chat.reproduction_card import ReproductionCard
from app.gui.chat.transcript import Transcript
from app.gui.icons import Icons
from app.gui.widgets.words import hint_of, render
from app.services.chat import Chat
from app.services.reproducing import Reproducing
from app.services.reproduction import Reproduction
from app.services.turns import Turn

_ABOVE, _BELOW = theme.SPACE_S, theme.SPACE_XS
"""The room around a card."""


class Reproductions(QObject):
    """Joins the turns of a transcript to what is known of their reproduction."""

    larger_context_wanted = Signal(object)
    """Somebody wants to load the model with a larger context: its tokens, or None."""

    def __init__(self, transcript: Transcript, chat: Chat, reproducing: Reproducing, icons: Icons) -> None:
        super().__init__(transcript)
        self._transcript = transcript
        self._chat = chat
        self._reproducing = reproducing
        self._icons = icons
        self._cards: dict[int, ReproductionCard] = {}
        """By the number of the turn."""
        self._is_placing = False
        transcript.moved.connect(self.place)
        self._disconnect = reproducing.changed.connect(self._show_changed)

    def disconnect_services(self) -> None:
        """Listen to the service no longer."""
        self._disconnect()

    def add_to(self, menu: QMenu, turn: Turn) -> None:
        """Offer to write an answer once more, or say why that cannot be done."""
        if turn.role == "user":
            return
        hindrance = self._reproducing.hindrance(turn)
        action = menu.addAction(self.tr("Reproduce"))
        action.setEnabled(hindrance is None)
        hint = self.tr("Write this answer once more with its own prompt, settings and seed, and compare every token.")
        words = render(hindrance) if hindrance is not None else hint
        menu.setToolTipsVisible(True)
        action.setToolTip(hint_of(words))
        action.setStatusTip(words)
        action.setWhatsThis(words)
        action.triggered.connect(lambda _checked=False: self._reproducing.begin(turn))

    def place(self) -> None:
        """Put each card into the room under its answer, and make that room."""
        if self._is_placing:
            return
        self._is_placing = True
        try:
            self._make_room()
            self._put_cards()
        finally:
            self._is_placing = False

    def _make_room(self) -> None:
        for index in self._transcript.places.in_view():
            if index >= len(self._transcript.turns.blocks):
                return
            block = self._transcript.turns.blocks[index]
            known = self._reproducing.of(block.turn) if not block.is_user else None
            room = 0
            if known is not None:
                card = self._card(block.turn, known)
                room = card.height_in(self._transcript.places.turn(index).width()) + _ABOVE + _BELOW
            if block.room_below != room:
                block.room_below = room
                self._transcript.refresh(block.turn)

    def _put_cards(self) -> None:
        shown: set[int] = set()
        for index in self._transcript.places.in_view():
            if index >= len(self._transcript.turns.blocks):
                break
            block = self._transcript.turns.blocks[index]
            card = self._cards.get(block.turn.number)
            if card is None or not block.room_below:
                continue
            place = self._transcript.places.turn(index)
            height = block.room_below - _ABOVE - _BELOW
            top = place.bottom() + 1 - _BELOW - height
            card.setGeometry(QRect(place.left(), top, place.width(), height))
            card.show()
            shown.add(block.turn.number)
        for number in self._cards.keys() - shown:
            self._cards[number].hide()
            if self._transcript.turns.index_of(number) is None:
                self._cards.pop(number).deleteLater()

    def _card(self, turn: Turn, known: Reproduction) -> ReproductionCard:
        card = self._cards.get(turn.number)
        if card is None:
            card = self._cards[turn.number] = ReproductionCard(self._icons, self._transcript.viewport())
            card.cancelled.connect(self._reproducing.cancel)
            card.dismissed.connect(lambda: self._reproducing.dismiss(turn))
            card.offer_taken.connect(lambda: self._take_offer(turn))
        if card.known is not known:
            card.show_reproduction(known)
        return card

    def _take_offer(self, turn: Turn) -> None:
        known = self._reproducing.of(turn)
        if known is not None and known.offer == "load_model":
            self._reproducing.begin(turn, loads=True)
        elif known is not None:
            self.larger_context_wanted.emit(known.context)

    def _show_changed(self, message: int) -> None:
        turn = next((turn for turn in self._chat.turns if turn.message == message), None)
        if turn is None:
            return
        known, card = self._reproducing.of(turn), self._cards.get(turn.number)
        if known is None and card is not None:
            focus: QWidget | None = QApplication.focusWidget()
            had_keyboard = focus is not None and card.isAncestorOf(focus)
            del self._cards[turn.number]
            card.hide()
            card.deleteLater()
            if had_keyboard:
                self._transcript.setFocus()
        elif known is not None:
            self._card(turn, known)
        self.place()
        if known is not None and not known.is_open and self._transcript.conversation is not None:
            self._transcript.conversation.announce(" ".join(render(each) for each in known.sentences))
