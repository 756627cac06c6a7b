"""Pictures of the window in all its states: `python -m tests.e2e.screenshots` compares them with those that were accepted.

`--write` accepts what the window looks like now. Drawn without a screen, in one font, one language and one size.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtGui import QFont, QFontInfo, QImage
from PySide6.QtWidgets import QApplication

from app.system.settings_file import Theme
from tests.e2e.pictures import MOST_SHARE, difference
from tests.e2e.scene import Scene
from tests.e2e.states import STATES, State

ACCEPTED = Path(__file__).resolve().parent / "screenshots"
HOME = Path(tempfile.gettempdir()) / "tokenlight-pictures"
"""One folder for all runs: its path may be read in a picture."""
FAMILY = "DejaVu Sans"
FIXED = {
    "QT_QPA_PLATFORM": "offscreen",
    "QT_SCALE_FACTOR": "1",
    "QT_FONT_DPI": "96",
    "LANG": "en_US.UTF-8",
    "LC_ALL": "en_US.UTF-8",
    "TZ": "UTC",
}


@contextmanager
def scene_of(
    state: State, theme: Theme, home: Path, patch: pytest.MonkeyPatch, application: QApplication
) -> Iterator[Scene]:
    """Lead a window of its own into a state; it ends with the block."""
    scene = Scene(home, patch, application, theme)
    try:
        state.lead(scene)
        yield scene
    finally:
        scene.close()


def compare(name: str, shown: QImage, accepted: Path, differing: Path) -> str | None:
    """Return what is wrong with a picture, which is kept then for people to look at; None where nothing is."""
    file = accepted / name
    if not file.is_file():
        differing.mkdir(parents=True, exist_ok=True)
        shown.save(str(differing / name))
        return f"{name}: no picture was accepted yet"
    found = difference(QImage(str(file)), shown)
    if found.is_small:
        return None
    differing.mkdir(parents=True, exist_ok=True)
    shown.save(str(differing / name))
    found.marked.save(str(differing / f"{file.stem}-marked.png"))
    return f"{name}: {found.share:.2%} differs (up to {MOST_SHARE:.2%} is the same), at most {found.worst_tile:.0%} of a place"


def main(words: Sequence[str]) -> int:
    """Compare or renew the pictures; the exit code is 1 where one differs."""
    arguments = _arguments(words)
    chosen = [state for state in STATES if not arguments.only or state.name in arguments.only]
    os.environ.update(FIXED)
    time.tzset()
    QLocale.setDefault(QLocale("en_US"))
    application = QApplication([sys.argv[0]])
    application.setFont(QFont(FAMILY))
    if QFontInfo(application.font()).family() != FAMILY:
        print(f"The font {FAMILY} is missing: install it, the pictures are made with it.")
        return 1
    differing = Path(tempfile.mkdtemp(prefix="tokenlight-pictures-differing-"))
    problems: list[str] = []
    for state in chosen:
        for name, theme in state.files():
            shown = _picture(state, theme, application)
            if arguments.write:
                shown.save(str(arguments.folder / name))
                continue
            problem = compare(name, shown, arguments.folder, differing)
            if problem is not None:
                problems.append(problem)
                print(problem, flush=True)
    if problems:
        print(f"Look at them in {differing}; accept them with --write.")
    else:
        differing.rmdir()
    return int(bool(problems))


def _picture(state: State, theme: Theme, application: QApplication) -> QImage:
    shutil.rmtree(HOME, ignore_errors=True)
    with pytest.MonkeyPatch.context() as patch, scene_of(state, theme, HOME, patch, application) as scene:
        return scene.picture()


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.screenshots", description=__doc__)
    parser.add_argument("--write", action="store_true", help="accept what the window looks like now")
    parser.add_argument("--only", metavar="STATE", nargs="+", choices=sorted({state.name for state in STATES}))
    parser.add_argument("--folder", type=Path, default=ACCEPTED, help="where the accepted pictures lie")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
