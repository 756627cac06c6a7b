"""What the GPU check can be asked for, and the sentences for what makes no sense.

Needs the standard library alone; it must not look at the machine.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BACKENDS = ("cuda", "vulkan", "cpu")
CHECK_NAMES = ("offload", "logits", "speed", "cancel", "lanes", "score", "auto", "plan", "predict")
DEFAULT_MINUTES = 9.5


@dataclass(frozen=True)
class Options:
    """What was asked for."""

    backend: str
    library: Path | None
    out: Path
    work: Path
    pack: Path
    only: tuple[str, ...]
    """Names of the checks that are carried out."""
    ends_at: float
    """`time.monotonic` when the whole run has to be over."""

    @property
    def left_s(self) -> float:
        """Seconds until then."""
        return self.ends_at - time.monotonic()


def read(arguments: Sequence[str], began: float) -> Options:
    """Read the arguments; ends the process with a sentence where they make no sense."""
    parser = argparse.ArgumentParser(
        prog="gpu_check.sh",
        description="Build llama.cpp for this machine's GPU (or take a library) and check what the engine does on it.",
        allow_abbrev=False,
    )
    parser.add_argument("--backend", choices=BACKENDS, default="cuda", help="what to compute on (default: cuda)")
    parser.add_argument("--library", type=Path, metavar="DIR", help="libraries built earlier, or their kept parts")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        default=ROOT / "build" / "gpu_check_out",
        help="log, results, kept libraries",
    )
    parser.add_argument(
        "--work", type=Path, metavar="DIR", default=ROOT / "build" / "gpu_check_work", help="large files of the run"
    )
    parser.add_argument(
        "--pack", type=Path, metavar="DIR", default=ROOT / "build" / "gpu_check", help="what gpu-pack prepared"
    )
    parser.add_argument("--only", nargs="+", choices=CHECK_NAMES, default=CHECK_NAMES, help="only these checks")
    parser.add_argument("--minutes", type=float, metavar="N", default=DEFAULT_MINUTES, help="end after so long")
    options = parser.parse_args(arguments)
    if not options.minutes > 0:
        parser.error("--minutes must be above 0")
    if options.library is not None and not options.library.is_dir():
        parser.error(f"--library: there is no folder {options.library}")
    return Options(
        backend=options.backend,
        library=options.library,
        out=options.out.absolute(),
        work=options.work.absolute(),
        pack=options.pack.absolute(),
        only=tuple(options.only),
        ends_at=began + 60 * options.minutes,
    )
