"""Asks ggml's own reader of GGUF headers, in a process of its own: some headers end the process that reads them."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

READ, REFUSED = "read", "refused"


class EngineReader:
    """One process that reads files as long as it lives, and a new one after that."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "asked.gguf"
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.communicate()

    def ask(self, content: bytes) -> str:
        """Return `READ`, `REFUSED`, or how the process ended."""
        self._path.write_bytes(content)
        process = self._process or self._start()
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(f"{self._path}\n")
        process.stdin.flush()
        answer = process.stdout.readline().strip()
        if answer in (READ, REFUSED):
            return answer
        self._process = None
        process.communicate()
        return f"ended with {process.returncode}"

    def _start(self) -> subprocess.Popen[str]:
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            env={**os.environ, "GGML_NO_BACKTRACE": "1"},
        )
        return self._process


class _Wishes(ctypes.Structure):
    """`gguf_init_params` of gguf.h: no memory for the weights, and where to put the description of the tensors."""

    _fields_ = (("no_alloc", ctypes.c_bool), ("tensors", ctypes.POINTER(ctypes.c_void_p)))


def ggml_path() -> Path:
    """Return ggml's library, found without loading llama.cpp."""
    found = importlib.util.find_spec("llama_cpp")
    assert found is not None and found.origin is not None
    folder = Path(found.origin).parent / "lib"
    (path,) = (
        each for each in folder.iterdir() if "ggml-base" in each.name and each.suffix in {".so", ".dll", ".dylib"}
    )
    return path


def main() -> None:
    """Read each file that is named on a line, and say what came of it."""
    ggml = ctypes.CDLL(str(ggml_path()))
    ggml.gguf_init_from_file.restype = ctypes.c_void_p
    ggml.gguf_init_from_file.argtypes = [ctypes.c_char_p, _Wishes]
    ggml.gguf_free.argtypes = [ctypes.c_void_p]
    ggml.ggml_free.argtypes = [ctypes.c_void_p]
    for line in sys.stdin:
        tensors = ctypes.c_void_p()
        header = ggml.gguf_init_from_file(os.fsencode(line.rstrip("\n")), _Wishes(True, ctypes.pointer(tensors)))
        if header:
            ggml.ggml_free(tensors)
            ggml.gguf_free(header)
        print(READ if header else REFUSED, flush=True)


if __name__ == "__main__":
    main()
