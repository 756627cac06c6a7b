"""What is said of attention: costs, shares, layers and heads, and why there is none. Knows no widget."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.gui.inside.pass_row import progress_of_another, progress_words
from app.gui.widgets.token_words import known_per_cent, quoted
from app.services.attention import ReadOf
from app.services.attention_cost import AttentionCost
from app.services.attention_rows import AttentionRows, Goal, Seeker
from app.services.attention_text import AttentionText
from app.services.units import count

translate = QCoreApplication.translate

SINK = 0.005
"""A row that lacks more than this of the whole goes partly to no token."""


def token_words(text: AttentionText, token: int, most: int | None = None) -> str:
    """Return what a token says, in quotation marks."""
    return quoted(text.texts[token], text.ids[token], most)


def cost_hint(cost: AttentionCost) -> str:
    """Return where the figures come from, and which is not known."""
    said = translate(
        "AttentionPart",
        "A second context is made for it beside the chat's, which stays as it is, and is given back afterwards. The chat "
        "pays nothing for it.",
    )
    if cost.seconds is None:
        said += " " + translate(
            "AttentionPart", "How long it takes is not known before this model's prefill was measured."
        )
    return said


def choice_words(rows: AttentionRows | None, layer: int | None, head: int | None) -> tuple[str, str]:
    """Return which layer and which head is shown."""
    if layer is None:
        return (
            translate("AttentionPart", "All layers averaged"),
            translate("AttentionPart", "All heads averaged"),
        )
    layers = len(rows.layers) if rows is not None else 0
    heads = rows.layers[layer].heads if rows is not None and layer < layers else 0
    said = translate("AttentionPart", "Layer {number} of {count}").format(number=layer + 1, count=layers)
    if head is None:
        return said, translate("AttentionPart", "All heads averaged") if heads else "–"
    return said, translate("AttentionPart", "Head {number} of {count}").format(number=head + 1, count=heads)


def lack_words(rows: AttentionRows, layer: int) -> str:
    """Return why a layer has no attention; empty where it has."""
    match rows.layers[layer].lacks:
        case "recurrent":
            return translate(
                "AttentionPart",
                "Layer {number} is recurrent: it keeps one running state in place of the tokens, so there are no weights "
                "on single tokens.",
            ).format(number=layer + 1)
        case "not_told":
            return translate(
                "AttentionPart",
                "llama.cpp does not compute the weights of layer {number} as a table that could be read.",
            ).format(number=layer + 1)
        case _:
            return ""


def lacking_words(rows: AttentionRows) -> str:
    """Return how many layers have no attention and why; empty where all have."""
    lacking = [place for place, layer in enumerate(rows.layers) if layer.lacks is not None]
    if not lacking:
        return ""
    if len(lacking) == len(rows.layers):
        return translate("AttentionPart", "– No layer of this model has attention that can be read.") + (
            " " + lack_words(rows, lacking[0])
        )
    said = translate("AttentionPart", "{lacking} of {count} layers have no attention that can be read (–).")
    if len(lacking) == 1:
        said = translate("AttentionPart", "1 of {count} layers has no attention that can be read (–).")
    return said.format(lacking=len(lacking), count=len(rows.layers))


def goal_words(goal: Goal) -> str:
    """Return where a head looks most, in words."""
    return {
        "first": translate("AttentionPart", "the first token"),
        "before": translate("AttentionPart", "the token before"),
        "itself": translate("AttentionPart", "itself"),
        "other": translate("AttentionPart", "another token"),
    }[goal]


def cell_words(text: AttentionText, rows: AttentionRows, layer: int, head: int | None) -> str:
    """Return what one cell of the grid stands for."""
    where, which = choice_words(rows, layer, head)
    found = rows.strongest(layer, head)
    if found is None:
        return f"{where}: – {lack_words(rows, layer)}".strip()
    return translate("AttentionPart", "{layer}, {head}: {share} at {token} ({goal})").format(
        layer=where,
        head=which[:1].lower() + which[1:],
        share=known_per_cent(found.share),
        token=token_words(text, found.token, 24),
        goal=goal_words(found.goal),
    )


def seeker_words(text: AttentionText, token: int, found: Seeker) -> tuple[str, str]:
    """Return which head looked most at a token, and what the button to it says."""
    named, share = token_words(text, token, 24), known_per_cent(found.share)
    layer, head = count(found.layer + 1), count(found.head + 1) if found.head is not None else ""
    if found.head is None:
        words = translate("AttentionPart", "Of all layers, layer {layer} looked most at {token} on average: {share}.")
        way = translate("AttentionPart", "Show layer {layer}")
    else:
        words = translate(
            "AttentionPart", "Of all heads, head {head} of layer {layer} looked most at {token}: {share}."
        )
        way = translate("AttentionPart", "Show head {head} of layer {layer}")
    return words.format(layer=layer, head=head, token=named, share=share), way.format(layer=layer, head=head)


def share_words(text: AttentionText, token: int, query: int | None, share: float | None) -> str:
    """Return how much a token was looked at."""
    said = translate("AttentionPart", "{token}, token {number} of {count}").format(
        token=token_words(text, token, 40), number=count(token + 1), count=count(len(text.ids))
    )
    if query is None:
        return said
    if token > query:
        return said + translate("AttentionPart", ": it comes later, and the model cannot look ahead")
    return said if share is None else f"{said}: {known_per_cent(share)}"


def sink_words(row_sum: float) -> str:
    """Return which part of a row goes to no token at all; empty where none does."""
    if 1 - row_sum < SINK:
        return ""
    return translate(
        "AttentionPart", "{share} go to no token: this model learned a sink for what need not be looked at."
    ).format(share=known_per_cent(1 - row_sum))


def note_words() -> str:
    """Return what attention weights are not."""
    return translate(
        "AttentionPart",
        "These weights show where a layer read from, not why the model said something: what it read there, and all other "
        "layers, count as well. Much of it often rests on the first token, where heads look that find nothing else. Computed "
        "without flash attention and with an f16 cache: the last digits may differ from the chat's.",
    )


def read_words(whose: ReadOf, progress: tuple[int, int]) -> str:
    """Return how far a pass is, and whose tokens it reads where those are not the shown ones."""
    match whose:
        case "this":
            return progress_words(*progress)
        case "another":
            return progress_of_another(*progress)
        case "answer":
            words = translate("AttentionPart", "{done} of {total} tokens of the answer")
        case "example":
            words = translate("AttentionPart", "{done} of {total} tokens of the example")
    return words.format(done=count(progress[0]), total=count(progress[1]))
