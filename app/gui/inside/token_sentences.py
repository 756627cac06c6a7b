"""What is known of one token, in words: for the card, and for those who listen. Knows no widget."""

from __future__ import annotations

import math

from PySide6.QtCore import QCoreApplication

from app.gui.widgets.token_words import known_per_cent, quoted
from app.gui.widgets.words import isolated
from app.services.inspection import FORCED, NO_DRAW, Alternative, InspectedAnswer
from app.services.units import UNKNOWN, count, short_milliseconds

translate = QCoreApplication.translate
_LONGEST_CHARACTER = 4
_SMALL, _TINY = 0.0095, 0.0001
"""Logarithms of probabilities: below the first, three decimals would say too little; below the second, 0 is all there is."""


def probability_of(answer: InspectedAnswer, token: int) -> float | None:
    """Return a token's raw probability, 0 to 1."""
    value = answer.log_probabilities[token]
    return None if value is None else math.exp(min(value, 0.0))


def came_by(answer: InspectedAnswer, token: int) -> str:
    """Return how a token came: by a draw, without one, or by somebody's hand."""
    flags = answer.flags[token]
    if answer.log_probabilities[token] is None:
        return UNKNOWN
    if flags & FORCED:
        return translate("TokenCard", "chosen by hand, no draw was used")
    if flags & NO_DRAW:
        return translate("TokenCard", "the most likely token was taken, without a draw")
    return translate("TokenCard", "drawn")


def part_of(answer: InspectedAnswer, token: int) -> tuple[str, int, int] | None:
    """Return the character that a token is a part of, and the first and last token of it; None for a whole text.

    UTF-8 writes a character in up to four bytes, and those behind its first are all 0x80 to 0xBF.
    """
    piece = answer.pieces[token]
    if not piece or _decoded(piece) is not None:
        return None
    first, said = token, piece
    while said[0] & 0xC0 == 0x80 and first > 0 and token - first < _LONGEST_CHARACTER:
        first, said = first - 1, (answer.pieces[first - 1] or b" ") + said
    last, character = token, _decoded(said)
    while character is None and last + 1 < len(answer) and last - token < _LONGEST_CHARACTER:
        last, said = last + 1, said + (answer.pieces[last + 1] or b"")
        character = _decoded(said)
    return None if character is None else (character.strip(), first, last)


def part_words(answer: InspectedAnswer, token: int) -> str:
    """Return which character a token is a part of, and with which others; empty for a whole text."""
    found = part_of(answer, token)
    if found is None:
        return ""
    character, first, last = found
    words = translate("TokenCard", "part of “{character}”, tokens {first} to {last}")
    return words.format(character=isolated(character), first=count(first + 1), last=count(last + 1))


def _decoded(said: bytes) -> str | None:
    try:
        return said.decode()
    except UnicodeDecodeError:
        return None


def nat_hint() -> str:
    """Return what a nat is, in plain words."""
    return translate(
        "TokenCard",
        "A nat is the unit of natural logarithms: 0 nats is certain, 0.69 nats one of two that are as likely, 2.3 nats one "
        "of ten.",
    )


def in_nats(value: float) -> str:
    """Return an entropy or a surprise with its unit."""
    return translate("TokenCard", "{value} nats").format(value=f"{value:.2f}")


def figures_of(answer: InspectedAnswer, token: int) -> dict[str, str]:
    """Return the figures of a token, as the card names them."""
    log, entropy, gap = answer.log_probabilities[token], answer.entropies[token], answer.gaps_ms[token]
    return {
        "probability": known_per_cent(probability_of(answer, token)),
        "after": known_per_cent(answer.after[token]),
        "log": log_words(log),
        "rank": count(answer.ranks[token]),
        "entropy": UNKNOWN if entropy is None else in_nats(entropy),
        "time": UNKNOWN
        if gap is None
        else translate("TokenCard", "{value} ms").format(value=short_milliseconds(gap)),
    }


def figure_hint(name: str) -> str:
    """Return what a figure of the card means, in plain words."""
    return {
        "id": translate("TokenCard", "The number of this token in the model's vocabulary."),
        "rank": translate(
            "TokenCard", "Its place among all tokens of the vocabulary by raw probability; 1 is the likeliest."
        ),
        "probability": translate(
            "TokenCard",
            "Raw probability: how likely the model itself found this token here, before any stage of the sampling chain. "
            "The model gives every token a number, its logit; softmax turns all of them into shares of 100 %.",
        ),
        "log": translate(
            "TokenCard",
            "The natural logarithm of the raw probability: 0 is certain, −0.69 is one half, −4.6 is one in a hundred. It is "
            "the token's logit less the logarithm of the sum of e to all logits.",
        ),
        "after": translate(
            "TokenCard",
            "How likely the draw took this token once the stages of the sampling chain (temperature, top-k, top-p and the "
            "others) had changed the raw probabilities; “–” where the record does not prove it.",
        ),
        "entropy": translate(
            "TokenCard",
            "How open it was what would come here: 0 nats where one token was certain, 0.69 nats between two as likely ones, "
            "1 nat as among 2.7. A nat is the unit of natural logarithms.",
        ),
        "time": translate(
            "TokenCard",
            "The time since the token before. “–” for the first token, for one that somebody chose, and behind a pause.",
        ),
        "bytes": translate("TokenCard", "The bytes of the text that this token stands for, in UTF-8."),
        "came": translate(
            "TokenCard", "How the token came: drawn at random, as the likeliest one, or by somebody's hand."
        ),
    }[name]


def log_words(value: float | None) -> str:
    """Return a logarithm of a probability, with more digits where it is nearly 0."""
    if value is None:
        return UNKNOWN
    return f"{value:.3f}" if abs(value) >= _SMALL else f"{value:.1g}" if abs(value) >= _TINY else "0.000"


def sentence_of(answer: InspectedAnswer, token: int) -> str:
    """Return what those hear who cannot see where they are."""
    figures = figures_of(answer, token)
    place = translate("TokenCard", "Token {number} of {count}").format(
        number=count(token + 1), count=count(len(answer))
    )
    parts = [f"{place}: {quoted(answer.texts[token], answer.ids[token])}"]
    if part := part_words(answer, token):
        parts.append(part)
    if answer.log_probabilities[token] is None:
        if answer.is_pending(token):
            parts.append(translate("TokenCard", "its figures are not here yet"))
        elif answer.is_damaged:
            parts.append(translate("TokenCard", "its record is damaged"))
        else:
            parts.append(translate("TokenCard", "nothing was recorded of it"))
        return ", ".join(parts)
    parts.append(translate("TokenCard", "{share} probable").format(share=figures["probability"]))
    parts.append(translate("TokenCard", "rank {rank}").format(rank=figures["rank"]))
    parts.append(came_by(answer, token))
    return ", ".join(parts)


def alternative_sentence(row: Alternative, stage: str | None) -> str:
    """Return what a row of alternatives shows, in words; `stage` is what cut it."""
    name = quoted(row.text, row.token)
    parts = [translate("TokenCard", "{token}: {raw} raw").format(token=name, raw=known_per_cent(row.raw))]
    if stage is not None:
        parts.append(translate("TokenCard", "cut by {stage}").format(stage=stage))
    else:
        parts.append(translate("TokenCard", "{after} after the chain").format(after=known_per_cent(row.after)))
    if row.is_taken:
        parts.append(translate("TokenCard", "this one came"))
    return ", ".join(parts)
