"""Number boxes, sliders and choices that leave the mouse wheel to the page until they have the focus."""

from __future__ import annotations

import re
from collections.abc import Mapping

from PySide6.QtCore import Property, QPointF, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QValidator, QWheelEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QSlider,
    QStyle,
    QStyleOptionComboBox,
    QStyleOptionSlider,
    QStylePainter,
    QWidget,
)

from app.gui.widgets.arrow import DOWN, LEFT, RIGHT, draw_arrow
from app.gui.widgets.choices import ChoiceDelegate

TEXT_MARGIN_PX = 6
LABEL_MARGIN_PX = 1
"""Beside the choice, on which Qt paints nothing; its size hint knows nothing of it."""
KNOB_ARROW_PX = 2.5
TRACK_PX = 4
"""As high as the style sheet's."""
SETTLED_MS = 350
"""After so long without a key a number that is being typed counts."""
SHOWN_DECIMALS = 2
KEPT_DECIMALS = 4
_GROUPED = re.compile(r"[+-]?[0-9]{1,3}(?:([ ,.'’\u00a0\u202f])[0-9]{3})(?:\1[0-9]{3})*")
_WHOLE = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)")
_UNFINISHED_WHOLE = re.compile(r"[+-]?[0-9 ,.'’\u00a0\u202f]*")
_UNFINISHED = re.compile(r"[+-]?[.,]?")


def read_number(text: str, *, whole: bool) -> float | None:
    """Return the number that somebody typed with a comma or a point, or None.

    In a whole number, signs before groups of three digits are thousands; elsewhere the one sign is the decimal sign.
    """
    typed = text.strip()
    if whole:
        if _WHOLE.fullmatch(typed):
            return float(typed)
        return float(re.sub(r"[^0-9+-]", "", typed)) if _GROUPED.fullmatch(typed) else None
    return float(typed.replace(",", ".")) if _DECIMAL.fullmatch(typed) else None


