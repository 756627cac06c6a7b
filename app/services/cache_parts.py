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
from app.core.model import ModelInfo
from app.services.kv_sum import window_alone
from app.services.thinking import Thoughts

PartName = Literal["template", "system", "history", "thinking", "prompt", "answer", "lanes"]
PARTS: tuple[PartName, ...] = ("template", "system", "history", "thinking", "prompt", "answer", "lanes")
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
    """Figures of the cells while an answer is written; a long prompt, which stays as it is, is added up once."""

    def __init__(self) -> None:
        self._prompt: PromptReady | None = None
        self._whole: dict[PartName, int] = {}

    def of(
        self,
        model: ModelInfo,
        prompt: PromptReady | None,
        used: int,
        behind: PartName = "answer",
        thoughts: Thoughts | None = None,
    ) -> dict[str, object]:
        """Return the figures of so many cells in use, by their names in `Figures`; a window holds the last of them.

        `behind` is what the cells hold that are not the prompt's; `thoughts` tells which of them are thinking.
        """
        return _figures(model, self._parts_of(prompt, used, behind, thoughts) if prompt is not None else (), used)

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


def _figures(model: ModelInfo, parts: tuple[CachePart, ...], used: int) -> dict[str, object]:
    window = model.cache.window_cells
    in_window = min(used, window) if window is not None else None
    return {
        "kv_cells_used": used,
        "kv_cells": model.context,
        "kv_bytes": model.cache.in_use(used, model.context, in_window or 0),
        "kv_bytes_reserved": model.kv_bytes,
        "kv_parts": parts,
        "window_cells_used": in_window,
        "window_cells": window,
        "keeps_all": window_alone(model) is None,
    }


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
