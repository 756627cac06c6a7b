"""A button with a prompt to begin with, in as many lines as it takes."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QStyle, QStyleOptionButton, QStylePainter, QWidget

LEAST_PX, USUAL_PX = 120, 240
"""The narrowest width that it takes, and the one that it asks for."""
_ANY_PX = 1000
_FLAGS = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class Starter(QPushButton):
    """Breaks its words into lines, which Qt's buttons would cut off."""

    def __init__(self, prompt: str, parent: QWidget | None = None) -> None:
        super().__init__(prompt.replace("&", "&&"), parent)
        self._prompt = prompt
        self.setProperty("look", "starter")
        self.setAccessibleName(prompt)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:
        """Return that longer words take more lines."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all lines, and of what is drawn around them."""
        whole = QRect(0, 0, width, _ANY_PX)
        room = self._room(whole)
        lines = self.fontMetrics().boundingRect(QRect(0, 0, room.width(), _ANY_PX), int(_FLAGS), self._prompt)
        return max(whole.height() - room.height() + lines.height(), super().sizeHint().height())

    def sizeHint(self) -> QSize:
        """Ask for the same width whatever the words are: all columns are equally wide."""
        return QSize(USUAL_PX, self.heightForWidth(USUAL_PX))

    def minimumSizeHint(self) -> QSize:
        """Return the least width; the height follows from the width."""
        return QSize(LEAST_PX, super().sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the button as the style does, and the lines in it."""
        painter, option = QStylePainter(self), QStyleOptionButton()
        self.initStyleOption(option)
        option.text = ""
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        painter.setPen(self.palette().buttonText().color())
        painter.drawText(self._room(self.rect()), int(_FLAGS), self._prompt)
        painter.end()

    def _room(self, whole: QRect) -> QRect:
        """Return the place of the words in a button of this size."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.rect = whole
        return self.style().subElementRect(QStyle.SubElement.SE_PushButtonContents, option, self)
