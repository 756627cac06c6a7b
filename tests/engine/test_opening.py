"""A file is checked before llama.cpp sees it, and llama.cpp's own reasons are not swallowed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Literal

import pytest

from app.core.commands import Load, MeasureMemory
from app.core.events import Failed
from app.core.model import LoadOptions
from app.core.model_reads import weight_bytes_per_token
from app.engine.failures import LoadRefused, failure_kind
from app.engine.llama import LogCapture
from app.engine.llama_context import LoadFailed
from app.engine.opening import LlamaOpener, _refusal, checked_headers
from tests.engine.harness import GREEDY, Engine
from tests.ggufs import copy_with, write_other_tokenizer, write_split_llama, write_tiny_mixture, write_vocab_only


def open_model(log: LogCapture, path: Path, **options: object) -> None:
    LlamaOpener(log)(Load(1, str(path), LoadOptions(**options)), lambda percent: True).close()  # type: ignore[arg-type]


def bad_files(folder: Path, model: Path) -> dict[str, Path]:
    """Return one file of every unusable kind."""
    whole = model.read_bytes()
    contents = {
        "empty.gguf": b"",
        "short.gguf": whole[:1000],
        "half.gguf": whole[: len(whole) // 2],
        "minus one.gguf": whole[:-1],
        "page.gguf": b"<!DOCTYPE html><html><body>Sign in</body></html>",
        "pointer.gguf": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 98362432\n",
        "old.gguf": b"tjgg" + bytes(2000),
        "text.gguf": b"just some text that somebody renamed " * 20,
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    (folder / "folder.gguf").mkdir()
    pipes = []
    if sys.platform != "win32":
        os.mkfifo(folder / "pipe.gguf")
        pipes.append("pipe.gguf")
    files = {name: folder / name for name in [*contents, *pipes, "folder.gguf", "missing.gguf"]}
    files["vocabulary.gguf"] = write_vocab_only(folder / "vocabulary.gguf")
    files["embedding.gguf"] = write_vocab_only(folder / "embedding.gguf", architecture="bert")
    return files


def test_every_unusable_file_has_its_own_sentence(tmp_path: Path, starter_model: Path, llama_log: LogCapture) -> None:
    sentences = {}
    for name, path in bad_files(tmp_path, starter_model).items():
        with pytest.raises(LoadRefused) as caught:
            open_model(llama_log, path)
        assert (caught.value.kind, caught.value.exit_code) == ("model", 3)
        with pytest.raises(LoadRefused) as measured:
            LlamaOpener(llama_log).measure(MeasureMemory(1, str(path), LoadOptions()), lambda: False)
        assert (measured.value.kind, measured.value.sentence) == ("model", caught.value.sentence)
        sentences[name] = caught.value.sentence.english()
    assert "Traceback" not in "".join(sentences.values())
    told_alike = {sentences[name] for name in ("half.gguf", "minus one.gguf", "folder.gguf")}
    assert len(set(sentences.values())) >= len(sentences) - len(told_alike)


def test_a_file_that_only_llama_refuses_says_llamas_reason(
    tmp_path: Path, starter_model: Path, llama_log: LogCapture
) -> None:
    path = copy_with(starter_model, tmp_path / "odd.gguf", set={"general.architecture": "no-such-architecture"})
    with pytest.raises(LoadRefused) as caught:
        open_model(llama_log, path)
    assert "no-such-architecture" in caught.value.sentence.english()
    assert "llama_model_load" not in caught.value.sentence.english()
    assert failure_kind(caught.value) == "wrong_use" and caught.value.kind == "model"


@pytest.mark.parametrize("name", ["sp ace ümlaut 日本 😀.gguf", "per%cent #hash 'quote'.gguf", "-dash.gguf"])
def test_paths_of_every_alphabet_load(tmp_path: Path, llama_log: LogCapture, name: str) -> None:
    open_model(llama_log, write_tiny_mixture(tmp_path / name), context=256)


def test_models_of_every_kind_here_answer(tmp_path: Path) -> None:
    split = write_split_llama(tmp_path)[0]
    models = [write_tiny_mixture(tmp_path / "mixture.gguf"), write_other_tokenizer(tmp_path / "spm.gguf"), split]
    with Engine() as engine:
        for path in models:
            loaded = engine.load(path, context=256, threads=1, experts_on_cpu=True, kv_type_k="q8_0")
            assert loaded.model.path == str(path)
            done = engine.ask("What colour has the sky?", GREEDY)
            again = engine.ask("What colour has the sky?", GREEDY)
            assert done.metrics.sampled_tokens > 0
            assert (done.text, done.ids) == (again.text, again.ids)


def test_a_refused_load_leaves_the_engine_usable(tmp_path: Path, starter_model: Path) -> None:
    with Engine() as engine:
        for number, path in enumerate(bad_files(tmp_path, starter_model).values(), start=1):
            engine.send(Load(1000 + number, str(path)))
            assert engine.wait(Failed, request=1000 + number).kind == "model"
        assert engine.load(write_tiny_mixture(tmp_path / "good.gguf"), context=256).model.layers == 2


@pytest.mark.parametrize(
    ("step", "options", "next_step"),
    [
        ("context", LoadOptions(), "smaller context or fewer GPU layers"),
        ("context", LoadOptions(kv_type_k="q8_0"), "Keep K and V in f16"),
        ("model", LoadOptions(), "download the file again"),
    ],
)
def test_a_refusal_names_llamas_first_error_and_a_step_that_fits(
    llama_log: LogCapture, step: Literal["model", "context"], options: LoadOptions, next_step: str
) -> None:
    llama_log.clear()
    for level, line in ((3, b"odd_function: a warning\n"), (4, b"the_cause: no room\n"), (4, b"outer: failed\n")):
        llama_log._take(level, line, None)
    refusal = _refusal(LoadFailed(step, llama_log), Load(1, "/a/model.gguf", options))
    assert "“model.gguf”: no room." in refusal.sentence.english()
    assert next_step in refusal.sentence.english()
    assert refusal.log == ("odd_function: a warning", "the_cause: no room", "outer: failed")


def test_a_mixture_reads_only_the_experts_that_it_uses(tmp_path: Path, starter_model: Path) -> None:
    headers = checked_headers(write_tiny_mixture(tmp_path / "mixture.gguf"))
    tensors = headers[0].tensors
    experts = sum(tensor.size or 0 for tensor in tensors if "_exps." in tensor.name)
    table = sum(tensor.size or 0 for tensor in tensors if tensor.name == "token_embd.weight")
    whole = sum(tensor.size or 0 for tensor in tensors)
    untied = any(tensor.name == "output.weight" for tensor in tensors)
    assert experts > 0
    assert weight_bytes_per_token(headers) == whole - experts // 2 - (table if untied else 0)
    tied = checked_headers(starter_model)
    assert weight_bytes_per_token(tied) == sum(tensor.size or 0 for tensor in tied[0].tensors)


def test_a_cancelled_load_is_no_fault_of_the_file(starter_model: Path, llama_log: LogCapture) -> None:
    told: list[float] = []

    def progress(percent: float) -> bool:
        told.append(percent)
        return percent < 50

    with pytest.raises(LoadRefused) as caught:
        LlamaOpener(llama_log)(Load(1, str(starter_model)), progress)
    assert caught.value.kind == "cancelled"
    assert told[-1] < 100


def test_a_quantised_v_cache_without_flash_attention_is_refused_with_the_reason(
    tmp_path: Path, llama_log: LogCapture
) -> None:
    path = write_tiny_mixture(tmp_path / "tiny.gguf")
    with pytest.raises(LoadRefused) as caught:
        open_model(llama_log, path, kv_type_v="q8_0", flash_attention="off")
    assert "flash attention" in caught.value.sentence.english()


def test_every_token_that_ends_a_turn_ends_an_answer_whatever_the_file_calls_its_end(
    tmp_path: Path, starter_model: Path, llama_log: LogCapture
) -> None:
    path = copy_with(starter_model, tmp_path / "other-end.gguf", set={"tokenizer.ggml.eos_token_id": 0})
    backend = LlamaOpener(llama_log)(Load(1, str(path), LoadOptions(context=256)), lambda percent: True)
    (turn_end,) = backend.vocabulary.tokenize("<|im_end|>", special=True)
    assert backend.vocabulary.is_end(turn_end)
    assert backend.vocabulary.is_end(0)
    backend.close()


def test_a_dry_run_says_in_its_own_words_why_llama_refuses_and_keeps_llamas_for_the_details(
    tmp_path: Path, starter_model: Path, llama_log: LogCapture
) -> None:
    path = copy_with(starter_model, tmp_path / "odd.gguf", set={"general.architecture": "no-such-architecture"})
    with pytest.raises(LoadRefused) as caught:
        LlamaOpener(llama_log).measure(MeasureMemory(1, str(path), LoadOptions()), lambda: False)
    said = caught.value.sentence.english()
    assert said.startswith("llama.cpp refuses “odd.gguf”: ") and "no-such-architecture" not in said
    assert any("no-such-architecture" in line for line in caught.value.log)
