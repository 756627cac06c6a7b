"""The doctor's judgements, on machines that a test makes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from app.bootstrap import WINDOW_CHECK
from app.core.commands import ListDevices
from app.core.devices import Device, Gpu, GpuReport, MainMemory
from app.core.events import PROTOCOL_VERSION, DevicesListed, EngineGone, Failed, Hello, Unloaded
from app.core.job_events import HardwareSampled
from app.core.library_fault import LibraryFault, says_why
from app.core.words import translate
from app.services.doctor import Doctor
from app.services.doctor_facts import facts_of
from app.services.doctor_files import file_findings
from app.services.findings import Finding
from app.services.remedies import Remedies
from app.services.surroundings import FolderKey, look_around
from app.services.window_reasons import window_findings
from app.system.folders import Folder
from app.system.gpus import fault_report
from app.system.qt_probe import QtFacts
from tests.desk import Desk
from tests.ggufs import write_tiny_llama
from tests.services.surroundings_of_tests import GIB, LIBRARY, PROCESSOR, healthy

SOME = translate("Test", "It does not work.")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    made = Desk(tmp_path / "home", monkeypatch)
    yield made
    made.program.stop()


@pytest.fixture
def doctor(desk: Desk) -> Doctor:
    folder = desk.program.paths.models
    folder.mkdir(parents=True)
    write_tiny_llama(folder / "tiny.gguf")
    desk.program.doctor.begin()
    return desk.program.doctor


def asked(desk: Desk) -> int:
    return desk.engine.all(ListDevices)[-1].request


def listed(desk: Desk, **changes: Any) -> None:
    library = msgspec.structs.replace(LIBRARY, **changes)
    desk.engine.say(DevicesListed(asked(desk), library, (PROCESSOR,)))
    desk.settle()


def found(findings: tuple[Finding, ...], state: str) -> list[str]:
    return [finding.sentence.english() for finding in findings if finding.state == state]


def test_a_healthy_machine_has_nothing_wrong_and_its_start_is_timed(desk: Desk, doctor: Doctor) -> None:
    desk.engine.say(Hello(PROTOCOL_VERSION, 1, time.perf_counter_ns(), ()))
    listed(desk)
    report = doctor.report(healthy())
    assert report.engine_works
    assert [finding.state for finding in report.findings] == ["ok"]
    assert doctor.answer.start_ms is not None
    assert doctor.answer.ready_ms is not None
    assert 0 < doctor.answer.start_ms <= doctor.answer.ready_ms


def test_a_clock_that_is_not_ours_is_a_problem(desk: Desk, doctor: Doctor) -> None:
    desk.engine.say(Hello(PROTOCOL_VERSION, 1, 5, ()))
    listed(desk)
    assert any("clock" in sentence for sentence in found(doctor.report(healthy()).findings, "problem"))


@pytest.mark.parametrize(
    ("event", "sentence", "command"),
    [
        (lambda request: Failed(request, "engine", SOME, ("a line",)), "It does not work.", ""),
        (lambda request: Failed(request, "cancelled", SOME), "The engine does not answer.", ""),
        (lambda _request: Unloaded(), "The engine does not answer.", ""),
        (lambda request: EngineGone(-6, (request,), SOME), "It does not work.", ""),
        (
            lambda request: EngineGone(70, (request,), says_why(LibraryFault("unfit")), fault=LibraryFault("unfit")),
            "built for another system",
            "python3 packaging/dev.py setup",
        ),
    ],
)
def test_an_engine_that_does_not_start_is_a_problem(
    desk: Desk, doctor: Doctor, event: Any, sentence: str, command: str
) -> None:
    assert not doctor.is_answered
    desk.engine.say(event(asked(desk)))
    desk.settle()
    assert doctor.is_answered
    report = doctor.report(healthy())
    assert not report.engine_works
    problem = next(finding for finding in report.findings if finding.state == "problem")
    assert sentence in problem.sentence.english()
    assert problem.command == command


def test_a_build_without_a_part_for_this_processor_is_a_problem(desk: Desk, doctor: Doctor) -> None:
    listed(desk, backends=())
    report = doctor.report(healthy())
    assert not report.engine_works
    assert any("parts for the processor" in sentence for sentence in found(report.findings, "problem"))


def test_what_concerns_other_requests_is_not_its_answer(desk: Desk, doctor: Doctor) -> None:
    desk.engine.say(Failed(asked(desk) + 1, "engine", SOME))
    desk.engine.say(EngineGone(-6, (), SOME))
    desk.settle()
    assert not doctor.is_answered
    listed(desk)
    desk.engine.say(EngineGone(-6, (asked(desk),), SOME))
    desk.settle()
    assert doctor.report(healthy()).engine_works


@pytest.mark.parametrize(
    ("features", "state", "words"),
    [
        (("AVX", "AVX2", "AVX512"), "problem", "lacks (AVX512)"),
        (("AVX",), "note", "unused (AVX2)"),
        (("AVX", "AVX2", "LLAMAFILE", "SVE_CNT=16"), "", ""),
    ],
)
def test_a_build_that_does_not_suit_the_processor_is_told(
    desk: Desk, doctor: Doctor, features: tuple[str, ...], state: str, words: str
) -> None:
    listed(desk, features=features)
    findings = [finding for finding in doctor.report(healthy()).findings if finding.section == "processor"]
    assert [finding.state for finding in findings] == ([state] if state else [])
    assert all(words in finding.sentence.english() and finding.command for finding in findings)


@pytest.mark.parametrize(
    ("qt", "state", "words", "command"),
    [
        (QtFacts("not_installed"), "problem", "Qt is not installed", "python3 packaging/dev.py setup"),
        (
            QtFacts("not_loadable", missing=("libGL.so.1", "libEGL.so.1")),
            "problem",
            "libGL.so.1, libEGL.so.1",
            "sudo apt-get install libgl1 libegl1",
        ),
        (QtFacts("not_loadable"), "problem", "Install PySide6 again", "python3 packaging/dev.py setup"),
        (
            QtFacts("not_startable", "6.11.3", "xcb", ("libxcb-icccm.so.4",), has_screen=False),
            "problem",
            "libxcb-icccm.so.4",
            "sudo apt-get install libxcb-icccm4",
        ),
        (QtFacts("not_startable", "6.11.3", "xcb", has_screen=False), "note", "no screen", ""),
        (QtFacts("not_startable", "6.11.3", "odd"), "problem", "Remove this variable", "unset QT_QPA_PLATFORM"),
        (QtFacts("no_process", missing=("libGL.so.1",)), "note", "no process could be started", ""),
        (QtFacts("own_fault"), "note", "a fault of the program itself", ""),
        (QtFacts("blocked", None, "xcb"), "problem", "Log out and in again", ""),
        (
            QtFacts("not_startable", "6.11.3", "xcb", silent_display=":55"),
            "problem",
            "DISPLAY names “:55”, where no",
            "",
        ),
    ],
)
def test_a_window_that_cannot_open_is_told(
    desk: Desk, doctor: Doctor, qt: QtFacts, state: str, words: str, command: str
) -> None:
    listed(desk)
    around = msgspec.structs.replace(healthy(), qt=qt, qt_is_told=True)
    report = doctor.report(around)
    assert report.engine_works
    (finding,) = [finding for finding in report.findings if finding.section == "window"]
    assert (finding.state, finding.command) == (state, command)
    assert words in finding.sentence.english()


@pytest.mark.parametrize("qt", [QtFacts("not_installed"), QtFacts("not_loadable")])
def test_a_frozen_program_whose_qt_is_damaged_is_fetched_anew(qt: QtFacts) -> None:
    around = msgspec.structs.replace(healthy(), qt=qt, remedies=Remedies("frozen", "/opt/tokenlight", ""))
    (finding,) = window_findings(around)
    assert finding.command == ""
    assert "Download Tokenlight again" in finding.sentence.english()


def test_a_plugin_of_qt_that_nobody_chose_is_not_unset() -> None:
    (finding,) = window_findings(msgspec.structs.replace(healthy(), qt=QtFacts("not_startable", "6.11.3", "xcb")))
    assert finding.command == ""
    assert "Log out and in again" in finding.sentence.english()


def test_a_chosen_plugin_is_unset_with_the_words_of_the_shell() -> None:
    around = msgspec.structs.replace(
        healthy(),
        qt=QtFacts("not_startable", "6.11.3", "odd"),
        qt_is_told=True,
        remedies=Remedies("checkout", "python.exe", "0.3.36", shell="windows"),
    )
    assert window_findings(around)[0].command == "set QT_QPA_PLATFORM="


@pytest.mark.parametrize(("available", "short"), [(GIB - 1, True), (GIB, False)])
def test_memory_that_is_short_already_is_noted(desk: Desk, doctor: Doctor, available: int, short: bool) -> None:
    listed(desk)
    around = msgspec.structs.replace(healthy(), memory=MainMemory(16 * GIB, available, 16 * GIB))
    notes = found(doctor.report(around).findings, "note")
    assert any("close other programs" in sentence for sentence in notes) is short


PROPER = {"Python", "llama-cpp-python", "CPU", "CUDA0", "NVIDIA", "CUDA_VISIBLE_DEVICES", "Qt"}
"""Names that are the same in every language."""


def test_every_name_of_a_fact_can_be_translated() -> None:
    gpu = Gpu("NVIDIA L4", "GPU-1", "00000000:01:00.0", 24 * GIB, GIB, 23 * GIB)
    device = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 24 * GIB, 23 * GIB)
    around = msgspec.structs.replace(
        healthy(), gpus=GpuReport((gpu,), "550.54.15", (12, 4)), cards=("NVIDIA",), hidden_by=""
    )
    facts = facts_of(around, LIBRARY, (device, PROCESSOR), 120.0, ())
    bare = {fact.name.english() for fact in facts if fact.name.template == "{value}"}
    assert bare <= PROPER
    values = {fact.name.english(): fact.value for fact in facts}
    assert values["CUDA0"].template == "{name}, {free} free of {total}"
    assert values["CUDA0"].english() == "NVIDIA L4, 23.0 GiB free of 24.0 GiB"
    assert values["driver"].english() == "NVIDIA 550.54.15, CUDA 12.4"
    assert values["CUDA_VISIBLE_DEVICES"].template == "(empty)"
    assert {"settings", "data", "models", "logs", "cache", "version", "backends", "GPU"} <= set(values)


def test_no_value_of_a_finding_holds_words(desk: Desk, doctor: Doctor) -> None:
    listed(desk)
    around = msgspec.structs.replace(healthy(), folders=folders(is_writable=False))
    told = [finding.sentence for finding in doctor.report(around).findings if finding.section == "files"]
    assert len({sentence.template for sentence in told}) == len(told) == 5
    assert all(set(sentence.values) == {"path"} for sentence in told)


def folders(**changes: Any) -> tuple[tuple[FolderKey, Folder], ...]:
    return tuple((key, folder._replace(**changes)) for key, folder in healthy().folders)


def test_folders_that_cannot_be_written_are_problems_and_a_full_disk_is_noted(desk: Desk, doctor: Doctor) -> None:
    listed(desk)
    report = doctor.report(msgspec.structs.replace(healthy(), folders=folders(is_writable=False, free=GIB)))
    assert len(found(report.findings, "problem")) == 5
    assert any("Only 1.0 GiB are free" in sentence for sentence in found(report.findings, "note"))
    assert report.engine_works


def test_a_home_that_cannot_be_written_is_one_problem_with_its_command() -> None:
    around = msgspec.structs.replace(healthy(), folders=folders(is_writable=False, free=None), home="/proc/x")
    (finding,) = file_findings(around, (), ())
    assert (finding.state, finding.command) == ("problem", "unset TOKENLIGHT_HOME")
    assert "Nothing can be kept in /proc/x, which TOKENLIGHT_HOME names" in finding.sentence.english()


@pytest.mark.parametrize(
    ("qt", "platform"),
    [
        (QtFacts(None, "6.11.3", "xcb"), "xcb"),
        (QtFacts("not_startable", "6.11.3", "xcb", has_screen=False), "none that starts"),
        (QtFacts("no_process", platform="xcb"), "not known"),
    ],
)
def test_only_a_platform_that_starts_is_shown(qt: QtFacts, platform: str) -> None:
    facts = facts_of(msgspec.structs.replace(healthy(), qt=qt), None, (), None, ())
    assert [fact.value.english() for fact in facts if fact.name.english() == "platform"] == [platform]


def test_the_folder_of_a_build_that_cannot_be_loaded_is_shown(desk: Desk, doctor: Doctor) -> None:
    fault = LibraryFault("misdirected", folder="/nowhere")
    desk.engine.say(EngineGone(70, (asked(desk),), says_why(fault), fault=fault))
    desk.settle()
    report = doctor.report(healthy())
    assert ("libraries", "/nowhere") in [(fact.name.english(), fact.value.english()) for fact in report.facts]
    assert report.findings[0].command == "unset LLAMA_CPP_LIB_PATH"


def test_a_machine_without_a_model_is_told_how_to_get_one() -> None:
    (finding,) = file_findings(healthy(), (), ())
    assert finding.state == "note"
    assert "There is no model" in finding.sentence.english()
    assert finding.command == "python3 packaging/dev.py setup"


def test_settings_that_could_not_be_read_are_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.json").write_text('{"theme": 5}')
    desk = Desk(home, monkeypatch)
    desk.program.doctor.begin()
    listed(desk)
    assert any("“theme”" in text for text in found(desk.program.doctor.report(healthy()).findings, "note"))
    desk.program.stop()


def test_a_container_that_allows_less_is_told(desk: Desk, doctor: Doctor) -> None:
    listed(desk)
    report = doctor.report(msgspec.structs.replace(healthy(), memory=MainMemory(2 * GIB, GIB, 16 * GIB)))
    values = [fact.value.english() for fact in report.facts]
    assert "1.0 GiB available of 2.0 GiB that the container allows; the machine has 16.0 GiB" in values


def test_this_very_machine_can_be_looked_at(desk: Desk, doctor: Doctor) -> None:
    listed(desk, features=())
    around = look_around(desk.program.paths, WINDOW_CHECK)
    assert around.qt.platform == "offscreen"
    assert around.memory.total > 0
    report = doctor.report(around)
    assert {fact.section for fact in report.facts} == {"program", "processor", "engine", "gpu", "window", "files"}
    assert not found(report.findings, "problem")


def test_samples_reach_the_machine_and_the_engines_process_is_followed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine, changes = desk.program.machine, []
    machine.changed.connect(lambda: changes.append(machine.gpus.fault))
    assert machine.memory is None
    assert machine.gpus.gpus == ()
    followed: list[int | None] = []
    monkeypatch.setattr(machine._sampler, "follow", followed.append)
    desk.engine.say(Hello(PROTOCOL_VERSION, 4711, 0, ()))
    desk.engine.say(HardwareSampled(MainMemory(1, 1, 1), fault_report("no_gpu")))
    desk.engine.say(EngineGone(-9, (), SOME))
    desk.settle()
    assert (changes, followed) == (["no_gpu"], [4711, None])
    assert machine.memory == MainMemory(1, 1, 1)


def test_somebody_who_looks_gets_a_sample(desk: Desk) -> None:
    desk.program.machine.watch(True)
    desk.until(lambda: desk.program.machine.memory)
    desk.program.machine.watch(False)
