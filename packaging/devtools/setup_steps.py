"""The set-up from top to bottom: virtual environment, libraries, checks, llama.cpp, starter model.

It must not know how each step is done; it owns their order, the fall back to the CPU, and the stamp.
"""

from __future__ import annotations

import os
import sys
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from devtools import (
    backends,
    build_errors,
    cuda_runtime,
    file_lock,
    interpreter,
    llama_build,
    plain_library,
    starter_model,
    system_install,
    system_libraries,
)
from devtools import stamp as stamps
from devtools.backends import AUTO, Backend
from devtools.console import Problem, ProgressLine, complain, say
from devtools.machine import digest, this_machine, this_processor
from devtools.processes import logged, quiet

if TYPE_CHECKING:
    from devtools.backends import Attempt, Plan
    from devtools.layout import Layout
    from devtools.machine import Machine

DEVELOPMENT = "dev"
LLAMA_LIBRARIES = ("diskcache", "typing-extensions")
WHO_AM_I = "import pip, sys; print(sys.implementation.name, sys.version.split()[0], sys.prefix)"
LOADS = "import llama_cpp; llama_cpp.llama_backend_init(); print(bool(llama_cpp.llama_supports_gpu_offload()))"


@dataclass(frozen=True)
class Request:
    """What a command needs: the backend asked for (None keeps what is there), extras, and how strict to be.

    `again` goes through every step although nothing has changed: that mends what was deleted, and finds a new driver.
    """

    wanted: str | None = None
    extras: tuple[str, ...] = ()
    system: bool = False
    opens_window: bool = True
    again: bool = False


@dataclass(frozen=True)
class Requirements:
    """What `pyproject.toml` asks for, with llama-cpp-python taken out because it is built here."""

    packages: tuple[str, ...]
    llama_version: str


def requirements(pyproject: Path, extras: tuple[str, ...]) -> Requirements:
    """Read the packages to install: those of the project, the extras, and the build backend."""
    content = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    project = content["project"]
    wanted = [*project["dependencies"], *content["build-system"]["requires"], "editables"]
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    pinned = f"{llama_build.PACKAGE}=="
    version = next(each.removeprefix(pinned) for each in wanted if each.startswith(pinned))
    others = [each for each in wanted if not each.startswith(llama_build.PACKAGE)]
    return Requirements((*others, *LLAMA_LIBRARIES), version)


def ensure(layout: Layout, request: Request) -> None:
    """Make the checkout ready for a command; returns at once when nothing has changed."""
    manager = system_libraries.package_manager()
    if request.system:
        version = (sys.version_info[0], sys.version_info[1])
        extra = system_install.venv_packages(version, interpreter.has_ensurepip())
        system_install.install(extra, layout.logs)
    if request.again or not _is_current(layout, request):
        name = f"setup-{digest(os.path.realpath(layout.root))}.lock"
        with file_lock.held(layout.cache / name, lambda: say("Waiting for another set-up of this checkout …")):
            if request.again or not _is_current(layout, request):
                _set_up(layout, request, manager)
    starter_model.ensure(layout)


def _is_current(layout: Layout, request: Request) -> bool:
    stamp = stamps.read(layout.stamp)
    if stamp is None or not layout.python.exists():
        return False
    return stamp.serves(_inputs(layout), request.wanted, request.extras)


def _set_up(layout: Layout, request: Request, manager: str) -> None:
    before = stamps.read(layout.stamp)
    wanted = request.wanted or (before.wanted if before else AUTO)
    extras = tuple(sorted({*request.extras, *(before.extras if before else ())}))
    machine = this_machine()
    plan = backends.choose(machine, wanted)
    if not _is_usable(layout):
        interpreter.make(layout, manager)
    if before is not None:
        # What was asked for outlives an interrupted set-up; without its inputs the stamp serves nobody.
        stamps.write(layout.stamp, replace(before, inputs=""))
    log = layout.logs / "setup.log"
    log.unlink(missing_ok=True)
    needed = requirements(layout.root / "pyproject.toml", extras)
    _pip(layout, log, "Installing libraries", "install", *needed.packages)
    _check_qt(layout, request, manager)
    for note in plan.notes:
        say(note)
    backend, build = _install_llama(layout, plan, machine, needed.llama_version, manager, log)
    stamps.write(layout.stamp, stamps.Stamp(_inputs(layout), wanted, backend.value, build, extras))


def _inputs(layout: Layout) -> str:
    return stamps.inputs_digest(layout, interpreter.version_text(), this_processor())


