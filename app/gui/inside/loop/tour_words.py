"""The eight steps of the tour of the loop: which stages each is about, and what it says."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from app.services.loop_values import StageName

translate = QCoreApplication.translate


class Stop(NamedTuple):
    """One step: the stages that are lit, the first of which has the number that is told."""

    stages: tuple[StageName, ...]
    title: str
    text: str


def stops() -> tuple[Stop, ...]:
    """Return the steps in their order; together they are about every stage."""
    return (*_reading(), *_writing())


def _reading() -> tuple[Stop, ...]:
    return (
        Stop(
            ("tokens", "prompt"),
            translate("LoopTour", "Text becomes numbers"),
            translate(
                "LoopTour",
                "Your message is put into the chat template, and the whole text is cut into tokens: pieces that each have "
                "a number. From here on the model sees these numbers alone, which is why it counts letters badly.",
            ),
        ),
        Stop(
            ("embedding",),
            translate("LoopTour", "Each number becomes a row of numbers"),
            translate(
                "LoopTour",
                "A table that the model learned has a long row of numbers for each token. Such a row is what a token "
                "means to the model, as far as it can be said without the tokens around it.",
            ),
        ),
        Stop(
            ("prefill",),
            translate("LoopTour", "The prompt is read: why the first word takes longest"),
            translate(
                "LoopTour",
                "All tokens of the prompt have to go through the model before it can say anything. Many go at once, which "
                "is fast for each; but a long prompt is a long wait. What an earlier turn left in the cache is skipped.",
            ),
        ),
        Stop(
            ("transformer",),
            translate("LoopTour", "Layer after layer"),
            translate(
                "LoopTour",
                "In every layer, attention lets each token look back at those before it and take something up: what “it” "
                "stands for, who speaks. Then the feed-forward network works on each token by itself.",
            ),
        ),
    )


def _writing() -> tuple[Stop, ...]:
    return (
        Stop(
            ("kv",),
            translate("LoopTour", "Nothing is computed twice"),
            translate(
                "LoopTour",
                "What attention needs of the tokens before is kept in the KV cache, one cell a token. So a new token goes "
                "through the layers alone. The cells are memory, and when they are all taken the chat is full.",
            ),
        ),
        Stop(
            ("probabilities", "logits"),
            translate("LoopTour", "A chance for every token there is"),
            translate(
                "LoopTour",
                "At the end each token of the vocabulary has a score, and the scores become chances. That is all that a "
                "language model computes: how likely each token is to come next.",
            ),
        ),
        Stop(
            ("sampling", "token"),
            translate("LoopTour", "One of them is drawn"),
            translate(
                "LoopTour",
                "Which token comes is not the model's choice: your sampling settings leave some of them, and a random "
                "number falls on one. With the same seed and settings it falls on the same token again.",
            ),
        ),
        Stop(
            ("stop", "answer"),
            translate("LoopTour", "And round again"),
            translate(
                "LoopTour",
                "Unless that was the end, the token goes back in, and everything is done once more for the next one. With "
                "Pause and One token, above this picture while an answer is written, you can go round by hand.",
            ),
        ),
    )
