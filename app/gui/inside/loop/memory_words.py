"""What the loop says of a model's layers and of what they keep of the tokens before, by the kind of memory it has."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.core.model import MemoryKind
from app.core.model_shape import Range
from app.services.loop_values import LoopModel, LoopValues, StageName
from app.services.units import UNKNOWN, byte_size, count

translate = QCoreApplication.translate


def counted(one: str, several: str, number: int | None) -> str:
    """Return words for one, or for another number of what they are about."""
    return one if number == 1 else several.format(count=count(number))


def span(size: Range | None) -> str:
    """Return a size, or from which to which it goes."""
    if size is None:
        return UNKNOWN
    return count(size.least) if size.least == size.most else f"{count(size.least)}–{count(size.most)}"


def is_one(size: Range | None) -> bool:
    """Return whether a size is 1 everywhere."""
    return size is not None and size.least == size.most == 1


def layers_words(model: LoopModel) -> str:
    """Return how many layers a model has, and how wide they are."""
    layers = counted(translate("Loop", "1 layer."), translate("Loop", "{count} layers."), model.layers)
    one_width, width = (
        translate("Loop", "1 number a token goes in and comes out."),
        translate("Loop", "{count} numbers a token go in and come out."),
    )
    inner = translate("Loop", "The feed-forward network is {inner} numbers wide.").format(
        inner=span(model.shape.feed_forward)
    )
    parts = [layers, _mixing(model), inner, counted(one_width, width, model.shape.embedding)]
    return " ".join(part for part in parts if part)


def _mixing(model: LoopModel) -> str:
    """Return what lets a token take something up from those before it."""
    if model.memory_kind == "recurrent":
        return translate("Loop", "Each has one running state of the tokens before, in place of attention.")
    heads = translate("Loop", "1 head") if is_one(model.shape.heads) else translate("Loop", "{heads} heads")
    sets = (
        translate("Loop", "1 set of keys and values")
        if is_one(model.shape.kv_heads)
        else translate("Loop", "{kv} sets of keys and values")
    )
    where = (
        translate("Loop", "Some have a running state; in each of the others attention has {heads} and {sets}.")
        if model.memory_kind == "hybrid"
        else translate("Loop", "In each, attention has {heads} and {sets}.")
    )
    words = where.format(
        heads=heads.format(heads=span(model.shape.heads)), sets=sets.format(kv=span(model.shape.kv_heads))
    )
    if has_window(model):
        back = translate("Loop", "Some layers look back {window} tokens at most.")
        if model.window_cells is not None:
            back = translate("Loop", "Attention looks back {window} tokens at most.")
        words += " " + back.format(window=count(model.window))
    return words


def has_window(model: LoopModel) -> bool:
    """Return whether layers look back a limited number of tokens only, and it is known how many."""
    return bool(model.window) and (model.memory_kind == "window" or model.window_cells is not None)


def layer_lines(model: LoopModel) -> tuple[str, ...]:
    """Return the lines in the box of the layers."""
    inner = translate("Loop", "feed-forward {inner}").format(inner=span(model.shape.feed_forward))
    if model.memory_kind == "recurrent":
        return (translate("Loop", "no attention"), inner)
    one, several = translate("Loop", "1 head, {kv} for KV"), translate("Loop", "{heads} heads, {kv} for KV")
    words = one if is_one(model.shape.heads) else several
    return (words.format(heads=span(model.shape.heads), kv=span(model.shape.kv_heads)), inner)


def kept_words(values: LoopValues) -> str:
    """Return how much of the memory for earlier tokens is taken; the model, or the cells, are known."""
    model, used = values.model, values.held
    if model is not None and model.memory_kind == "recurrent":
        words = translate("Loop", "One state that stays as large as it is, however many tokens are read.")
        return f"{words} {_size(values)}".rstrip()
    if used is None:
        words = translate("Loop", "There are {cells} cells; each token takes one.").format(cells=count(values.room))
    else:
        one, several = _taken(values)
        words = (one if used == 1 else several).format(used=count(used), cells=count(values.room))
        if values.is_last_read:
            words += " " + translate("Loop", "The last token has one, too: it was read already for the next one.")
    return " ".join(part for part in (words, _by_kind(values), _size(values)) if part)


def _taken(values: LoopValues) -> tuple[str, str]:
    """Return the words for the cells that are taken, one or several; for those of another moment with that moment."""
    if values.had is not None:
        return (
            translate("Loop", "1 of {cells} cells was taken at this token."),
            translate("Loop", "{used} of {cells} cells were taken at this token."),
        )
    if values.phase == "interrupted":
        return (
            translate("Loop", "At least 1 of {cells} cells was taken when it was cut off."),
            translate("Loop", "At least {used} of {cells} cells were taken when it was cut off."),
        )
    if values.end is not None:
        return (
            translate("Loop", "1 of {cells} cells was taken when it ended."),
            translate("Loop", "{used} of {cells} cells were taken when it ended."),
        )
    return (
        translate("Loop", "1 of {cells} cells is taken."),
        translate("Loop", "{used} of {cells} cells are taken."),
    )


def _is_past(values: LoopValues) -> bool:
    """Return whether the cells are those of another moment than now."""
    return values.had is not None or values.end is not None


def _by_kind(values: LoopValues) -> str:
    model, words = values.model, list[str]()
    if model is None:
        return ""
    if model.memory_kind == "hybrid":
        words.append(translate("Loop", "Only the layers with attention use them; the others have one state each."))
    if has_window(model) and model.window_cells is not None:
        words.append(_dropped(values, model.window))
    elif has_window(model):
        some = translate("Loop", "Some layers keep the last {window} tokens alone.")
        words.append(some.format(window=count(model.window)))
    elif model.bytes_per_token is not None:
        words.append(translate("Loop", "Each token adds {size}.").format(size=byte_size(model.bytes_per_token)))
    return " ".join(words)


def _dropped(values: LoopValues, window: int) -> str:
    """Return what is in no cell any more, where every layer that keeps tokens has a window."""
    read = values.cells_used or 0
    dropped = read - (values.held or 0)
    words = translate("Loop", "Every layer that keeps tokens looks back {window} of them at most.")
    if dropped == 1:
        words = translate(
            "Loop",
            "Every layer that keeps tokens looks back {window} of them at most: of {read} tokens the oldest was dropped.",
        )
    elif dropped:
        words = translate(
            "Loop",
            "Every layer that keeps tokens looks back {window} of them at most: of {read} tokens the oldest {dropped} were "
            "dropped.",
        )
    return words.format(window=count(window), read=count(read), dropped=count(dropped))


def _size(values: LoopValues) -> str:
    """Return how large what is kept is; empty where nobody knows."""
    if values.cache_bytes is None:
        return ""
    is_even = values.model is not None and values.model.bytes_per_token is not None
    together, all_of_it = (
        translate("Loop", "Together they are {size}."),
        translate("Loop", "What is kept takes {size}."),
    )
    if _is_past(values):
        together = translate("Loop", "Together they were {size}.")
        all_of_it = translate("Loop", "What was kept took {size}.")
    return (together if is_even else all_of_it).format(size=byte_size(values.cache_bytes))


def kept_figure(values: LoopValues, cells: int) -> str:
    """Return the figure in the box of the cache."""
    if values.model is not None and values.model.memory_kind == "recurrent":
        return translate("Loop", "one state")
    return translate("Loop", "{used} of {cells}").format(used=count(values.held), cells=count(cells))


def kept_lines(values: LoopValues) -> tuple[str, ...]:
    """Return the lines in the box of the cache."""
    model, lines = values.model, list[str]()
    if model is not None and model.memory_kind == "recurrent":
        lines.append(translate("Loop", "of a fixed size"))
    elif model is not None and model.memory_kind == "hybrid":
        lines.append(translate("Loop", "cells, and states"))
    elif model is not None and has_window(model):
        lines.append(translate("Loop", "window {window}").format(window=count(model.window)))
    else:
        per_token = model.bytes_per_token if model is not None else None
        lines.append(translate("Loop", "{size} a token").format(size=byte_size(per_token)))
    if values.cache_bytes is not None:
        words = translate("Loop", "{size} in use")
        if values.had is not None:
            words = translate("Loop", "{size} at this token")
        elif values.end is not None:
            words = translate("Loop", "{size} at the end")
        lines.append(words.format(size=byte_size(values.cache_bytes)))
    return tuple(lines)


def explained_by_kind(stage: StageName, model: LoopModel | None) -> str:
    """Return what a stage does where the memory of a model makes that another thing; empty where it does not."""
    kind = model.memory_kind if model is not None else "plain"
    if stage == "kv" and model is not None and model.window_cells is not None:
        return _explained_window(kind)
    if kind not in ("recurrent", "hybrid") or stage not in ("transformer", "kv"):
        return ""
    if stage == "transformer" and kind == "recurrent":
        return translate(
            "Loop",
            "The layers, one after another. In each, a running state takes up something of every token and hands it to the "
            "later ones, in place of attention; normalisation keeps the numbers in bounds, and the rest of the layer works on "
            "each token by itself.",
        )
    if stage == "transformer":
        return translate(
            "Loop",
            "The layers, one after another. In some, attention lets a token take something up from the tokens before it; in "
            "the others a running state hands that on. In all, normalisation keeps the numbers in bounds, and the rest works on "
            "each token by itself.",
        )
    if kind == "recurrent":
        return translate(
            "Loop",
            "This model keeps no keys and values of earlier tokens. All that it knows of them is one running state, which "
            "each token changes, so that nothing is computed twice. It is as large for a long chat as for a short one.",
        )
    return translate(
        "Loop",
        "The layers with attention keep keys and values of every earlier token in a cell for each; the others keep one "
        "running state, which each token changes. So nothing is computed twice. When all cells are taken, the context is "
        "full.",
    )


def _explained_window(kind: MemoryKind) -> str:
    """Return what is kept where every layer that keeps tokens looks back a limited number of them only."""
    words = translate(
        "Loop",
        "Attention needs the keys and values of the tokens that it looks back at. The latest tokens have a cell each, so that "
        "nothing is computed twice; older ones are dropped. The context is full when as many tokens were read as it was "
        "loaded for.",
    )
    if kind == "hybrid":
        words += " " + translate("Loop", "The layers without attention keep one running state each.")
    return words
