"""From the same token ids, greedy output equals llama-cpp-python's own `Llama.generate`, token by token."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest
from llama_cpp import Llama

from app.core.chat import TokenPrompt
from app.core.commands import Generate
from app.core.events import Finished
from app.core.model import LoadOptions
from app.engine.control import Control
from app.engine.kv_cache import KVCache
from app.engine.llama import LogCapture
from app.engine.llama_model import LlamaBackend
from app.engine.loop import Answer
from tests.engine.harness import GREEDY, ids_of

QUESTIONS = ("What is the capital of France?", "def fibonacci(n):", "日本の首都はどこですか。")
MORE_QUESTIONS = (
    "Explain why the sky is blue.",
    "Write a haiku about rain.",
    "List five fruits.",
    "How do I boil an egg?",
    "Translate 'good morning' into German.",
    "What is 12 times 12?",
    "Tell me a story about a fox who could not sleep.",
)
TOKENS = 48


@pytest.fixture(scope="module")
def binding(starter_model: Path, llama_log: LogCapture) -> Iterator[Llama]:
    """The binding's own model with the same batch, threads, cache type and context; its log goes to ours."""
    model = Llama(
        str(starter_model), n_ctx=1024, n_batch=512, n_ubatch=512, n_threads=2, n_threads_batch=2, flash_attn=True,
        logits_all=False, verbose=True,
    )  # fmt: skip
    yield model
    model.close()


@pytest.fixture(scope="module")
def ours(starter_model: Path, llama_log: LogCapture) -> Iterator[LlamaBackend]:
    """Our model with the same options."""
    options = LoadOptions(context=1024, threads=2, batch=512, flash_attention="on")
    backend = LlamaBackend(str(starter_model), options, llama_log, lambda percent: True)
    yield backend
    backend.close()


@pytest.mark.parametrize(
    "question", [*QUESTIONS, *(pytest.param(question, marks=pytest.mark.slow) for question in MORE_QUESTIONS)]
)
def test_greedy_output_is_the_same_token_by_token(binding: Llama, ours: LlamaBackend, question: str) -> None:
    prompt = ours.vocabulary.tokenize(
        f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n", special=True
    )
    theirs = list(itertools.islice(binding.generate(prompt, top_k=1, temp=0.0, reset=True), TOKENS))
    ours.remove(0, 0)
    command = Generate(
        1, TokenPrompt(np.asarray(prompt, np.int32).tobytes()), msgspec.structs.replace(GREEDY, max_tokens=TOKENS), 0
    )
    *_, last = Answer(ours, KVCache(ours), command, Control(1)).run(lambda: False)
    assert isinstance(last, Finished)
    mine = ids_of(last.ids)
    assert mine == theirs[: len(mine)]
    assert len(mine) == TOKENS or ours.vocabulary.is_end(mine[-1])
