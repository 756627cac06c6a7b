"""The GPU check from top to bottom: libraries built or taken, then the checks in a process of their own, then a table.

Needs the standard library alone; what the checks need is prepared here. It must not load llama.cpp.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from devtools.console import Problem, complain, make_output_safe
from gpu_check import library, toolchain
from gpu_check.arguments import ROOT, Options, read
from gpu_check.carried import PACK_FIRST, Pack, require_modules
from gpu_check.report import Report

GOOD, MISSED = 0, 1
LEFT_FOR_CHECKS_S = 75.0
"""A build may take all but this: its libraries are kept, and the next run takes them."""
GRACE_S = 5.0
"""The checks end by themselves when the time is up; this much later they are ended."""


def main(arguments: Sequence[str]) -> int:
    """Run everything and return the exit code: 0 all bars met, 1 not, 2 wrong use."""
    make_output_safe()
    options = read(arguments, time.monotonic())
    report = Report(options.out, fresh=True)
    options.work.mkdir(parents=True, exist_ok=True)
    report.say(f"Python {sys.version.split()[0]}, backend {options.backend}, {options.left_s / 60:.1f} minutes")
    try:
        prepared = _prepare(options, report)
        if prepared is not None:
            _check(options, report, prepared)
    except Problem as problem:
        report.missed("preparation", str(problem))
        complain(str(problem))
    except KeyboardInterrupt:
        report.missed("interrupted", "The check was stopped.")
    report.say(f"\n{report.table()}\nResults: {report.folder}")
    return GOOD if report.is_good() else MISSED


def _prepare(options: Options, report: Report) -> dict[str, str] | None:
    """Return the environment of the checks; None where no libraries could be had."""
    pack = Pack(options.pack)
    site = pack.site(options.work)
    require_modules(site)
    if options.library is not None:
        libraries = library.opened(options.library, options.work)
        folders = _folders_of_cuda(options)
    else:
        tools = toolchain.for_backend(options.backend, options.work)
        built = _build(options, report, pack, tools)
        if built is None:
            return None
        libraries, folders = built, tools.folders
    return _environment(libraries, folders, site)


def _build(options: Options, report: Report, pack: Pack, tools: toolchain.Toolchain) -> Path | None:
    for note in tools.notes:
        report.say(note)
    cmake = pack.tool("cmake", options.work)
    if cmake is None:
        raise Problem(f"CMake is not here: install it. {PACK_FIRST}")
    builder = library.Builder(report, options.work, cmake, pack.tool("ninja", options.work))
    limit = max(1.0, options.left_s - LEFT_FOR_CHECKS_S)
    began = time.monotonic()
    if not builder.configure(pack.sources(options.work), tools, limit):
        return None
    if not tools.has_gpu:
        report.missed("gpu", "No NVIDIA GPU answers here, so nothing was built; configuring for one worked.")
        return None
    built = builder.build(tools, limit - (time.monotonic() - began))
    if built is not None:
        size = library.keep(built, options.out)
        report.measured("kept_libraries", size / 1e6, "MB", note=f"for --library: {options.out}")
    return built


def _folders_of_cuda(options: Options) -> tuple[Path, ...]:
    """Return where CUDA's runtime lies; libraries that were built elsewhere may know no place for it."""
    if options.backend != "cuda":
        return ()
    root = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")).resolve()
    return tuple(toolchain.runtime_folders(root, sys.path))


def _environment(libraries: Path, folders: Sequence[Path], site: Path | None) -> dict[str, str]:
    environment = dict(os.environ)
    search = [str(folder) for folder in folders] + [environment.get("LD_LIBRARY_PATH", "")]
    modules = [str(site)] if site is not None else []
    modules += [str(ROOT / "packaging"), str(ROOT), environment.get("PYTHONPATH", "")]
    environment["LLAMA_CPP_LIB_PATH"] = str(libraries)
    environment["LD_LIBRARY_PATH"] = os.pathsep.join(each for each in search if each)
    environment["PYTHONPATH"] = os.pathsep.join(each for each in modules if each)
    return environment


def _check(options: Options, report: Report, environment: dict[str, str]) -> None:
    """Run the checks in a process of their own, so that the table comes even where a driver takes that one along."""
    seconds = max(1.0, options.left_s - GRACE_S)
    values = (options.backend, str(options.out), str(options.work), f"{seconds:.0f}")
    command = [sys.executable, "-m", "gpu_check.start", *values, *options.only]
    with subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True) as process:
        try:
            code = process.wait(seconds + GRACE_S)
        except subprocess.TimeoutExpired:
            report.missed("checks", "The time was up in the middle of a check: the lines above are what was found.")
            return
        finally:
            library.end_group(process)
            for model in options.work.glob("*.gguf"):
                model.unlink()
    if code != 0:
        report.missed("checks", f"The checks ended with code {code}; see {report.log_path}.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
