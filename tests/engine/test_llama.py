"""llama.cpp behind the small typed wrapper."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from app.core.sampling import PRESETS, SamplingSettings
from app.engine.llama import LogCapture, api, ggml_library
from app.engine.llama_model import LlamaBackend


def test_every_piece_of_the_vocabulary_is_whole(starter_backend: LlamaBackend) -> None:
    vocabulary = starter_backend.vocabulary
    pieces = [vocabulary.piece(token) for token in range(vocabulary.size)]
    assert pieces[27848] == b"-" * 34
    controls = {token for token, _, control in vocabulary.special_texts() if control}
    assert {token for token, piece in enumerate(pieces) if not piece} == controls
    assert max(len(piece) for piece in pieces) > 64


def test_texts_come_back_from_their_tokens(starter_backend: LlamaBackend) -> None:
    vocabulary = starter_backend.vocabulary
    for text in ("Hello, world", "ümlaut 日本 😀", "-" * 64, "\n" + " " * 40 + "x", ""):
        ids = vocabulary.tokenize(text, special=False)
        assert b"".join(vocabulary.piece(token) for token in ids).decode() == text


def test_the_log_is_captured_with_its_levels(llama_log: LogCapture, starter_backend: LlamaBackend) -> None:
    handle = api.llama_model_load_from_file(b"/nowhere/at-all.gguf", api.llama_model_default_params())
    assert not handle
    assert any("at-all.gguf" in line for line in llama_log.lines(4))
    assert starter_backend.info.notes == ()


def test_the_library_that_is_loaded_holds_the_backends(starter_backend: LlamaBackend) -> None:
    count = ggml_library("ggml").ggml_backend_reg_count
    count.restype = ctypes.c_size_t
    assert count() >= 1


def test_a_batch_of_the_wrong_size_is_refused(starter_backend: LlamaBackend) -> None:
    with pytest.raises(ValueError, match="batch"):
        starter_backend.decode([], 0, sequence=0, logits=True)


def test_a_prefill_that_is_told_to_stop_leaves_no_cells(starter_backend: LlamaBackend) -> None:
    starter_backend.remove(0, 0)
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > 50

    starter_backend.set_abort(stop)
    assert starter_backend.decode([5] * 300, 0, sequence=0, logits=True) == "aborted"
    starter_backend.set_abort(None)
    assert starter_backend.min_position(0) == -1
    assert starter_backend.decode([5] * 30, 0, sequence=0, logits=True) == "done"
    assert asked == 51


def test_more_tokens_than_cells_find_no_room(quick_backend: LlamaBackend) -> None:
    quick_backend.remove(0, 0)
    quick_backend.decode([5] * 1000, 0, sequence=0, logits=False)
    assert quick_backend.decode([5] * 100, 1000, sequence=0, logits=True) == "no_room"
    quick_backend.remove(0, 0)


def test_the_chain_has_the_stages_that_the_settings_turn_on(starter_backend: LlamaBackend) -> None:
    everything = SamplingSettings(
        repeat_penalty=1.1, dry_multiplier=0.8, typical_p=0.9, xtc_probability=0.5, temperature=0.7
    )
    cases = {
        ("top_k", "top_p", "min_p", "temperature"): PRESETS["Balanced"],
        (): PRESETS["Greedy"],
        ("penalties", "dry", "top_k", "typical", "top_p", "min_p", "xtc", "temperature"): everything,
    }
    for names, settings in cases.items():
        chain = starter_backend.chain(settings)
        assert tuple(stage.name for stage in chain.stages) == names
        chain.close()


def test_xtc_moves_the_array_and_the_next_step_starts_anew(starter_backend: LlamaBackend) -> None:
    chain = starter_backend.chain(SamplingSettings(top_k=0, top_p=1, min_p=0, xtc_probability=1, xtc_threshold=0.1))
    candidates = starter_backend.candidates()
    ids = np.arange(4, dtype=np.int32)
    logits = np.array([3, 2.9, 2.8, -9], np.float32)
    for _ in range(2):
        candidates.fill(ids, logits)
        for stage in chain.stages:
            stage.apply(candidates)
        left, _ = candidates.survivors()
        assert sorted(left) == [2, 3]
    chain.close()


def test_the_log_of_a_model_with_many_layers_keeps_what_is_read_of_it(llama_log: LogCapture) -> None:
    llama_log.clear()
    llama_log._take(2, b"load_tensors:   CPU_Mapped model buffer size =    92.10 MiB\n", None)
    for layer in range(3000):
        llama_log._take(
            1, b"llama_graph_n_input_tensors: input tensor 'kq_mask' is used by node '%d'\n" % layer, None
        )
    assert [line.split(":")[0] for line in llama_log.lines()] == ["load_tensors"]
