"""The command `plan` as a process: with llama.cpp itself, where there is no hub, no reader, or no patience."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.cli.test_stories import GUARD_S, ROOT, environment, run
from tests.hub.loopback_hub import LoopbackHub, Request

__all__ = ["environment"]

MIB = 1 << 20


def test_llama_cpp_itself_tells_what_the_starter_model_takes(
    environment: dict[str, str], starter_model: Path
) -> None:
    done = run(environment, "plan", str(starter_model), "--context", "2048", "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    (told,) = json.loads(done.stdout)["models"]
    (here,) = told["plans"]
    assert here["note"] is None and here["verdict"] == "fits"
    sizes = {name: here["devices"][-1][name] for name in ("weights", "kv", "compute")}
    assert {size["source"] for size in sizes.values()} == {"asked"}
    if len(here["devices"]) == 1:  # without a GPU all of it is here
        assert sizes["kv"]["bytes"] == 45 * MIB
        assert abs(sizes["weights"]["bytes"] - 92 * MIB) < MIB


def test_a_plan_is_text_under_any_locale_and_needs_no_engine_for_another_gpu(
    environment: dict[str, str], model: Path
) -> None:
    environment.update(LC_ALL="C", LANG="C")
    done = run(environment, "plan", str(model), "--gpu", "L4,T4", "--context", "512")
    assert (done.returncode, done.stderr) == (0, b"")
    assert "from – to" in done.stdout.decode("utf-8")
    assert not (Path(environment["TOKENLIGHT_HOME"]) / "logs" / "engine.log").exists()


def test_a_reader_that_goes_away_ends_the_plan_quietly(environment: dict[str, str], model: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "plan", str(model), "--gpu", "L4"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    with process.stderr as errors:
        assert errors.read() == b""
    assert process.wait(GUARD_S) == 0


@pytest.mark.skipif(os.name == "nt", reason="no such signal")
def test_ctrl_c_ends_a_plan_that_waits_for_a_hub(environment: dict[str, str]) -> None:
    asked = threading.Event()

    with LoopbackHub({}) as hub:

        def wait(_request: Request) -> None:
            asked.set()
            hub.ended.wait(GUARD_S)

        hub.listing = wait
        kept = {name: value for name, value in environment.items() if not name.lower().endswith("_proxy")}
        process = subprocess.Popen(
            [sys.executable, "-m", "app", "plan", "org/tiny"],
            cwd=ROOT,
            env={**kept, "HF_ENDPOINT": hub.endpoint},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert asked.wait(GUARD_S)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=GUARD_S)
    assert (process.returncode, out, errors) == (130, b"", b"")


def test_neither_qt_nor_numpy_nor_the_network_is_loaded_for_a_plan(environment: dict[str, str], model: Path) -> None:
    code = (
        f"import sys; sys.argv = ['tokenlight', 'plan', {str(model)!r}, '--gpu', 'L4']\n"
        "from app.__main__ import main; assert main() == 0\n"
        "found = {'numpy', 'PySide6', 'urllib.request', 'http.client', 'ssl', 'llama_cpp'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(found)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, timeout=GUARD_S, check=False
    )
    assert done.stderr.strip() == b""
