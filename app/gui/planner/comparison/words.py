"""What the comparison says: groups of GPUs, cells of the table, and the answer in one sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from app.core.store_events import UseMeasured
from app.gui.widgets.words import render
from app.services.plan_export import PREDICTED, besides_of, wanted_words
from app.services.plan_rows import Worked
from app.services.plan_values import Band, ComparedRow, GpuGroup, OfferedModel
from app.services.plan_words import LIMIT_HINTS, LIMITS, VERDICT_HINTS, VERDICTS
from app.services.units import UNKNOWN, byte_size, count, rate

translate = QCoreApplication.translate
_NOTHING_TOLD = re.compile(r"\((?:r|tm)\)| (?:cpu|processor)\b| @ [\d.]+ ?ghz", re.IGNORECASE)
MAKERS = ("NVIDIA GeForce ", "NVIDIA ", "AMD ")


def group_name(group: GpuGroup) -> str:
    """Return what GPUs of a kind are called."""
    names: dict[GpuGroup, str] = {
        "here": translate("PlanComparison", "This machine"),
        "own": translate("PlanComparison", "Added by you"),
        "geforce": translate("PlanComparison", "GeForce RTX"),
        "radeon": translate("PlanComparison", "Radeon"),
        "workstation": translate("PlanComparison", "Workstation"),
        "data_centre": translate("PlanComparison", "Data centre"),
        "apple": translate("PlanComparison", "Apple"),
        "other": translate("PlanComparison", "Others"),
    }
    return names[group]


def file_words(model: OfferedModel) -> str:
    """Return a model file as it is in the list."""
    if model.file_bytes is None:
        return model.quantisation or translate("PlanComparison", "this file")
    return f"{model.quantisation or '?'} · {byte_size(model.file_bytes)}"


def short_gpu(name: str) -> str:
    """Return a device's name without what says nothing beside others: the maker of a GPU, and marks of ownership."""
    name = _NOTHING_TOLD.sub("", name)
    return " + ".join(_without_maker(part) for part in name.split(" + "))


def _without_maker(name: str) -> str:
    """Return one name without its maker; before it may stand how many there are."""
    number, times, own = name.rpartition(" × ")
    maker = next((each for each in MAKERS if own.startswith(each)), "")
    return " ".join(f"{number}{times}{own.removeprefix(maker)}".split())


def gpu_words(name: str, memory: int) -> str:
    """Return a GPU as lists have it: with its memory as it is sold."""
    return f"{short_gpu(name)} · {byte_size(memory)}"


def seconds(value: float) -> str:
    """Return a time to the first token."""
    if value < 1:
        return translate("PlanComparison", "{ms} ms").format(ms=max(1, round(value * 1000)))
    return translate("PlanComparison", "{seconds} s").format(seconds=rate(value))


def band_of(band: Band, is_time: bool = False) -> str:
    """Return between which two figures one should lie."""
    if is_time:
        low, high = (max(1, round(end * 1000)) for end in (band.low, band.high))
        if low == high and band.high < 1:
            return seconds(band.high)
        if band.high < 1:
            return translate("PlanComparison", "{low}–{high} ms").format(low=low, high=high)
        return translate("PlanComparison", "{low}–{high} s").format(low=rate(band.low), high=rate(band.high))
    return f"{rate(band.low)}–{rate(band.high)}"


def verdict_words(row: ComparedRow) -> str:
    """Return whether it fits, in a word or two."""
    return render(VERDICTS[row.verdict])


def verdict_hint(row: ComparedRow) -> str:
    """Return whether it fits, with the figures."""
    if row.why_no_memory is not None:
        return render(row.why_no_memory)
    room = translate("PlanComparison", "Needs {needed}; {gpu} has {usable}.")
    figures = room.format(needed=byte_size(row.needed), gpu=row.gpu, usable=byte_size(row.usable))
    said = f"{render(VERDICT_HINTS[row.verdict])} {figures}"
    if row.verdict == "too_large" and row.largest_context and row.most_users:
        fewer = translate(
            "PlanComparison",
            "There is room for {users} conversations at once, or for a context of {context} tokens each.",
        )
        return f"{said} {fewer.format(users=count(row.most_users), context=count(row.largest_context))}"
    if row.verdict != "less_context":
        return said
    less = translate("PlanComparison", "All figures of this row are for a context of {context} tokens.")
    return f"{said} {less.format(context=count(row.context))}"


def context_hint(row: ComparedRow) -> str:
    """Return what the largest context is bounded by."""
    if row.largest_context is not None and row.largest_context == row.trained_context:
        return translate("PlanComparison", "As long as the model was trained for; the memory would hold it.")
    return "" if row.largest_context is None else translate("PlanComparison", "As long as the memory holds.")


def limit_words(row: ComparedRow) -> str:
    """Return what limits it."""
    return UNKNOWN if row.limited_by is None else render(LIMITS[row.limited_by])


def limit_hint(row: ComparedRow) -> str:
    """Return what that means."""
    if row.limited_by is not None:
        return render(LIMIT_HINTS[row.limited_by])
    return "" if row.why_no_speed is None else render(row.why_no_speed)


