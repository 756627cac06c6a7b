"""Damage that only shows behind the header: a sentence with its reason each time, and the engine goes on."""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import numpy as np
import psutil
import pytest

from app.core.commands import Load
from app.core.events import EngineGone, Failed, Finished, Loaded
from app.core.model import LoadOptions
from app.engine.opening import checked_headers
from tests.engine.harness import GREEDY, Engine, ids_of
from tests.gguf_bytes import Entry
from tests.ggufs import EMBEDDING, copy_with, write_other_tokenizer, write_tiny_llama

SHORT = msgspec.structs.replace(GREEDY, max_tokens=12)
OPTIONS = LoadOptions(context=256, threads=1)
NAN, INFINITY = b"\x00\x7e", b"\x00\x7c"
"""In half precision."""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_llama(tmp_path_factory.mktemp("models") / "tiny.gguf")


@pytest.fixture(scope="module")
def engine(tiny: Path) -> Iterator[Engine]:
    """An engine that no file here may end."""
    with Engine() as made:
        made.load(tiny, context=256, threads=1)
        yield made


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[Engine]:
    """An engine of its own, with a log."""
    with Engine(log_path=str(tmp_path / "engine.log")) as made:
        yield made


def outcome_of(engine: Engine, path: Path) -> Failed | Finished | EngineGone:
    """Load a file and ask it something if it loads."""
    request = engine.client.new_request()
    engine.send(Load(request, str(path), OPTIONS))
    loaded = engine.wait(Loaded, Failed, EngineGone)
    if not isinstance(loaded, Loaded):
        assert isinstance(loaded, Failed | EngineGone)
        return loaded
    ended = engine.wait(Finished, Failed, EngineGone, request=engine.start("Hi there", SHORT))
    assert isinstance(ended, Finished | Failed | EngineGone)
    return ended


def place_of(path: Path, tensor: str) -> tuple[int, int]:
    """Return where the numbers of a tensor start in its file, and how many bytes they take."""
    (header,) = checked_headers(path)
    found = next(each for each in header.tensors if each.name == tensor)
    assert found.size is not None
    return header.data_offset + found.offset, found.size


def spoilt(path: Path, target: Path, start: int, content: bytes) -> Path:
    """Copy a file with some of its bytes replaced."""
    whole = bytearray(path.read_bytes())
    whole[start : start + len(content)] = content
    target.write_bytes(whole)
    return target


