"""A build of llama.cpp that cannot run here: each ends in its sentence, and with a plain build at hand in an answer."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from app.core.commands import ListDevices, Load
from app.core.events import DevicesListed, EngineGone, Hello, Loaded
from app.core.library_fault import FOLDER_VARIABLE, FaultKind
from app.core.model import LoadOptions
from app.engine import library
from app.engine.client import EngineClient
from app.engine.entry import LIBRARY_MISSING
from tests import broken_libraries
from tests.broken_libraries import AT_DECODE, AT_LOAD, Break, illegal, needs_linux, real_folder
from tests.engine.harness import GREEDY, Engine
from tests.ggufs import write_tiny_llama

pytestmark = needs_linux
FEW = msgspec.structs.replace(GREEDY, max_tokens=4)

BROKEN: list[tuple[Break, FaultKind, tuple[str, ...], str]] = [
    (broken_libraries.without_driver, "driver", ("libcuda.so.1",), "built for CUDA, whose driver is missing"),
    (
        broken_libraries.without_runtime,
        "runtime",
        ("libcudart.so.12", "libcublas.so.12"),
        "libraries of CUDA are missing",
    ),
    (broken_libraries.without_dependency, "dependency", ("libtokenlight-absent.so.3",), "needs libraries"),
    (broken_libraries.without_part, "misdirected", ("libggml-base.so.0",), "no usable llama.cpp"),
    (broken_libraries.truncated, "misdirected", ("libllama.so",), "no usable llama.cpp"),
]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_tiny_llama(tmp_path / "tiny.gguf")


@pytest.fixture
def log(tmp_path: Path) -> str:
    return str(tmp_path / "engine.log")


class PlainEngine(Engine):
    """An engine that has the real libraries to fall back on."""

    def __init__(self, log_path: str = "") -> None:
        super().__init__()
        self.client = EngineClient(self.inbox.put, log_path=log_path, plain_folder=str(real_folder()))


def begin_load(engine: Engine, model: Path) -> int:
    request = engine.client.new_request()
    engine.send(Load(request, str(model), LoadOptions(context=256, threads=1)))
    return request


@pytest.mark.parametrize(("broken", "kind", "libraries", "words"), BROKEN)
def test_a_build_that_cannot_be_loaded_says_what_is_missing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: Path,
    log: str,
    broken: Break,
    kind: FaultKind,
    libraries: tuple[str, ...],
    words: str,
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(broken(tmp_path / "lib")))
    with Engine(log_path=log) as engine:
        request = begin_load(engine, model)
        gone = engine.wait(EngineGone)
        assert gone.requests == (request,)
        assert gone.exit_code == LIBRARY_MISSING
        assert gone.fault is not None
        assert (gone.fault.kind, set(gone.fault.libraries)) == (kind, set(libraries))
        assert words in gone.sentence.english()
        assert kind == "misdirected" or all(name in gone.sentence.english() for name in libraries)
        assert gone.fault.folder == str(tmp_path / "lib")
        if broken is not broken_libraries.truncated:  # which the loader must not even see
            assert any("OSError" in line for line in gone.details), "the loader's own words belong into the log"
        assert not any(isinstance(event, Hello) for event in engine.seen)


@pytest.mark.parametrize(("broken", "kind", "libraries", "words"), BROKEN)
def test_with_a_plain_build_the_program_answers_and_says_why_it_uses_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: Path,
    broken: Break,
    kind: FaultKind,
    libraries: tuple[str, ...],
    words: str,
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(broken(tmp_path / "lib")))
    with PlainEngine() as engine:
        engine.load(model, context=256, threads=1)
        assert engine.ask("Hi", FEW).metrics.sampled_tokens > 0
        request = engine.client.new_request()
        engine.send(ListDevices(request))
        facts = engine.wait(DevicesListed, request=request).library
        assert facts.folder == str(real_folder())
        assert facts.instead is not None
        assert facts.instead.kind == kind
        word = FOLDER_VARIABLE if kind == "misdirected" else libraries[0]
        assert any("used instead" in note.english() and word in note.english() for note in facts.notes)


@pytest.mark.parametrize("kind", ["not there", "empty", "text", "foreign", "pipe", "pipe of a part", "folder"])
def test_a_named_folder_without_a_usable_llama_is_named_with_its_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path, kind: str
) -> None:
    folder = misdirected(tmp_path / "elsewhere", kind)
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder))
    with Engine() as engine:
        request = begin_load(engine, model)
        gone = engine.wait(EngineGone)
        assert (gone.requests, gone.exit_code) == ((request,), LIBRARY_MISSING)
        assert gone.fault is not None
        assert (gone.fault.kind, gone.fault.folder) == ("misdirected", str(folder))
        assert f"LLAMA_CPP_LIB_PATH points to “{folder}”" in gone.sentence.english()
        assert "unset it" in gone.sentence.english()


def misdirected(folder: Path, kind: str) -> Path:
    """Make a folder that holds no usable llama.cpp."""
    main = folder / broken_libraries.MAIN
    if kind == "not there":
        return folder
    if kind == "pipe of a part":
        broken_libraries.without_part(folder)
        os.mkfifo(folder / "libggml-base.so.0")
        return folder
    folder.mkdir()
    if kind == "text":
        main.write_text("no library")
    elif kind == "foreign":
        broken_libraries.compile_library(main, "int llama_backend_init(void) { return 0; }")
    elif kind == "pipe":
        os.mkfifo(main)
    elif kind == "folder":
        main.mkdir()
    return folder


def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch, model: Path) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, "")
    with Engine() as engine:
        engine.load(model, context=256, threads=1)
        assert engine.ask("Hi", FEW).metrics.sampled_tokens > 0


def test_a_package_that_is_not_whole_is_set_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "llama_of_test"
    broken_libraries.truncated(package / "lib")
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(library, "PACKAGE", package.name)
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    fault = library.choose("")
    assert fault is not None
    assert (fault.kind, fault.folder) == ("incomplete", str(package / "lib"))


def test_what_a_build_computes_on_is_not_one_word(tmp_path: Path) -> None:
    for name in ("libggml-base.so.0", "libggml-cpu.so.0", "libggml-cuda.so.0", "libggml-vulkan.so.0"):
        (tmp_path / name).touch()
    assert library._backends(tmp_path) == ("CUDA", "Vulkan")
    assert library._backends(tmp_path / "none") == ()


def test_a_package_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "PACKAGE", "llama_cpp_that_nobody_installed")
    fault = library.choose(str(real_folder()))
    assert fault is not None
    assert fault.kind == "not_installed"


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("source", [broken_libraries.AT_ONCE, AT_LOAD], ids=["at once", "during the load"])
def test_a_build_for_another_processor_gives_way_to_the_plain_one_before_anybody_notices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path, log: str, source: str, plain: bool
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(illegal(tmp_path / "lib", source)))
    with PlainEngine(log) if plain else Engine(log_path=log) as engine:
        request = begin_load(engine, model)
        if plain:
            engine.wait(Loaded, request=request)
            assert engine.ask("Hi", FEW).metrics.sampled_tokens > 0
            assert not any(isinstance(event, EngineGone) for event in engine.seen)
            engine.client.unload()
            engine.load(model, context=256, threads=1)  # the next process does not try the other build again
            hellos = [event for event in engine.seen if isinstance(event, Hello)]
            assert len(hellos) == (2 if source == broken_libraries.AT_ONCE else 3)
        else:
            gone = engine.wait(EngineGone)
            assert gone.fault is not None
            assert (gone.requests, gone.fault.kind) == ((request,), "processor")
            assert "another processor" in gone.sentence.english()


def test_an_illegal_instruction_in_the_first_answer_costs_that_answer_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(illegal(tmp_path / "lib", AT_DECODE)))
    with PlainEngine() as engine:
        engine.load(model, context=256, threads=1)
        request = engine.start("Hi", FEW)
        gone = engine.wait(EngineGone)
        assert gone.requests == (request,)
        assert "a plain build is used" in gone.sentence.english()
        engine.load(model, context=256, threads=1)
        assert engine.ask("Hi", FEW).metrics.sampled_tokens > 0


def test_a_plain_build_that_cannot_run_either_ends_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(illegal(tmp_path / "lib")))
    with Engine() as engine:
        engine.client = EngineClient(engine.inbox.put, plain_folder=str(illegal(tmp_path / "plain")))
        request = begin_load(engine, model)
        gone = engine.wait(EngineGone)
        assert gone.requests == (request,)
        assert gone.fault is not None
        assert gone.fault.kind == "processor"


def test_a_part_that_was_not_loaded_says_why(tmp_path: Path) -> None:
    broken_libraries.compile_library(tmp_path / "libggml-cuda.so", broken_libraries.NOTHING, broken_libraries.DRIVER)
    broken_libraries.compile_library(tmp_path / "libggml-vulkan.so", broken_libraries.NOTHING)
    (tmp_path / "libggml-hip.so").write_bytes(b"\x7fELF")
    said = {name: library.why_absent(tmp_path / f"libggml-{name}.so").english() for name in ("cuda", "vulkan", "hip")}
    assert "part for CUDA is installed, but the driver that it needs is missing (libcuda.so.1)" in said["cuda"]
    assert "part for Vulkan is installed, but it found no driver" in said["vulkan"]
    assert "part for HIP is damaged" in said["hip"]
