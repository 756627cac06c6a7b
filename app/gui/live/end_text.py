"""The sentence on where the time of the answer went, and in its place a quiet one while another chat is answered.

Always as high as it ever may be: nothing below it moves when an answer ends.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.paragraph import Paragraph
from app.gui.widgets.words import set_hint
from app.services.figures import Elsewhere
from app.services.units import rate


class EndText(QWidget):
    """How the answer ended, in a few lines."""

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
        self._sentence = Paragraph(lines=1, name="diagnosis_text")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._elsewhere)
        layout.addWidget(self._sentence)
        layout.addStretch(1)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_lines(self, lines: int) -> None:
        """Have room for so many lines."""
        if lines != self._lines:
            self._lines = lines
            self.setFixedHeight(lines * self._sentence.line_px + 2)
            self._share()

    def show_end(self, sentence: str, stop: str) -> None:
        """Say where the time went, and on hover why the answer ended; nothing while there is nothing to say."""
        self._sentence.set_text(sentence or stop)
        set_hint(self._sentence, "\n".join(dict.fromkeys(each for each in (sentence, stop) if each)))
        self._share()

    def show_none(self, reason: str) -> None:
        """Say quietly why there is nothing to say, or nothing at all."""
        self._sentence.set_text(reason, muted=True)
        set_hint(self._sentence, "")
        self._share()

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

    def _share(self) -> None:
        """Give all lines to one of the two: together they would be cut."""
        is_elsewhere = not self._elsewhere.isHidden()
        self._title.set_lines(self._lines)
        self._sentence.set_lines(self._lines)
        self._sentence.setVisible(not is_elsewhere)
