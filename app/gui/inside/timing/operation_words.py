"""What the table of operations says: each kind in plain words, what its share means, and what the pass was."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.core.operations import OperationsTimed, OperationTime
from app.services.units import UNKNOWN, count

translate = QCoreApplication.translate


def kind_words(each: OperationTime) -> str:
    """Return what a kind of operation is called."""
    match each.kind:
        case "weights":
            return _weight_words(each)
        case "attention":
            return translate("Operations", "Attention: scores, softmax, weighted sum")
        case "norm":
            return translate("Operations", "Normalisation")
        case "feed_forward":
            return translate("Operations", "Feed-forward: what lies between its matrix products")
        case "rest":
            return translate("Operations", "The rest: positions, sums, copies")


def _weight_words(each: OperationTime) -> str:
    match each.place:
        case "attention":
            words = translate("Operations", "Matrix products, {weight} weights: around attention")
        case "feed_forward":
            words = translate("Operations", "Matrix products, {weight} weights: feed-forward")
        case "output":
            words = translate("Operations", "Matrix product, {weight} weights: logits")
        case _:
            words = translate("Operations", "Matrix products, {weight} weights")
    return words.format(weight=each.weight)


def share_words(share: float | None) -> str:
    """Return a share in per cent; a dash where there is none."""
    if share is None:
        return UNKNOWN
    if 0 < share < 0.001:
        return translate("Operations", "< 0.1 %")
    return translate("Operations", "{share} %").format(share=f"{share * 100:.1f}")


def shares(times: tuple[OperationTime, ...]) -> dict[tuple[str, str, str], float]:
    """Return what share each kind has of all, by kind, weight and place; together they are 1."""
    total = sum(each.ns for each in times)
    return {key_of(each): each.ns / total for each in times} if total > 0 else {}


def key_of(each: OperationTime) -> tuple[str, str, str]:
    """Return what tells a kind from others."""
    return each.kind, each.weight, each.place


def bar_words(title: str, times: tuple[OperationTime, ...]) -> str:
    """Return a stacked bar in words, for those who cannot see it."""
    found = shares(times)
    parts = ", ".join(f"{kind_words(each)} {share_words(found[key_of(each)])}" for each in times if found)
    return f"{title}: {parts}"


def note_words(found: OperationsTimed) -> str:
    """Return how the figures came about, and what of them is true."""
    said = translate(
        "Operations",
        "Only the shares are true: watching has every operation computed apart, which makes all of it slower.",
    )
    if found.slowdown is not None and found.slowdown >= 1.05:
        said = translate(
            "Operations",
            "Only the shares are true: watching has every operation computed apart, and a step took {times:.1f} times as "
            "long.",
        ).format(times=found.slowdown)
    more = translate(
        "Operations", "The step came behind {cells} tokens; attention was computed without flash attention."
    ).format(cells=count(found.cells - 1))
    what = translate("Operations", "Both read the prompt with the answer behind it.")
    return f"{said} {what} {more}"


def tensor_core_words(found: OperationsTimed, name: str) -> str:
    """Return what Tensor Cores of a GPU would do."""
    prefill = sum(share for (kind, _weight, _place), share in shares(found.prefill).items() if kind == "weights")
    return translate(
        "Operations",
        "{name} has Tensor Cores: in a prefill they can compute the matrix products, {share} of the prefill above. In a "
        "decode step each matrix meets a single token: memory is what that waits for, and they help little.",
    ).format(name=name, share=share_words(prefill))
