"""Whose graphics cards lie on this machine's bus, whether or not anything drives them.

Knows nothing of drivers: `gpus` asks them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

Maker = Literal["NVIDIA", "AMD", "Intel"]

_DEVICES = Path("/sys/bus/pci/devices")
_DISPLAY = "0x03"
_MAKERS: dict[str, Maker] = {"0x10de": "NVIDIA", "0x1002": "AMD", "0x8086": "Intel"}


def card_makers(devices: Path = _DEVICES) -> tuple[Maker, ...]:
    """Return the makers of the display controllers, sorted; nothing where the system does not show its bus."""
    try:
        folders = sorted(devices.iterdir())
    except OSError:
        return ()
    found = {_MAKERS.get(_text(folder / "vendor")) for folder in folders if _text(folder / "class")[:4] == _DISPLAY}
    return tuple(sorted(maker for maker in found if maker is not None))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
