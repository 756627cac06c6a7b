"""The ruler at the bottom of the loop: where the time of the answer went, to scale; it leads to the part Time.

Time always runs from left to right. Knows no service.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from app.gui import theme
from app.gui.ground import paint_ground, stand_alone
from app.gui.icons import Icons
from app.gui.inside.loop.time_words import Stretch, TimeFace
from app.gui.inside.timing.bar_words import icon_of, tick_words
from app.gui.inside.timing.scale import TimeScale
from app.gui.inside.timing.timeline_picture import ROW_COLOURS
from app.gui.widgets.words import set_hint

_HEAD_PX, _BAR_PX, _TICKS_PX, _LEGEND_PX, _ICON_PX = 24, 22, 18, 20, 16
_LEAST_PX = 2.0
_GAP_PX = 16
_SIDE = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading
_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute


class TimeRuler(QAbstractButton):
    """Shows what it is given; a click, Space or Enter leads on."""

    def __init__(self, themes: theme.Themes, icons: Icons) -> None:
        super().__init__()
        self.setObjectName("loop_time")
        self.face = TimeFace("")
        self._themes = themes
        self._icons = icons
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        stand_alone(self)
        themes.changed.connect(self.update)

    def show_face(self, face: TimeFace) -> None:
        """Show other times; without any there is nothing to go to."""
        if face == self.face:
            return
        is_there = bool(face.stretches)
        if is_there != self.isEnabled():
            self.setEnabled(is_there)
        self.face = face
        self.setAccessibleName(self.spoken())
        set_hint(self, self.tr("See where the time went") if is_there else face.said)
        self.update()

    def spoken(self) -> str:
        """Return all of it for people who listen."""
        parts = ", ".join(stretch.words() for stretch in self.face.stretches)
        said = self.tr("Time: {sentence}").format(sentence=self.face.said)
        return f"{said} {parts}".rstrip()

    def sizeHint(self) -> QSize:
        """Ask for as much height in every state, so that nothing moves."""
        rows = sum(map(theme.scaled, (_HEAD_PX, _BAR_PX, _TICKS_PX, _LEGEND_PX)))
        return QSize(theme.scaled(320), rows + 2 * theme.SPACE_S)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Lead on with Enter, too."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def rect_of(self, stretch: Stretch) -> QRectF:
        """Return where a stretch lies."""
        scale, area = self._scale(), self._area
        top = theme.SPACE_S + theme.scaled(_HEAD_PX)
        left, right = area.left() + scale.x_of(stretch.start_ns), area.left() + scale.x_of(stretch.end_ns)
        left = min(left, area.right() - _LEAST_PX)
        return QRectF(left, top, max(right - left, _LEAST_PX), theme.scaled(_BAR_PX))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the card."""
        painter = QPainter(self)
        paint_ground(painter, self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        look = self._themes.current
        is_near = self.isEnabled() and self.underMouse()
        width = look.line_px + (1.5 if self.hasFocus() else 0)
        painter.setPen(QPen(look.colour("accent" if self.hasFocus() else "border"), width))
        painter.setBrush(look.colour("hover" if is_near else "surface"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), theme.RADIUS_CARD, theme.RADIUS_CARD)
        self._paint_head(painter, look)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        top = theme.SPACE_S + theme.scaled(_HEAD_PX)
        track = QRectF(self._area.left(), top, self._area.width(), theme.scaled(_BAR_PX))
        painter.fillRect(track, look.colour("sunken"))
        if self.face.stretches:
            self._paint_bar(painter, look)
            self._paint_legend(painter, look)
        painter.end()

    @property
    def _area(self) -> QRectF:
        return QRectF(self.rect()).adjusted(theme.SPACE_M, theme.SPACE_S, -theme.SPACE_M, -theme.SPACE_S)

    def _scale(self) -> TimeScale:
        scale = TimeScale()
        scale.width = max(self._area.width(), 1.0)
        scale.set_whole(self.face.span_ns)
        return scale

    def _paint_head(self, painter: QPainter, look: theme.Theme) -> None:
        place, words = QRectF(self._area), self.tr("Time")
        place.setHeight(theme.scaled(_HEAD_PX))
        self._paint_icon(painter, look, place, "clock", "text")
        place = self._behind(place, theme.scaled(_ICON_PX) + theme.SPACE_S)
        for text, ink, font in (
            (words, "text", theme.font(theme.FIGURE_PX, bold=True)),
            (self.face.said, "text" if self.face.stretches else "muted", theme.font(theme.BASE_PX)),
        ):
            painter.setFont(font)
            painter.setPen(look.colour(ink))
            metrics = QFontMetricsF(font)
            painter.drawText(place, _SIDE, metrics.elidedText(text, Qt.TextElideMode.ElideRight, place.width()))
            place = self._behind(place, metrics.horizontalAdvance(text) + theme.SPACE_M)

    def _paint_bar(self, painter: QPainter, look: theme.Theme) -> None:
        area, scale = self._area, self._scale()
        top, height = theme.SPACE_S + theme.scaled(_HEAD_PX), theme.scaled(_BAR_PX)
        painter.setFont(theme.font(theme.SMALL_PX))
        painter.setPen(look.colour("muted"))
        ticks = scale.ticks()
        step = ticks[1] - ticks[0] if len(ticks) > 1 else scale.span_ns
        metrics = QFontMetricsF(painter.font())
        for tick in ticks:
            across, words = area.left() + scale.x_of(tick), tick_words(tick, step)
            if across + 3 + metrics.horizontalAdvance(words) > area.right():
                continue
            painter.fillRect(QRectF(across, top, 1, height + 5), look.colour("border_strong"))
            painter.drawText(QRectF(across + 3, top + height, 120, theme.scaled(_TICKS_PX)), _LEFT, words)
        for stretch in self.face.stretches:
            rect = self.rect_of(stretch)
            if rect.width() > _LEAST_PX + 1:
                rect.setWidth(rect.width() - 1)
            painter.fillRect(rect, look.colour(ROW_COLOURS[stretch.row]))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(look.colour("text"), 2))
        for stretch in self.face.stretches:
            if stretch.row in self.face.marked:
                painter.drawRect(self.rect_of(stretch).adjusted(-1, -2, 1, 2))

    def _paint_legend(self, painter: QPainter, look: theme.Theme) -> None:
        place, height = QRectF(self._area), theme.scaled(_LEGEND_PX)
        place.setTop(place.bottom() - height)
        for stretch in self.face.stretches:
            font = theme.font(theme.SMALL_PX, bold=stretch.row in self.face.marked)
            painter.setFont(font)
            self._paint_icon(painter, look, place, icon_of(stretch.row), ROW_COLOURS[stretch.row])
            place = self._behind(place, theme.scaled(_ICON_PX) + theme.SPACE_XS)
            painter.setPen(look.colour("text"))
            metrics = QFontMetricsF(font)
            words = metrics.elidedText(stretch.words(), Qt.TextElideMode.ElideRight, place.width())
            painter.drawText(place, _SIDE, words)
            place = self._behind(place, metrics.horizontalAdvance(words) + _GAP_PX)
            if place.width() < theme.scaled(_ICON_PX):
                return

    def _paint_icon(self, painter: QPainter, look: theme.Theme, place: QRectF, name: str, ink: str) -> None:
        side = theme.scaled(_ICON_PX)
        is_turned = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        left = place.right() - side if is_turned else place.left()
        pixmap = self._icons.icon(name, look.colour(ink)).pixmap(side, side)
        painter.drawPixmap(QPointF(left, place.center().y() - side / 2), pixmap)

    def _behind(self, place: QRectF, room: float) -> QRectF:
        """Return what is left of a line behind something."""
        is_turned = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        return place.adjusted(0, 0, -room, 0) if is_turned else place.adjusted(room, 0, 0, 0)
