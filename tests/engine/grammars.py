"""Grammars for tests, and what they say of a text."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from app.core.grammar import Grammar
from app.core.sampling import SamplingSettings
from app.engine.llama import LlamaCandidates, api
from app.engine.llama_model import LlamaBackend

YES_OR_NO = Grammar("gbnf", 'root ::= "yes" | "no"')
LIST = Grammar("gbnf", 'root ::= item{3}\nitem ::= "- " [^\\r\\n]{1,30} "\\n"')
FOREIGN = Grammar("gbnf", "root ::= [\\u3040-\\u30ff\\u4e00-\\u9fff\\U0001F600-\\U0001F64F]{4,12}")
"""Characters that are parts of tokens in the starter's vocabulary: their bytes come one by one."""
PERSON = Grammar(
    "json_schema",
    json.dumps(
        {
            "title": "A person",
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 1, "maxLength": 30},
                "age": {"type": "integer"},
                "likes": {"type": "array", "items": {"enum": ["tea", "rain"]}, "maxItems": 3},
            },
            "required": ["name", "age"],
        }
    ),
)


def native(backend: LlamaBackend, gbnf: str) -> object:
    """Return llama.cpp's own sampler, None where it takes no such grammar; free it with `free`."""
    return api.llama_sampler_init_grammar(backend.vocabulary.handle, gbnf.encode(), b"root") or None


def free(sampler: object) -> None:
    api.llama_sampler_free(sampler)


def natively_fitting(backend: LlamaBackend, sampler: object, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids that llama.cpp leaves of a row, and their logits."""
    candidates: LlamaCandidates = backend.candidates()
    candidates.fill(np.arange(len(row), dtype=np.int32), row)
    api.llama_sampler_apply(sampler, candidates.reference)
    ids, logits = candidates.survivors()
    left = np.isfinite(logits)
    return ids[left], logits[left]


def tell(sampler: object, tokens: Sequence[int]) -> None:
    for token in tokens:
        api.llama_sampler_accept(sampler, token)


def with_grammar(settings: SamplingSettings, grammar: Grammar, **changes: object) -> SamplingSettings:
    return msgspec.structs.replace(settings, grammar=grammar, **changes)


Judge = Callable[[str], bool]


def is_person(text: str) -> bool:
    said = json.loads(text)
    return (
        list(said) == ["name", "age", "likes"][: len(said)]
        and isinstance(said["age"], int)
        and 1 <= len(said["name"]) <= 30
        and set(said.get("likes", [])) <= {"tea", "rain"}
    )


def is_list(text: str) -> bool:
    lines = text.split("\n")
    return len(lines) == 4 and not lines[3] and all(line.startswith("- ") and len(line) > 2 for line in lines[:3])


def is_foreign(text: str) -> bool:
    return 4 <= len(text) <= 12 and all(
        "\u3040" <= sign <= "\u30ff" or "\u4e00" <= sign <= "\u9fff" or "\U0001f600" <= sign <= "\U0001f64f"
        for sign in text
    )


JUDGES: list[tuple[Grammar, Judge]] = [
    (YES_OR_NO, lambda text: text in ("yes", "no")),
    (LIST, is_list),
    (FOREIGN, is_foreign),
    (PERSON, is_person),
]
