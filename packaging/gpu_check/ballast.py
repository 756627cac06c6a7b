"""Memory of a device that is taken away from the engine: allocated with ggml, which every backend understands.

`held` is the side of the checks, `allocate` runs in a process of its own.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

END_SECONDS = 20.0


@contextmanager
def held(device: str, wanted: int) -> Iterator[int]:
    """Let another process hold so much of a device; yields the bytes that it got."""
    with subprocess.Popen(
        [sys.executable, "-m", "gpu_check.ballast_process", device, str(wanted)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline() or 0)
        finally:
            process.stdin.close()
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def allocate(registry: ctypes.CDLL, base: ctypes.CDLL, device: str, wanted: int, piece: int) -> int:
    """Allocate buffers on a device until they are as large as wanted or no more is given; returns their bytes."""
    registry.ggml_backend_dev_by_name.restype = ctypes.c_void_p
    registry.ggml_backend_dev_by_name.argtypes = [ctypes.c_char_p]
    base.ggml_backend_dev_buffer_type.restype = ctypes.c_void_p
    base.ggml_backend_dev_buffer_type.argtypes = [ctypes.c_void_p]
    base.ggml_backend_buft_alloc_buffer.restype = ctypes.c_void_p
    base.ggml_backend_buft_alloc_buffer.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    handle = registry.ggml_backend_dev_by_name(device.encode())
    if not handle:
        return 0
    kind = base.ggml_backend_dev_buffer_type(handle)
    taken = 0
    while taken < wanted:
        size = min(piece, wanted - taken)
        if not base.ggml_backend_buft_alloc_buffer(kind, size):
            break
        taken += size
    return taken
