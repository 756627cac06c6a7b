"""What the tokens of a prompt belong to, in words. Knows no widget."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.gui.inside.token_sentences import figures_of
from app.gui.widgets.token_words import quoted
from app.services.inspection import InspectedAnswer, InspectedPrompt, TokenKind
from app.services.units import count

translate = QCoreApplication.translate


def kind_words(kind: TokenKind) -> str:
    """Return what a token belongs to."""
    return {
        "special": translate("PromptChips", "special token"),
        "template": translate("PromptChips", "template"),
        "system": translate("PromptChips", "system prompt"),
        "question": translate("PromptChips", "earlier question"),
        "answer": translate("PromptChips", "earlier answer"),
        "asked": translate("PromptChips", "question"),
    }[kind]


def sentence_of(prompt: InspectedPrompt, token: int) -> str:
    """Return what is known of a token of the prompt."""
    words = translate("PromptChips", "Token {number} of {count} of the prompt: {token}, id {id}, {kind}")
    said = words.format(
        number=count(token + 1),
        count=count(len(prompt.ids)),
        token=quoted(prompt.texts[token], prompt.ids[token]),
        id=prompt.ids[token],
        kind=kind_words(prompt.kinds[token]),
    )
    if token == 0 and prompt.begins:
        said += translate("PromptChips", ", the token that every prompt begins with (BOS)")
    return said


def counts_of(prompt: InspectedPrompt) -> str:
    """Return how many tokens belong to what."""
    order: tuple[TokenKind, ...] = ("asked", "question", "answer", "system", "template", "special")
    tally = {kind: prompt.kinds.count(kind) for kind in order}
    parts = [f"{kind_words(kind)} {count(tally[kind])}" for kind in order if tally[kind]]
    whole = translate("PromptChips", "Prompt of {count} tokens").format(count=count(len(prompt.ids)))
    if len(prompt.ids) == 1:
        whole = translate("PromptChips", "Prompt of 1 token")
    return f"{whole}: {' · '.join(parts)}"


def score_words(scored: InspectedAnswer, token: int) -> str:
    """Return how likely a token of the prompt was, to go behind its sentence."""
    if scored.log_probabilities[token] is None:
        return translate("PromptChips", "; nothing is before it, so it has no probability")
    words = translate("PromptChips", "; probability {share}, log-probability {log}, rank {rank}, entropy {entropy}")
    figures = figures_of(scored, token)
    return words.format(
        share=figures["probability"], log=figures["log"], rank=figures["rank"], entropy=figures["entropy"]
    )
