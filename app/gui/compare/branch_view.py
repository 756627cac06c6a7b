"""All lanes as one tree that forks where they part: zoomed with Ctrl and the wheel, panned, and walked with the keyboard."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRect, Qt, Signal
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
from app.gui.compare.branch_layout import (
    LEAST_ZOOM,
    MOST_ZOOM,
    BranchLayout,
    branch_layout,
    fitting_zoom,
    neighbour,
)
from app.gui.compare.branch_picture import paint_branches
from app.gui.compare.branch_words import node_sentence
from app.gui.widgets.words import set_hint
from app.services.lane_analysis import Analysis

STEP = 1.25
LEAST_PX = 180
_MOVES = {
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Down: (0, 1),
    Qt.Key.Key_Up: (0, -1),
}
_ZOOMS = {Qt.Key.Key_Plus: 1, Qt.Key.Key_Equal: 1, Qt.Key.Key_Minus: -1, Qt.Key.Key_0: 0}


class BranchView(QAbstractScrollArea):
    """Paints what is in view."""

    lane_wanted = Signal(int, int)
    """Somebody wants to see a lane at one of its tokens: both."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self._themes = themes
        self._analysis: Analysis | None = None
        self._zoom = 1.0
        self._fits = True
        self._layout = BranchLayout((), 0, 0)
        self._nodes: list[QWidget] = []
        """One for each stretch: what is said on hover and to those who listen."""
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
        """How long stretches are, 1 for their usual length."""
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
        self._make_nodes(len(tree))
        if is_other:
            self._fits = True
        if not self._is_drawn:
            self.setAccessibleDescription(self._nothing_words)
        self._lay_out()

    def zoom_by(self, steps: float) -> None:
        """Make stretches longer or shorter; 0 steps fit all of them into the view."""
        self._fits = steps == 0
        if steps:
            self._zoom = min(max(self._zoom * STEP**steps, LEAST_ZOOM), MOST_ZOOM)
        self._lay_out()
        self._reveal()

    def picture(self, scale: float = 2.0) -> QImage:
        """Return all of the tree as a picture, on the theme's ground."""
        image = QImage(
            round(max(self._layout.width, 1) * scale),
            round(max(self._layout.height, 1) * scale),
            QImage.Format.Format_RGB32,
        )
        image.setDevicePixelRatio(scale)
        image.fill(self._themes.current.colour("surface"))
        if self._analysis is not None:
            painter = QPainter(image)
            paint_branches(painter, self._analysis, self._layout, self._themes.current)
            painter.end()
        return image

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
        elif key == Qt.Key.Key_Home:
            self._focus(0)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._go(self._focused)
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom with Ctrl, and scroll without."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom_by(event.angleDelta().y() / 120)
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
        """Fit the tree anew where it was fitted."""
        super().resizeEvent(event)
        self._lay_out()

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
        elif self._analysis is not None:
            painter.translate(self._origin())
            paint_branches(
                painter, self._analysis, self._layout, look, focused=self._focused if self.hasFocus() else None
            )
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
        room = self.maximumViewportSize()
        if self._fits:
            self._zoom = fitting_zoom(tree, room.width()) if tree else 1.0
        self._layout = branch_layout(tree, self._zoom, room.height() if self._fits else None)
        fits = self._layout.width <= room.width() and self._layout.height <= room.height()
        view = room if fits else self.viewport().size()  # scroll bars that go give their room back later
        for bar, whole, seen in (
            (self.horizontalScrollBar(), self._layout.width, view.width()),
            (self.verticalScrollBar(), self._layout.height, view.height()),
        ):
            bar.setRange(0, max(round(whole) - seen, 0))
            bar.setPageStep(seen)
            bar.setSingleStep(24)
        self._place_nodes()
        self.viewport().update()

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
            for widget, node_of in zip(self._nodes, self._analysis.tree, strict=True):
                said = node_sentence(node_of)
                widget.setAccessibleName(said)
                set_hint(widget, said)

    def _place_nodes(self) -> None:
        origin = self._origin().toPoint()
        for widget, place in zip(self._nodes, self._layout.places, strict=False):
            corner = QPoint(round(place.left), round(place.y - 24)) + origin
            widget.setGeometry(QRect(corner.x(), corner.y(), max(round(place.right - place.left), 12), 44))
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
        for bar, first, last in (
            (self.horizontalScrollBar(), place.left - 30, place.right + 60),
            (self.verticalScrollBar(), place.y - 40, place.y + 40),
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
