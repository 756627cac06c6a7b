"""The small models that other tests write really load and decode."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import llama_cpp
import numpy as np
import pytest

from app.core.model_facts import ModelFacts, model_facts
from app.core.model_file import check_model_file
from tests.gguf_bytes import open_in_folder
from tests.ggufs import (
    STARTER_MODEL,
    copy_with,
    write_other_tokenizer,
    write_split_llama,
    write_tiny_llama,
    write_tiny_mixture,
)

SENTENCE = "Hello, the people think: Grüße 日本 😀"


def loaded(path: Path) -> llama_cpp.Llama:
    """Load a model into a small context on one thread."""
    return llama_cpp.Llama(str(path), n_ctx=256, n_threads=1, n_threads_batch=1, n_gpu_layers=0, verbose=False)


def facts_of(path: Path) -> ModelFacts:
    """Return the facts of a file that passes every check."""
    return model_facts(check_model_file(path.name, open_in_folder(path.parent)))


def first_part(path: Path) -> Path:
    """Write a split model beside `path` and return its first file."""
    return write_split_llama(path.parent)[0]


@pytest.mark.parametrize("write", [write_tiny_llama, write_tiny_mixture, write_other_tokenizer, first_part])
def test_a_written_model_loads_decodes_and_keeps_text(write: Callable[[Path], Path], tmp_path: Path) -> None:
    path = write(tmp_path / "model.gguf")
    facts = facts_of(path)
    model = loaded(path)
    tokens = model.tokenize(SENTENCE.encode(), add_bos=False)
    assert model.detokenize(tokens).decode().strip() == SENTENCE
    model.eval(tokens)
    row = model._ctx.get_logits_ith(-1)[: model.n_vocab()]
    logits = np.array(row)
    assert model.n_vocab() == facts.tokenizer.vocabulary
    assert np.isfinite(logits).all()
    probabilities = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    assert 0.01 < probabilities.max() < 0.9
    assert llama_cpp.llama_model_n_params(model.model) == facts.parameters
    assert llama_cpp.llama_model_size(model.model) == facts.tensor_bytes
    model.close()


def test_control_tokens_are_one_token_each(tmp_path: Path) -> None:
    for write in (write_tiny_llama, write_other_tokenizer):
        model = loaded(write(tmp_path / "model.gguf"))
        for text in ("<|im_start|>", "<|im_end|>", "<think>"):
            (token,) = model.tokenize(text.encode(), add_bos=False, special=True)[-1:]
            assert model.detokenize([token], special=True).decode() == text
        assert len(model.tokenize(b"<|im_start|>", add_bos=False, special=False)) > 2
        model.close()


def test_the_same_seed_writes_the_same_bytes(tmp_path: Path) -> None:
    first, again, other = (
        write_tiny_llama(tmp_path / f"{number}.gguf", seed=seed).read_bytes() for number, seed in enumerate((1, 1, 2))
    )
    assert first == again
    assert first != other


def test_a_copy_has_other_entries_and_the_same_weights(tmp_path: Path) -> None:
    copy = copy_with(
        STARTER_MODEL,
        tmp_path / "copy.gguf",
        chat_template="{{ messages }}",
        remove=["general.license", "tokenizer.ggml.merges"],
        set={"general.name": "Größer", "llama.context_length": 2**30, "tokenizer.ggml.add_bos_token": True},
    )
    facts = facts_of(copy)
    before = facts_of(STARTER_MODEL)
    assert (facts.name, facts.trained_context, facts.license) == ("Größer", 2**30, None)
    assert (facts.tokenizer.chat_template, facts.tokenizer.add_bos) == ("{{ messages }}", True)
    assert (facts.parameters, facts.bytes_per_type) == (before.parameters, before.bytes_per_type)
    assert copy.read_bytes()[-96_576_768:] == STARTER_MODEL.read_bytes()[-96_576_768:]