def _is_usable(layout: Layout) -> bool:
    """Tell whether a virtual environment is there, at this path, with this Python and with pip."""
    answer = quiet([layout.python, "-c", WHO_AM_I])
    return answer.output.strip() == f"{interpreter.version_text()} {layout.venv}"


def _check_qt(layout: Layout, request: Request, manager: str) -> None:
    missing = system_libraries.look(layout.python)
    text, fatal = system_libraries.complaint(missing, manager, os.environ)
    if not text:
        return
    if fatal and request.opens_window:
        root_hint = " (or add --system when you are root)" if manager == "apt" else ""
        raise Problem(f"{text}{root_hint}. Then run this command again.")
    complain(text)


def _install_llama(
    layout: Layout, plan: Plan, machine: Machine, version: str, manager: str, log: Path
) -> tuple[Backend, str]:
    """Try each way in order; the last one's failure is the set-up's."""
    for attempt in plan.attempts:
        slot = llama_build.slot_for(layout, version, attempt, machine)
        try:
            wheel = llama_build.obtain(layout, version, attempt, slot, manager)
        except llama_build.BuildFailed as failed:
            if attempt is plan.attempts[-1]:
                raise Problem(_explain(failed)) from None
            say(f"{attempt.on_failure} {failed.advice}".strip())
            say(f"The log is {failed.log}.")
            continue
        _install_project(layout, wheel, attempt, log)
        fault = _load_fault(layout, attempt)
        if not fault:
            plain_library.keep(layout, version, attempt, machine, manager)
            return attempt.backend, slot.folder.name
        if attempt is plan.attempts[-1]:
            raise Problem(f"llama.cpp was built but does not work here: {fault}. Delete {slot.folder} and try again.")
        say(f"{attempt.on_failure} It was there, but {fault}.")
    raise AssertionError("a plan has at least one attempt")


def _install_project(layout: Layout, wheel: Path, attempt: Attempt, log: Path) -> None:
    """Install the wheel, whatever build of the same version was there, and the checkout itself."""
    if attempt.index is not None:
        _pip(
            layout,
            log,
            "Installing CUDA's libraries",
            "install",
            *cuda_runtime.packages_for(attempt.identity),
        )
    options = ("--no-deps", "--no-build-isolation", "--force-reinstall")
    _pip(layout, log, "Installing Tokenlight", "install", *options, wheel, "--editable", layout.root)
    if attempt.index is not None:
        where = quiet([layout.python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))"])
        cuda_runtime.put_beside(Path(where.output.strip()))


def _load_fault(layout: Layout, attempt: Attempt) -> str:
    """Load the libraries in a process of their own and say what is wrong with them, if anything."""
    answer = quiet([layout.python, "-c", LOADS], timeout_s=300)
    if not answer.ok:
        last = (answer.output.strip().splitlines() or [f"exit code {answer.code}"])[-1]
        return f"it could not be loaded ({last})"
    if attempt.backend is not Backend.CPU and answer.output.strip().splitlines()[-1] != "True":
        return "it does not see the graphics processor"
    return ""


def _explain(failed: llama_build.BuildFailed) -> str:
    parts = ["llama.cpp could not be built.", *(f"  {line}" for line in failed.lines)]
    parts.append(f"{failed.advice} The whole log is {failed.log}.".strip())
    return "\n".join(parts)


def _pip(layout: Layout, log: Path, doing: str, *arguments: str | Path) -> None:
    line = ProgressLine()
    environment = {**os.environ, "PIP_ROOT_USER_ACTION": "ignore", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    constraints = layout.root / "packaging" / "constraints.txt"
    command = [layout.python, "-m", "pip", *arguments, "--constraint", constraints, "--progress-bar", "off"]
    if "--no-deps" in arguments:
        command = [layout.python, "-m", "pip", *arguments, "--progress-bar", "off"]

    def on_line(text: str) -> None:
        words = text.split()
        if len(words) > 1 and words[0] in ("Collecting", "Downloading", "Installing"):
            line.update(f"{doing}: {words[0].lower()} {words[1].split('/')[-1]}")

    line.update(f"{doing} …")
    done = logged(command, log, on_line, environment)
    line.finish()
    if not done.ok:
        shown = [f"  {each}" for each in build_errors.lines_that_matter(done.output)]
        what = build_errors.advice(done.output)
        raise Problem("\n".join((f"{doing} failed.", *shown, f"{what} The whole log is {log}.".strip())))
