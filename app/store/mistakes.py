"""What is said when the store itself is wrong or cannot be looked into, whatever the disk is like; loads no SQLite."""

from __future__ import annotations

from app.core.words import Sentence, translate


def skipped() -> Sentence:
    """Say that one change could not be saved though nothing is wrong with the disk."""
    return translate("Store", "A part of a chat could not be saved; the log has the details.")


def unreadable() -> Sentence:
    """Say that the chats are there and cannot be read from the side."""
    return translate(
        "Store", "The chats cannot be read now: start Tokenlight, which says what is wrong, and try again."
    )
