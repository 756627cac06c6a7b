"""Whether a prompt fits, said with the numbers before anything runs.

Knows how many cells there are and nothing of what is in them; what is dropped to make a prompt fit is decided elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from app.core.errors import ExitCode, UserError
from app.core.words import Sentence, translate
from app.engine.special_texts import SpecialTexts


class PromptTooLong(UserError):
    """A prompt that the context cannot hold."""

    def __init__(self, sentence: Sentence, tokens: int | None = None) -> None:
        """`tokens` is how many it has; None where nobody counted them."""
        super().__init__(sentence, ExitCode.WRONG_USE)
        self.tokens = tokens


class UncountedPrompt(PromptTooLong):
    """A prompt that is refused unread, because no prompt with so many special tokens can fit."""

    def __init__(self, cells: int) -> None:
        super().__init__(
            translate(
                "Engine",
                "The prompt has more tokens than the {cells} that the context holds. "
                "Shorten the prompt or load the model with a larger context.",
                cells=cells,
            )
        )


@dataclass(frozen=True)
class PromptSize:
    """How long a prompt is, and whose its tokens are."""

    tokens: int
    cells: int
    system: int = 0
    asked: int = 0
    """Tokens of the last question."""
    answer: int = 0
    """Tokens of an answer that is to go on."""


def too_long(size: PromptSize) -> PromptTooLong:
    """Return the refusal of a prompt out of which nothing more can be dropped, by what it is that makes it long."""
    return PromptTooLong(_reason(size), size.tokens)


def _reason(size: PromptSize) -> Sentence:
    if size.system and size.system >= max(size.asked, size.answer):
        return translate(
            "Engine",
            "The prompt has {tokens} tokens, {system} of them in the system prompt, and the context holds {cells}. "
            "The answer needs room in it, too. Shorten the system prompt or load the model with a larger context.",
            tokens=size.tokens,
            system=size.system,
            cells=size.cells,
        )
    if size.answer:
        return translate(
            "Engine",
            "The question and the answer so far have {tokens} tokens and the context holds {cells}, so the answer "
            "cannot go on. Load the model with a larger context or begin a new chat.",
            tokens=size.tokens,
            cells=size.cells,
        )
    if size.asked:
        return translate(
            "Engine",
            "The prompt has {tokens} tokens, {asked} of them in the last message, and the context holds {cells}. "
            "The answer needs room in it, too. Shorten the message or load the model with a larger context.",
            tokens=size.tokens,
            asked=size.asked,
            cells=size.cells,
        )
    return translate(
        "Engine",
        "The prompt has {tokens} tokens and the context holds {cells}. The answer needs room in it, too. "
        "Shorten the prompt or load the model with a larger context.",
        tokens=size.tokens,
        cells=size.cells,
    )


def chat_too_long(tokens: int | None, cells: int) -> PromptTooLong:
    """Return the refusal of a chat that would fit without its oldest turns; None is a number that nobody counted."""
    if tokens is None:
        return PromptTooLong(
            translate(
                "Engine",
                "The chat has more tokens than the {cells} that the context holds. Choose “Drop the oldest turns” under "
                "“When the context is full”, begin a new chat, or load the model with a larger context.",
                cells=cells,
            )
        )
    return PromptTooLong(
        translate(
            "Engine",
            "The chat has {tokens} tokens and the context holds {cells}. The answer needs room in it, too. "
            "Choose “Drop the oldest turns” under “When the context is full”, begin a new chat, "
            "or load the model with a larger context.",
            tokens=tokens,
            cells=cells,
        ),
        tokens,
    )


def refuse_hopeless(text: str, specials: SpecialTexts, cells: int) -> None:
    """Refuse a prompt that names more special tokens than there are cells, before it is tokenised.

    llama.cpp's time grows with the square of their number: a template that writes 300,000 would take minutes.
    """
    most = 2 * cells  # two names may overlap, and then only one of them becomes a token
    named = sum(1 for _ in islice(specials.find(text), most + 1))
    if named > most:
        raise UncountedPrompt(cells)
