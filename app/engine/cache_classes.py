"""The classes of cells that a context has, as llama.cpp's log of this version tells them.

Pinned to llama-cpp-python 0.3.36 like `sizes.py`. A line that it does not know leaves all of it unknown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.core.cache_shape import CacheClass
from app.engine.sizes import MIB

_CREATING = re.compile(r"^\w+: creating\s+(?P<what>.+?) KV cache(?:, size = \d+ cells)?$")
_CLASS = re.compile(
    r"^llama_kv_cache: size =\s+[0-9.]+ MiB \(\s*(?P<cells>\d+) cells,\s+(?P<layers>\d+) layers,.*?\)"
    r", K \((?P<key_type>\w+)\):\s+(?P<keys>[0-9.]+) MiB"
    r"(?:, V \((?P<value_type>\w+)\):\s+(?P<values>[0-9.]+) MiB)?"
)
_IS_ONE = re.compile(r"^llama_kv_cache: size =")
_WINDOW = "SWA"


def parse_classes(lines: Sequence[str]) -> tuple[CacheClass, ...]:
    """Return the classes in the order in which llama.cpp made them; empty where a line of them is a new one."""
    found: list[CacheClass] = []
    is_window = False
    for line in lines:
        if (created := _CREATING.match(line)) is not None:
            is_window = created["what"] == _WINDOW
        elif (match := _CLASS.match(line)) is not None:
            found.append(
                CacheClass(
                    cells=int(match["cells"]),
                    layers=int(match["layers"]),
                    key_type=match["key_type"],
                    key_bytes=_bytes(match["keys"]),
                    value_type=match["value_type"] or "",
                    value_bytes=_bytes(match["values"] or "0"),
                    is_window=is_window,
                )
            )
        elif _IS_ONE.match(line) is not None:
            return ()
    return tuple(found)


def _bytes(mib: str) -> int:
    return round(float(mib) * MIB)
