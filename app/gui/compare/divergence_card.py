"""A card about the token at which a lane leaves the baseline: both candidates, why they differ, and both distributions."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.core.comparison import LETTERS
from app.gui import theme
from app.gui.compare.distributions import Distributions
from app.gui.compare.divergence_words import card_words, percent, place_words, share_words
from app.gui.compare.taken_label import TakenLabel
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.labels import label
from app.gui.widgets.words import render
from app.services.lane_analysis import Contender, LaneDivergence

WIDTH_PX = 400
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class DivergenceCard(QFrame):
    """Lies over the lanes; several lanes that part at one token are paged through."""

    closed = Signal()
    """Somebody put it away."""

    def __init__(self, parent: QWidget, themes: theme.Themes, icons: Icons) -> None:
        super().__init__(parent)
        self._over = parent
        self.setObjectName("divergence_card")
        self.setAccessibleName(self.tr("Difference from the baseline"))
        self.setProperty("look", "card")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFixedWidth(theme.scaled(WIDTH_PX))
        self._found: tuple[LaneDivergence, ...] = ()
        self._number = 0
        self._baseline = 0
        self._title = label(pixels=theme.FIGURE_PX, bold=True, name="divergence_title")
        self._title.setWordWrap(True)
        self._table = QGridLayout()
        self._cells: list[QLabel] = []
        self._reason = label(name="divergence_reason")
        self._draws = label(look="muted", name="divergence_draws")
        self._unknown = label(self.tr("No probabilities were recorded here."), look="muted")
        for each in (self._reason, self._draws, self._unknown):
            each.setWordWrap(True)
        self.picture = Distributions(themes)
        self._before = IconButton(icons, "left", self.tr("Lane before"), object_name="divergence_before")
        self._after = IconButton(icons, "right", self.tr("Next lane"), object_name="divergence_after")
        self._close = IconButton(icons, "close", self.tr("Close"), object_name="divergence_close")
        self._before.clicked.connect(lambda: self._step(-1))
        self._after.clicked.connect(lambda: self._step(1))
        self._close.clicked.connect(self.put_away)
        self._lay_out()
        self.hide()

    @property
    def shown(self) -> LaneDivergence | None:
        """What the card is about."""
        return self._found[self._number] if self._found and self.isVisibleTo(self._over) else None

    def show_found(self, found: tuple[LaneDivergence, ...], baseline: int, at: QRect, *, takes_focus: bool) -> None:
        """Show the card beside a place on the screen."""
        self._found, self._number, self._baseline = found, 0, baseline
        self._show()
        self.show()
        self._place(at)
        self.raise_()
        if takes_focus:
            self.setFocus(Qt.FocusReason.PopupFocusReason)

    def put_away(self) -> None:
        """Hide the card."""
        if self.isVisible():
            self.hide()
            self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Put the card away with Esc, and page with the arrow keys."""
        step = _STEPS.get(Qt.Key(event.key()))
        if event.key() == Qt.Key.Key_Escape:
            self.put_away()
        elif step is not None:
            self._step(-step if self.layoutDirection() is Qt.LayoutDirection.RightToLeft else step)
        else:
            super().keyPressEvent(event)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(0)
        head.addWidget(self._title, 1)
        for button in (self._before, self._after, self._close):
            head.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        self._table.setHorizontalSpacing(theme.SPACE_L)
        self._table.setVerticalSpacing(theme.SPACE_XS)
        self._table.setColumnStretch(0, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_M, theme.SPACE_L)
        column.setSpacing(theme.SPACE_S)
        column.addLayout(head)
        column.addLayout(self._table)
        for widget in (self._reason, self._draws, self._unknown, self.picture):
            column.addWidget(widget)

    def _step(self, by: int) -> None:
        if self._found:
            self._number = (self._number + by) % len(self._found)
            self._show()

    def _show(self) -> None:
        found = self._found[self._number]
        letters = {"baseline": LETTERS[self._baseline], "lane": LETTERS[found.lane]}
        title = self.tr("{place}: where {lane} leaves {baseline}").format(place=place_words(found), **letters)
        self._title.setText(title)
        for button in (self._before, self._after):
            button.setVisible(len(self._found) > 1)
        self._show_table(found)
        self._reason.setText(render(found.reason))
        self._draws.setText(render(found.draws) if found.draws is not None else "")
        self._draws.setVisible(found.draws is not None)
        self._unknown.setVisible(not found.picture)
        self.picture.show_rows(found.picture, (self._baseline, found.lane), (found.baseline_token, found.lane_token))
        self.setAccessibleName(title)
        self.setAccessibleDescription(card_words(found, self._baseline))
        self.adjustSize()

    def _show_table(self, found: LaneDivergence) -> None:
        for cell in self._cells:
            self._table.removeWidget(cell)
            cell.deleteLater()
        self._cells = []
        heads = (
            "",
            self.tr("Model"),
            self.tr("After {lane}").format(lane=LETTERS[self._baseline]),
            self.tr("After {lane}").format(lane=LETTERS[found.lane]),
        )
        for column, head in enumerate(heads):
            self._put(label(head, look="muted", pixels=theme.SMALL_PX), 0, column)
        rows: tuple[tuple[int, Contender | None], ...] = (
            (self._baseline, found.baseline_token),
            (found.lane, found.lane_token),
        )
        for row, (lane, token) in enumerate(rows, 1):
            self._put(TakenLabel(lane, token), row, 0)
            values = (
                ("", "", "")
                if token is None
                else (percent(token.raw), share_words(token.baseline), share_words(token.lane))
            )
            for column, value in enumerate(values, 1):
                self._put(label(value), row, column)

    def _put(self, cell: QLabel, row: int, column: int) -> None:
        side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
        self._table.addWidget(cell, row, column, side)
        cell.show()
        self._cells.append(cell)

    def _place(self, at: QRect) -> None:
        """Lie under a place on the screen, or beside it where there is no room, and inside of what is seen of the parent."""
        parent, layout = self._over, self.layout()
        if layout is not None:
            self.resize(self.width(), layout.totalHeightForWidth(self.width()))
        place = QRect(parent.mapFromGlobal(at.topLeft()), at.size())
        seen = _seen(parent)
        apart, most = theme.SPACE_S, QPoint(seen.right() + 1 - self.width(), seen.bottom() + 1 - self.height())
        left, top = place.left() - theme.SPACE_L, place.bottom() + apart
        if top > most.y():  # beside it, so that neither the token nor its line is covered
            right_of, left_of = place.right() + apart, place.left() - self.width() - apart
            left = right_of if right_of <= most.x() else left_of
            top = place.center().y() - self.height() // 2
        left = min(max(left, seen.left()), max(most.x(), seen.left()))
        self.move(left, min(max(top, seen.top()), max(most.y(), seen.top())))


def _seen(widget: QWidget) -> QRect:
    """Return the part of a widget that nothing around it cuts off, as a page that scrolls does."""
    seen, around = widget.rect(), widget
    while not around.isWindow() and (parent := around.parentWidget()) is not None:
        seen &= QRect(widget.mapFrom(parent, QPoint()), parent.size())
        around = parent
    return seen
