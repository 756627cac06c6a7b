"""Everyday grammars run in llama.cpp, and what counts their ways reads texts as llama.cpp does."""

from __future__ import annotations

import pytest

from app.core.gbnf_reader import read_rules
from app.core.gbnf_ways import _Reading
from app.core.grammar import Grammar
from app.engine.grammar import GrammarFit
from app.engine.llama_model import LlamaBackend
from tests.everyday_grammars import EVERYDAY


def reads(grammar: str, text: str) -> bool:
    """Return whether our own reading of a grammar lets a text through and may end there."""
    rules, _reader = read_rules(grammar)
    reading = _Reading(rules)
    number = next(number for number, rule in enumerate(rules) if rule.name == "root")
    written = reading.written
    stacks = {stack for start in written.starts[number] for stack in reading.begun(start)}
    for sign in text:
        stacks = {after for stack in stacks if ord(sign) in reading.signs(stack) for after in reading.after(stack)}
    return () in stacks


def takes(backend: LlamaBackend, grammar: str, text: str) -> bool:
    """Return whether llama.cpp lets the tokens of a text through and may end there."""
    fit = GrammarFit(backend, Grammar("gbnf", grammar), [])
    try:
        for token in backend.vocabulary.tokenize(text, special=False):
            if not fit.allows(token):
                return False
            fit.accept(token)
        return any(fit.allows(token) for token in range(backend.vocabulary.size) if backend.vocabulary.is_end(token))
    finally:
        fit.close()


@pytest.mark.parametrize("name", EVERYDAY)
def test_everyday_grammars_are_read_as_llama_cpp_reads_them(starter_backend: LlamaBackend, name: str) -> None:
    grammar, text = EVERYDAY[name]
    assert takes(starter_backend, grammar, text)
    assert not takes(starter_backend, grammar, text + "}")
    if text.isascii():
        assert reads(grammar, text)
        for end in range(0, len(text), 3):
            assert reads(grammar, text[:end]) is takes(starter_backend, grammar, text[:end]), text[:end]


@pytest.mark.parametrize(
    "grammar", ['root ::= [a-c]{2,3} | x{0,2} [^a]*\nx ::= ("ab" | "") "c"+', 'root ::= ("a" [b-c]?)+ "b"']
)
def test_repetitions_are_written_out_as_llama_cpp_does(starter_backend: LlamaBackend, grammar: str) -> None:
    texts = [
        f"{one}{other}" for one in ("", "a", "b", "ab", "abc", "c") for other in ("", "b", "cc", "abc", "ab", "d")
    ]
    told = [reads(grammar, text) for text in texts]
    assert told == [takes(starter_backend, grammar, text) for text in texts]
    assert {True, False} == {*told}
