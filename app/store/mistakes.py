"""What is said when the store itself is wrong, whatever the disk is like; loads no SQLite."""

from __future__ import annotations

from app.core.words import Sentence, translate


def skipped() -> Sentence:
    """Say that one change could not be saved though nothing is wrong with the disk."""
    return translate("Store", "A part of a chat could not be saved; the log has the details.")
