"""A made-up run of the loop, to explain it before there is a model or an answer: the sizes are those of a small model."""

from __future__ import annotations

from math import sin

from app.core.model_shape import ModelShape, Range
from app.core.sampling import SamplingSettings
from app.services.cache_parts import CachePart
from app.services.loop_values import (
    LoopCandidate,
    LoopModel,
    LoopPrefill,
    LoopPrompt,
    LoopStep,
    LoopToken,
    LoopValues,
)
from app.services.timeline_values import AnswerTimeline, TimePart

_QUESTION = "Why is the sky blue?"
_WIDTH = 576
_CELLS = 8192
_PER_TOKEN = 23_040
_PROMPT, _CACHED, _WRITTEN = 36, 12, 5
_LIKELY = ((" blue", 0.62, 0.71), (" clear", 0.14, 0.16), (" grey", 0.11, 0.13), (" not", 0.03, 0.0))


def example() -> LoopValues:
    """Return what the picture would show in the middle of a short answer."""
    candidates = tuple(
        LoopCandidate(4000 + place, text, raw, after, None if after else "top_p", is_taken=place == 0)
        for place, (text, raw, after) in enumerate(_LIKELY)
    )
    used = _PROMPT + _WRITTEN - 1  # the token that was drawn last is in no cell yet
    return LoopValues(
        phase="writing",
        model=LoopModel(
            name="",
            layers=30,
            shape=ModelShape(_WIDTH, Range(9, 9), Range(3, 3), Range(1536, 1536)),
            vocabulary=49_152,
            cells=_CELLS,
            bytes_per_token=_PER_TOKEN,
            memory_kind="plain",
            window=0,
            most_at_once=512,
        ),
        prompt=LoopPrompt(
            _QUESTION,
            len(_QUESTION),
            _PROMPT,
            (LoopToken(4898, "Why"), LoopToken(314, " is"), LoopToken(260, " the")),
            parts=(CachePart("template", _PROMPT - 6), CachePart("prompt", 6)),
        ),
        prefill=LoopPrefill(_PROMPT, _PROMPT, _CACHED, 131.0),
        embedding=tuple(sin(place * place * 0.37) * sin(place * 0.11) for place in range(_WIDTH)),
        cells_used=used,
        cells=_CELLS,
        cache_bytes=used * _PER_TOKEN,
        step=LoopStep(_WRITTEN - 1, candidates, 3, is_exact=True, is_drawn=True, text=" blue"),
        written=_WRITTEN,
        tokens_per_s=77.6,
        settings=SamplingSettings(),
        is_example=True,
    )


def example_time() -> AnswerTimeline:
    """Return the time of that answer: as fast as it says, with little before the prefill."""
    ready, read, drawn = 4_100_000, 187_300_000, 187_900_000
    parts = (
        TimePart("before", 0, ready),
        TimePart("prefill", ready, read, _CACHED, _PROMPT),
        TimePart("first_sample", read, drawn),
    )
    return AnswerTimeline(0, parts, 0, [drawn + step * 12_900_000 for step in range(_WRITTEN)], is_open=True)
