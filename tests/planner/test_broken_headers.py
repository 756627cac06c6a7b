"""Broken files end in a clear sentence, and quickly: whatever they claim, nothing of it is believed before it is there."""

from __future__ import annotations

import struct
import time
import tracemalloc
from collections.abc import Callable

import pytest

from app.core.errors import UserError
from app.core.gguf_verdict import MAX_CONTEXT
from app.core.model_file import ModelSource, check_model_file
from app.planner.memory_plan import PlannedDevice
from app.planner.plan_options import PlanOptions
from app.planner.planned_model import planned_model
from app.planner.planning import plan_memory
from tests.gguf_bytes import Entry, encode_text, raw_gguf

SECONDS, BYTES = 10.0, 100 * 1024 * 1024
HANGS_S = 60.0
"""Who waits so long hangs: waiting takes no time of the processor."""
NAME = "m-00001-of-00002.gguf"


def entry(key: str, value_type: int, value: bytes) -> bytes:
    return encode_text(key) + struct.pack("<I", value_type) + value


def file_of(entries: list[bytes], tensors: list[bytes], *, counts: tuple[int, int] | None = None) -> bytes:
    """Return a file with what it claims in its counts, followed by a megabyte of zeros."""
    tensor_count, entry_count = counts or (len(tensors), len(entries))
    head = b"GGUF" + struct.pack("<IQQ", 3, tensor_count, entry_count)
    return head + b"".join(entries) + b"".join(tensors) + bytes(1 << 20)


def tensor(name: str, dimensions: tuple[int, ...], kind: int, offset: int) -> bytes:
    layout = struct.pack(f"<I{len(dimensions)}QIQ", len(dimensions), *dimensions, kind, offset)
    return encode_text(name) + layout


ARCHITECTURE = entry("general.architecture", 8, encode_text("llama"))
BROKEN: dict[str, bytes] = {
    "more tensors than any file has": file_of([], [], counts=(2**64 - 1, 1)),
    "more entries than any file has": file_of([], [], counts=(1, 2**63)),
    "an array of more numbers than the file has bytes": file_of([entry("a", 9, struct.pack("<IQ", 4, 2**62))], []),
    "an array of more texts than the file has bytes": file_of([entry("a", 9, struct.pack("<IQ", 8, 2**40))], []),
    "an array of arrays": file_of([entry("a", 9, struct.pack("<IQ", 9, 2**32))], []),
    "a text longer than the file": file_of([entry("a", 8, struct.pack("<Q", 2**50))], []),
    "a key longer than the file": file_of([struct.pack("<Q", 2**63)], []),
    "a value of no known type": file_of([entry("a", 77, bytes(8))], []),
    "a tensor of more numbers than a number can count": file_of([ARCHITECTURE], [tensor("t", (2**63, 2**63), 0, 0)]),
    "a tensor of more dimensions than four": file_of([ARCHITECTURE], [tensor("t", (1,) * 9, 0, 0)]),
    "a tensor that begins before the file": file_of([ARCHITECTURE], [tensor("t", (32,), 0, 2**64 - 32)]),
    "a tensor that begins behind the file": file_of([ARCHITECTURE], [tensor("t", (32,), 0, 2**40)]),
    "a tensor that lies upon another": file_of([ARCHITECTURE], [tensor("t", (32,), 0, 0), tensor("u", (32,), 0, 0)]),
    "a step between tensors of nothing": file_of([entry("general.alignment", 4, struct.pack("<I", 0))], []),
    "a negative number of layers": raw_gguf(
        {"general.architecture": "llama", "llama.block_count": 0, "tokenizer.ggml.model": "gpt2"},
        [("t", (8,), 0, 0)],
        data=bytes(32),
    ),
}


def guarded(work: Callable[[], object]) -> object:
    """Return what the work gives; it must neither take long nor much memory."""
    tracemalloc.start()
    began, at = time.process_time(), time.monotonic()
    try:
        return work()
    finally:
        taken, peak = time.process_time() - began, tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert taken < SECONDS and time.monotonic() - at < HANGS_S
        assert peak < BYTES


def sentence_of(files: dict[str, bytes], name: str = NAME) -> str:
    def open_file(wanted: str) -> ModelSource | None:
        content = files.get(wanted)
        if content is None:
            return None
        return ModelSource(lambda offset, size: content[offset : offset + size], len(content))

    def work() -> str:
        with pytest.raises(UserError) as refused:
            check_model_file(name, open_file)
        return str(refused.value)

    return str(guarded(work))


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_file_ends_in_a_sentence(what: str) -> None:
    sentence = sentence_of({NAME: BROKEN[what]})
    assert sentence.endswith(".") and any(word in sentence for word in ("again", "choose", "get "))


def part(number: int, count: int, *, tensors: int = 2) -> bytes:
    return raw_gguf(
        {
            "general.architecture": "llama",
            "tokenizer.ggml.model": "gpt2",
            "split.no": number,
            "split.count": count,
            "split.tensors.count": tensors,
        },
        [(f"t{number}", (8,), 0, 0)],
        data=bytes(32),
    )


@pytest.mark.parametrize(
    "parts",
    [
        {1: part(0, 2), 2: part(0, 2)},
        {1: part(1, 2), 2: part(0, 2)},
        {1: part(0, 2), 2: part(1, 65535)},
        {1: part(0, 65535), 2: part(1, 2)},
        {1: part(0, 2**40), 2: part(1, 2)},
        {1: part(0, 2, tensors=2**60), 2: part(1, 2)},
    ],
    ids=[
        "both the first",
        "in a circle",
        "of another count",
        "too many",
        "absurdly many",
        "more tensors than there are",
    ],
)
def test_parts_that_point_at_each_other_end_in_a_sentence(parts: dict[int, bytes]) -> None:
    files = {f"m-{number:05d}-of-00002.gguf": content for number, content in parts.items()}
    assert sentence_of(files).endswith(".")


def test_absurd_sizes_in_a_sound_header_are_planned_as_quickly() -> None:
    entries: dict[str, Entry] = {
        "general.architecture": "gemma3",
        "gemma3.block_count": 512,
        "gemma3.embedding_length": 2**32 - 1,
        "gemma3.context_length": MAX_CONTEXT,
        "gemma3.attention.head_count": 2**32 - 1,
        "gemma3.attention.head_count_kv": [2**32 - 1] * 4096,
        "gemma3.attention.sliding_window": 2**32 - 1,
        "gemma3.attention.sliding_window_pattern": 2**32 - 1,
        "tokenizer.ggml.model": "gpt2",
    }
    content = raw_gguf(entries, [("blk.511.ffn_up.weight", (8,), 0, 0)], data=bytes(32))

    def work() -> str:
        source = ModelSource(lambda offset, size: content[offset : offset + size], len(content))
        model = planned_model(check_model_file("m.gguf", lambda _name: source))
        gpu = PlannedDevice("CUDA0", is_gpu=True, total=2**34, free=2**34)
        return plan_memory(model, PlanOptions(2**27, sequences=256, unified=False), [gpu]).verdict

    assert guarded(work) in ("unknown", "too_large")
