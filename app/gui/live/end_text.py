"""The sentence on where the time of the answer went, and in its place a quiet one while another chat is answered.

Always as high as it ever may be: nothing below it moves when an answer ends.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.paragraph import Paragraph
from app.gui.widgets.words import set_hint
from app.services.figures import Elsewhere
from app.services.units import rate


class _Pressed(Paragraph):
    """A sentence that leads somewhere while it says so: with the mouse, or with Enter where the keyboard is."""

    pressed = Signal()
    """Somebody wants to go there."""

    def lead(self, on: bool) -> None:
        """Lead somewhere, or be a sentence like any other."""
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus if on else Qt.FocusPolicy.NoFocus)
        if on:
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        else:
            self.unsetCursor()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Go there."""
        is_left = event.button() == Qt.MouseButton.LeftButton
        if is_left and self._leads and self.rect().contains(event.position().toPoint()):
            self.pressed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go there."""
        if self._leads and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.pressed.emit()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show where the keyboard is."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The keyboard is elsewhere."""
        super().focusOutEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the lines, and a ring where the keyboard is."""
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self)
            painter.setPen(QPen(self.palette().highlight().color(), 2))
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))
            painter.end()

    @property
    def _leads(self) -> bool:
        return self.focusPolicy() != Qt.FocusPolicy.NoFocus


class EndText(QWidget):
    """How the answer ended, in a few lines."""

    why_wanted = Signal()
    """Somebody wants to see what the sentence rests on."""

    def __init__(self) -> None:
        super().__init__()
        self._lines = 1
        self._elsewhere = QWidget()
        self._title = Paragraph(lines=1, name="elsewhere_text")
        self._rate = FixedText(right=True, room_for="000 tok/s", name="elsewhere_rate")
        line = QHBoxLayout(self._elsewhere)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(theme.SPACE_S)
        line.addWidget(self._title, 1)
        line.addWidget(self._rate, 0, Qt.AlignmentFlag.AlignTop)
        self._elsewhere.hide()
        self._sentence = _Pressed(lines=1, name="diagnosis_text")
        self._sentence.pressed.connect(self.why_wanted)
        self._shown = ("", "")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._elsewhere)
        layout.addWidget(self._sentence)
        layout.addStretch(1)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Say more, or less, in another width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._say(*self._shown)

    def set_lines(self, lines: int) -> None:
        """Have room for so many lines."""
        if lines != self._lines:
            self._lines = lines
            self.setFixedHeight(lines * self._sentence.line_px + 2)
            self._share()
            self._say(*self._shown)

    def show_end(self, sentence: str, stop: str) -> None:
        """Say where the time went, and on hover why the answer ended; nothing while there is nothing to say."""
        self._share()
        self._say(sentence, stop)

    def show_none(self, reason: str) -> None:
        """Say quietly why there is nothing to say, or nothing at all."""
        self._shown = ("", "")
        self._sentence.lead(False)
        self._sentence.set_text(reason, muted=True)
        set_hint(self._sentence, "")
        self._share()

    @property
    def sentence(self) -> QWidget:
        """What is pressed."""
        return self._sentence

    def show_elsewhere(self, elsewhere: Elsewhere | None) -> None:
        """Say that an answer is written in a chat that is not shown, and how fast."""
        if elsewhere is not None:
            words = self.tr("Answering in another chat: {title}").format(title=elsewhere.title)
            pace = elsewhere.decode_tokens_per_s
            self._title.set_text(words, muted=True)
            self._rate.set_text("" if pace is None else self.tr("{rate} tok/s").format(rate=rate(pace)))
            self._rate.setAccessibleName(self.tr("Speed in the other chat: {rate} tok/s").format(rate=rate(pace)))
            set_hint(self._elsewhere, words)
        if self._elsewhere.isHidden() is (elsewhere is not None):
            self._elsewhere.setVisible(elsewhere is not None)
            self._share()

    def _say(self, sentence: str, stop: str) -> None:
        """Say the sentence, with where more of it is to be seen as far as there is room for that."""
        self._shown = sentence, stop
        if not sentence and not stop:
            return
        whole = self.tr("{sentence} See why.").format(sentence=sentence)
        for said in (whole, f"{sentence} ›", sentence) if sentence else (stop,):
            self._sentence.set_text(said)
            if " ".join(self._sentence.shown_lines) == said:
                break
        self._sentence.lead(bool(sentence))
        more = (
            self.tr("Click it to see the figures behind it, what would help, and the timeline.") if sentence else ""
        )
        set_hint(self._sentence, "\n".join(dict.fromkeys(each for each in (sentence, more, stop) if each)))

    def _share(self) -> None:
        """Give all lines to one of the two: together they would be cut."""
        is_elsewhere = not self._elsewhere.isHidden()
        self._title.set_lines(self._lines)
        self._sentence.set_lines(self._lines)
        self._sentence.setVisible(not is_elsewhere)
