"""Child processes that measure: one JSON line asks, one JSON line answers, the end of the pipe ends the child.

Knows nothing of what they measure; `serve` is the child's side, `Child` the parent's.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.bench.arithmetic import BenchError

ROOT = Path(__file__).resolve().parents[2]
END_SECONDS = 5.0

Answer = dict[str, Any]


class Child:
    """A Python module that runs in a process of its own and answers one request at a time."""

    def __init__(self, module: str, *arguments: str, environment: Mapping[str, str] | None = None) -> None:
        """Start the process; `module` is run as `python -m`, away from the terminal's Ctrl+C, which is the parent's."""
        self._module = module
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            cwd=ROOT,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **(environment or {})},
            start_new_session=os.name == "posix",
        )

    @property
    def process_id(self) -> int:
        """The process id."""
        return self._process.pid

    def ask(self, what: str, **values: object) -> Answer:
        """Send a request and wait for its answer; raises `BenchError` when the process is gone."""
        asked, answered = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answered is not None
        try:
            asked.write(json.dumps({"do": what, **values}) + "\n")
            asked.flush()
        except OSError:
            raise self._gone() from None
        line = answered.readline()
        if not line:
            raise self._gone()
        answer: Answer = json.loads(line)
        return answer

    def _gone(self) -> BenchError:
        self.close()
        return BenchError(
            f"The process {self._module} ended with code {self._process.returncode}; see above for why."
        )

    def wait(self, seconds: float) -> None:
        """Wait for the end of a process that ends by itself; raises `subprocess.TimeoutExpired`."""
        self._process.wait(seconds)

    def close(self) -> None:
        """End the process: by the end of its pipe, with force if it is in the middle of something."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None and not pipe.closed:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def serve(handlers: Mapping[str, Callable[..., Answer]]) -> None:
    """Answer requests from standard input until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in sys.stdin:
        request = json.loads(line)
        answer = handlers[request.pop("do")](**request)
        try:
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
        except OSError:  # the parent was interrupted while it waited
            os._exit(0)
