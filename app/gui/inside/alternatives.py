"""The tokens that could have come at one place, as a list of bars: what the model gave, and what the chain made of it.

The list is Qt's, so that keys, scrolling and screen readers work. Knows no service.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFocusEvent, QFontMetrics, QKeyEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.core.sampling import STAGES
from app.gui import theme
from app.gui.icons import Icons
from app.gui.inside.token_sentences import alternative_sentence
from app.gui.widgets.stage_words import cutter_words
from app.gui.widgets.token_words import known_per_cent, quoted
from app.gui.widgets.words import hint_of
from app.services.inspection import Alternative, TokenInsight

ROW_PX = 30
_RAW_PX, _AFTER_PX, _BAR_GAP_PX = 4, 6, 2
_TEXT_SHARE, _FIGURE_SHARE = 0.34, 0.19
_LEAST_BAR_PX = 2.0
_TAKEN_TINT = 0.10
_SCISSORS_PX, _SCISSORS_GAP_PX = 13, 3
_Index = QModelIndex | QPersistentModelIndex


class AlternativesModel(QAbstractListModel):
    """Tokens by falling raw probability, and at the end all others together."""

    def __init__(self) -> None:
        super().__init__()
        self._insight: TokenInsight | None = None
        self.forbidden: frozenset[int] = frozenset()
        """Tokens that cannot come here."""

    @property
    def place(self) -> tuple[int, int] | None:
        """Of which token in which answer the rows are."""
        return None if self._insight is None else (self._insight.message, self._insight.index)

    @property
    def rows(self) -> Sequence[Alternative]:
        """The tokens that are shown."""
        return self._insight.alternatives if self._insight is not None else ()

    @property
    def rest(self) -> tuple[float, float | None] | None:
        """What all other tokens have together, raw and after the chain; None where nothing is known."""
        insight = self._insight
        return None if insight is None or insight.rest is None else (insight.rest, insight.rest_after)

    def show_insight(self, insight: TokenInsight | None) -> None:
        """Show other tokens."""
        self.beginResetModel()
        self._insight = insight
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008  Qt's own default
        """Return how many rows there are, that of all others among them."""
        return 0 if parent.isValid() else len(self.rows) + (self.rest is not None)

    def data(self, index: _Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """Return what a row says in short, or in a whole sentence."""
        if role == Qt.ItemDataRole.DisplayRole:
            return self.shown_text(index.row())
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self.sentence(index.row())
        if role == Qt.ItemDataRole.ToolTipRole:
            return hint_of(self.sentence(index.row()))
        return None

    def shown_text(self, row: int) -> str:
        """Return what stands at the beginning of a row."""
        if row >= len(self.rows):
            return self.tr("all others")
        each = self.rows[row]
        return quoted(each.text, each.token)

    def cutter(self, row: int) -> str | None:
        """Return which stage cut a token, or cuts it where somebody wants it now; None for none that is known."""
        if row >= len(self.rows):
            return None
        each = self.rows[row]
        return "grammar" if each.token in self.forbidden else each.cut_by

    def sentence(self, row: int) -> str:
        """Return everything that a row shows, in words."""
        if row < len(self.rows):
            cut_by = self.cutter(row)
            return alternative_sentence(self.rows[row], None if cut_by is None else cutter_words(cut_by))
        rest = self.rest
        assert rest is not None
        words = self.tr("All other tokens together: {raw} raw, {after} after the chain")
        return words.format(raw=known_per_cent(rest[0]), after=known_per_cent(rest[1]))


class Alternatives(QListView):
    """As many rows as there is height for; keys and the wheel reach the others."""

    wanted = Signal(int)
    """Somebody wants to go on with this token in place of the one that came."""
    chosen_changed = Signal()
    """Another row is chosen, or none."""

    def __init__(self, themes: theme.Themes, icons: Icons) -> None:
        super().__init__()
        self.setObjectName("alternatives_list")
        self.setAccessibleName(self.tr("What could have come here"))
        self.setProperty("look", "lane_text")
        self.rows = AlternativesModel()
        self.setModel(self.rows)
        self._delegate = _Delegate(themes, icons, self.rows, self)
        self.setItemDelegate(self._delegate)
        self.setUniformItemSizes(True)
        self.setFrameShape(QListView.Shape.NoFrame)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.doubleClicked.connect(lambda _index: self._want())
        self.selectionModel().selectionChanged.connect(lambda _now, _before: self.chosen_changed.emit())
        themes.changed.connect(self.viewport().update)

    @property
    def chosen(self) -> Alternative | None:
        """The token of the row that somebody chose; None for none, all others together, and the one that came."""
        row = self.currentIndex().row()
        each = self.rows.rows[row] if 0 <= row < len(self.rows.rows) else None
        is_chosen = self.selectionModel().isSelected(self.currentIndex())
        return each if each is not None and is_chosen and not each.is_taken else None

    @property
    def forbidden(self) -> frozenset[int]:
        """Tokens that are shown and cannot come here."""
        return self.rows.forbidden

    def forbid(self, tokens: frozenset[int]) -> None:
        """Say which tokens cannot come here."""
        if tokens != self.rows.forbidden:
            self.rows.forbidden = tokens
            self.viewport().update()

    def show_insight(self, insight: TokenInsight | None) -> None:
        """Show other tokens, with the taken one in view; of the same place the chosen one stays chosen."""
        before, chosen = self.rows.place, self.chosen
        self.rows.show_insight(insight)
        rows = self.rows.rows
        again = next(
            (row for row, each in enumerate(rows) if chosen is not None and each.token == chosen.token), None
        )
        if again is not None and self.rows.place == before:
            self.setCurrentIndex(self.rows.index(again))
        elif (taken := self._taken) is not None:
            self.scrollTo(self.rows.index(taken))
        self.chosen_changed.emit()

    def choose_none(self) -> None:
        """Have no row chosen, as where what is shown belongs to a token that is looked at no more."""
        self.selectionModel().clear()

    def sizeHint(self) -> QSize:
        """Ask for some rows."""
        return QSize(theme.scaled(300), 8 * theme.scaled(ROW_PX))

    def minimumSizeHint(self) -> QSize:
        """Make do with a few."""
        return QSize(theme.scaled(240), 4 * theme.scaled(ROW_PX))

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Let keys begin at the token that came: Qt would begin, unseen, at a first row that nobody chose."""
        super().focusInEvent(event)
        is_by_mouse = event.reason() == Qt.FocusReason.MouseFocusReason
        taken = self._taken
        if not is_by_mouse and taken is not None and not self.selectionModel().hasSelection():
            self.setCurrentIndex(self.rows.index(taken))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go on with the current row by Enter."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if not event.isAutoRepeat():
                self._want()
        else:
            super().keyPressEvent(event)

    @property
    def _taken(self) -> int | None:
        return next((row for row, each in enumerate(self.rows.rows) if each.is_taken), None)

    def _want(self) -> None:
        if (chosen := self.chosen) is not None:
            self.wanted.emit(chosen.token)


