"""A module that is named in a string points downwards too, as an import does, and is there."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEVELS = (
    ("core",),
    ("system",),
    ("probability",),
    ("services", "engine", "hub"),
    ("bootstrap", "gui", "cli", "__main__"),
)
NAME = re.compile(r"app(\.[a-z_]+)+")


def level(name: str) -> int:
    part = name.split(".")[1]
    return next(number for number, parts in enumerate(LEVELS) if part in parts)


def named_modules() -> Iterator[tuple[str, str]]:
    """Yield (module, module that it names in a string)."""
    for file in sorted((ROOT / "app").rglob("*.py")):
        module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and NAME.fullmatch(node.value):
                yield module, node.value


def test_names_in_strings_point_downwards() -> None:
    found = list(named_modules())
    assert found
    for module, named in found:
        assert importlib.util.find_spec(named) is not None, f"{module} names {named}, which is not there"
        assert level(named) <= level(module), f"{module} names {named} above it"
