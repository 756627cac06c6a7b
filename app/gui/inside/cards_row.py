"""The cards of the sampler laboratory in the order of the chain, from left to right; the row scrolls where it is longer.

Knows no service: it says what somebody wants.
"""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, Signal
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QScrollArea, QSizePolicy, QWidget

from app.core.sampler_cards import Bounds, StageCard
from app.core.sampling import STAGES, SamplingSettings
from app.gui import theme
from app.gui.icons import Icons
from app.gui.inside.draw_card import DrawCardView
from app.gui.inside.grammar_card import GrammarCardView
from app.gui.inside.stage_card import StageCardView
from app.services.lab_values import LabResult

_LINE_PX = 2


class CardsRow(QScrollArea):
    """One card a stage, the draw at the end, and a grammar before all where one is in force."""

    changed = Signal(str, float)
    """Somebody moved a slider: the setting's name and its value."""
    switched = Signal(str, bool)
    """Somebody switched a stage on or off."""
    moved = Signal(str, int)
    """Somebody wants a stage at another place, counted from 0."""

    def __init__(self, themes: theme.Themes, icons: Icons) -> None:
        super().__init__()
        self.setObjectName("lab_cards")
        self.setAccessibleName(self.tr("Stages of the sampler, in their order"))
        self._order: tuple[str, ...] = ()
        self._themes, self._icons = themes, icons
        self.cards: dict[str, StageCardView] = {}
        self.draw = DrawCardView(themes)
        self.grammar = GrammarCardView(themes)
        contents = self._contents = QWidget()
        self._line = QFrame(contents)
        self._line.setProperty("look", "insertion")
        self._line.hide()
        self._row = QHBoxLayout(contents)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(theme.SPACE_S)
        self._row.addWidget(self.grammar)
        self.grammar.hide()
        self._row.addWidget(self.draw)
        self._row.addStretch(1)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidgetResizable(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setWidget(contents)
        self.horizontalScrollBar().setSingleStep(theme.scaled(40))
        contents.installEventFilter(self)

    def make_next(self) -> bool:
        """Make one more card; returns whether there was one to make: all at once would hold the window up."""
        if len(self.cards) == len(STAGES):
            return False
        name = STAGES[len(self.cards)]
        card = self.cards[name] = StageCardView(name, self._themes, self._icons)
        self._row.insertWidget(len(self.cards), card)  # behind the grammar
        card.changed.connect(self.changed)
        card.switched.connect(self.switched)
        card.stepped.connect(self._step)
        card.dragged.connect(self._show_drop)
        card.dropped.connect(self._drop)
        for widget in (card, *card.findChildren(QWidget)):
            widget.ensurePolished()
        return True

    def show_settings(self, settings: SamplingSettings) -> None:
        """Show settings, and the stages in their order."""
        order = settings.running_order
        if order != self._order:
            self._put_in_order(order)
        movable = order[:-1] if settings.is_greedy else order  # what chooses without a draw stays the last
        for place, name in enumerate(order):
            card = self.cards[name]
            card.show_settings(settings, place, len(order) - 1)
            card.offer_moves(on=name in movable[:-1], back=name in movable[1:])

    def show_result(self, result: LabResult | None, settings: SamplingSettings) -> None:
        """Show what the stages do to a step; None where nobody knows yet."""
        made = result.cards if result is not None else None
        texts = result.texts if result is not None else {}
        found: dict[str, StageCard] = {card.name: card for card in made.stages} if made is not None else {}
        full = _highest(found.values())
        for name, card in self.cards.items():
            card.show_card(found.get(name), texts, settings, full)
        self.grammar.show_card(result.grammar if result is not None else None)
        self.grammar.setVisible((settings if result is None else result).grammar is not None)
        taken, chosen = (result.taken, result.chosen) if result is not None else (None, None)
        self.draw.show_card(made.draw if made is not None else None, texts, taken, chosen)

    def set_low(self, on: bool) -> None:
        """Have lower cards, which leave their explanations to be pointed at."""
        for what in (*(card.what for card in self.cards.values()), self.draw.what, self.grammar.what):
            what.setVisible(not on)

    def sizeHint(self) -> QSize:
        """Ask for the height that it has."""
        return QSize(theme.scaled(600), self.minimumHeight())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Be as high as the highest card, so that nothing scrolls upright."""
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Show):
            bar = self.horizontalScrollBar().sizeHint().height()
            highest = max(card.heightForWidth(card.minimumWidth()) for card in (*self.cards.values(), self.draw))
            self.setFixedHeight(highest + bar + theme.SPACE_XS)
        return super().eventFilter(watched, event)

    def _put_in_order(self, order: tuple[str, ...]) -> None:
        focus = QApplication.focusWidget()
        before: QWidget | None = None
        for place, name in enumerate(order):
            card = self.cards[name]
            self._row.removeWidget(card)
            self._row.insertWidget(place + 1, card)  # behind the grammar
            if before is not None:
                QWidget.setTabOrder(before, card)
            before = _last_in(card)
        self._order = order
        if focus is not None and self.isAncestorOf(focus):
            self._row.activate()
            self.ensureWidgetVisible(_card_of(focus) or focus, theme.SPACE_L, 0)

    def _step(self, name: str, steps: int) -> None:
        place = self._order.index(name) + steps
        if 0 <= place < len(self._order):
            self.moved.emit(name, place)

    def _gap_at(self, where: QPoint) -> int:
        """Return before how many cards of the row a point on the screen lies, from 0."""
        x = self._contents.mapFromGlobal(where).x()
        is_turned = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        middles = [self.cards[name].geometry().center().x() for name in self._order]
        return sum(middle > x if is_turned else middle < x for middle in middles)

    def _show_drop(self, name: str, where: QPoint) -> None:
        gap = self._gap_at(where)
        self.ensureVisible(self._contents.mapFromGlobal(where).x(), 0, theme.SPACE_XXL, 0)
        own = self._order.index(name)
        if gap in (own, own + 1):
            self._line.hide()
            return
        following = self.cards[self._order[gap]] if gap < len(self._order) else self.draw
        box = following.geometry()
        is_turned = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        across = box.right() + theme.SPACE_S // 2 if is_turned else box.left() - theme.SPACE_S // 2
        self._line.setGeometry(across - _LINE_PX // 2, box.top(), _LINE_PX, box.height())
        self._line.raise_()
        self._line.show()

    def _drop(self, name: str, where: QPoint) -> None:
        self._line.hide()
        gap, own = self._gap_at(where), self._order.index(name)
        place = gap - 1 if gap > own else gap
        if place != own:
            self.moved.emit(name, place)


def _highest(cards: Collection[StageCard]) -> float:
    """Return the chance that fills a picture: a stage that leaves one token alone does not make all others small."""
    found = [_most(token.before, token.before_bounds) for card in cards for token in card.tokens]
    found += [_most(token.after, token.after_bounds) for card in cards for token in card.tokens if card.leave > 1]
    return max(found, default=0.0) or 1.0


def _most(chance: float, bounds: Bounds | None) -> float:
    """Return the highest that a chance may be."""
    return chance if bounds is None else bounds[1]


def _last_in(card: StageCardView) -> QWidget:
    """Return what the keyboard comes to last on a card."""
    rows = [child for child in card.findChildren(QWidget) if child.focusPolicy() & Qt.FocusPolicy.TabFocus]
    return rows[-1] if rows else card


def _card_of(widget: QWidget | None) -> StageCardView | None:
    while widget is not None and not isinstance(widget, StageCardView):
        widget = widget.parentWidget()
    return widget
