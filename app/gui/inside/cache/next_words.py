"""What is said of the next turn while nothing is written yet, and tokens would have to be read for it all the same."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.gui.inside.cache.fact_words import Fact
from app.services.kv_cells import CellsHeld
from app.services.next_send import Count
from app.services.units import count

translate = QCoreApplication.translate


def unwritten_fact(next_send: Count, held: CellsHeld, *, is_begun: bool) -> Fact | None:
    """Say what would be read again; None where something is written or nothing would be.

    `is_begun` where the chat that is shown has answers already.
    """
    shares = next_send.shares
    is_written = bool(next_send.message or next_send.pasted)
    if is_written or next_send.answering or next_send.refused or shares is None or not shares.new:
        return None
    if not is_begun:
        words = translate(
            "KvMap",
            "Nothing is written yet. This is what the chat template, with a system prompt where there is one, puts around "
            "a message.",
        )
    elif shares.cached:
        words = translate(
            "KvMap",
            "Nothing is written yet. The cells hold only the chat's beginning ({cached}): the rest of it has to be read "
            "again, with what the template puts around your message.",
        )
    else:
        words = translate(
            "KvMap",
            "Nothing is written yet. The cells hold nothing of this chat: all of it has to be read again, with what the "
            "template puts around your message.",
        )
    freed = max(held.used - shares.cached, 0)
    if freed:
        words += " " + translate("KvMap", "Cells that are given back for it: {freed}.")
    said = words.format(cached=count(shares.cached), freed=count(freed))
    return Fact(f"+{count(shares.new)}", said)
