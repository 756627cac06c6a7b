"""A process that runs nothing but the bare loop.

`python -m tests.bench.bare_process MODEL THREADS [GPU_LAYERS CELLS MICRO_BATCH]`
"""

from __future__ import annotations

import sys

from app.engine import entry
from tests.bench.bare_loop import BareLoop, open_bare
from tests.bench.children import Answer, serve


class Handlers:
    """What the parent can ask for."""

    def __init__(self, loop: BareLoop) -> None:
        self._loop = loop

    def tokenize(self, text: str) -> Answer:
        """Return the ids of a text."""
        return {"ids": self._loop.tokenize(text)}

    def decode(self, prompt: list[int], tokens: int, seed: int) -> Answer:
        """Generate a slice."""
        steps, ns = self._loop.decode_slice(prompt, tokens, seed)
        return {"steps": steps, "ns": ns}

    def lanes(self, prompt: list[int], lanes: int, tokens: int, seed: int) -> Answer:
        """Generate a slice of several answers at once."""
        steps, ns = self._loop.lanes_slice(prompt, lanes, tokens, seed)
        return {"steps": steps, "ns": ns}

    def prefill(self, prompt: list[int]) -> Answer:
        """Evaluate a prompt."""
        return {"ns": self._loop.prefill(prompt)}


def main() -> None:
    """Load the model and answer until the parent is done."""
    entry._lower_priority()  # the same niceness as the engine's
    handlers = Handlers(open_bare(sys.argv[1], *map(int, sys.argv[2:])))
    serve({name: getattr(handlers, name) for name in ("tokenize", "decode", "lanes", "prefill")})


if __name__ == "__main__":
    main()
