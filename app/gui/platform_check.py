"""Loads what a window needs of Qt and starts it on its window system; run in a process of its own, which it may end."""

from __future__ import annotations

from PySide6 import QtSvg, QtWidgets
from PySide6.QtCore import qVersion
from PySide6.QtGui import QGuiApplication

NEEDED = (QtSvg, QtWidgets)


def version() -> str:
    """Return Qt's version."""
    return qVersion()


def start() -> str:
    """Start Qt and return the name of its plugin for the window system; Qt ends the process where there is none."""
    return QGuiApplication([]).platformName()
