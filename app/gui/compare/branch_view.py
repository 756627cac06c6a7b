"""All lanes as one tree that forks where they part: zoomed with Ctrl and the wheel, panned, and walked with the keyboard."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QFocusEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from app.gui import theme
from app.gui.compare.branch_export import branches_picture
from app.gui.compare.branch_layout import LEAST_ZOOM, MOST_ZOOM, BranchLayout, branch_layout, neighbour
from app.gui.compare.branch_legend import BranchLegend, LegendStrip
from app.gui.compare.branch_measure import FontMeasure
from app.gui.compare.branch_picture import BranchPicture
from app.gui.compare.branch_words import node_sentence, node_text
from app.gui.widgets.words import set_hint
from app.services.lane_analysis import Analysis
from app.services.lanes_run import LanesRun

STEP = 1.25
LEAST_PX = 180
MOST_HINT = 280
"""Characters of a text that are shown on hover: more would hide the tree."""
_MOVES = {
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Down: (0, 1),
    Qt.Key.Key_Up: (0, -1),
}
_ZOOMS = {Qt.Key.Key_Plus: 1, Qt.Key.Key_Equal: 1, Qt.Key.Key_Minus: -1}


class BranchView(QAbstractScrollArea):
    """Paints what is in view."""

    lane_wanted = Signal(int, int)
    """Somebody wants to see a lane at one of its tokens: both."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self._themes = themes
        self._analysis: Analysis | None = None
        self._zoom = 1.0
        self._layout = BranchLayout((), 0, 0)
        self._picture: BranchPicture | None = None
        self._legend = LegendStrip(themes, self)
        self._nodes: list[QWidget] = []
        """One for each stretch: what is said on hover and to those who listen."""
        self._texts: list[str] = []
        """What each of them says, on one line."""
        self._room = QSize()
        """What the tree was laid out for."""
        self._focused = 0
        self._grip: QPointF | None = None
        self.setObjectName("compare_branches")
        self.setAccessibleName(self.tr("Branches of the lanes"))
        self.setProperty("look", "lane_text")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setCursor(Qt.CursorShape.OpenHandCursor)
        self.setMinimumHeight(theme.scaled(LEAST_PX))
        themes.changed.connect(self.viewport().update)

    @property
    def zoom(self) -> float:
        """How much larger than the view the room for the tree is; at 1 it fits."""
        return self._zoom

    @property
    def focused(self) -> int:
        """The stretch that the keyboard is at."""
        return self._focused

    def show_analysis(self, analysis: Analysis | None) -> None:
        """Show another tree."""
        is_other = analysis is None or self._analysis is None or analysis.comparison != self._analysis.comparison
        self._analysis = analysis
        tree = analysis.tree if analysis is not None else ()
        self._focused = 0 if is_other else min(self._focused, max(len(tree) - 1, 0))
        self._texts = [node_text(node) for node in tree]
        self._make_nodes(len(tree))
        if is_other:
            self._zoom = 1.0
        if self._is_drawn:
            self._tell()
        else:
            self.setAccessibleDescription(self._nothing_words)
        self._lay_out()

    def zoom_by(self, steps: float) -> None:
        """Make the tree larger, or smaller with less than no steps."""
        self._zoom_to(min(max(self._zoom * STEP**steps, LEAST_ZOOM), MOST_ZOOM))

    def fit(self) -> None:
        """Show all of the tree."""
        self._zoom_to(1.0)

    def picture(self, run: LanesRun, scale: float = 2.0) -> QImage:
        """Return all of the tree of a comparison as a picture that stands alone, with its heading and its legend."""
        if self._analysis is None or not self._is_drawn:
            return self.grab().toImage()
        return branches_picture(self._analysis, run, self._themes.current, self._layout.width, scale)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Walk the stretches, go to a lane with Enter, zoom with + and −, and fit with 0."""
        key, analysis = Qt.Key(event.key()), self._analysis
        if analysis is None or not analysis.tree:
            super().keyPressEvent(event)
        elif key in _MOVES:
            across, down = _MOVES[key]
            self._focus(neighbour(analysis.tree, self._layout, self._focused, across, down))
        elif key in _ZOOMS:
            self.zoom_by(_ZOOMS[key])
        elif key == Qt.Key.Key_0:
            self.fit()
        elif key == Qt.Key.Key_Home:
            self._focus(0)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._go(self._focused)
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom with Ctrl, and scroll without."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            if turned := event.angleDelta().y():
                self._zoom_at(event.position(), turned / 120)
            event.accept()
        else:
            super().wheelEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold of the picture, and of a stretch under the pointer."""
        if event.button() is Qt.MouseButton.LeftButton:
            self._grip = event.position()
            self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
            place = event.position() - self._origin()
            found = self._layout.at(place.x(), place.y())
            if found is not None:
                self._focus(found, reveal=False)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move the picture with the pointer."""
        if self._grip is not None:
            moved = event.position() - self._grip
            self._grip = event.position()
            across, down = self.horizontalScrollBar(), self.verticalScrollBar()
            across.setValue(across.value() - round(moved.x()))
            down.setValue(down.value() - round(moved.y()))

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        """Let the picture go."""
        self._grip = None
        self.viewport().setCursor(Qt.CursorShape.OpenHandCursor)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Go to the lane of the stretch under the pointer."""
        place = event.position() - self._origin()
        found = self._layout.at(place.x(), place.y())
        if found is not None:
            self._go(found)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay the tree out anew for other room; a scroll bar that came or went leaves it as it is."""
        super().resizeEvent(event)
        if self.maximumViewportSize() != self._room:
            self._lay_out()
        else:
            self._place_legend()
            self._place_nodes()

    def scrollContentsBy(self, _dx: int, _dy: int) -> None:
        """Paint what came into view."""
        self._place_nodes()
        self.viewport().update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show where the keyboard is."""
        super().focusInEvent(event)
        self._tell()
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the ring away."""
        super().focusOutEvent(event)
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the tree."""
        painter = QPainter(self.viewport())
        look = self._themes.current
        painter.fillRect(event.rect(), look.colour("surface"))
        if not self._is_drawn:
            painter.setPen(look.colour("muted"))
            painter.setFont(theme.font(theme.BASE_PX))
            room = self.viewport().rect().adjusted(theme.SPACE_L, theme.SPACE_L, -theme.SPACE_L, -theme.SPACE_L)
            painter.drawText(room, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self._nothing_words)
        elif self._picture is not None:
            origin = self._origin()
            painter.translate(origin)
            seen = QRectF(event.rect()).translated(-origin)
            self._picture.paint(painter, look, seen, focused=self._focused if self.hasFocus() else None)
            painter.translate(0, max(-origin.y(), 0.0))
            self._picture.paint_ruler(painter, look, -origin.x(), self.viewport().width())
        painter.end()

    @property
    def _is_drawn(self) -> bool:
        """Whether there is anything of a tree."""
        return self._analysis is not None and any(node.end for node in self._analysis.tree)

    @property
    def _nothing_words(self) -> str:
        return self.tr("The tree of the lanes is drawn as soon as one of them has ended.")

    def _origin(self) -> QPointF:
        """Return where the tree's corner is in the view; a tree that is low lies in the middle."""
        spare = max(self.viewport().height() - self._layout.height, 0) / 2
        return QPointF(-self.horizontalScrollBar().value(), spare - self.verticalScrollBar().value())

    def _lay_out(self) -> None:
        tree = self._analysis.tree if self._analysis is not None else ()
        self._place_legend()
        whole = self._room = self.maximumViewportSize()
        measure = FontMeasure()
        across, down = self.horizontalScrollBar(), self.verticalScrollBar()
        self._layout = branch_layout(tree, measure, whole.width(), whole.height(), self._zoom, self._texts)
        bars = down.sizeHint().width(), across.sizeHint().height()
        view = QSize(*self._layout.seen(whole.width(), whole.height(), *bars))
        if view != whole and self._zoom <= 1:  # a larger tree is scrolled anyway
            self._layout = branch_layout(tree, measure, view.width(), view.height(), self._zoom, self._texts)
            view = QSize(*self._layout.seen(whole.width(), whole.height(), *bars))
        laid = self._layout
        for bar, length, seen in ((across, laid.width, view.width()), (down, laid.height, view.height())):
            bar.setRange(0, max(round(length) - seen, 0))
            bar.setPageStep(seen)
            bar.setSingleStep(24)
        is_drawn = self._analysis is not None and self._is_drawn
        self._picture = BranchPicture(self._analysis, self._layout, measure) if is_drawn and self._analysis else None
        self._place_nodes()
        self.viewport().update()

    def _place_legend(self) -> None:
        """Keep the room under the tree for what its lengths and widths stand for."""
        tree = self._analysis.tree if self._analysis is not None else ()
        width = self.width() - 2 * self.frameWidth()
        legend = BranchLegend(tree, width - 2 * theme.SPACE_XL)
        height = round(legend.height) + theme.SPACE_S if self._is_drawn else 0
        self._legend.show_legend(legend)
        self._legend.setVisible(height > 0)
        if self.viewportMargins().bottom() != height:
            self.setViewportMargins(0, 0, 0, height)
        above = self.viewport().geometry()
        self._legend.setGeometry(above.left(), above.bottom() + 1, above.width(), height)

    def _zoom_to(self, zoom: float) -> None:
        self._zoom = zoom
        self._lay_out()
        self._reveal()

    def _zoom_at(self, at: QPointF, steps: float) -> None:
        """Zoom so that the token under the pointer stays there."""
        origin, axis = self._origin(), self._layout.axis
        if axis is None or not self._layout.height:
            return
        token = axis.token(at.x() - origin.x())
        share = (at.y() - origin.y()) / self._layout.height
        self.zoom_by(steps)
        if self._layout.axis is not None:
            self.horizontalScrollBar().setValue(round(self._layout.axis.x(token) - at.x()))
            self.verticalScrollBar().setValue(round(share * self._layout.height - at.y()))

    def _make_nodes(self, number: int) -> None:
        while len(self._nodes) > number:
            self._nodes.pop().deleteLater()
        while len(self._nodes) < number:
            node = QWidget(self.viewport())
            node.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
            node.setAttribute(Qt.WidgetAttribute.WA_NoMousePropagation, False)
            node.setObjectName(f"branch_{len(self._nodes)}")
            self._nodes.append(node)
        if self._analysis is not None:
            for widget, node_of, text in zip(self._nodes, self._analysis.tree, self._texts, strict=True):
                widget.setAccessibleName(node_sentence(node_of, said_text=text))
                leads = self.tr("A double click shows the lane.")
                widget.setAccessibleDescription(leads)
                set_hint(widget, f"{node_sentence(node_of, MOST_HINT, text)}\n{leads}")

    def _place_nodes(self) -> None:
        origin = self._origin().toPoint()
        for widget, place in zip(self._nodes, self._layout.places, strict=False):
            left, top, right, bottom = place.box
            widget.setGeometry(
                QRect(round(left), round(top), round(right - left), round(bottom - top)).translated(origin)
            )
            widget.show()

    def _focus(self, node: int, *, reveal: bool = True) -> None:
        if node != self._focused:
            self._focused = node
            self._tell()
            self.viewport().update()
        if reveal:
            self._reveal()

    def _reveal(self) -> None:
        """Scroll so that the stretch with the keyboard is in view."""
        if not self._layout.places:
            return
        place = self._layout.places[min(self._focused, len(self._layout.places) - 1)]
        left, top, right, bottom = place.box
        for bar, first, last in (
            (self.horizontalScrollBar(), left - 30, right + 30),
            (self.verticalScrollBar(), top - self._layout.ruler_px - 8, bottom + 12),
        ):
            bar.setValue(round(min(first, max(bar.value(), last - bar.pageStep()))))

    def _tell(self) -> None:
        if self._is_drawn and self._focused < len(self._nodes):
            said = self._nodes[self._focused].accessibleName()
            self.setAccessibleDescription(said)
            if QAccessible.isActive():
                QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    def _go(self, node: int) -> None:
        if self._analysis is not None:
            found = self._analysis.tree[node]
            self.lane_wanted.emit(found.lanes[0], found.start)
