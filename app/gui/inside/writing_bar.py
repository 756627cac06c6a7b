"""What can be done with the answer that is looked at while it is written: stop it, hold it, and let one token follow."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

from app.gui import theme
from app.gui.widgets.speed_slider import SpeedSlider
from app.gui.widgets.step_words import hold_hint, hold_words, one_token_hint, one_token_words
from app.gui.widgets.words import set_hint
from app.services.inspecting import Inspecting
from app.services.step_mode import StepMode
from app.services.turns import Turn


class WritingBar(QWidget):
    """There only while the answer that is looked at is written."""

    stop_wanted = Signal()
    """Somebody wants the answer to end."""
    keyboard_left = Signal()
    """It went away while it had the keyboard."""

    def __init__(self, inspecting: Inspecting, step_mode: StepMode) -> None:
        super().__init__()
        self.setObjectName("inside_writing_bar")
        self.setAccessibleName(self.tr("The answer that is being written"))
        self._inspecting = inspecting
        self._step_mode = step_mode
        self._stopped: Turn | None = None
        """The answer whose end is wanted already."""
        self._stop = _button("inside_stop", self.tr("Stop"))
        set_hint(self._stop, self.tr("Stop the answer; what was written stays"))
        self._hold = _button("inside_hold", hold_words(is_held=True), hold_words(is_held=False))
        self._step = _button("inside_one_token", one_token_words())
        set_hint(self._step, one_token_hint(), "one_token_action")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_XS)
        self._speed = SpeedSlider(step_mode, prefix="inside_", compact=True)
        for widget in (self._stop, self._hold, self._step, self._speed):
            row.addWidget(widget)
        self._stop.clicked.connect(lambda _checked=False: self._want_stop())
        self._hold.clicked.connect(lambda _checked=False: step_mode.toggle())
        self._step.clicked.connect(lambda _checked=False: step_mode.step())
        self._disconnect = [
            each.connect(self._show) for each in (inspecting.opened, inspecting.changed, step_mode.changed)
        ]
        self._show()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self._speed.disconnect_services()
        for disconnect in self._disconnect:
            disconnect()

    def _want_stop(self) -> None:
        self._stopped = self._inspecting.turn
        self._show()
        self.stop_wanted.emit()

    def _show(self) -> None:
        turn, mode = self._inspecting.turn, self._step_mode
        is_written = turn is not None and turn.state in ("waiting", "writing")
        is_ending = is_written and turn is self._stopped
        is_held = mode.is_one_by_one
        self._hold.setText(hold_words(is_held=is_held))
        set_hint(self._hold, hold_hint(is_held=is_held), "pause_action")
        focus: QWidget | None = self.window().focusWidget()
        had_keyboard = focus is not None and self.isAncestorOf(focus)
        can_step = not is_ending and (mode.held is not None or not is_held)
        # One that has the keyboard stays enabled between two steps: the keyboard would go elsewhere.
        self._step.setEnabled(can_step or (focus is self._step and not is_ending))
        self._stop.setEnabled(not is_ending)
        self._hold.setEnabled(not is_ending)
        self.setVisible(is_written)
        if had_keyboard and (not is_written or is_ending):
            self.keyboard_left.emit()


def _button(name: str, *texts: str) -> QPushButton:
    """Return a button that is wide enough for each of its texts, and never cut."""
    button = QPushButton()
    button.setObjectName(name)
    button.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
    button.ensurePolished()
    widths = []
    for text in texts:
        button.setText(text)
        widths.append(button.sizeHint().width())
    button.setMinimumWidth(max(widths))
    return button
