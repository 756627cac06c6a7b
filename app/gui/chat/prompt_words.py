"""What the editor of the system prompt says of a text: its tokens, and what it costs."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from app.gui.widgets.words import render
from app.services.prompt_cost import PromptCost
from app.services.units import UNKNOWN, count

translate = QCoreApplication.translate


class CostWords(NamedTuple):
    """How many tokens, what follows from them, and whether that is an alarm."""

    tokens: str
    cost: str
    alarm: bool = False


def cost_words(cost: PromptCost) -> CostWords:
    """Return what to say of a text."""
    tokens = translate("SystemPromptDialog", "{count} tokens").format(count=count(cost.tokens))
    if cost.tokens == 1:
        tokens = translate("SystemPromptDialog", "1 token")
    if cost.refused:
        return CostWords(tokens, _refusal(cost), alarm=True)
    said = [_reads(cost), *(render(note) for note in cost.notes)]
    return CostWords(tokens, " ".join(each for each in said if each))


def _refusal(cost: PromptCost) -> str:
    if cost.whole is None or cost.cells is None:
        words = translate("SystemPromptDialog", "With this text the chat does not fit into the context: shorten it.")
    else:
        words = translate(
            "SystemPromptDialog",
            "With this text the chat has {whole} tokens and does not fit into the context of {cells}: shorten it.",
        )
    return words.format(whole=count(cost.whole), cells=count(cost.cells))


def _reads(cost: PromptCost) -> str:
    if cost.reads == "first":
        return translate("SystemPromptDialog", "The model reads it with the first message.") if cost.text else ""
    if cost.reads == "nothing":
        return ""
    whole, again = count(cost.whole), count(cost.again)
    if cost.reads == "anyway":
        words = translate("SystemPromptDialog", "The next answer reads the whole chat: {whole} tokens.")
        if whole == UNKNOWN:
            words = translate("SystemPromptDialog", "The next answer reads the whole chat.")
    else:
        words = translate("SystemPromptDialog", "For the next answer {again} of {whole} tokens are read again.")
        if cost.again == 1:
            words = translate("SystemPromptDialog", "For the next answer 1 of {whole} tokens is read again.")
        if UNKNOWN in (whole, again):
            words = translate("SystemPromptDialog", "For the next answer the chat is read again.")
    return words.format(whole=whole, again=again)
