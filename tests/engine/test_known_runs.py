"""What dry runs have said, kept by file and options."""

from __future__ import annotations

from pathlib import Path

from app.core.devices import Device
from app.core.events import MemoryMeasured
from app.core.metrics import DeviceMemory
from app.core.model import LoadOptions
from app.engine.known_runs import MOST_KEPT, KnownRuns, Stamp, renumbered, stamp_of

CPU = Device("CPU", "a processor", "cpu", "CPU", 1 << 34, None)
GPU = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 24 << 30, 20 << 30)
STAMP = Stamp(1, 2)


def answer(context: int = 256, *devices: Device) -> MemoryMeasured:
    options = LoadOptions(context=context)
    return MemoryMeasured(7, "a.gguf", options, (DeviceMemory("CPU", 1, 2, 3),), context, 2, devices or (CPU,))


def test_an_answer_is_kept_for_its_file_and_its_options() -> None:
    known, asked = KnownRuns(), LoadOptions(context=256)
    known.note(asked, STAMP, answer())
    assert known.has("a.gguf", asked) and known.get("a.gguf", asked, STAMP) == answer()
    assert not known.has("b.gguf", asked) and not known.has("a.gguf", LoadOptions(context=512))
    assert known.get("a.gguf", asked, Stamp(1, 3)) is None
    assert not known.has("a.gguf", asked), "an answer about another content is forgotten"


def test_what_a_gpu_has_free_is_told_again_only_to_who_wants_sizes_alone() -> None:
    known = KnownRuns()
    known.note(LoadOptions(), None, answer())
    assert not known.has("a.gguf", LoadOptions(), sizes_only=True), "nobody knows which content that was"
    known.note(LoadOptions(), STAMP, answer(256, GPU, CPU))
    assert not known.has("a.gguf", LoadOptions())
    assert known.has("a.gguf", LoadOptions(), sizes_only=True)
    assert known.get("a.gguf", LoadOptions(), STAMP) == answer(256, GPU, CPU)


def test_of_too_many_answers_the_one_used_longest_ago_goes() -> None:
    known = KnownRuns()
    for context in range(MOST_KEPT):
        known.note(LoadOptions(context=context + 1), STAMP, answer(context + 1))
    assert known.get("a.gguf", LoadOptions(context=1), STAMP) is not None
    known.note(LoadOptions(context=MOST_KEPT + 1), STAMP, answer(MOST_KEPT + 1))
    assert known.has("a.gguf", LoadOptions(context=1)) and not known.has("a.gguf", LoadOptions(context=2))


def test_a_stamp_tells_one_content_from_another(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"abc")
    stamp = stamp_of(str(file))
    assert stamp is not None and stamp.size == 3
    assert stamp_of(str(tmp_path / "none")) is None and stamp_of("\0") is None
    assert renumbered(answer(), 9).request == 9
