"""Icon files for systems that cannot show an SVG: `.ico` for Windows and `.icns` for macOS, each around a PNG.

It must not draw anything; the virtual environment's Qt renders the one SVG.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from devtools.console import Problem
from devtools.processes import quiet

if TYPE_CHECKING:
    from pathlib import Path

    from devtools.layout import Layout

ICO_SIDE = 256
ICNS_SIDE = 512
ICNS_TYPE_512 = b"ic09"
RENDER = """
import sys
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
source, target, side = sys.argv[1], sys.argv[2], int(sys.argv[3])
application = QGuiApplication(["icon", "-platform", "offscreen"])
image = QImage(side, side, QImage.Format.Format_ARGB32)
image.fill(Qt.GlobalColor.transparent)
painter = QPainter(image)
QSvgRenderer(source).render(painter)
painter.end()
sys.exit(0 if image.save(target, "PNG") else 1)
"""


def svg_in(layout: Layout) -> Path:
    """Return the application's own icon."""
    return layout.root / "resources" / "icons" / "tokenlight.svg"


def png(layout: Layout, side: int, target: Path) -> bytes:
    """Render the icon as a square PNG and return its bytes."""
    done = quiet([layout.python, "-c", RENDER, svg_in(layout), target, str(side)])
    if not done.ok:
        last = (done.output.strip().splitlines() or ["no message"])[-1]
        raise Problem(
            f"The icon could not be drawn ({last}): run this command again with --system or see the README."
        )
    content = target.read_bytes()
    target.unlink()
    return content


def ico(png_bytes: bytes) -> bytes:
    """Wrap one PNG of 256 pixels as a Windows icon (a side of 256 is written as 0)."""
    header = struct.pack("<HHH", 0, 1, 1)
    offset = len(header) + 16
    entry = struct.pack("<BBBBHHII", 0, 0, 0, 0, 1, 32, len(png_bytes), offset)
    return header + entry + png_bytes


def icns(png_bytes: bytes) -> bytes:
    """Wrap one PNG of 512 pixels as a macOS icon."""
    block = struct.pack(">4sI", ICNS_TYPE_512, len(png_bytes) + 8) + png_bytes
    return struct.pack(">4sI", b"icns", len(block) + 8) + block
