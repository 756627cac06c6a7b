"""Puts a selection on the clipboard, a long one bit by bit: reading ten thousand messages takes seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QGuiApplication

SLICE_MS = 8
"""So long it reads before the window gets its turn."""
_NS_PER_MS = 1_000_000


class Copying(QObject):
    """What is being copied; another copy takes its place."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._pieces: Iterator[str] = iter(())
        self._read: list[str] = []
        self._next = QTimer(self)
        self._next.setSingleShot(True)
        self._next.timeout.connect(self._read_on)

    @property
    def is_under_way(self) -> bool:
        """Whether not all of it is on the clipboard yet."""
        return self._next.isActive()

    def start(self, pieces: Iterator[str]) -> None:
        """Copy what these pieces are together; a short text is on the clipboard when this returns."""
        self._pieces, self._read = pieces, []
        self._read_on()

    def _read_on(self) -> None:
        end_ns = time.perf_counter_ns() + SLICE_MS * _NS_PER_MS
        for piece in self._pieces:
            self._read.append(piece)
            if time.perf_counter_ns() > end_ns:
                self._next.start()
                return
        text, self._read = "".join(self._read), []
        self._next.stop()
        if text:
            QGuiApplication.clipboard().setText(text)
