"""Whether a prompt fits, said with the numbers before anything runs.

Knows how many cells there are and nothing of what is in them.
"""

from __future__ import annotations

from itertools import islice

from app.core.errors import ExitCode, UserError
from app.core.words import translate
from app.engine.special_texts import SpecialTexts


class PromptTooLong(UserError):
    """A prompt that the context cannot hold."""

    def __init__(self, tokens: int, cells: int) -> None:
        super().__init__(
            translate(
                "Engine",
                "The prompt has {tokens} tokens and the context holds {cells}, one of them for the answer. "
                "Shorten the prompt or load the model with a larger context.",
                tokens=tokens,
                cells=cells,
            ),
            ExitCode.WRONG_USE,
        )


def refuse_hopeless(text: str, specials: SpecialTexts, cells: int) -> None:
    """Refuse a prompt that names more special tokens than there are cells, before it is tokenised.

    llama.cpp's time grows with the square of their number: a template that writes 300,000 would take minutes.
    """
    most = 2 * cells  # two names may overlap, and then only one of them becomes a token
    named = sum(1 for _ in islice(specials.find(text), most + 1))
    if named > most:
        raise PromptTooLong(named, cells)
