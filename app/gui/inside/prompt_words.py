"""What the tokens of a prompt belong to, in words. Knows no widget."""

from __future__ import annotations

from collections import Counter

from PySide6.QtCore import QCoreApplication

from app.gui.inside.token_sentences import figures_of
from app.gui.widgets.part_words import part_words
from app.gui.widgets.token_words import quoted
from app.services.cache_parts import PARTS, PartName
from app.services.inspection import InspectedAnswer, InspectedPrompt, TokenKind
from app.services.units import count

translate = QCoreApplication.translate


_PART_OF: dict[TokenKind, PartName] = {
    "special": "template",
    "template": "template",
    "system": "system",
    "question": "history",
    "answer": "history",
    "thinking": "thinking",
    "files": "files",
    "asked": "prompt",
}
"""The part of the cells that a token belongs to: both are told by the same names."""


def kind_words(kind: TokenKind) -> str:
    """Return what a token belongs to: the part, and where it has kinds of tokens, which."""
    more = {
        "special": translate("PromptChips", "{part}, special token"),
        "question": translate("PromptChips", "{part}, question"),
        "answer": translate("PromptChips", "{part}, answer"),
    }.get(kind, "{part}")
    return more.format(part=part_words(_PART_OF[kind]))


def sentence_of(prompt: InspectedPrompt, token: int) -> str:
    """Return what is known of a token of the prompt."""
    words = translate("PromptChips", "Token {number} of {count} of the whole prompt: {token}, id {id}, {kind}")
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
    """Return how many tokens each part has, in the order and by the names of the KV cache's parts."""
    tally = Counter(prompt.kinds)
    parts = []
    for part in PARTS:
        kinds = [kind for kind in _PART_OF if _PART_OF[kind] == part]
        if tokens := sum(tally[kind] for kind in kinds):
            more = [_more_words(kind, tally[kind]) for kind in kinds if tally[kind]]
            said = ", ".join(each for each in more if each)
            parts.append(f"{part_words(part)} {count(tokens)}" + (f" ({said})" if said else ""))
    whole = translate("PromptChips", "The whole prompt, {count} tokens").format(count=count(len(prompt.ids)))
    if len(prompt.ids) == 1:
        whole = translate("PromptChips", "The whole prompt, 1 token")
    return f"{whole}: {' · '.join(parts)}"


def _more_words(kind: TokenKind, tokens: int) -> str:
    """Return how many tokens of a part are of a kind; empty where the part says it."""
    return {
        "special": translate("PromptChips", "special {tokens}"),
        "question": translate("PromptChips", "questions {tokens}"),
        "answer": translate("PromptChips", "answers {tokens}"),
    }.get(kind, "").format(tokens=count(tokens))


def score_words(scored: InspectedAnswer, token: int) -> str:
    """Return how likely a token of the prompt was, to go behind its sentence."""
    if scored.log_probabilities[token] is None:
        return translate("PromptChips", "; nothing is before it, so it has no probability")
    words = translate("PromptChips", "; probability {share}, log-probability {log}, rank {rank}, entropy {entropy}")
    figures = figures_of(scored, token)
    return words.format(
        share=figures["probability"], log=figures["log"], rank=figures["rank"], entropy=figures["entropy"]
    )
