"""A process that holds memory of a device, as another program would: `python -m gpu_check.ballast_process DEVICE BYTES`.

Says how many bytes it got, on one line, and gives them back when its standard input ends.
"""

from __future__ import annotations

import sys

from app.engine.llama import ggml_library, start_library
from gpu_check.ballast import allocate

PIECE_BYTES = 1 << 30
"""Devices have a largest buffer; this is below all of them."""


def main() -> None:
    """Take the memory and wait."""
    name, wanted = sys.argv[1], int(sys.argv[2])
    log = start_library()
    held = allocate(ggml_library("ggml"), ggml_library("ggml-base"), name, wanted, PIECE_BYTES)
    sys.stdout.write(f"{held}\n")
    sys.stdout.flush()
    sys.stdin.read()
    del log


if __name__ == "__main__":
    main()
