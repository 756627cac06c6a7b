"""The commands of `dev.py`: what each needs set up, and what it then runs.

It must not do any of it itself.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from devtools import console, freeze, gpu_pack, interpreter, launcher, setup_steps, tasks
from devtools.backends import CHOICES
from devtools.layout import this_layout
from devtools.processes import INTERRUPTED
from devtools.setup_steps import DEVELOPMENT, Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from devtools.layout import Layout

FAILED, WRONG_USE = 1, 2

COMMANDS = {
    "run": "set up if need be and open Tokenlight on the starter model, or on what you name",
    "test": "run the fast tests; what follows is passed on to pytest",
    "setup": "set everything up and stop there",
    "bench": "run the benchmarks; what follows is passed on to them",
    "lint": "check style, types and import contracts",
    "clean": "remove the virtual environment, caches and build leftovers",
    "desktop": "put a launcher with an icon into your menu",
    "freeze": "make a folder that runs without Python",
    "gpu-pack": "prepare build/gpu_check, which a check on a machine with a GPU and without a network needs",
}
PASSES_ON = ("run", "test", "bench")


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    top = argparse.ArgumentParser(prog="dev.py", description="Set up, run, test and tidy Tokenlight from a checkout.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in COMMANDS.items():
        one = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".", allow_abbrev=False)
        if name == "clean":
            one.add_argument("--models", action="store_true", help="remove downloaded models as well")
            continue
        one.add_argument(
            "--backend", choices=CHOICES, help="what llama.cpp computes on (default: as it is, else auto)"
        )
        one.add_argument("--system", action="store_true", help="install missing system packages (root, Debian)")
        if name == "test":
            one.add_argument("--all", action="store_true", help="run the slow tests too")
        if name == "freeze":
            one.add_argument("--output", type=Path, metavar="DIR", help="where the folder goes (default: dist)")
            one.add_argument(
                "--libraries",
                type=Path,
                metavar="DIR",
                help="a folder of llama.cpp's libraries (default: this set-up's)",
            )
    return top


def read(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Split the arguments into ours and those to pass on; after `--` nothing is ours."""
    ours = list(arguments)
    after: list[str] = []
    if "--" in ours:
        at = ours.index("--")
        ours, after = ours[:at], ours[at + 1 :]
    options, others = parser().parse_known_args(ours)
    passed_on = [*others, *after]
    if passed_on and options.command not in PASSES_ON:
        parser().error(f"{options.command} takes no argument {passed_on[0]}")
    return options, passed_on


def main(arguments: Sequence[str]) -> int:
    """Carry out one command and return the exit code."""
    console.make_output_safe()
    options, passed_on = read(arguments)
    layout = this_layout()
    if interpreter.runs_inside(layout):
        script = layout.root / "packaging" / "dev.py"
        return subprocess.call([str(interpreter.base_python()), str(script), *arguments])
    try:
        return _carry_out(layout, options, passed_on)
    except console.Problem as problem:
        console.complain(str(problem))
        return FAILED
    except KeyboardInterrupt:
        console.complain("\nStopped. Nothing half-done will be used; run the same command to go on.")
        return INTERRUPTED


def _carry_out(layout: Layout, options: argparse.Namespace, passed_on: list[str]) -> int:
    command = options.command
    if command == "clean":
        return tasks.clean(layout, options.models)
    development = command in ("test", "lint", "bench", "setup")
    request = Request(
        wanted=options.backend,
        extras=(DEVELOPMENT,) if development else (),
        system=options.system,
        opens_window=command in ("run", "test", "desktop"),
        again=command == "setup",
    )
    setup_steps.ensure(layout, request)
    if command == "run":
        return tasks.run(layout, passed_on)
    if command == "test":
        return tasks.test(layout, options.all, passed_on)
    if command == "bench":
        return tasks.bench(layout, passed_on)
    if command == "lint":
        return tasks.lint(layout)
    if command == "desktop":
        return launcher.install(layout, sys.platform)
    if command == "freeze":
        return freeze.run(layout, options.output, options.libraries)
    if command == "gpu-pack":
        return gpu_pack.make(layout)
    console.say("Tokenlight is ready: python3 packaging/dev.py run")
    return 0
