"""Which step of its hue a part of the KV cache has, in the gauge beside the chat and in the map of the cells."""

from __future__ import annotations

from app.services.cache_parts import PartName

PART_STEPS: dict[PartName, int] = {
    "template": 0,
    "system": 1,
    "history": 2,
    "thinking": 3,
    "files": 4,
    "prompt": 5,
    "answer": 6,
    "lanes": 6,
}
"""Numbers for `lightness_step`: what lies side by side is far apart. Lanes are answers, and no answer lies beside them."""
