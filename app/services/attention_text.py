"""The tokens that attention is read over: those of a prompt and its answer, or of an example that needs no chat.

Plain values, with what each token says.
"""

from __future__ import annotations

from array import array

import msgspec

from app.core.model import ModelRef
from app.services.inspecting import Inspecting
from app.services.vocabulary import Vocabulary

EXAMPLE = "The developer restarted the server because it had crashed."
EXAMPLE_WORD = "it"
"""The token of the example that is selected at first: whom it means, the model can only know from the others."""
EXAMPLE_ANSWER = "server"
"""What that word means: which head finds it is the question of the example."""


class AttentionText(msgspec.Struct, frozen=True):
    """n tokens in their order, and the model that reads them."""

    ids: tuple[int, ...]
    texts: tuple[str | None, ...]
    model: ModelRef
    author: str
    """The model by its name."""
    prompt: int = 0
    """So many of them are the prompt's; the others were written by the model."""
    is_example: bool = False

    def packed(self, token: int) -> bytes:
        """Return the ids up to a token, that one included, as commands have them (int32)."""
        return array("i", self.ids[: token + 1]).tobytes()


def text_of_answer(inspecting: Inspecting) -> AttentionText | None:
    """Return the prompt and the answer that people look at; None where that is not known, or not whole yet."""
    turn, prompt, answer = inspecting.turn, inspecting.prompt, inspecting.answer
    if turn is None or turn.model is None or prompt is None or answer is None:
        return None
    ids, texts = prompt.ids + answer.ids, prompt.texts + answer.texts
    return AttentionText(ids, texts, turn.model, turn.author, len(prompt.ids))


def text_of_example(ids: bytes, model: ModelRef, author: str, words: Vocabulary) -> AttentionText:
    """Return the example with what its tokens (int32) say."""
    numbers = array("i")
    numbers.frombytes(ids)
    said = tuple(map(words.text, numbers))
    return AttentionText(tuple(numbers), said, model, author, len(numbers), is_example=True)


def example_place(text: AttentionText) -> int:
    """Return where the example's word stands; the last token where it is cut otherwise."""
    found = (place for place, said in enumerate(text.texts) if said is not None and said.strip() == EXAMPLE_WORD)
    return next(found, len(text.ids) - 1)


def asked_of_example(text: AttentionText) -> int | None:
    """Return where the example has the last token of what its word means; None where it is cut otherwise.

    A word of several tokens is known at its last one.
    """
    said = ""
    for place, each in enumerate(text.texts):
        said += each or ""
        if said.rstrip().endswith(EXAMPLE_ANSWER):
            return place
    return None
