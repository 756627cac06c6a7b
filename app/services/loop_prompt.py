"""The prompt of an answer as the picture of the loop shows it: what was asked, and the tokens that it begins with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.core.attached_files import in_words
from app.core.chat import PromptSpan, last_asked
from app.services.cache_parts import cache_parts
from app.services.inspection import InspectedPrompt
from app.services.loop_run import LoopRun
from app.services.loop_values import LoopPrompt, LoopToken
from app.services.turns import Turn

FIRST_TOKENS = 3


def prompt_of(
    turn: Turn | None,
    question: Turn | None,
    run: LoopRun | None,
    kept: InspectedPrompt | None,
    text_of: Callable[[int], str | None],
) -> LoopPrompt:
    """Return the prompt of an answer, as its `run` told it or as it is `kept`; `text_of` tells what a token says."""
    if turn is None:
        return LoopPrompt()
    sent = question.said if question is not None else ""
    said, length = " ".join(in_words(sent).split()), len(sent)
    ready = run.prompt if run is not None else None
    if run is not None and ready is not None:
        ids = memoryview(ready.ids).cast("i")
        shown, is_known = _first_tokens(ready.spans)
        first = tuple(LoopToken(token, text_of(token)) for token in ids[shown])
        tokens = len(ids) - run.first
        return LoopPrompt(said, length, tokens, first, is_known, cache_parts(ready.spans, tokens, tokens))
    counted = turn.finished.metrics.prompt_tokens if turn.finished is not None else None
    if kept is None or kept.message != turn.message:
        return LoopPrompt(said, length, counted)
    shown, is_known = _first_tokens(kept.spans)
    first = tuple(map(LoopToken, kept.ids[shown], kept.texts[shown]))
    parts = cache_parts(kept.spans, len(kept.ids), len(kept.ids))
    return LoopPrompt(said, length, len(kept.ids), first, is_known, parts)


def _first_tokens(spans: Sequence[PromptSpan]) -> tuple[slice, bool]:
    """Return where the first tokens of what was asked last are, no further than its end; whether anybody knows that."""
    message = last_asked(spans)
    asked = next((span for span in spans if span.part in ("files", "prompt") and span.message == message), None)
    if asked is None:
        return slice(0, FIRST_TOKENS), False
    return slice(asked.start, min(asked.start + FIRST_TOKENS, asked.end)), True
