"""What people are told of a load that worked."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.core.commands import Load, MeasureMemory
from app.core.devices import Device
from app.core.layer_choice import MARGIN
from app.core.library_fault import LibraryFault, says_instead
from app.core.model import LoadOptions, ModelInfo
from app.engine import library, opening
from app.engine.failures import LoadRefused
from app.engine.llama import LogCapture
from app.engine.llama_context import LoadFailed
from app.engine.load_remarks import load_remarks, without_context_warnings
from app.engine.opening import LlamaOpener
from tests.ggufs import write_tiny_llama, write_tiny_mixture

ASKED = LoadOptions()


def told(info: ModelInfo, used: LoadOptions, asked: LoadOptions = ASKED) -> list[str]:
    return [remark.english() for remark in load_remarks(asked, used, info)]


@pytest.fixture(scope="module")
def info(starter_model: Path, llama_log: LogCapture) -> ModelInfo:
    backend = LlamaOpener(llama_log)(Load(1, str(starter_model), LoadOptions(context=256)), lambda percent: True)
    backend.close()
    return backend.info


def gpu(free: int) -> tuple[Device, ...]:
    """Return a machine whose main memory passes for a GPU: this build computes there."""
    return (Device("CPU", "a stand-in", "gpu", "CPU", 1 << 40, free),)


def test_an_ordinary_load_needs_no_words(info: ModelInfo) -> None:
    assert info.remarks == ()
    assert info.options == LoadOptions(context=256)
    assert [use.device for use in info.memory] == ["CPU"]
    assert told(info, ASKED) == []


def test_a_context_beyond_the_trained_one_is_said_in_words(starter_model: Path, llama_log: LogCapture) -> None:
    command = Load(1, str(starter_model), LoadOptions(context=16_384))
    backend = LlamaOpener(llama_log)(command, lambda percent: True)
    backend.close()
    (remark,) = backend.info.remarks
    assert "16,384 tokens is longer than the 8,192" in remark.english()
    assert backend.info.notes == ()


def test_only_the_lines_about_the_trained_context_are_left_out() -> None:
    notes = (
        "llama_context: n_ctx_seq (16384) > n_ctx_train (8192) -- possible training context overflow",
        "load: control token: 2 is not marked as EOG",
    )
    assert without_context_warnings(notes) == notes[1:]


def test_what_was_decided_is_said(info: ModelInfo) -> None:
    assert told(info, LoadOptions(gpu_layers=31)) == []
    assert told(info, LoadOptions(gpu_layers=12)) == [
        "12 of 31 layers are on the GPU, the output layer counted: more would not fit."
    ]
    (experts,) = told(info, LoadOptions(gpu_layers=31, experts_on_cpu=True))
    assert "experts of this mixture stay in main memory" in experts


def test_what_somebody_chose_is_not_explained(info: ModelInfo) -> None:
    chosen = LoadOptions(gpu_layers=12, experts_on_cpu=True)
    assert told(info, chosen, asked=chosen) == []


def test_layers_are_chosen_by_what_is_free(
    tmp_path: Path, llama_log: LogCapture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(write_tiny_llama(tmp_path / "model.gguf", layers=3))
    opener = LlamaOpener(llama_log)
    monkeypatch.setattr(opening, "list_devices", lambda: gpu(free=1 << 39))
    measured = opener.measure(MeasureMemory(1, path), lambda: False)
    assert measured.options == LoadOptions(gpu_layers=4)
    monkeypatch.setattr(opening, "list_devices", lambda: gpu(free=1 << 30))
    backend = opener(Load(2, path), lambda percent: True)
    backend.close()
    assert backend.info.options.gpu_layers == 0
    assert [remark.english() for remark in backend.info.remarks] == [
        "0 of 4 layers are on the GPU, the output layer counted: more would not fit."
    ]
    chosen = opener.measure(MeasureMemory(3, path, LoadOptions(gpu_layers=2)), lambda: False)
    assert chosen.options.gpu_layers == 2


def test_a_choice_can_be_cancelled(tmp_path: Path, llama_log: LogCapture, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(write_tiny_mixture(tmp_path / "model.gguf"))
    monkeypatch.setattr(opening, "list_devices", lambda: gpu(free=1 << 39))
    opener = LlamaOpener(llama_log)
    with pytest.raises(LoadRefused) as refusal:
        opener(Load(1, path), lambda percent: False)
    assert refusal.value.kind == "cancelled"
    with pytest.raises(LoadRefused):
        opener.measure(MeasureMemory(2, path), lambda: True)


@pytest.mark.parametrize("end", ["cancelled", "refused"])
def test_a_choice_that_comes_to_nothing_leaves_no_model(
    tmp_path: Path, llama_log: LogCapture, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    path = str(write_tiny_llama(tmp_path / "model.gguf", layers=3))
    monkeypatch.setattr(opening, "list_devices", lambda: gpu(free=1 << 39))
    opener = LlamaOpener(llama_log)
    measure, models = opener._dry_run.measure, []

    def measure_and_fail(*given: object) -> object:
        measure(*given)  # type: ignore[arg-type]
        models.append(opener._dry_run._model)
        raise LoadRefused.cancelled() if end == "cancelled" else LoadFailed("context", llama_log)

    monkeypatch.setattr(opener._dry_run, "measure", measure_and_fail)
    with pytest.raises(LoadRefused):
        opener(Load(1, path), lambda percent: True)
    assert models[0] is not None
    assert opener._dry_run._model is None


def test_without_a_gpu_nothing_is_worked_out(
    tmp_path: Path, llama_log: LogCapture, monkeypatch: pytest.MonkeyPatch
) -> None:
    opener = LlamaOpener(llama_log)

    def unwanted(*_: object) -> None:
        raise AssertionError("a dry run was made")

    cpu = msgspec.structs.replace(gpu(1 << 39)[0], kind="cpu")
    monkeypatch.setattr(opening, "list_devices", lambda: (cpu,))
    monkeypatch.setattr(opener._dry_run, "measure", unwanted)
    path = write_tiny_llama(tmp_path / "model.gguf")
    backend = opener(Load(1, str(path)), lambda percent: True)
    backend.close()
    assert backend.info.options.gpu_layers is None


def test_a_plain_build_that_stands_in_is_said_at_a_load(info: ModelInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = LibraryFault("driver", "CUDA", ("libcuda.so.1",))
    monkeypatch.setattr(library, "_instead", [fault])
    (remark,) = load_remarks(ASKED, ASKED, info)
    assert remark == says_instead(fault)


@pytest.mark.parametrize("allowed", [True, False])
def test_a_context_gives_way_to_the_layers_only_where_that_is_allowed(
    tmp_path: Path, llama_log: LogCapture, monkeypatch: pytest.MonkeyPatch, allowed: bool
) -> None:
    path = str(write_tiny_llama(tmp_path / "model.gguf", layers=3, context=32_768))
    opener = LlamaOpener(llama_log)
    monkeypatch.setattr(opening, "list_devices", lambda: gpu(free=1 << 39))

    def taken(context: int) -> int:
        command = MeasureMemory(1, path, LoadOptions(context=context, gpu_layers=4))
        return sum(use.total or 0 for use in opener.measure(command, lambda: False).memory)

    room = (taken(8192) + taken(16_384)) // 2
    monkeypatch.setattr(opening, "list_devices", lambda: gpu(free=room + MARGIN))
    asked = LoadOptions(context=16_384, may_shorten_context=allowed)
    backend = opener(Load(2, path, asked), lambda percent: True)
    backend.close()
    info, remarks = backend.info, [remark.english() for remark in backend.info.remarks]
    if allowed:
        assert info.options.gpu_layers == 4 and 8192 < info.context < 16_384
        assert taken(info.context) <= room < taken(info.context + 256)
        assert remarks == [
            f"The context is {info.context:,} tokens instead of 16,384: with more, not all layers would fit on the GPU."
        ]
    else:
        assert info.context == 16_384 and info.options.gpu_layers is not None and info.options.gpu_layers < 4
        assert not any("instead of" in remark for remark in remarks)


def test_a_context_that_fits_stays_although_it_might_give_way(
    tmp_path: Path, llama_log: LogCapture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(write_tiny_llama(tmp_path / "model.gguf", layers=3))
    monkeypatch.setattr(opening, "list_devices", lambda: gpu(free=1 << 39))
    asked = LoadOptions(may_shorten_context=True)
    measured = LlamaOpener(llama_log).measure(MeasureMemory(1, path, asked), lambda: False)
    assert measured.options == LoadOptions(gpu_layers=4, may_shorten_context=True)
    assert measured.context == 1024


def test_of_how_many_layers_the_experts_moved_is_said(info: ModelInfo) -> None:
    (some,) = told(info, LoadOptions(gpu_layers=31, experts_on_cpu=7))
    assert some == "The experts of 7 of 30 layers stay in main memory: more would not fit on the GPU."
    (one,) = told(info, LoadOptions(gpu_layers=31, experts_on_cpu=1))
    assert one.startswith("The experts of 1 of 30 layers stay")
    (old,) = told(info, LoadOptions(gpu_layers=31, experts_on_cpu=30))
    assert old.startswith("The experts of this mixture stay")