@pytest.mark.parametrize(
    "tensor", ["token_embd.weight", "blk.0.attn_k.weight", "blk.1.ffn_down.weight", "output.weight"]
)
@pytest.mark.parametrize("number", [NAN, INFINITY, b"\xff\xff"])
def test_weights_that_are_no_numbers_are_said_and_leave_no_trace(
    engine: Engine, tmp_path: Path, tiny: Path, tensor: str, number: bytes
) -> None:
    alone = outcome_of(engine, tiny)
    start, size = place_of(tiny, tensor)
    broken = outcome_of(engine, spoilt(tiny, tmp_path / "broken.gguf", start, number * (size // 2)))
    assert isinstance(broken, Failed) and broken.kind == "model"
    assert "not numbers" in broken.sentence.english() and "Download it again" in broken.sentence.english()
    after = outcome_of(engine, tiny)
    assert isinstance(alone, Finished) and isinstance(after, Finished)
    assert after.ids == alone.ids


def test_a_row_that_breaks_in_mid_answer_keeps_what_was_written_and_spoils_no_other_prompt(
    engine: Engine, tmp_path: Path, tiny: Path
) -> None:
    engine.load(tiny, context=256, threads=1)
    whole, other = engine.ask("Hi there", SHORT), engine.ask("the and you", SHORT)
    breaking = ids_of(whole.ids)[1]
    assert breaking not in ids_of(whole.ids)[:1] + ids_of(other.ids)
    start, _ = place_of(tiny, "token_embd.weight")
    broken = spoilt(tiny, tmp_path / "broken.gguf", start + breaking * EMBEDDING * 2, NAN * EMBEDDING)
    engine.load(broken, context=256, threads=1)
    for _ in range(2):
        request = engine.start("Hi there", SHORT)
        assert engine.wait(Failed, request=request).kind == "model"
        written = "".join(event.text for event in engine.tokens(request))
        assert written and whole.text.startswith(written)
        assert b"".join(event.ids for event in engine.tokens(request)) == whole.ids[: 2 * 4]
        assert engine.ask("the and you", SHORT).ids == other.ids


def flipped(path: Path, target: Path, seed: int, flips: int) -> Path:
    """Copy a file with bytes of its weights replaced at random."""
    (header,) = checked_headers(path)
    whole = np.frombuffer(path.read_bytes(), np.uint8).copy()
    random = np.random.default_rng(seed)
    places = random.integers(header.data_offset, len(whole), flips)
    whole[places] = random.integers(0, 256, flips)
    target.write_bytes(whole.tobytes())
    return target


def assert_survives(engine: Engine, damaged: Path) -> None:
    outcome = outcome_of(engine, damaged)
    assert isinstance(outcome, Finished) or (isinstance(outcome, Failed) and outcome.kind == "model"), outcome


@pytest.mark.parametrize("flips", [1, 30, 1000, 30_000])
def test_flipped_bytes_in_the_weights_give_an_answer_or_a_sentence(
    engine: Engine, tmp_path: Path, tiny: Path, flips: int
) -> None:
    for seed in range(4):
        assert_survives(engine, flipped(tiny, tmp_path / "flipped.gguf", seed, flips))


@pytest.mark.slow
@pytest.mark.parametrize("flips", [100, 10_000, 1_000_000])
def test_flipped_bytes_in_quantised_weights_give_an_answer_or_a_sentence(
    engine: Engine, tmp_path: Path, starter_model: Path, flips: int
) -> None:
    assert_survives(engine, flipped(starter_model, tmp_path / "flipped.gguf", flips, flips))


BPE, SPM = write_tiny_llama, write_other_tokenizer
CONTRADICTIONS: dict[str, tuple[Mapping[str, Entry], str]] = {
    "an architecture of tomorrow": ({"general.architecture": "tomorrow"}, "tomorrow"),
    "one layer too many": ({"llama.block_count": 3}, "blk.2.attn_norm.weight"),
    "one layer too few": ({"llama.block_count": 1}, "wrong number of tensors"),
    "no heads": ({"llama.attention.head_count": 0}, "attn_q.weight"),
    "no heads for K and V": ({"llama.attention.head_count_kv": 0}, "attn_k.weight"),
    "another width": ({"llama.embedding_length": 64}, "n_rot"),
    "an absurd width": ({"llama.feed_forward_length": 2**31 - 1}, "ffn_gate.weight"),
    "a text for a number": ({"llama.context_length": "long"}, "wrong type"),
    "a number that is too large": ({"llama.feed_forward_length": 2**62}, "wrong type"),
    "a number for a yes or no": ({"tokenizer.ggml.add_bos_token": 1}, "wrong type"),
    "fewer tokens than rows": ({"tokenizer.ggml.tokens": ["a"]}, "token_embd.weight"),
    "numbers for tokens": ({"tokenizer.ggml.tokens": [1, 2, 3]}, "tokenizer.ggml.tokens"),
    "too few types of tokens": ({"tokenizer.ggml.token_type": [1, 1]}, "token_type"),
    "numbers for merges": ({"tokenizer.ggml.merges": [1, 2]}, "merges"),
    "an unknown tokenizer": ({"tokenizer.ggml.model": "tomorrow"}, "tomorrow"),
    "an unknown way to split words": ({"tokenizer.ggml.pre": "tomorrow"}, "tomorrow"),
}


def test_a_header_that_contradicts_itself_is_refused_with_the_reason_of_llama(
    engine: Engine, tmp_path: Path, tiny: Path
) -> None:
    engine.load(tiny, context=256, threads=1)
    process = engine.client.process_id
    for name, (entries, reason) in CONTRADICTIONS.items():
        failed = outcome_of(engine, copy_with(tiny, tmp_path / "odd.gguf", set=entries))
        assert isinstance(failed, Failed) and failed.kind == "model", (name, failed)
        sentence = failed.sentence.english()
        assert "odd.gguf" in sentence and reason in sentence, (name, sentence)
        assert "download the file again" in sentence
        assert any(reason in line for line in failed.details), (name, failed.details)
    assert engine.client.process_id == process
    assert isinstance(outcome_of(engine, tiny), Finished)


def test_a_text_of_a_header_makes_no_sentence_long(engine: Engine, tmp_path: Path, tiny: Path) -> None:
    for key in ("tokenizer.ggml.model", "tokenizer.ggml.pre", "general.architecture"):
        failed = outcome_of(engine, copy_with(tiny, tmp_path / "odd.gguf", set={key: "x" * 300_000}))
        assert isinstance(failed, Failed), (key, failed)
        assert "xxxxx" in failed.sentence.english() and len(failed.sentence.english()) < 600, key
        assert all(len(line) <= 2_100 for line in failed.details), key


@pytest.mark.parametrize(("count", "place"), [("tensors", 8), ("entries", 16)])
@pytest.mark.parametrize("change", [1, -1])
def test_a_header_that_counts_wrongly_gives_a_sentence(
    engine: Engine, tmp_path: Path, tiny: Path, count: str, place: int, change: int
) -> None:
    (number,) = struct.unpack_from("<Q", tiny.read_bytes(), place)
    path = spoilt(tiny, tmp_path / f"{count}.gguf", place, struct.pack("<Q", number + change))
    failed = outcome_of(engine, path)
    assert isinstance(failed, Failed)
    assert "ownload" in failed.sentence.english()


@pytest.mark.parametrize("write", [BPE, SPM])
def test_an_assertion_of_llama_is_told_with_its_line_and_costs_one_process(
    mortal: Engine, tmp_path: Path, tiny: Path, write: object
) -> None:
    assert callable(write)
    source = write(tmp_path / "source.gguf")
    (header,) = checked_headers(source)
    rows = next(tensor.dimensions[1] for tensor in header.tensors if tensor.name == "token_embd.weight")
    path = copy_with(source, tmp_path / "twice.gguf", set={"tokenizer.ggml.tokens": ["a"] * rows})
    mortal.load(tiny, context=256, threads=1)
    process = psutil.Process(mortal.client.process_id)
    gone = outcome_of(mortal, path)
    assert isinstance(gone, EngineGone)
    assert "while it loaded the model" in gone.sentence.english() and "download it again" in gone.sentence.english()
    assert any("GGML_ASSERT" in line for line in gone.details)
    assert not [line for line in gone.details if "LWP" in line], "a debugger wrote over the reason"
    assert not process.is_running()
    assert isinstance(outcome_of(mortal, tiny), Finished)


@pytest.mark.skipif(sys.platform != "linux", reason="a file that is in use cannot be cut short, or is not mapped")
def test_a_file_that_is_cut_short_while_it_is_loaded_costs_one_process(
    mortal: Engine, tmp_path: Path, tiny: Path
) -> None:
    path = tmp_path / "cut.gguf"
    path.write_bytes(tiny.read_bytes())
    mortal.load(path, context=256, threads=1)
    os.truncate(path, 20_000)
    request = mortal.start("Hi there", SHORT)
    gone = mortal.wait(EngineGone)
    assert gone.requests == (request,)
    assert "SIGBUS" in gone.sentence.english() and "Send again" in gone.sentence.english()
    failed = outcome_of(mortal, path)
    assert isinstance(failed, Failed) and "not complete" in failed.sentence.english()
    assert isinstance(outcome_of(mortal, tiny), Finished)
