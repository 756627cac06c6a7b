"""NVIDIA's library in a process of its own: one that blocks or dies costs its figures and nothing else."""

from __future__ import annotations

import socket
import threading

import pytest

from app.core.devices import GpuReport
from app.system.child import Child
from app.system.gpu_probe import GpuProbe, library_is_there
from tests.fake_nvml import ASKED, GIB, MODE

FAKE = "tests.fake_nvml"
GUARD_S = 60.0


def probe(**seconds: float) -> GpuProbe:
    return GpuProbe(FAKE, lambda: True, **{"first_seconds": GUARD_S, "seconds": GUARD_S, **seconds})


def test_figures_come_through_the_process() -> None:
    asked = probe()
    report = asked.read(1)
    assert (report.gpus[0].total, report.driver) == (24 * GIB, "550.54.15")
    assert asked.read(1) == report
    asked.close()


@pytest.mark.parametrize(("mode", "fault"), [("dies", "died"), ("mismatch", "driver_mismatch")])
def test_a_library_that_fails_is_a_reason(monkeypatch: pytest.MonkeyPatch, mode: str, fault: str) -> None:
    monkeypatch.setenv(MODE, mode)
    asked = probe()
    assert asked.read().fault == fault
    monkeypatch.delenv(MODE)
    asked.close()
    assert asked.read().fault is None
    asked.close()


def test_a_question_that_does_not_come_back_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MODE, "blocks")
    asked = probe(first_seconds=0.05)
    report = asked.read()
    assert report.fault == "blocked"
    assert report.reason is not None


def test_a_blocked_question_is_ended_from_another_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MODE, "blocks")
    asked = probe()
    told: list[GpuReport] = []
    thread = threading.Thread(target=lambda: told.append(asked.read()))
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(GUARD_S)
        monkeypatch.setenv(ASKED, str(server.getsockname()[1]))
        thread.start()
        server.accept()[0].close()
    asked.kill()
    thread.join(GUARD_S)
    assert not thread.is_alive()
    assert told[0].fault == "died"
    assert asked.read().fault == "blocked"


def test_without_the_library_no_process_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_given: object) -> None:
        raise AssertionError

    monkeypatch.setattr("app.system.gpu_probe.Child", refuse)
    assert GpuProbe(FAKE, lambda: False).read().fault == "no_library"
    assert isinstance(library_is_there(), bool)


def test_no_room_for_a_process_is_not_the_drivers_fault(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_room(*_given: object) -> None:
        raise BlockingIOError

    asked = probe()
    with monkeypatch.context() as patched:
        patched.setattr("app.system.gpu_probe.Child", no_room)
        report = asked.read()
    assert report.fault == "no_process"
    assert report.reason is not None
    assert "No process could be started" in report.reason.english()
    assert "BlockingIOError" in caplog.text
    assert asked.read().fault is None
    asked.close()


def test_a_fault_of_our_own_is_not_the_drivers(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(MODE, "fault")
    report = probe().read()
    assert report.fault == "own_fault"
    assert report.reason is not None
    assert "a fault of the program itself" in report.reason.english()
    assert "ZeroDivisionError: a fault of our own" in caplog.text


def test_an_answer_that_nobody_can_read_is_a_fault_of_our_own(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    asked = probe()
    monkeypatch.setattr(Child, "receive", lambda _child, _seconds: b"no answer")
    assert asked.read().fault == "own_fault"
    assert "DecodeError" in caplog.text or "ValidationError" in caplog.text
