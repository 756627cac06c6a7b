"""What is said of an answer that was written once more: how far it is the same, and what a difference means.

Pure: told what the engine found; knows no session and no view.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from app.core.metrics import OPEN_ENDS, StopReason
from app.core.model import LoadOptions
from app.core.printable import printable
from app.core.replay_events import Difference, Reproduced
from app.core.words import Sentence, translate

Phase = Literal["waiting", "reading", "comparing", "same", "tie", "near", "different", "stopped", "failed"]
"""`tie`: both tokens were as good as equal in both runs. `near`: rounding may explain it, but that is not known."""
Offer = Literal["load_model", "larger_context"]

NEARNESS, QUANTISED_NEARNESS = 0.02, 0.1
"""So near in log-probability two tokens are as good as equal; with a quantised KV cache the second number holds."""
_VISIBLE = {"\n": "\N{DOWNWARDS ARROW WITH CORNER LEFTWARDS}", "\t": "\N{RIGHTWARDS ARROW TO BAR}"}


class Reproduction(msgspec.Struct, frozen=True):
    """What is known of one reproduction."""

    message: int
    phase: Phase
    done: int = 0
    """Tokens of the prompt that were read, or of the answer that were compared."""
    total: int = 0
    sentences: tuple[Sentence, ...] = ()
    """What came of it, the result first."""
    offer: Offer | None = None
    """What would help, where something does."""
    context: int | None = None
    """The larger context that is offered, in tokens; None leaves it to people."""

    @property
    def is_open(self) -> bool:
        """Whether it is still going on."""
        return self.phase in ("waiting", "reading", "comparing")


def nearness(options: LoadOptions) -> float:
    """Return how near two tokens are as good as equal, for a model that was loaded like this."""
    return NEARNESS if options.kv_type_k == options.kv_type_v == "f16" else QUANTISED_NEARNESS


Circumstances = Literal["", "warm", "beside"]
"""What was otherwise when an answer was written: its prompt was in the cache, or it was a lane beside others."""


def outcome(
    message: int,
    found: Reproduced,
    total: int,
    stop_reason: StopReason,
    near: float,
    text_of: Callable[[int], str | None],
    *,
    then: Circumstances = "",
) -> Reproduction:
    """Return what came of comparing an answer of `total` tokens that had ended like this.

    `then` tells what was otherwise when it was written: a part of its prompt was in the cache, which was read in other
    batches than now, or it was a lane beside others, whose batches held tokens of them all.
    """
    if found.difference is not None:
        return _different(message, found.difference, total, near, text_of, then=then)
    same = found.compared - found.first
    if found.stop_reason == "cancelled":
        stopped = translate("Reproducing", "Stopped before a token was compared.")
        if same > 0:
            stopped = translate(
                "Reproducing",
                "Stopped: identical up to token {token} of {total}.",
                token=found.compared,
                total=total,
            )
        return Reproduction(message, "stopped", found.compared, total, (stopped,))
    if found.compared < total:
        so_far = translate(
            "Reproducing", "Identical up to token {token} of {total}.", token=found.compared, total=total
        )
        if found.stop_reason == "context_full":
            said = (so_far, _CONTEXT_FULL)
            return Reproduction(message, "failed", found.compared, total, said, offer="larger_context")
        return Reproduction(message, "different", found.compared, total, (so_far, _ENDED_EARLIER))
    identical = translate("Reproducing", "Identical: all {count} tokens.", count=same)
    if found.first:
        identical = translate("Reproducing", "Identical: all {count} tokens that the model wrote.", count=same)
    if same == 1:
        identical = translate("Reproducing", "Identical: the one token that the model wrote.")
    goes_on = found.stop_reason == "length" and stop_reason not in OPEN_ENDS
    if goes_on:
        return Reproduction(message, "different", total, total, (identical, _GOES_ON))
    return Reproduction(message, "same", total, total, (identical,))


def _different(
    message: int,
    found: Difference,
    total: int,
    near: float,
    text_of: Callable[[int], str | None],
    *,
    then: Circumstances,
) -> Reproduction:
    values: dict[str, str | int | float] = {
        "token": found.token + 1,
        "total": total,
        "stored": _shown(found.stored, text_of),
        "drawn": _shown(found.drawn, text_of),
        "now": _gap(found.gap),
    }
    if found.stored_gap is None:
        first = translate(
            "Reproducing",
            "First difference at token {token} of {total}: “{stored}” then, “{drawn}” now; {now} apart in "
            "log-probability now, and how far they were apart then was not kept.",
            **values,
        )
    else:
        first = translate(
            "Reproducing",
            "First difference at token {token} of {total}: “{stored}” then, “{drawn}” now; {then} apart in "
            "log-probability then, {now} now.",
            then=_gap(found.stored_gap),
            **values,
        )
    phase, what_it_means = _meaning(found, near, then)
    return Reproduction(message, phase, found.token, total, (first, what_it_means))


def _meaning(found: Difference, near: float, then: Circumstances) -> tuple[Phase, Sentence]:
    """Return what a difference is: a tie only where both tokens were known to be as good as equal in both runs."""
    if found.gap <= near and found.stored_gap is not None and found.stored_gap <= near:
        return "tie", _TIE
    if found.draw_distance is not None and found.draw_distance <= near:
        border = translate(
            "Reproducing",
            "This is not a tie of the two, but the draw fell within {distance} of the border to the other token: another "
            "build, another backend, other batch shapes or a quantised KV cache may have rounded it over that border.",
            distance=_gap(found.draw_distance),
        )
        return "near", border
    if found.gap <= near and found.stored_gap is None:
        return "near", _NEAR_NOW
    return "different", {"warm": _WARM, "beside": _BESIDE}.get(then, _REAL)


def _gap(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def _shown(token: int, text_of: Callable[[int], str | None]) -> str:
    """Return what a token says, the end of a line as a sign; its number where nobody knows."""
    text = text_of(token)
    if text is None:
        return f"#{token}"
    return printable("".join(_VISIBLE.get(character, character) for character in text))


_TIE = translate(
    "Reproducing",
    "That is as close as a tie: another build, another backend, other batch shapes or a quantised KV cache round a "
    "little differently.",
)
_REAL = translate(
    "Reproducing",
    "This is a real difference, more than rounding explains: the model file, the settings or the version of the "
    "program may be others than then.",
)
_NEAR_NOW = translate(
    "Reproducing",
    "Now the two are as good as equal, but only this run's distance is known: whether they were then, nobody can say.",
)
_BESIDE = translate(
    "Reproducing",
    "It was written as one lane beside others, in batches with tokens of them all, and alone it is written in batches of "
    "another shape: they round differently, so nobody can say whether this difference is real.",
)
_WARM = translate(
    "Reproducing",
    "This is more than a tie. A part of the prompt was in the KV cache then and may have been read in batches of other "
    "shapes, which round differently; or the model file, the settings or the version of the program may be others now.",
)
_GOES_ON = translate(
    "Reproducing",
    "But it would go on here now, where it ended then: the version of the program may be another one.",
)
_ENDED_EARLIER = translate(
    "Reproducing", "There it ended now: the version of the program may be another one than then."
)
_CONTEXT_FULL = translate("Reproducing", "Then the context was full: load the model with a larger one.")
