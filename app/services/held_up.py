"""What has to be said wherever a speed is that only answers told which something held up. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from app.core.words import Sentence, translate
from app.planner.decode_speed import Part
from app.planner.gpu import HELD_UP_HERE, MEASURED_HERE

_WRITING = translate(
    "Planner",
    "Something slowed down every answer on this machine so far, mostly other programs: as long as it does, answers are slower "
    "than these figures. An answer that nothing disturbs tells more.",
)
_MEMORY = translate(
    "Planner",
    "Other programs were busy while the memory of this machine was measured: it may be faster than these figures. Close them "
    "and measure again.",
)
_READING = translate(
    "Planner",
    "How fast this machine reads a prompt was told by short prompts alone, or by ones that something slowed down: a long one "
    "may be read much faster.",
)


def caveats(parts: Sequence[Part], *, reads: bool) -> tuple[Sentence, ...]:
    """Return what makes the speeds of these parts doubtful; `reads` says whether a time of reading a prompt is among them."""
    busy = [part.gpu for part in parts if not part.work.is_empty]
    is_read_so = reads and any(gpu.sources.get("prefill_tflops") == HELD_UP_HERE for gpu in busy)
    said = (
        (_MEMORY, any(gpu.is_memory_held_up and gpu.sources.get("efficiency") != MEASURED_HERE for gpu in busy)),
        (_WRITING, any(gpu.is_held_up for gpu in busy)),
        (_READING, is_read_so),
    )
    return tuple(sentence for sentence, is_so in said if is_so)
