"""What can come of reading a document, and how large one may be."""

from __future__ import annotations

from typing import Literal

MOST_CHARACTERS = 1_000_000
"""Of what a document says; a message has no more either."""
MOST_BYTES = 4 * MOST_CHARACTERS
"""Of a text file: a character takes four at most."""
MOST_PDF_BYTES = 200_000_000
DocumentFault = Literal[
    "binary",
    "broke_off",
    "damaged",
    "empty",
    "ended",
    "encrypted",
    "folder",
    "gone",
    "no_file",
    "no_process",
    "no_reader",
    "no_text",
    "own_fault",
    "too_large",
    "too_much_memory",
    "too_slow",
    "unreadable",
]
"""Why nothing can be made of one."""
