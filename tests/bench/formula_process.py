"""Compares the planner's formulae with llama.cpp in a process of its own, which llama.cpp may end: see `children`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.core.model import LoadOptions
from app.engine.dry_run import DryRun
from app.engine.llama import start_library
from tests.bench.children import Answer, serve
from tests.formula_checks import CELL_TYPES, Difference, cell_growth, differences, weights_on_each
from tests.ggufs import write_tiny_llama
from tests.ggufs_kinds import write_tiny_hybrid, write_tiny_latent, write_tiny_plain, write_tiny_window
from tests.sparse_models import ALL, DENSE, WINDOWED

CELLS = (write_tiny_llama, write_tiny_plain, write_tiny_window, write_tiny_hybrid)


def compare(name: str) -> Answer:
    """Return the largest differences of one model over all configurations."""
    with _folder() as folder:
        run, path = DryRun(start_library()), folder / f"{name}.gguf"
        try:
            found = list(differences(run, ALL[name](), path))
            weights = weights_on_each(run, ALL[name](), path)
        finally:
            run.close()
    return {
        "kv_mib": max(max(abs(each.kv_mib), abs(each.state_mib)) for each in found),
        "weights_percent": max(abs(each.weights_percent) for each in found),
        "weights_of_devices": weights,
        "compute_percent": _largest(found),
        "judged": name in DENSE or name in WINDOWED,
        "configurations": len(found),
    }


def cells() -> Answer:
    """Return the largest difference of the bytes of one cell, over models that run."""
    off = []
    with _folder() as folder:
        for write in CELLS:
            path = write(folder / f"{write.__name__}.gguf")
            for kv_type, flash_attention in CELL_TYPES:
                options = LoadOptions(
                    context=1024, kv_type_k=kv_type, kv_type_v=kv_type, flash_attention=flash_attention
                )
                found, expected = cell_growth(path, options, start_library())
                off.append(abs(found - expected))
        found, expected = cell_growth(
            write_tiny_latent(folder / "latent.gguf"), LoadOptions(context=1024), start_library()
        )
        off.append(abs(found - expected))
    return {"cell_bytes": max(off), "cells": len(off)}


def _largest(found: list[Difference]) -> float:
    return max((each.compute_percent for each in found), key=abs)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tokenlight-formula-") as folder:
        yield Path(folder)


if __name__ == "__main__":
    serve({"compare": compare, "cells": cells})
