"""A hopeless prompt is refused before anything is tokenised."""

from __future__ import annotations

import pytest

from app.core.chat import ChatPrompt, PromptMessage
from app.engine.prompt_size import PromptTooLong
from app.engine.scripted_vocabulary import ScriptedVocabulary
from app.engine.tokenizer import prepare

CELLS = 256


class Untouched(ScriptedVocabulary):
    """A vocabulary that must not be asked to tokenise."""

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        raise AssertionError(f"{len(text)} characters were tokenised")


def prompt(names: int) -> ChatPrompt:
    template = "{{ '<|user|>' * " + str(names) + " }}{{ messages[0].content }}"
    return ChatPrompt((PromptMessage("user", "Hi"),), template)


def test_more_names_of_tokens_than_any_cells_can_hold_are_refused_unread() -> None:
    with pytest.raises(PromptTooLong) as caught:
        prepare(prompt(2 * CELLS + 1), Untouched(None), cells=CELLS)
    assert str(CELLS) in caught.value.sentence.english()


def test_a_prompt_that_may_fit_is_counted_for_certain() -> None:
    assert len(prepare(prompt(CELLS), ScriptedVocabulary(None), cells=CELLS).ids) == CELLS + 3
    assert len(prepare(prompt(4 * CELLS), ScriptedVocabulary(None)).ids) == 4 * CELLS + 3
