"""Starts the window as the program itself does, led by a class that a module of the bench names `LEADER`.

`python -m tests.bench.window_start MODULE [WORDS]`; the standard library only at the top: what is imported here before
the program imports it would make its start look like another one.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING

from app.__main__ import load_window, main

if TYPE_CHECKING:
    from app.gui.main_window import MainWindow
    from app.gui.theme import Themes
    from app.services.program import Program


def run() -> int:
    """Be the application, led by the named module's class."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    module = sys.argv.pop(1)
    load_window()
    from app.gui import application  # noqa: PLC0415  only `load_window` may load it

    leader = importlib.import_module(module).LEADER
    make = application.make_window

    def make_and_lead(program: Program, themes: Themes) -> MainWindow:
        window = make(program, themes)
        leader(window, program)
        return window

    setattr(application, "make_window", make_and_lead)  # noqa: B010  a type checker rejects assigning to a function
    sys.argv = ["tokenlight", *sys.argv[1:]]
    return main()


if __name__ == "__main__":
    sys.exit(run())
