from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
USUAL_FONT, LARGE_FONT_PX = 0, 20


def opened_on(screen: tuple[int, int], scale: float, font_px: int, folder: Path) -> dict[str, Any]:
    """Open the window on a screen of so many pixels, and return what is cut off in which state."""
    described = {"name": "one", "x": 0, "y": 0, "width": screen[0], "height": screen[1], "logicalDpi": 96, "dpr": 1}
    file = folder / "screens.json"
    file.write_text(json.dumps({"screens": [described]}), encoding="utf-8")
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": f"offscreen:configfile={file}",
        "QT_SCALE_FACTOR": str(scale),
        "PYTHONPATH": str(ROOT),
    }
    run = subprocess.run(
        [sys.executable, "-m", "tests.gui.fitting", str(font_px)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    said: dict[str, Any] = json.loads(run.stdout)
    return said


@pytest.mark.parametrize(
    ("screen", "scale", "font_px"),
    [
        ((1280, 800), 1, USUAL_FONT),
        ((1366, 768), 1.25, USUAL_FONT),
        ((1280, 720), 1.5, USUAL_FONT),
        ((1920, 1080), 2, USUAL_FONT),
        ((3840, 2160), 3, USUAL_FONT),
        ((1280, 800), 1, LARGE_FONT_PX),
        ((1920, 1080), 1, LARGE_FONT_PX),
    ],
)
def test_nothing_is_cut_off_at_any_scale(screen: tuple[int, int], scale: float, font_px: int, tmp_path: Path) -> None:
    said = opened_on(screen, scale, font_px, tmp_path)
    assert said.pop("on the screen"), said["size"]
    width, height = said.pop("size")
    assert (width, height) <= (1280, 800)
    assert {state: cut for state, cut in said.items() if cut} == {}