def answer(worked: Worked) -> str:
    """Return what comes of the comparison in one sentence."""
    rows = worked.rows
    if any(row.need is not None for row in rows):
        return _need_answer(rows)
    fitting = [row for row in rows if row.verdict == "fits"]
    known = [row for row in fitting if row.each is not None]
    if not known:
        none = translate("PlanComparison", "{fits} of {all} fit as they are.")
        if len(fitting) == 1:
            none = translate("PlanComparison", "1 of {all} fits as it is.")
        return none.format(fits=count(len(fitting)), all=count(len(rows)))
    best = max(known, key=lambda row: row.each.value if row.each is not None else 0.0)
    said = translate(
        "PlanComparison",
        "{fits} of {all} fit. The fastest is {model} on {gpu}: about {rate} tok/s each ({band}) with the context full.",
    )
    if len(fitting) == 1:
        said = translate(
            "PlanComparison",
            "1 of {all} fits: {model} on {gpu}, about {rate} tok/s each ({band}) with the context full.",
        )
    band = best.each or Band(0, 0, 0)
    return said.format(
        fits=count(len(fitting)),
        all=count(len(rows)),
        model=best.shown_model,
        gpu=short_gpu(best.gpu),
        rate=rate(band.value),
        band=band_of(band),
    )


def _need_answer(rows: Sequence[ComparedRow]) -> str:
    meeting = [row for row in rows if row.need is not None and row.need.meets]
    first = min(rows, key=lambda row: row.need.rank if row.need is not None else len(rows))
    if len(meeting) == 1:
        words = translate("PlanComparison", "1 of {all} meets what you need: {model} on {gpu}{but}.")
    elif meeting:
        words = translate(
            "PlanComparison", "{meets} of {all} meet what you need. On the smallest GPU: {model} on {gpu}{but}."
        )
    else:
        words = translate("PlanComparison", "None of {all} meets what you need. Nearest is {model} on {gpu}: {why}.")
    close = first.need is not None and first.need.is_close
    return words.format(
        but=translate("PlanComparison", ", but only just: the slow end of its band misses it") if close else "",
        meets=count(len(meeting)),
        all=count(len(rows)),
        model=first.shown_model,
        gpu=short_gpu(first.gpu),
        why=render(first.need.words) if first.need is not None else "",
    )


def has_need(row: ComparedRow) -> bool:
    """Return whether a row says in a line of its own what becomes of what is wanted."""
    return row.need is not None and not (row.need.is_of_room and row.need.meets)


def need_line(row: ComparedRow) -> str:
    """Return what becomes of what is wanted in a line; empty where whether it fits says it already, or nothing is wanted."""
    need = row.need
    if need is None or not has_need(row):
        return ""
    if not need.meets:
        return translate("PlanComparison", "✕ misses what you need: {why}").format(why=render(need.words))
    if need.is_close:
        return translate("PlanComparison", "✓ meets what you need, but only just: the slow end of its band misses it")
    return translate("PlanComparison", "✓ meets what you need")


def missing_line(rows: Sequence[ComparedRow]) -> str:
    """Return why a time to the first token is not known of rows that run; empty where it is of all."""
    reasons = [row.why_no_first_token for row in rows if row.each is not None and row.why_no_first_token is not None]
    said = " ".join(dict.fromkeys(map(render, reasons)))
    return translate("PlanComparison", "First token “–”: {reasons}").format(reasons=said) if said else ""


def drawn_line(drawn: int, known: int, roofs: int, *, is_selected: bool) -> str:
    """Return which rows the charts draw, and how to have others drawn; fewer of them may be in the roofline."""
    line = _drawn_words(drawn, known, is_selected=is_selected)
    if roofs < drawn:
        line += " " + translate("PlanComparison", "The roofline shows the first one of each GPU.")
    return line


def roofless_line(rows: Sequence[tuple[str, ComparedRow]]) -> str:
    """Return which of the rows that are drawn, each with its letter, the roofline lacks, and why; empty for none."""
    said = [f"{letter}: {render(row.why_no_roof)}" for letter, row in rows if row.why_no_roof is not None]
    if not said:
        return ""
    return translate("PlanComparison", "Not in the roofline. {rows}").format(rows=" ".join(said))


def _drawn_words(drawn: int, known: int, *, is_selected: bool) -> str:
    if is_selected:
        return translate("PlanComparison", "Drawn below: the rows that are selected.")
    if known > drawn:
        words = translate(
            "PlanComparison",
            "Drawn below: {count} of {all} rows, those with letters. Select others to draw them instead.",
        )
        return words.format(count=count(drawn), all=count(known))
    return translate("PlanComparison", "Drawn below: the rows with letters. Select some to draw them alone.")


def use_line(use: UseMeasured | None) -> str:
    """Return what people's chats use."""
    if use is None or use.context is None or use.answer is None:
        return translate("PlanComparison", "Once you have chatted, what your chats use is shown here.")
    words = translate(
        "PlanComparison",
        "Your chats: context up to {longest} tokens, 95 of 100 up to {usual}; answers up to {answer}, 95 of 100 up to "
        "{usual_answer}.",
    )
    return words.format(
        longest=count(use.context.longest),
        usual=count(use.context.usual),
        answer=count(use.answer.longest),
        usual_answer=count(use.answer.usual),
    )


def of_picture(worked: Worked, basis: str) -> str:
    """Return what stands under the answer in a picture, which stands alone: what is wanted, and how to read it."""
    wanted, besides = wanted_words(worked.chosen.wanted), besides_of(worked)
    return " ".join([*map(render, wanted), basis, *map(render, besides), render(PREDICTED)])
