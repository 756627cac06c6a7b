"""Writes an answer once more by the same loop that wrote it, and says how far it is the same.

From an empty cache, with the settings where they held and the draws of its seed. Must not know who asks, or why.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from app.core.chat import TokenPrompt
from app.core.commands import Generate, Reproduce
from app.core.events import Event, Finished, PromptReady
from app.core.metrics import StopReason
from app.core.replay_events import Reproduced
from app.engine.backend import Backend
from app.engine.control import Control
from app.engine.kv_cache import KVCache
from app.engine.loop import Answer
from app.engine.retracing import Retracing

_ID_BYTES = 4


def reproduce(backend: Backend, cache: KVCache, command: Reproduce, control: Control) -> Iterator[Event]:
    """Yield what the loop tells, and `Reproduced` at the end. Raises `UserError` where the answer cannot be drawn."""
    retracing = Retracing(command, backend.vocabulary)
    answer = Answer(backend, cache, _question(command, retracing), control, retracing=retracing)
    for event in answer.run(lambda: False):
        match event:
            case PromptReady():
                yield msgspec.structs.replace(event, spans=command.spans)
            case Finished():
                yield Reproduced(
                    request=command.request,
                    first=retracing.first,
                    compared=retracing.compared,
                    difference=retracing.difference,
                    stop_reason=_ended(event.stop_reason, command),
                    kv=cache.use,
                )
            case _:
                yield event


def cancelled_before_replay(cache: KVCache, command: Reproduce) -> Reproduced:
    """Return the end of a reproduction that was cancelled while it waited: the cache is as it was."""
    return Reproduced(command.request, 0, 0, None, "cancelled", cache.use)


def _question(command: Reproduce, retracing: Retracing) -> Generate:
    """Return the question whose answer it is: without a limit, because the answer that is there is the limit."""
    begun = command.settings[0].settings
    return Generate(
        request=command.request,
        prompt=TokenPrompt(command.prompt + command.ids[: retracing.first * _ID_BYTES]),
        settings=msgspec.structs.replace(begun, seed=command.seed, max_tokens=0, stop=_stops(command) or ()),
        sent_ns=command.sent_ns,
        record="off",
        replay=command.settings[1:],
        first_token=retracing.first,
    )


def _stops(command: Reproduce) -> tuple[str, ...] | None:
    """Return the stop strings; None where the parts of an answer had others: where each part ended is not known."""
    stops = {change.settings.stop for change in command.settings}
    return stops.pop() if len(stops) == 1 else None


def _ended(reason: StopReason, command: Reproduce) -> StopReason | None:
    return None if reason == "length" and _stops(command) is None else reason
