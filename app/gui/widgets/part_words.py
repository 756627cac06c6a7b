"""What the parts of a prompt and of the cells are called, wherever they are told: the same everywhere."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.services.cache_parts import PartName

translate = QCoreApplication.translate


def part_words(part: PartName) -> str:
    """Return the name of a part; what was asked last is “prompt”, all of it together “the whole prompt”."""
    match part:
        case "template":
            return translate("Parts", "chat template")
        case "system":
            return translate("Parts", "system")
        case "history":
            return translate("Parts", "history")
        case "thinking":
            return translate("Parts", "thinking")
        case "files":
            return translate("Parts", "files")
        case "prompt":
            return translate("Parts", "prompt")
        case "answer":
            return translate("Parts", "answer")
        case "lanes":
            return translate("Parts", "lanes")
