"""What the buttons are called that hold an answer and let it go on, and how one that waits is told, wherever they stand."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.services.units import count

translate = QCoreApplication.translate


def hold_words(*, is_held: bool) -> str:
    """Return what the button says that holds an answer, or lets a held one run."""
    return translate("StepWords", "Run on") if is_held else translate("StepWords", "Pause")


def hold_hint(*, is_held: bool) -> str:
    """Return what that button does."""
    if is_held:
        return translate("StepWords", "Let the answer run to its end")
    return translate("StepWords", "Hold the answer")


def one_token_words() -> str:
    """Return what the button says that has one token written."""
    return translate("StepWords", "One token")


def one_token_hint() -> str:
    """Return what that button does."""
    return translate("StepWords", "Write the next token and hold there; first it holds an answer that runs")


def waiting_words(place: int) -> str:
    """Return that an answer waits before a token, counted from 1."""
    return translate("StepWords", "Token {place}, waiting").format(place=count(place))
