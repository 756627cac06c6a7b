"""What the cells of the KV cache hold: so many tokens of each part of the prompt, and of the answer.

Pure: told where the parts lie in the prompt and how many cells are in use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from app.core.chat import PromptSpan
from app.core.events import PromptReady
from app.core.metrics import KVUse
from app.core.model import CacheSizes, ModelInfo
from app.services.kv_sum import window_alone
from app.services.thinking import Thoughts

PartName = Literal["template", "system", "history", "thinking", "files", "prompt", "answer", "lanes"]
PARTS: tuple[PartName, ...] = ("template", "system", "history", "thinking", "files", "prompt", "answer", "lanes")
"""In the order in which they are shown."""


class CachePart(msgspec.Struct, frozen=True):
    """One part of what the cells hold."""

    name: PartName
    tokens: int


def cache_parts(spans: Sequence[PromptSpan], prompt_tokens: int, used: int) -> tuple[CachePart, ...]:
    """Return the parts of `used` cells that hold a prompt, or its beginning, and then the answer.

    Tokens of no span are the template's. Their sum is `used`.
    """
    in_prompt = min(used, prompt_tokens)
    return _parts(_counted(spans, in_prompt), used - in_prompt)


def _counted(spans: Sequence[PromptSpan], in_prompt: int) -> dict[PartName, int]:
    """Return the tokens of each part of a prompt, or of its beginning."""
    counts: dict[PartName, int] = {}
    covered = 0
    for span in spans:
        tokens = max(0, min(span.end, in_prompt) - max(span.start, covered))
        counts[span.part] = counts.get(span.part, 0) + tokens
        covered = max(covered, min(span.end, in_prompt))
    counts["template"] = counts.get("template", 0) + in_prompt - sum(counts.values())
    return counts


def _parts(
    prompt: Mapping[PartName, int], behind: int, part: PartName = "answer", thought: int = 0
) -> tuple[CachePart, ...]:
    """Return the parts of a prompt and of so many cells behind it: of the answer, or of a comparison's lanes.

    `thought` of the cells behind it are thinking.
    """
    counts = {**prompt, part: prompt.get(part, 0) + behind - thought}
    counts["thinking"] = counts.get("thinking", 0) + thought
    return tuple(CachePart(name, counts[name]) for name in PARTS if counts.get(name))


class CellsInUse:
    """Figures of the cells while an answer is written; a long prompt, which stays as it is, is added up once.

    The one place where it is worked out how many cells of a sliding window are in use, and how many bytes that is.
    """

    def __init__(self) -> None:
        self._prompt: PromptReady | None = None
        self._whole: dict[PartName, int] = {}
        self._model: ModelInfo | None = None
        self._sizes = CacheSizes()

    def load(self, model: ModelInfo | None) -> None:
        """Take over the cells of a load."""
        self._model = model
        self.resize(None)

    def resize(self, sizes: CacheSizes | None) -> None:
        """The context has these cells now: lanes can need more for a window; None for those of the load."""
        self._sizes = sizes or (self._model.cache if self._model is not None else CacheSizes())

    @property
    def window_cells(self) -> int | None:
        """The cells of layers with a sliding window; None where there are none."""
        return self._sizes.window_cells

    @property
    def reserved(self) -> int | None:
        """The bytes set aside for all cells."""
        model = self._model
        if model is None or model.kv_bytes is None:
            return None
        return model.kv_bytes + _all_bytes(self._sizes) - _all_bytes(model.cache)

    def window_used(self, used: int, first: int) -> int | None:
        """Return how many cells of a window hold something of so many tokens, of which it has those from `first` on."""
        cells = self._sizes.window_cells
        return None if cells is None else min(max(used - first, 0), cells)

    def bytes(self, used: int, window_used: int | None) -> int | None:
        """Return the bytes of so many cells in use; None where a part of them is unknown."""
        return self._sizes.in_use(used, self._model.context, window_used or 0) if self._model is not None else None

    def of(
        self,
        prompt: PromptReady | None,
        used: int,
        window_used: int | None,
        behind: PartName = "answer",
        thoughts: Thoughts | None = None,
    ) -> dict[str, object]:
        """Return the figures of so many cells in use, by their names in `Figures`.

        `behind` is what the cells hold that are not the prompt's; `thoughts` tells which of them are thinking.
        """
        return {
            "kv_cells_used": used,
            "kv_cells": self._model.context if self._model is not None else 0,
            "kv_bytes": self.bytes(used, window_used),
            "kv_bytes_reserved": self.reserved,
            "kv_parts": self._parts_of(prompt, used, behind, thoughts) if prompt is not None else (),
            "window_cells_used": window_used,
            "window_cells": self.window_cells,
            "keeps_all": self._model is None or window_alone(self._model) is None,
        }

    def _parts_of(
        self, prompt: PromptReady, used: int, behind: PartName, thoughts: Thoughts | None
    ) -> tuple[CachePart, ...]:
        tokens = len(prompt.ids) // 4
        if used < tokens:
            return cache_parts(prompt.spans, tokens, used)
        if prompt is not self._prompt:
            self._prompt, self._whole = prompt, _counted(prompt.spans, tokens)
        stretches = thoughts.token_stretches if thoughts is not None else ()
        thought = sum(max(min(end, used - tokens) - first, 0) for first, end in stretches)
        return _parts(self._whole, used - tokens, behind, thought)


def _all_bytes(sizes: CacheSizes) -> int:
    return (sizes.full or 0) + (sizes.window or 0) + (sizes.state or 0)


def measured_cells(kv: KVUse, model: ModelInfo) -> dict[str, object]:
    """Return what the engine measured of the cache at the end of an answer."""
    return {
        "kv_cells": kv.cells,
        "kv_bytes": kv.bytes,
        "window_cells_used": kv.window_cells_used,
        "window_cells": kv.window_cells,
        "checkpoints": kv.checkpoints if model.memory_kind != "plain" else None,
        "checkpoint_bytes": kv.checkpoint_bytes,
    }
