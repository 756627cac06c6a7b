"""Freezes the application into a folder that runs without Python: PyInstaller in a corner of its own, then checks.

It must not decide what goes in; that is `frozen_contents`. Needs a checkout that is set up.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from devtools import build_errors, file_lock, frozen_folder, icon_files, system_libraries
from devtools.console import Problem, ProgressLine, say
from devtools.frozen_contents import PLAIN_FOLDER
from devtools.machine import digest
from devtools.processes import logged, quiet
from devtools.setup_steps import requirements

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from devtools.layout import Layout

NAME = "tokenlight"
TOOLS = ("pyinstaller", "pyinstaller-hooks-contrib")
WORKSHOP = ".freezing-"
INPUTS = (
    "app",
    "models/catalogue.toml",
    "resources",
    "packaging/frozen",
    "packaging/licences",
    "packaging/constraints.txt",
)
OWN_INPUTS = ("freeze.py", "frozen_contents.py", "notices.py", "launcher.py", "icon_files.py")
LIBRARY_OF_PYTHON = "from PyInstaller.depend.bindepend import get_python_library_path as find; find()"
LIBRARY_FOLDER = "import importlib.util; print(importlib.util.find_spec('llama_cpp').submodule_search_locations[0])"
FOR_THIS_MACHINE = (
    "For this machine only: llama.cpp in it was compiled for this processor, and on another the program may stop with an"
    " illegal instruction. Do not hand it on; --libraries takes a folder of llama.cpp that was built for all."
)


@dataclass(frozen=True)
class Wish:
    """What to freeze: into which folder, with whose llama.cpp (None is this set-up's), and a program for tests."""

    output: Path
    libraries: Path | None = None
    extra_program: Path | None = None

    @property
    def folder(self) -> Path:
        """The frozen folder; it exists only when it is complete."""
        return self.output / NAME

    @property
    def extra(self) -> Path:
        """The program for tests, which runs once it lies in a copy of the folder."""
        return self.output / program_file("extra")

    @property
    def stamp(self) -> Path:
        """The file that says what the folder was made from."""
        return self.output / f"{NAME}.stamp"


def program_file(name: str) -> str:
    """Return the file name of a program on this system."""
    return f"{name}.exe" if sys.platform == "win32" else name


def usual_output(layout: Layout) -> Path:
    """Return where a frozen folder goes if people name no other place."""
    return layout.root / "dist"


def run(layout: Layout, output: Path | None, libraries: Path | None) -> int:
    """Freeze, and say how large the folder is and whom it is for."""
    if libraries is not None and not libraries.is_dir():
        raise Problem(f"There is no folder {libraries}: name the one that holds llama.cpp's libraries.")
    wish = Wish((output or usual_output(layout)).absolute(), libraries.absolute() if libraries else None)
    folder = ensure(layout, wish)
    for line in frozen_folder.size_lines(folder):
        say(line)
    if libraries is None:
        say(FOR_THIS_MACHINE)
    say(f"Start it with {folder / program_file(NAME)}; the starter model is not in it.")
    return 0


def ensure(layout: Layout, wish: Wish) -> Path:
    """Return the frozen folder, the one that is there if nothing has changed since; one process at a time makes it."""
    lock = layout.cache / f"freeze-{digest(os.path.realpath(wish.output))}.lock"
    with file_lock.held(lock, lambda: say("Waiting for another process that freezes the same …")):
        builds = _builds(layout, wish)
        inputs = inputs_digest(layout, builds, wish.extra_program)
        if _is_current(wish, inputs):
            say(f"Nothing has changed since {wish.folder} was made.")
            return wish.folder
        wish.stamp.unlink(missing_ok=True)
        wish.output.mkdir(parents=True, exist_ok=True)
        for leftover in wish.output.glob(WORKSHOP + "*"):
            shutil.rmtree(leftover, ignore_errors=True)
        workshop = Path(tempfile.mkdtemp(prefix=WORKSHOP, dir=wish.output))
        try:
            _make(layout, wish, builds, workshop)
            wish.stamp.write_text(inputs + "\n", encoding="utf-8")
        finally:
            shutil.rmtree(workshop, ignore_errors=True)
    return wish.folder


def is_current(layout: Layout, wish: Wish) -> bool:
    """Tell whether the frozen folder is there and made from what is in the checkout now."""
    return _is_current(wish, inputs_digest(layout, _builds(layout, wish), wish.extra_program))


def _is_current(wish: Wish, inputs: str) -> bool:
    complete = (wish.folder / program_file(NAME)).is_file() and (wish.extra_program is None or wish.extra.is_file())
    return complete and wish.stamp.is_file() and wish.stamp.read_text(encoding="utf-8").strip() == inputs


def inputs_digest(layout: Layout, builds: Sequence[Path], extra_program: Path | None) -> str:
    """Digest all that decides what comes out: sources, data, pinned versions, llama.cpp's files."""
    hasher = hashlib.sha256(sys.version.encode() + b"\0")
    hasher.update(repr(requirements(layout.root / "pyproject.toml", ())).encode())
    own = [Path(__file__).with_name(name) for name in OWN_INPUTS]
    places = [*(layout.root / name for name in INPUTS), *own, *builds, *([extra_program] if extra_program else [])]
    for path in _files(places):
        content = hashlib.sha256(path.read_bytes()).digest()
        hasher.update(os.fsencode(os.path.relpath(path, layout.root)) + b"\0" + content)
    return hasher.hexdigest()


def _files(places: Iterable[Path]) -> list[Path]:
    found: list[Path] = []
    for place in places:
        inside = place.rglob("*") if place.is_dir() else [place]
        found += sorted(path for path in inside if path.is_file() and "__pycache__" not in path.parts)
    return found


def _builds(layout: Layout, wish: Wish) -> tuple[Path, ...]:
    """Return the folders of llama.cpp: the one that is wished for, or the set-up's and the plain one beside it."""
    if wish.libraries is not None:
        return (wish.libraries,)
    plain = layout.venv / PLAIN_FOLDER
    return (_libraries_of(layout), *([plain] if plain.is_dir() else []))


def _libraries_of(layout: Layout) -> Path:
    """Return the folder of the libraries in the checkout's virtual environment."""
    answer = quiet([layout.python, "-c", LIBRARY_FOLDER])
    folder = Path(answer.output.strip()) / "lib"
    if not answer.ok or not folder.is_dir():
        raise Problem("llama.cpp is not installed: run `python3 packaging/dev.py setup`, then this command again.")
    return folder


def _tools(layout: Layout, log: Path) -> Path:
    """Return the folder that holds PyInstaller; it is kept out of the virtual environment, which the tests look at."""
    constraints = layout.root / "packaging" / "constraints.txt"
    folder = layout.cache / f"freeze-tools-{digest(constraints.read_text(encoding='utf-8'), sys.version)}"
    with file_lock.held(layout.cache / "freeze-tools.lock", lambda: say("Waiting for another process …")):
        if folder.is_dir():
            return folder
        partial = Path(tempfile.mkdtemp(prefix=WORKSHOP, dir=layout.cache))
        pip: list[str | Path] = [layout.python, "-m", "pip", "install", "--only-binary", ":all:"]
        pip += ["--progress-bar", "off", "--constraint", constraints, "--target", partial, *TOOLS]
        try:
            say("Installing PyInstaller beside the set-up.")
            done = logged(pip, log, lambda _line: None)
            if not done.ok:
                shown = [f"  {line}" for line in build_errors.lines_that_matter(done.output)]
                what = f"{build_errors.advice(done.output)} The whole log is {log}.".strip()
                raise Problem("\n".join(("PyInstaller could not be installed.", *shown, what)))
            partial.rename(folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return folder


def command_for(layout: Layout, wish: Wish, builds: Sequence[Path], workshop: Path) -> list[str | Path]:
    """Return PyInstaller's command; what follows the dashes is for our description of the folder."""
    spec = layout.root / "packaging" / "frozen" / f"{NAME}.spec"
    places: list[str | Path] = ["--distpath", workshop / "dist", "--workpath", workshop / "work", "--noconfirm"]
    own: list[str | Path] = ["--version-of-app", version_of(layout)]
    for option, folder in zip(("--libraries", "--plain-libraries"), builds, strict=False):
        own += [option, folder]
    if sys.platform in ("win32", "darwin"):
        own += ["--icon", _icon(layout, workshop)]
    if wish.extra_program is not None:
        own += ["--extra-program", wish.extra_program]
    return [layout.python, "-m", "PyInstaller", spec, *places, "--", *own]


def version_of(layout: Layout) -> str:
    """Return the application's version."""
    text = (layout.root / "app" / "core" / "version.py").read_text(encoding="utf-8")
    match = re.search(r'VERSION = "([^"]+)"', text)
    return match[1] if match else "0"


def _icon(layout: Layout, workshop: Path) -> Path:
    windows = sys.platform == "win32"
    side = icon_files.ICO_SIDE if windows else icon_files.ICNS_SIDE
    image = icon_files.png(layout, side, workshop / "icon.png")
    icon = workshop / f"{NAME}.{'ico' if windows else 'icns'}"
    icon.write_bytes(icon_files.ico(image) if windows else icon_files.icns(image))
    return icon


def _make(layout: Layout, wish: Wish, builds: Sequence[Path], workshop: Path) -> None:
    log = layout.logs / "freeze.log"
    log.unlink(missing_ok=True)
    paths = [_tools(layout, log), layout.root, layout.root / "packaging"]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "PYTHONHASHSEED": "0",  # the same sources become the same archive
        "PYINSTALLER_CONFIG_DIR": str(layout.cache / "pyinstaller"),
    }
    _check_python(layout, log, environment)
    say(f"Freezing Tokenlight, which takes one to two minutes. Log: {log}")
    line = ProgressLine()
    command = command_for(layout, wish, builds, workshop)
    try:
        done = logged(command, log, lambda text: _show(line, text), environment)
    finally:
        line.finish()
    made = workshop / "dist" / NAME
    if not done.ok or not made.is_dir():
        last = (done.output.strip().splitlines() or ["no message"])[-1]
        raise Problem(f"PyInstaller failed ({last}): the whole log is {log}.")
    frozen_folder.check(made, program_file(NAME), f"Tokenlight {version_of(layout)}", workshop / "home")
    _place(wish, workshop)


def _check_python(layout: Layout, log: Path, environment: Mapping[str, str]) -> None:
    """A frozen program carries Python as a library, which some systems hold in a package of its own."""
    if not logged([layout.python, "-c", LIBRARY_OF_PYTHON], log, lambda _line: None, environment).ok:
        package = f"libpython{sys.version_info[0]}.{sys.version_info[1]}"
        how = f"sudo apt install {package}" if system_libraries.package_manager() == "apt" else "install that library"
        raise Problem(f"This Python comes without its shared library: {how}, then run this command again. See {log}.")


def _show(line: ProgressLine, text: str) -> None:
    match = re.match(r"\d+ INFO: (.+)", text)
    if match:
        line.update(f"Freezing: {match[1].split(' from ')[0]}")


def _place(wish: Wish, workshop: Path) -> None:
    """Put what was made where it belongs, each in one step."""
    made: Sequence[tuple[Path, Path]] = [(each, wish.output / each.name) for each in (workshop / "dist").iterdir()]
    if wish.extra_program is not None:
        made = [*made, (workshop / "work" / NAME / wish.extra.name, wish.extra)]
    for source, target in made:
        if target.is_dir():
            shutil.rmtree(target)
        source.replace(target)
