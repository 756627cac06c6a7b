"""An answer as it grows, without a loop around it."""

from __future__ import annotations

from app.core.chat import TokenPrompt
from app.engine.clock import AnswerClock
from app.engine.llama_model import LlamaBackend
from app.engine.writing import Asked, Writing


def test_a_control_token_named_as_a_stop_ends_the_answer_by_its_id(starter_backend: LlamaBackend) -> None:
    vocabulary = starter_backend.vocabulary
    writing = Writing(Asked(1, TokenPrompt(b""), ("<|im_start|>",), "off"), vocabulary, AnswerClock(0))
    assert writing.append(vocabulary.tokenize(" word", special=False)[0], 1) is None
    (start,) = vocabulary.tokenize("<|im_start|>", special=True)
    assert writing.append(start, 2) == "stop_string"
    assert writing.text == " word"
