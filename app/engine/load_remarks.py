"""What people should know of a load that worked: what was decided for them, and where they went beyond the model.

Knows of llama.cpp only which of its builds runs, and the two warnings that these sentences replace.
"""

from __future__ import annotations

import re

from app.core.model import LoadOptions, ModelInfo
from app.core.words import Sentence, counted, translate
from app.engine import library

_CONTEXT_WARNING = re.compile(r"n_ctx(?:_seq)? \(\d+\) [<>] n_ctx_train \(\d+\)")


def load_remarks(asked: LoadOptions, used: LoadOptions, info: ModelInfo) -> tuple[Sentence, ...]:
    """Return the sentences about a load that was asked for with some options and done with others."""
    remarks = [*library.notes()]
    if 0 < info.trained_context < info.context:
        remarks.append(
            translate(
                "Engine",
                "The context of {context:,} tokens is longer than the {trained:,} that the model was trained for: "
                "beyond those, answers usually fall apart.",
                context=info.context,
                trained=info.trained_context,
            )
        )
    wanted = asked.cells(info.trained_context or None)
    if asked.may_shorten_context and asked.gpu_layers is None and 0 < info.context < wanted:
        remarks.append(
            translate(
                "Engine",
                "The context is {context:,} tokens instead of {wanted:,}: with more, not all layers would fit on the GPU.",
                context=info.context,
                wanted=wanted,
            )
        )
    if used.experts_on_cpu and not asked.experts_on_cpu:
        remarks.append(_experts(used.experts_on_cpu, info.layers))
    if asked.gpu_layers is None and used.gpu_layers is not None and used.gpu_layers <= info.layers:
        layers, whole = used.gpu_layers, info.layers + 1
        one = translate(
            "Engine", "1 of {all} layers is on the GPU, the output layer counted: more would not fit.", all=whole
        )
        several = translate(
            "Engine",
            "{layers} of {all} layers are on the GPU, the output layer counted: more would not fit.",
            layers=layers,
            all=whole,
        )
        remarks.append(counted(layers, one, several))
    return tuple(remarks)


def _experts(moved: int, layers: int) -> Sentence:
    if not 0 < moved < layers:
        return translate(
            "Engine", "The experts of this mixture stay in main memory: all of it would not fit on the GPU."
        )
    one = translate(
        "Engine", "The experts of 1 of {all} layers stay in main memory: more would not fit on the GPU.", all=layers
    )
    several = translate(
        "Engine",
        "The experts of {layers} of {all} layers stay in main memory: more would not fit on the GPU.",
        layers=moved,
        all=layers,
    )
    return counted(moved, one, several)


def without_context_warnings(notes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines of llama.cpp's log without those that compare the context with the trained one."""
    return tuple(note for note in notes if _CONTEXT_WARNING.search(note) is None)
