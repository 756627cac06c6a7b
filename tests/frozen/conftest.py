"""The frozen folder, made once and made again only when something that goes into it has changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from devtools import freeze
from devtools.console import Problem
from devtools.layout import this_layout
from tests.frozen.installed import NOBODY, Installed, is_root

DRIVER = Path(__file__).with_name("driver.py")


@pytest.fixture(scope="session")
def frozen() -> freeze.Wish:
    """Return what was frozen: the folder, and beside it the program with somebody before its window."""
    layout = this_layout()
    wish = freeze.Wish(layout.root / "build" / "frozen", extra_program=DRIVER)
    try:
        freeze.ensure(layout, wish)
    except Problem as problem:
        pytest.fail(str(problem), pytrace=False)
    return wish


@pytest.fixture(scope="session")
def place() -> Iterator[Path]:
    """Return a folder that everybody may enter, other than pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="tokenlight-frozen-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def model(place: Path, starter_model: Path) -> Path:
    """Return the starter model where everybody can read it."""
    return Path(shutil.copy(starter_model, place / "starter.gguf"))


@pytest.fixture(scope="session")
def installation(place: Path, frozen: freeze.Wish) -> Path:
    """Return the frozen folder, copied to where nobody but its owner may write, under a name that is not plain."""
    folder = place / "Größe 1 – 日本" / "token light"
    shutil.copytree(frozen.folder, folder, symlinks=True)
    return folder


@pytest.fixture
def home(place: Path) -> Path:
    """Return a folder for one user's files."""
    folder = Path(tempfile.mkdtemp(prefix="home ", dir=place))
    if is_root():
        os.chown(folder, NOBODY, NOBODY)
    return folder


@pytest.fixture
def installed(installation: Path, home: Path) -> Installed:
    """Return the program as somebody uses it who did not install it."""
    return Installed(installation, home)


@pytest.fixture(scope="session")
def driven(place: Path, frozen: freeze.Wish, installation: Path) -> Path:
    """Return a copy of the folder in which the program with somebody before its window lies too."""
    folder = place / "driven"
    shutil.copytree(installation, folder, symlinks=True)
    shutil.copy(frozen.extra, folder)
    return folder


@pytest.fixture
def screen() -> Iterator[str]:
    """Return the name of an X screen that nobody looks at, open to every user of this machine."""
    server = shutil.which("Xvfb")
    if server is None:
        pytest.skip("needs Xvfb")
    reader, writer = os.pipe()
    command = [server, "-displayfd", str(writer), "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-ac"]
    with subprocess.Popen(command, pass_fds=[writer], stderr=subprocess.DEVNULL) as process:
        os.close(writer)
        with os.fdopen(reader) as numbers:
            yield f":{numbers.readline().strip()}"
        process.terminate()
