"""Installs the system packages that the set-up and the tests need, as root on Debian and its relatives.

It must not install anything that is there already, nor ask the package manager's servers then.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from devtools import build_errors
from devtools.console import Problem, ProgressLine, listing, say
from devtools.processes import logged, quiet
from devtools.system_libraries import PACKAGES, packages_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

# "a|b": either will do; the first that the system knows is installed.
WANTED = tuple(sorted({"build-essential", "fonts-dejavu-core", "xvfb", *packages_for(PACKAGES, "apt")}))


def missing(wanted: Iterable[str], installed: set[str]) -> list[str]:
    """Return the wanted packages of which no alternative is installed."""
    return [each for each in wanted if not installed.intersection(each.split("|"))]


def installed_of(dpkg_output: str) -> set[str]:
    """Read `dpkg-query`'s list of names and states."""
    found = set()
    for line in dpkg_output.splitlines():
        name, _, state = line.partition(" ")
        if state.startswith("ii"):
            found.add(name)
    return found


def first_known(alternatives: str, is_known: Callable[[str], bool]) -> str:
    """Return the first alternative that the system's package lists know, else the last."""
    names = alternatives.split("|")
    return next((name for name in names[:-1] if is_known(name)), names[-1])


def venv_packages(version: tuple[int, int], has_ensurepip: bool) -> tuple[str, ...]:
    """Return the package that lets this Python make virtual environments, if it cannot yet."""
    return () if has_ensurepip else (f"python{version[0]}.{version[1]}-venv",)


def install(extra: Iterable[str], logs: Path) -> None:
    """Install what is missing; says nothing and takes no time when nothing is."""
    wanted = [*WANTED, *extra]
    if shutil.which("dpkg-query") is None or shutil.which("apt-get") is None:
        say("--system installs packages on Debian and its relatives only; nothing was installed.")
        return
    names = [name for each in wanted for name in each.split("|")]
    query = quiet(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Abbrev}\n", *names])
    lacking = missing(wanted, installed_of(query.output))
    if not lacking:
        return
    if os.geteuid() != 0:
        names = [each.split("|")[-1] for each in lacking]
        raise Problem(f"--system needs root: run `sudo apt install {' '.join(names)}`, then this command without it.")
    say(f"Installing system packages: {listing([each.split('|')[-1] for each in lacking])}.")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    log = logs / "apt.log"
    line = ProgressLine()

    def show(text: str) -> None:
        words = text.split()
        if words[:2] == ["Setting", "up"] or words[:1] == ["Unpacking"]:
            line.update(f"Installing system packages: {' '.join(words[:3])}")

    updated = logged(["apt-get", "update"], log, show, environment)
    chosen = [first_known(each, _is_known) for each in lacking]
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *chosen]
    done = logged(command, log, show, environment)
    line.finish()
    if not done.ok:
        shown = build_errors.lines_that_matter(updated.output * (not updated.ok) + done.output)
        raise Problem(
            "\n  ".join(("The system packages could not be installed:", *shown, f"The whole log is {log}."))
        )


def _is_known(name: str) -> bool:
    return "Candidate: (none)" not in (answer := quiet(["apt-cache", "policy", name]).output) and name in answer
