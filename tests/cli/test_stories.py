"""The command line as a process, on the scripted engine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from app.core.metrics import DeviceMemory
from app.engine.scripted import Script
from tests.engine.harness import write_script
from tests.ggufs import write_tiny_llama

ROOT = Path(__file__).resolve().parents[2]
GUARD_S = 120


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return {**kept, "TOKENLIGHT_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)}


def run(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "app", *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        timeout=GUARD_S,
        check=False,
    )


def test_a_question_is_answered_as_text_under_any_locale(environment: dict[str, str], tmp_path: Path) -> None:
    model = write_tiny_llama(tmp_path / "sp ace ümlaut 日本 😀.gguf")
    environment.update(LC_ALL="C", LANG="C")
    done = run(environment, "ask", "Grüße", "--fake-engine", "--model", str(model))
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode("utf-8").endswith("so the sky looks blue.\n")


def test_json_lines_are_utf_8_and_complete(environment: dict[str, str], model: Path) -> None:
    done = run(environment, "ask", "Grüße", "--fake-engine", "--json", "--model", str(model))
    lines = [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]
    assert lines[-1]["type"] == "finished"
    assert "".join(line["text"] for line in lines if line["type"] == "tokens") == lines[-1]["text"]


def test_a_model_that_cannot_fit_is_refused_before_it_is_loaded(environment: dict[str, str], tmp_path: Path) -> None:
    script = write_script(tmp_path, Script(memory=(DeviceMemory("CPU", 1 << 30, 1 << 52, None),)))
    words = ("ask", "Hi", "--fake-engine", "--model", script, "--context", "100000")
    refused = run(environment, *words)
    said = refused.stderr.decode("utf-8")
    assert (refused.returncode, refused.stdout) == (3, b"")
    assert "needs 4,194,306.0 GiB of memory" in said
    assert "--load-anyway" in said and "--context N" in said
    done = run(environment, *words, "--load-anyway")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_reader_that_goes_away_ends_the_command_quietly(
    environment: dict[str, str], model: Path, form: list[str]
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "ask", "Hi", *form, "--fake-engine", "--model", str(model)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    with process.stderr as errors:
        told = errors.read()
    assert process.wait(GUARD_S) == 0
    assert told == b""


def test_output_that_cannot_be_written_is_one_sentence(environment: dict[str, str], model: Path) -> None:
    full = Path("/dev/full")
    with full.open("wb") if full.exists() else open(os.devnull, "rb") as nowhere:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "app", "ask", "Hi", "--fake-engine", "--model", str(model)],
            cwd=ROOT,
            env=environment,
            stdout=nowhere,
            stderr=subprocess.PIPE,
            timeout=GUARD_S,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith(b"The answer cannot be written (")
    assert done.stderr.count(b"\n") == 1


def test_a_wrong_option_costs_no_traceback_and_starts_nothing(environment: dict[str, str], tmp_path: Path) -> None:
    done = run(environment, "ask", "Hi", "--temperature", "banana")
    assert done.returncode == 2
    assert done.stderr.decode("utf-8") == "--temperature takes a number from 0 to 5, not “banana”.\n"
    assert not (tmp_path / "home").exists()


def test_commands_work_where_qt_cannot_be_loaded(environment: dict[str, str], model: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken" / "PySide6"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('libEGL.so.1: cannot open shared object file')\n")
    environment["PYTHONPATH"] = os.pathsep.join([str(broken.parent), str(ROOT)])
    asked = run(environment, "ask", "Hi", "--fake-engine", "--model", str(model))
    assert asked.returncode == 0
    window = run(environment)
    assert window.returncode == 2
    assert "libEGL.so.1" in window.stderr.decode("utf-8")
    assert b"Traceback" not in window.stderr


def test_a_quick_command_loads_neither_qt_nor_numpy(environment: dict[str, str]) -> None:
    code = (
        "import sys; from app.__main__ import main; sys.argv = ['tokenlight', '--version']; code = main();"
        "print(code, sorted(m for m in ('numpy', 'PySide6', 'jinja2') if m in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        timeout=GUARD_S,
        check=False,
    )
    assert done.stdout.decode().splitlines()[1] == "0 []"


class Asking:
    """The command `ask` as a process whose first text has come."""

    def __init__(self, environment: dict[str, str], script: Path, begin: int = 1, **fields: object) -> None:
        script.write_text(json.dumps(fields), encoding="utf-8")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "app", "ask", "Hi", "--fake-engine", "--model", str(script)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,  # what a buffer took along would be missing at the end
        )
        assert self.process.stdout is not None
        self.begin = b""
        while len(self.begin) < begin and (more := self.process.stdout.read(begin - len(self.begin))):
            self.begin += more

    def end(self) -> tuple[int, str, str]:
        """Return the exit code and what was printed."""
        out, err = self.process.communicate(timeout=GUARD_S)
        return self.process.returncode, (self.begin + out).decode(), err.decode()


def test_ctrl_c_prints_what_was_written_and_ends_the_engine(environment: dict[str, str], tmp_path: Path) -> None:
    asking = Asking(environment, tmp_path / "slow.json", 20, answers=["word " * 4000], tokens_per_s=200)
    engines = psutil.Process(asking.process.pid).children(recursive=True)
    assert engines
    asking.process.send_signal(signal.SIGINT)
    code, out, err = asking.end()
    assert (code, err) == (130, "")
    assert out.startswith("word word word word ")
    assert out.endswith("\n")
    assert psutil.wait_procs(engines, timeout=GUARD_S)[1] == []


def test_a_second_ctrl_c_ends_at_once_even_if_the_engine_hangs(environment: dict[str, str], tmp_path: Path) -> None:
    asking = Asking(environment, tmp_path / "hang.json", answers=["word word"], fault="hang", fault_at=5)
    engines = psutil.Process(asking.process.pid).children(recursive=True)
    asking.process.send_signal(signal.SIGINT)
    while asking.process.poll() is None:
        asking.process.send_signal(signal.SIGINT)
    assert asking.end()[0] == 130
    assert psutil.wait_procs(engines, timeout=GUARD_S)[1] == []


def test_an_engine_that_aborts_in_mid_answer_is_one_sentence(environment: dict[str, str], tmp_path: Path) -> None:
    asking = Asking(environment, tmp_path / "abort.json", answers=["word word"], fault="abort", fault_at=5)
    code, out, err = asking.end()
    assert code == 4
    assert out.endswith("\n")
    assert "word ".startswith(out[:-1])
    assert err.startswith("The engine stopped")
    assert "Traceback" not in err
    assert err.count("\n") == 1


def test_an_engine_that_is_killed_in_mid_answer_leaves_what_was_written(
    environment: dict[str, str], tmp_path: Path
) -> None:
    asking = Asking(environment, tmp_path / "slow.json", 20, answers=["word " * 4000], tokens_per_s=200)
    (engine,) = [
        process
        for process in psutil.Process(asking.process.pid).children(recursive=True)
        if "spawn_main" in " ".join(process.cmdline())
    ]
    engine.kill()
    code, out, err = asking.end()
    assert code == 4
    assert out.startswith("word word word word ")
    assert "SIGKILL" in err


def test_an_error_that_nobody_expected_is_one_sentence_and_a_log(environment: dict[str, str], tmp_path: Path) -> None:
    code = (
        "import sys, app.cli.run as run; from app.__main__ import main\n"
        "def broken(*_): raise ZeroDivisionError\n"
        "run.run_models = broken; sys.argv = ['tokenlight', 'models']; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        timeout=GUARD_S,
        check=False,
    )
    log = tmp_path / "home" / "logs" / "commands.log"
    assert done.returncode == 4
    assert str(log).encode() in done.stderr
    assert b"Traceback" not in done.stderr
    assert done.stderr.count(b"\n") == 1
    assert "ZeroDivisionError" in log.read_text(encoding="utf-8")


def test_a_prompt_without_its_command_is_no_traceback(environment: dict[str, str]) -> None:
    done = run(environment, "why is the sky blue " * 30)
    assert done.returncode == 2
    assert b"tokenlight ask" in done.stderr
