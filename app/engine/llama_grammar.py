"""The native stage of a grammar: llama.cpp masks what does not fit, and would end the process at a token that does not.

Knows no answers; `grammar.py` lets nothing come here that was not asked about before.
"""

from __future__ import annotations

import numpy as np

from app.engine.llama import LlamaCandidates, LlamaVocabulary, api

_ROOT = b"root"


class LlamaGrammar:
    """A grammar as far as an answer has come in it."""

    def __init__(self, vocabulary: LlamaVocabulary, gbnf: str) -> None:
        """Raises ValueError where llama.cpp does not take the text."""
        self._sampler = api.llama_sampler_init_grammar(vocabulary.handle, gbnf.encode(), _ROOT)
        if not self._sampler:
            raise ValueError("llama.cpp does not take this grammar")
        self._one = LlamaCandidates(1)
        self._logit = np.zeros(1, np.float32)

    def apply(self, candidates: LlamaCandidates) -> None:
        """Set the logit of each candidate that does not fit to -inf; the array keeps its size."""
        api.llama_sampler_apply(self._sampler, candidates.reference)

    def allows(self, token: int) -> bool:
        """Return whether a token may come next."""
        self._one.fill(np.array([token], np.int32), self._logit)
        self.apply(self._one)
        return bool(np.isfinite(self._one.survivors()[1][0]))

    def accept(self, token: int) -> None:
        """Append a token that `allows`; any other one would end the process."""
        api.llama_sampler_accept(self._sampler, token)

    def close(self) -> None:
        """Free the native sampler; calling it twice is harmless."""
        if self._sampler:
            api.llama_sampler_free(self._sampler)
        self._sampler = None
