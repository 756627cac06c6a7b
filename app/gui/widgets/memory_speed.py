"""How fast this machine's memories are, in one line each, and the button that has them measured."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.core.devices import MAIN_MEMORY
from app.core.machine_speed import KnownMemory
from app.gui import theme
from app.gui.widgets.labels import label
from app.gui.widgets.words import render, set_hint
from app.services.bandwidth import MOST_BYTES, SECONDS, Bandwidth
from app.services.units import UNKNOWN, byte_size, rate


class MemorySpeedRow(QWidget):
    """Follows the service while it is there."""

    def __init__(self, service: Bandwidth, name: str = "memory_speed") -> None:
        """`name` begins the names of what is in it."""
        super().__init__()
        self.setObjectName(name)
        self._service = service
        line = QFrame()
        line.setFrameShape(QFrame.Shape.HLine)
        line.setProperty("look", "line")
        self._words: QLabel = label(look="muted", name=f"{name}_value")
        self._words.setWordWrap(True)
        self._problem: QLabel = label(look="muted", pixels=theme.SMALL_PX, name=f"{name}_problem")
        self._problem.setWordWrap(True)
        self._button = QPushButton()
        self._button.setObjectName(f"{name}_button")
        self._button.clicked.connect(lambda _checked=False: self._press())
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_M)
        row.addWidget(self._words, 1)
        row.addWidget(self._button, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(line)
        column.addLayout(row)
        column.addWidget(self._problem)
        self._disconnect = service.changed.connect(self._show)
        self._show()

    def disconnect_services(self) -> None:
        """Listen to the service no longer."""
        self._disconnect()

    def _show(self) -> None:
        service = self._service
        self._words.setText("\n".join(self._lines()))
        self._button.setText(self.tr("Stop") if service.is_measuring else self._verb())
        why = service.hindrance
        self._button.setEnabled(service.is_measuring or why is None)
        cost = self.tr(
            "Takes about {seconds} seconds and up to {size} of memory for each device; the chat stays as it is."
        ).format(seconds=SECONDS, size=byte_size(MOST_BYTES))
        set_hint(self._button, render(why) if why is not None and not service.is_measuring else cost)
        self._button.setAccessibleName(self.tr("Measure how fast the memory is"))
        problem = service.problem
        self._problem.setText(render(problem) if problem is not None else cost)

    def _verb(self) -> str:
        return self.tr("Measure again") if self._service.known else self.tr("Measure")

    def _lines(self) -> list[str]:
        """Return what is known of each memory, main memory first."""
        known = self._service.known
        if self._service.is_measuring:
            return [self.tr("The memory's speed is being measured …")]
        main = known.get(MAIN_MEMORY)
        lines = [self.tr("Main memory: {rate}").format(rate=self._rate(main))]
        lines += [
            self.tr("{name}: {rate}").format(name=speed.description or device, rate=self._rate(speed))
            for device, speed in known.items()
            if device != MAIN_MEMORY
        ]
        return lines

    def _rate(self, speed: KnownMemory | None) -> str:
        if speed is None:
            return self.tr("{unknown} (not measured yet)").format(unknown=UNKNOWN)
        read = self._read(speed)
        busy = self.tr("{rate}; other programs were busy, so it may be more: close them and measure again")
        return busy.format(rate=read) if speed.is_disturbed else read

    def _read(self, speed: KnownMemory) -> str:
        if not speed.threads:
            return self.tr("{rate} GB/s, copied").format(rate=rate(speed.gb_per_s))
        if speed.threads == 1:
            return self.tr("{rate} GB/s, read by 1 thread").format(rate=rate(speed.gb_per_s))
        return self.tr("{rate} GB/s, read by {threads} threads").format(
            rate=rate(speed.gb_per_s), threads=speed.threads
        )

    def _press(self) -> None:
        if self._service.is_measuring:
            self._service.cancel()
        else:
            self._service.begin()