class NumberBox(QDoubleSpinBox):
    """A number between two ends; certain values show as words, such as “off”, and can be typed as such.

    What is typed beyond an end becomes the end; what is no number becomes the value before. What is being typed counts
    after a short pause, and stays as it is typed until it is finished.
    """

    def __init__(
        self, low: float, high: float, *, whole: bool, words: Mapping[float, str] | None = None, step: float = 1.0
    ) -> None:
        super().__init__()
        self._whole = whole
        self._words = dict(words or {})
        self.setDecimals(0 if whole else KEPT_DECIMALS)
        self.setRange(low, high)
        self.setSingleStep(step)
        self.lineEdit().setTextMargins(TEXT_MARGIN_PX, 0, TEXT_MARGIN_PX, 0)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.setKeyboardTracking(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._is_typed = False
        """Whether what stands there is being typed."""
        self._settled = QTimer(self)
        self._settled.setSingleShot(True)
        self._settled.setInterval(SETTLED_MS)
        self._settled.timeout.connect(self.take_typed)
        self.lineEdit().textEdited.connect(self._note_typed)
        self.editingFinished.connect(self._end_typing)

    def setValue(self, value: float) -> None:
        """Show a number; what is being typed stays unless this is another one than before."""
        if not self._is_typed or round(value, KEPT_DECIMALS) != round(self.value(), KEPT_DECIMALS):
            self._end_typing()
            super().setValue(value)

    def take_typed(self) -> None:
        """Tell the number that is being typed, and leave its text; one below the range still lacks digits."""
        text = self.lineEdit().text()
        is_number = self._state_of(text.strip()) is QValidator.State.Acceptable
        if is_number and self.valueFromText(text) >= self.minimum():
            self.setKeyboardTracking(True)  # Qt then reads what is said to be typed, and leaves the text
            self.lineEdit().textChanged.emit(text)
            self.setKeyboardTracking(False)

    def finish_typing(self) -> None:
        """Take what is typed as it is now, as if the keyboard had left the box."""
        self._end_typing()
        self.interpretText()

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        """Let everything be typed that can still become a number or one of the words."""
        return self._state_of(text.strip()), text, position

    def fixup(self, text: str) -> str:
        """Leave what is no number as it is; Qt would take a separator out and read another number."""
        return text

    def valueFromText(self, text: str) -> float:
        """Return the number that is meant; Qt holds it inside the range."""
        worded = self._worded(text.strip())
        number = read_number(text, whole=self._whole) if worded is None else worded
        return self.value() if number is None else number

    def textFromValue(self, value: float) -> str:
        """Return a word, or the number with two decimals and with more where they say something."""
        rounded = round(value, KEPT_DECIMALS)
        if rounded in self._words:
            return self._words[rounded]
        if self._whole:
            return f"{rounded:.0f}"
        exact = f"{rounded:.{KEPT_DECIMALS}f}".rstrip("0")
        places = max(len(exact.partition(".")[2]), SHOWN_DECIMALS)
        return f"{rounded:.{places}f}".replace(".", self.locale().decimalPoint())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Change the number only when the box has the focus."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def _note_typed(self) -> None:
        self._is_typed = True
        self._settled.start()

    def _end_typing(self) -> None:
        self._is_typed = False
        self._settled.stop()

    def _state_of(self, typed: str) -> QValidator.State:
        if self._worded(typed) is not None or read_number(typed, whole=self._whole) is not None:
            return QValidator.State.Acceptable
        unfinished = _UNFINISHED_WHOLE if self._whole else _UNFINISHED
        starts_word = any(word.casefold().startswith(typed.casefold()) for word in self._words.values())
        if unfinished.fullmatch(typed) or starts_word:
            return QValidator.State.Intermediate
        return QValidator.State.Invalid

    def _worded(self, typed: str) -> float | None:
        found = (value for value, word in self._words.items() if word.casefold() == typed.casefold())
        return next(found, None)


class WheelSlider(QSlider):
    """A horizontal slider; an arrow in its knob says that the value lies beyond the end that the knob stands at.

    Its track is filled up to the knob from the left, or from where its value has no effect: there nothing is filled.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._beyond = 0
        self._neutral: int | None = None
        self._fill = QColor()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    @property
    def beyond(self) -> int:
        """Where the value lies: -1 below the slider's range, 1 above it, 0 within."""
        return self._beyond

    def set_beyond(self, side: int) -> None:
        """Say where the value lies, as `beyond` has it."""
        if side != self._beyond:
            self._beyond = side
            self.update()

    def fill_from(self, neutral: int) -> None:
        """Fill the track from a position to the knob, in the style sheet's colour for it."""
        self._neutral = neutral
        self.setProperty("fills", "from_neutral")

    def _get_fill(self) -> QColor:
        return self._fill

    def _set_fill(self, colour: QColor) -> None:
        self._fill = colour
        self.update()

    fillColour = Property(QColor, _get_fill, _set_fill)
    """What the style sheet fills the track with, where that begins at no end."""

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the track between neutral and knob, and the arrow into the knob, over those of the style sheet."""
        super().paintEvent(event)
        if self._neutral is None and not self._beyond:
            return
        knob = self._knob(self.value())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._neutral is not None:
            self._paint_fill(painter, knob, self._knob(self._neutral), self._part(QStyle.SubControl.SC_SliderGroove))
        if self._beyond:
            self._paint_arrow(painter, knob.center())
        painter.end()

    def _knob(self, position: int) -> QRectF:
        """Return where the knob lies at a position."""
        return self._part(QStyle.SubControl.SC_SliderHandle, position)

    def _part(self, part: QStyle.SubControl, position: int = 0) -> QRectF:
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        option.sliderPosition = option.sliderValue = position
        return QRectF(self.style().subControlRect(QStyle.ComplexControl.CC_Slider, option, part, self))

    def _paint_fill(self, painter: QPainter, knob: QRectF, neutral: QRectF, track: QRectF) -> None:
        """Fill from the middle of the neutral position, or from the end of the track, round as that, where it is there."""
        if knob.center().x() == neutral.center().x():
            return
        rises = neutral.center().x() < knob.center().x()
        is_end = self._neutral in (self.minimum(), self.maximum())
        if rises:
            begin, end = track.left() if is_end else neutral.center().x(), knob.left()
        else:
            begin, end = track.right() if is_end else neutral.center().x(), knob.right()
        filled = QRectF(min(begin, end), knob.center().y() - TRACK_PX / 2, abs(end - begin), TRACK_PX)
        if (begin < end) is not rises:
            return
        painter.save()
        painter.setClipRect(filled)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._fill)
        radius = TRACK_PX / 2 if is_end else 0.0
        beyond = TRACK_PX if rises else -TRACK_PX  # the end at the knob is not round
        painter.drawRoundedRect(filled.adjusted(min(beyond, 0), 0, max(beyond, 0), 0), radius, radius)
        painter.restore()

    def _paint_arrow(self, painter: QPainter, middle: QPointF) -> None:
        way = RIGHT if self._beyond > 0 else LEFT
        draw_arrow(painter, middle, self.palette().windowText().color(), way, KNOB_ARROW_PX)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Move only when the slider has the focus."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class ChoiceBox(QComboBox):
    """A drop-down list whose arrow is drawn in the colour of its text."""

    opened = Signal()
    """Its list is about to be seen."""
    closed = Signal()
    """Its list is not seen any more."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setItemDelegate(ChoiceDelegate(self))

    def sizeHint(self) -> QSize:
        """Ask for room for the longest choice and for what stands beside it."""
        return super().sizeHint() + QSize(2 * LABEL_MARGIN_PX, 0)

    def minimumSizeHint(self) -> QSize:
        """Likewise."""
        return super().minimumSizeHint() + QSize(2 * LABEL_MARGIN_PX, 0)

    @property
    def shown(self) -> str:
        """The choice as it is painted: a long one with … at its end."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        return self._shown(option)

    def _shown(self, option: QStyleOptionComboBox) -> str:
        room = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self
        )
        left = room.width() - 2 * LABEL_MARGIN_PX
        return option.fontMetrics.elidedText(option.currentText, Qt.TextElideMode.ElideRight, left)

    def showPopup(self) -> None:
        """Open the list, wider than the box where a long choice needs it."""
        self.opened.emit()
        view = self.view()
        widths = [view.sizeHintForIndex(self.model().index(row, 0)).width() for row in range(self.count())]
        bar = (
            view.verticalScrollBar().sizeHint().width() + LABEL_MARGIN_PX * 4
            if self.count() > self.maxVisibleItems()
            else 0
        )
        room = self.screen().availableGeometry()
        wide = max(widths, default=0) + 2 * view.frameWidth() + bar
        view.setMinimumWidth(min(wide, room.width() - 2 * view.frameWidth()))
        super().showPopup()
        keep_inside(view.window(), room)

    def hidePopup(self) -> None:
        """Close the list."""
        super().hidePopup()
        self.closed.emit()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint a long choice with … at its end, and the arrow over the box of the style sheet, which has none."""
        style, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        style.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        option.currentText = self._shown(option)
        style.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        style.end()
        painter = QPainter(self)
        middle = QPointF(self.width() - 16, self.height() / 2)
        draw_arrow(painter, middle, self.palette().buttonText().color(), DOWN)
        painter.end()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Change the choice only when the box has the focus."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


def keep_inside(popup: QWidget, room: QRect) -> None:
    """Move an open list to where all of it is seen: how large it gets is known only once it is shown."""
    size = popup.size().expandedTo(popup.minimumSizeHint())
    x = max(room.left(), min(popup.x(), room.right() + 1 - size.width()))
    y = max(room.top(), min(popup.y(), room.bottom() + 1 - size.height()))
    if (x, y) != (popup.x(), popup.y()):
        popup.move(x, y)
