"""What has to be said wherever a speed is that only answers told which something held up. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from app.core.words import Sentence, translate
from app.planner.decode_speed import Part
from app.planner.gpu import HELD_UP_HERE

_WRITING = translate(
    "Planner",
    "Something slowed down every answer on this machine so far, mostly other programs: as long as it does, answers are slower "
    "than these figures. An answer that nothing disturbs tells more.",
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
    writing = (_WRITING,) if any(gpu.is_held_up for gpu in busy) else ()
    return (*writing, _READING) if is_read_so else writing
