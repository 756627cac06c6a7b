"""The bar of step mode above the composer: hold an answer or let it run, one token at a time, and how fast.

There only while somebody uses it. Says what people want and shows what became of it; knows no candidates.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.labels import ElidedLabel
from app.gui.widgets.speed_slider import SpeedSlider
from app.gui.widgets.step_words import hold_hint, hold_words, one_token_hint, one_token_words, waiting_words
from app.gui.widgets.words import set_hint
from app.services.chat import Chat
from app.services.step_mode import StepMode


class StepBar(QFrame):
    """Follows the pace of answers; whoever closes it leaves step mode."""

    keyboard_left = Signal()
    """It went away while it had the keyboard."""
    shown = Signal(bool)
    """It came or went: whether it is there."""

    def __init__(self, step_mode: StepMode, chat: Chat, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._step_mode, self._chat = step_mode, chat
        self.setObjectName("step_bar")
        self.setAccessibleName(self.tr("Steps and speed"))
        self.setProperty("look", "chip")
        self._hold = _button("hold_button", hold_words(is_held=True), hold_words(is_held=False), self.tr("No steps"))
        self._step = _button("one_token_button", one_token_words())
        set_hint(self._step, one_token_hint(), "one_token_action")
        self._status = ElidedLabel(theme.SMALL_PX)
        self._status.setObjectName("step_status")
        self._speed = SpeedSlider(step_mode)
        self._close = IconButton(
            icons, "close", self.tr("Leave step mode: write as fast as it goes"), object_name="step_bar_close_button"
        )
        self._was_held = False
        self._lay_out()
        self._hold.clicked.connect(step_mode.toggle)
        self._step.clicked.connect(step_mode.step)
        self._close.clicked.connect(self.leave)
        self._disconnect = [step_mode.changed.connect(self._show), chat.busy_changed.connect(self._show)]
        self.hide()
        self._show()

    def disconnect_services(self) -> None:
        """Follow the pace no longer."""
        self._speed.disconnect_services()
        for disconnect in self._disconnect:
            disconnect()

    def toggle(self) -> None:
        """Come, or go and leave step mode."""
        if self.isHidden():
            self._come(shown=True)
        else:
            self.leave()

    def leave(self) -> None:
        """Go, and let answers be written as fast as it goes."""
        focus: QWidget | None = self.window().focusWidget()
        had_keyboard = focus is not None and self.isAncestorOf(focus)
        self._step_mode.end()
        self._come(shown=False)
        if had_keyboard:
            self.keyboard_left.emit()

    def _come(self, *, shown: bool) -> None:
        if self.isHidden() is shown:
            self.setVisible(shown)
            self.shown.emit(shown)

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.SPACE_S, theme.SPACE_XS, theme.SPACE_XS, theme.SPACE_XS)
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self._hold)
        row.addWidget(self._step)
        row.addWidget(self._status, 1)
        row.addWidget(self._speed)
        row.addWidget(self._close, 0, Qt.AlignmentFlag.AlignVCenter)

    def _show(self) -> None:
        mode = self._step_mode
        is_held, speed = mode.is_one_by_one, mode.speed
        if is_held or speed is not None:
            self._come(shown=True)
        is_over = is_held and not self._chat.busy
        self._hold.setText(self.tr("No steps") if is_over else hold_words(is_held=is_held))
        words = hold_hint(is_held=is_held)
        set_hint(self._hold, self.tr("Let the next answer run to its end") if is_over else words, "pause_action")
        self._step.setEnabled(mode.held is not None or not is_held)
        status, hint = self._status_words()
        if mode.held is not None and not self._was_held:
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, status))
        self._was_held = mode.held is not None
        self._status.set_text(status)
        set_hint(self._status, " ".join(filter(None, (f"{status}." if hint else status, hint))))

    def _status_words(self) -> tuple[str, str]:
        """Return what waits for whom, and what can be done about it."""
        mode = self._step_mode
        if mode.held is not None:
            hint = self.tr(
                "Choose a token in the list of the section Next token, by a click or with Enter, or let one be drawn."
            )
            return waiting_words(mode.next_token), hint
        if not mode.is_one_by_one:
            return "", ""
        if self._chat.busy:
            return self.tr("Waits at its next token"), ""
        return self.tr("Next answer by steps"), ""


def _button(name: str, *texts: str) -> QPushButton:
    """Return a button that is wide enough for each of its texts."""
    button = QPushButton()
    button.setObjectName(name)
    widths = []
    for text in texts:
        button.setText(text)
        widths.append(button.sizeHint().width())
    button.setMinimumWidth(max(widths))
    return button
