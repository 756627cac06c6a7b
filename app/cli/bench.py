"""The command `bench`: runs the benchmarks of a checkout, which are not part of the program."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence

from app.core.errors import ExitCode, UserError
from app.core.words import translate
from app.system.resources import checkout_folder

MODULE = "tests.bench"


def run_bench(words: Sequence[str]) -> ExitCode:
    """Hand the words after `bench` to the benchmarks and return their exit code."""
    root = checkout_folder()
    if root is None or not (root / "tests" / "bench" / "__main__.py").is_file():
        raise UserError(
            translate(
                "CommandLine",
                "The benchmarks are not installed with the program: run this command in a checkout of its source.",
            ),
            ExitCode.WRONG_USE,
        )
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    sys.argv = [f"{MODULE}", *words]
    try:
        runpy.run_module(MODULE, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        known = {None: ExitCode.DONE, 0: ExitCode.DONE, int(ExitCode.WRONG_USE): ExitCode.WRONG_USE}
        return known.get(end.code if end.code is None else int(end.code), ExitCode.ENGINE_DIED)
    return ExitCode.DONE
