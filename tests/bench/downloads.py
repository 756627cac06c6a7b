"""What a download costs: its speed beside curl's from the same server, its check, and what a kill makes it fetch again."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from app.core.gguf_magic import GGUF_MAGIC
from tests.bench.arithmetic import BenchError, Measurement, ratio_to_neighbours, runs
from tests.bench.children import Answer, Child
from tests.bench.setting import Setting

MEGABYTE = 1_000_000
SIZE = 400 * MEGABYTE
BYTES_PER_S = 200 * MEGABYTE
NAME = "model.gguf"
CURL_S = 300
_PIECE = 4 << 20


class _Place:
    """A server with a model, and a folder to download it into."""

    def __init__(self, folder: Path, server: Child) -> None:
        self._folder = folder
        self._server = server
        model = folder / "served.gguf"
        self._sha256 = _write(model)
        port = server.ask("open", path=str(model), bytes_per_s=BYTES_PER_S)["port"]
        self._endpoint = f"http://127.0.0.1:{port}"

    @property
    def sent(self) -> int:
        """Bytes that the server has handed to the system."""
        return int(self._server.ask("sent")["bytes"])

    def curl(self) -> float:
        """Return the seconds that curl takes for the file, with its start."""
        goal = self.empty_folder() / NAME
        address = f"{self._endpoint}/org/repo/resolve/main/{NAME}"
        begun = time.perf_counter()
        done = subprocess.run(["curl", "-sSfL", "--noproxy", "*", "-o", goal, address], timeout=CURL_S, check=False)
        seconds = time.perf_counter() - begun
        if done.returncode != 0 or goal.stat().st_size != SIZE:
            raise BenchError(f"curl ended with {done.returncode}.")
        return seconds

    def ours(self, child: Child, *, checks: bool = True) -> float:
        """Return the seconds from the wish until the whole file has its name."""
        self.begin(child, self.empty_folder(), checks=checks)
        answer = child.ask("until", size=SIZE + 1)
        child.ask("close")
        return float(_answered(answer)["seconds"])

    def begin(self, child: Child, goals: Path, *, checks: bool = True) -> None:
        """Let a process begin with the download."""
        sha256 = self._sha256 if checks else ""
        child.ask("begin", endpoint=self._endpoint, folder=str(goals), name=NAME, size=SIZE, sha256=sha256)

    def empty_folder(self) -> Path:
        """Return an empty folder, with nothing that still has to be written to the disk."""
        goals = self._folder / "goals"
        shutil.rmtree(goals, ignore_errors=True)
        goals.mkdir()
        os.sync()
        return goals


def download_vs_curl(setting: Setting) -> Measurement:
    """Measure our speed, with the check, beside that of the curls before and after."""
    if shutil.which("curl") is None:
        raise BenchError("curl is not installed.")
    with _place() as place, Child("tests.bench.download_process") as child:
        place.ours(child)
        curls, ours = [SIZE / place.curl()], []
        for _ in runs(setting.seconds):
            ours.append(SIZE / place.ours(child))
            curls.append(SIZE / place.curl())
    measured = ratio_to_neighbours(curls, ours)
    speeds = {
        "curl_mb_per_s": statistics.median(curls) / MEGABYTE,
        "ours_mb_per_s": statistics.median(ours) / MEGABYTE,
    }
    return replace(measured, more={name: round(speed, 1) for name, speed in speeds.items()})


def checksum_cost(setting: Setting) -> Measurement:
    """Measure what a download with the check takes beside those without it before and after, in % of their time."""
    with _place() as place, Child("tests.bench.download_process") as child:
        place.ours(child)
        without, checked = [place.ours(child, checks=False)], []
        for _ in runs(setting.seconds):
            checked.append(place.ours(child))
            without.append(place.ours(child, checks=False))
    measured = ratio_to_neighbours(without, checked)
    assert measured.control is not None and measured.control_spread is not None
    return Measurement(
        100 * (measured.value - 1),
        [100 * (ratio - 1) for ratio in measured.runs],
        100 * (measured.control - 1),
        100 * measured.control_spread,
    )


def resume_refetch(setting: Setting) -> Measurement:
    """Measure how many MB are fetched again when the process is killed at half of the file."""
    again = []
    with _place() as place:
        for _ in runs(setting.seconds):
            before = place.sent
            goals = place.empty_folder()
            with Child("tests.bench.download_process") as killed:
                place.begin(killed, goals)
                half = _answered(killed.ask("until", size=SIZE // 2))
                if int(half["done"]) >= SIZE:
                    raise BenchError("The download was whole before it could be killed.")
                os.kill(killed.process_id, signal.SIGKILL)
                killed.wait(CURL_S)
            with Child("tests.bench.download_process") as child:
                place.begin(child, goals)
                _answered(child.ask("until", size=SIZE + 1))
                child.ask("close")
            again.append((place.sent - before - SIZE) / MEGABYTE)
    return Measurement(statistics.median(again), again)


@contextmanager
def _place() -> Iterator[_Place]:
    with (
        tempfile.TemporaryDirectory(prefix="tokenlight-bench-") as folder,
        Child("tests.bench.download_server_process") as server,
    ):
        yield _Place(Path(folder), server)


def _write(path: Path) -> str:
    """Write what passes for a model, and return its checksum."""
    digest = hashlib.sha256()
    with path.open("wb") as file:
        missing = SIZE
        piece = GGUF_MAGIC + os.urandom(_PIECE - len(GGUF_MAGIC))
        while missing > 0:
            part = piece[:missing]
            file.write(part)
            digest.update(part)
            missing -= len(part)
    return digest.hexdigest()


def _answered(answer: Answer) -> Answer:
    if "problem" in answer:
        raise BenchError(str(answer["problem"]))
    return answer