class _Delegate(QStyledItemDelegate):
    """Paints a row: the text, the raw bar over the one after the chain, and both as figures."""

    def __init__(self, themes: theme.Themes, icons: Icons, rows: AlternativesModel, parent: QListView) -> None:
        super().__init__(parent)
        self._themes = themes
        self._icons = icons
        self._rows = rows
        self._view = parent

    def sizeHint(self, _option: QStyleOptionViewItem, _index: _Index) -> QSize:
        """Ask for a row that can be hit."""
        return QSize(0, theme.scaled(ROW_PX))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint one row."""
        look, row = self._themes.current, index.row()
        place: QRect = option.rect
        state: QStyle.StateFlag = option.state
        each = self._rows.rows[row] if row < len(self._rows.rows) else None
        raw, after = (each.raw, each.after) if each is not None else self._rows.rest or (None, None)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if state & QStyle.StateFlag.State_Selected:
            _round(painter, place, look.colour("selection" if look.name != "contrast" else "hover"))
        elif state & QStyle.StateFlag.State_MouseOver:
            _round(painter, place, look.colour("hover"))
        is_taken = each is not None and each.is_taken
        if is_taken:
            self._paint_taken(painter, place, look)
        columns = _columns(place)
        painter.setFont(theme.font(theme.BASE_PX, bold=is_taken))
        cut_by = self._rows.cutter(row)
        is_strong = cut_by is None or bool(state & QStyle.StateFlag.State_Selected)
        painter.setPen(look.colour("text" if is_strong else "muted"))
        said = self._rows.shown_text(row)
        shown = painter.fontMetrics().elidedText(said, Qt.TextElideMode.ElideRight, columns[0].width())
        painter.drawText(columns[0], Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
        self._paint_bars(painter, columns[1], (raw, after), look, is_cut=cut_by is not None)
        painter.setFont(theme.font(theme.SMALL_PX))
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        is_current = bool(state & QStyle.StateFlag.State_Selected)
        painter.setPen(look.colour("text" if is_current else "muted"))
        painter.drawText(columns[2], right, known_per_cent(raw))
        if cut_by is not None:
            self._paint_cut(painter, columns[3], cutter_words(cut_by), look)
        else:
            painter.setPen(look.colour("text"))
            painter.drawText(columns[3], right, known_per_cent(after))
        if state & QStyle.StateFlag.State_Selected and self._view.hasFocus():
            painter.setPen(QPen(look.colour("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(place).adjusted(1, 1, -1, -1), theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
        painter.restore()

    def _paint_cut(self, painter: QPainter, place: QRect, stage: str, look: theme.Theme) -> None:
        """Say which stage cut it, with scissors."""
        muted = look.colour("muted")
        width = painter.fontMetrics().horizontalAdvance(stage)
        painter.setPen(muted)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, stage)
        picture = self._icons.icon("scissors", muted).pixmap(_SCISSORS_PX, _SCISSORS_PX)
        left = place.right() - width - _SCISSORS_PX - _SCISSORS_GAP_PX
        painter.drawPixmap(QPointF(left, place.center().y() - _SCISSORS_PX / 2), picture)

    @staticmethod
    def _paint_taken(painter: QPainter, place: QRect, look: theme.Theme) -> None:
        """Mark the token that came by a tint and a triangle."""
        colour = look.colour("stage_sampling")
        tint = QColor(colour)
        tint.setAlphaF(_TAKEN_TINT)
        _round(painter, place, tint)
        tip = QPointF(place.left() + 10, place.center().y() + 0.5)
        painter.setBrush(colour)
        painter.drawPolygon(QPolygonF([tip + QPointF(-6, -4), tip, tip + QPointF(-6, 4)]))

    @staticmethod
    def _paint_bars(
        painter: QPainter, place: QRect, shares: tuple[float | None, float | None], look: theme.Theme, *, is_cut: bool
    ) -> None:
        top = place.center().y() - (_RAW_PX + _BAR_GAP_PX + _AFTER_PX) / 2
        colours = (look.colour("border_strong" if is_cut else "stage_logits"), look.colour("stage_sampling"))
        painter.setPen(Qt.PenStyle.NoPen)
        for share, thick, below, colour in zip(
            shares, (_RAW_PX, _AFTER_PX), (0, _RAW_PX + _BAR_GAP_PX), colours, strict=True
        ):
            painter.setBrush(look.colour("hover"))
            painter.drawRoundedRect(QRectF(place.left(), top + below, place.width(), thick), thick / 2, thick / 2)
            if share:
                painter.setBrush(colour)
                long = max(place.width() * share, _LEAST_BAR_PX)
                painter.drawRoundedRect(QRectF(place.left(), top + below, long, thick), thick / 2, thick / 2)


def _columns(place: QRect) -> tuple[QRect, QRect, QRect, QRect]:
    """Return where text, bars, the raw figure and the one after the chain stand."""
    inside = place.adjusted(theme.SPACE_L, 0, -theme.SPACE_S, 0)
    text, figure = round(inside.width() * _TEXT_SHARE), round(inside.width() * _FIGURE_SHARE)
    last = max(figure, _SCISSORS_PX + _SCISSORS_GAP_PX + _widest_stage() + theme.SPACE_XS)
    bars = inside.width() - text - figure - last - 2 * theme.SPACE_S
    lefts = (0, text + theme.SPACE_S, text + bars + theme.SPACE_S, inside.width() - last)
    widths = (text, bars, figure, last)
    first, second, third, fourth = (
        QRect(inside.left() + left, place.top(), width, place.height())
        for left, width in zip(lefts, widths, strict=True)
    )
    return first, second, third, fourth


def _widest_stage() -> int:
    """Return how wide the longest name of a stage is that cuts tokens."""
    metrics = QFontMetrics(theme.font(theme.SMALL_PX))
    return max(metrics.horizontalAdvance(cutter_words(stage)) for stage in ("grammar", *STAGES))


def _round(painter: QPainter, place: QRect, colour: QColor) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawRoundedRect(QRectF(place).adjusted(0, 1, 0, -1), theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
