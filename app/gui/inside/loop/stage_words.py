"""What the stages of the loop are called and what each does, for people who never read a paper."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from app.services.loop_values import StageName

translate = QCoreApplication.translate


class Look(NamedTuple):
    """How a stage is drawn: its icon and the theme's token of its colour."""

    icon: str
    colour: str


LOOKS: dict[StageName, Look] = {
    "prompt": Look("edit", "stage_tokens"),
    "tokens": Look("tokens", "stage_tokens"),
    "embedding": Look("embedding", "stage_tokens"),
    "prefill": Look("prefill", "stage_prefill"),
    "transformer": Look("layers", "stage_decode"),
    "kv": Look("kv", "stage_kv"),
    "logits": Look("logits", "stage_logits"),
    "probabilities": Look("chances", "stage_logits"),
    "sampling": Look("sampling", "stage_sampling"),
    "token": Look("decode", "stage_sampling"),
    "stop": Look("again", "stage_decode"),
    "answer": Look("ended", "stage_decode"),
}


def title(stage: StageName) -> str:
    """Return what a stage is called."""
    words: dict[StageName, str] = {
        "prompt": translate("Loop", "Prompt"),
        "tokens": translate("Loop", "Tokens"),
        "embedding": translate("Loop", "Embedding"),
        "prefill": translate("Loop", "Prefill"),
        "transformer": translate("Loop", "Transformer"),
        "kv": translate("Loop", "KV cache"),
        "logits": translate("Loop", "Logits"),
        "probabilities": translate("Loop", "Probabilities"),
        "sampling": translate("Loop", "Sampling"),
        "token": translate("Loop", "Token"),
        "stop": translate("Loop", "Go on?"),
        "answer": translate("Loop", "Answer"),
    }
    return words[stage]


def explanation(stage: StageName) -> str:
    """Return what a stage does, in plain words."""
    return {**_reading(), **_writing()}[stage]


def _reading() -> dict[StageName, str]:
    return {
        "prompt": translate(
            "Loop",
            "All the text that the model gets: your message, the system prompt and earlier messages, joined by the chat "
            "template with marks that say who speaks. The model knows nothing else of your chat.",
        ),
        "tokens": translate(
            "Loop",
            "A model reads no letters. The text is cut into pieces from a fixed list, the vocabulary, and each piece is "
            "replaced by its number, the id. A common word is one token; a rare one is several.",
        ),
        "embedding": translate(
            "Loop",
            "Each id is looked up in a table. The row that stands there, a list of numbers, is the token from here on; "
            "tokens that are used alike have rows that are alike.",
        ),
        "prefill": translate(
            "Loop",
            "Before the first word can come, the whole prompt has to go through all layers, many tokens at once. That is "
            "why the first token takes longest. What is in the cache from an earlier turn is not read again.",
        ),
        "transformer": translate(
            "Loop",
            "The layers, one after another. In each, attention lets a token take something up from the tokens before it, "
            "normalisation keeps the numbers in bounds, and the feed-forward network works on each token by itself.",
        ),
        "kv": translate(
            "Loop",
            "Attention needs two things of every earlier token: its keys and its values. They are kept in a cell for each "
            "token, so that nothing is computed twice. When all cells are taken, the context is full.",
        ),
    }


def _writing() -> dict[StageName, str]:
    return {
        "logits": translate(
            "Loop",
            "What comes out of the last layer is turned into one score for every token of the vocabulary: how well would "
            "it fit as the next one? Such a raw score is a logit.",
        ),
        "probabilities": translate(
            "Loop",
            "The scores become chances that add up to 100 % (softmax). They are all that the model says: it does not "
            "choose. Which token comes is decided by the stage behind it.",
        ),
        "sampling": translate(
            "Loop",
            "Your settings cut unlikely tokens and shift the chances of the others, stage by stage; then a random number "
            "falls on one of those that are left. At temperature 0 the likeliest is taken.",
        ),
        "token": translate(
            "Loop",
            "The id that was drawn. Its text is added to the answer; parts of a character wait for the rest of it.",
        ),
        "stop": translate(
            "Loop",
            "After each token it is asked whether the answer ends: with the model's own end token, a stop text, the limit, "
            "a full context, or because you stop it. If not, the token goes in like those of the prompt, and the loop runs "
            "again: for it alone, as the earlier ones are in the cache.",
        ),
        "answer": translate(
            "Loop",
            "All the tokens that were drawn, one at a time, as text. The model planned none of it ahead: each token was "
            "drawn behind all those before it.",
        ),
    }


def more(stage: StageName) -> tuple[str, str] | None:
    """Return which part of the page shows more of a stage, and what the way to it is called; None for none."""
    prompt = ("prompt", translate("Loop", "See the tokens of the prompt"))
    answer = ("answer", translate("Loop", "See the answer token by token"))
    time = ("time", translate("Loop", "See where the time went"))
    ways: dict[StageName, tuple[str, str]] = {
        "prompt": prompt,
        "tokens": prompt,
        "embedding": ("attention", translate("Loop", "See what a token looked at")),
        "prefill": time,
        "transformer": ("attention", translate("Loop", "See what a token looked at")),
        "kv": ("cache", translate("Loop", "See the cells of the cache")),
        "logits": ("answer", translate("Loop", "See what else could have come")),
        "probabilities": ("answer", translate("Loop", "See what else could have come")),
        "sampling": ("answer", translate("Loop", "Try other settings in the laboratory")),
        "token": answer,
        "stop": time,
        "answer": answer,
    }
    return ways.get(stage)
