"""What this build can compute on: the real library's own words, and sentences about what is missing."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from app.core.commands import ListDevices
from app.core.devices import Device
from app.core.events import DevicesListed, Finished
from app.engine.devices import absent_backends, library_facts, list_devices
from app.engine.llama import LogCapture, library_folder
from app.engine.scripted import Script
from tests.engine.harness import GREEDY, Engine, write_script

GPU = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 24 << 30, 22 << 30, "0000:01:00.0")


def test_the_processor_is_a_device_with_the_machines_memory(llama_log: LogCapture) -> None:
    cpu = next(device for device in list_devices() if device.kind == "cpu")
    assert (cpu.name, cpu.backend) == ("CPU", "CPU")
    assert cpu.description
    assert cpu.total == pytest.approx(psutil.virtual_memory().total, rel=0.05)
    assert cpu.free is None or cpu.free < psutil.virtual_memory().total


def test_the_build_tells_its_version_folder_backends_and_features(llama_log: LogCapture) -> None:
    facts = library_facts()
    assert facts.version == "0.3.36"
    assert Path(facts.folder) == library_folder()
    assert "CPU" in facts.backends
    assert facts.features
    assert not any(feature.endswith("=0") for feature in facts.features)
    gpus = [device for device in list_devices() if device.kind in {"gpu", "integrated_gpu"}]
    assert facts.gpu_offload == bool(gpus)


def test_a_part_that_was_not_loaded_is_found(tmp_path: Path) -> None:
    names = (
        "libggml.so",
        "libggml-base.so.0",
        "libggml-cpu-haswell.so",
        "libggml-cuda.so",
        "libllama.so",
        "ggml-vulkan.dll",
    )
    for name in names:
        (tmp_path / name).touch()
    absent = absent_backends(tmp_path, ("CPU", "Vulkan"))
    assert [file.name for file in absent] == ["libggml-cuda.so"]
    assert [file.name for file in absent_backends(tmp_path, ("CPU", "CUDA"))] == ["ggml-vulkan.dll"]
    assert absent_backends(tmp_path, ("CPU", "CUDA", "Vulkan")) == ()
    assert absent_backends(tmp_path / "nowhere", ()) == ()


def test_the_engine_lists_its_devices_before_any_model_is_open() -> None:
    with Engine() as engine:
        request = engine.client.new_request()
        engine.send(ListDevices(request))
        listed = engine.wait(DevicesListed)
    assert listed.request == request
    assert [device.kind for device in listed.devices][:1] == ["cpu"]
    assert listed.library.backends


def test_devices_are_listed_while_an_answer_is_written(tmp_path: Path) -> None:
    script = Script(answers=("a" * 400,), tokens_per_s=20, devices=(GPU,))
    with Engine("scripted") as engine:
        engine.load(write_script(tmp_path, script))
        question = engine.start("Go on", GREEDY)
        engine.send(ListDevices(engine.client.new_request()))
        listed = engine.wait(DevicesListed)
        assert listed.devices == (GPU,)
        assert listed.library.gpu_offload
        engine.cancel(question)
        assert engine.wait(Finished).stop_reason == "cancelled"
