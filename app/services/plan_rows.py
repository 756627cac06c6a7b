"""Works out the rows of a comparison from what was chosen, as plain values; takes milliseconds a row, so a job does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from app.planner.comparison import Row, Usage, compare, parts_of, speed_by_context
from app.planner.decode_speed import Part
from app.planner.gpu import GB, TERA, Gpu, PrefillTime, Speed
from app.planner.needs import Meets, Need, judged
from app.planner.planned_model import PlannedModel
from app.planner.planning import plan_memory
from app.planner.quantised import quantised
from app.planner.roofline import Dot, roofline
from app.services import plan_words
from app.services.file_names import short_name
from app.services.held_up import caveats
from app.services.plan_together import TOGETHER, hooks_of
from app.services.plan_values import (
    AS_IT_IS,
    Band,
    Chosen,
    ComparedRow,
    ModelChoice,
    NeedVerdict,
    Reference,
    Roof,
    RoofDot,
    Wanted,
)
from app.services.planning_words import rests_on_both

MOST_ROWS = 200
"""More are no comparison any more, and would keep the machine busy."""


class Grounds(msgspec.Struct, frozen=True):
    """What rows are worked out from."""

    chosen: Chosen
    models: Mapping[str, PlannedModel]
    """Those that were read, by path."""
    gpus: tuple[Gpu, ...]
    host: Gpu | None = None
    """The processor that takes the layers which do not fit."""
    reference: Gpu | None = None
    """What the roofs of others are seen against."""
    here: tuple[Gpu, ...] = ()
    """The GPUs of this machine that `TOGETHER` stands for."""
    names: Mapping[str, str] = {}
    """What models are called where others have their name, by path."""


class Worked(msgspec.Struct, frozen=True):
    """Rows in the order of the models and then of the GPUs, or by what is wanted where something is."""

    chosen: Chosen
    rows: tuple[ComparedRow, ...] = ()
    left_out: int = 0
    """Rows that are not worked out because there are too many."""
    reference: Reference | None = None
    """None where it is one of the GPUs that are compared."""


def work_out(grounds: Grounds) -> Worked:
    """Return the rows of a comparison."""
    chosen = grounds.chosen
    usage = Usage(chosen.context, chosen.users, chosen.prompt)
    rows: list[tuple[Row, ModelChoice]] = []
    left_out = 0
    for choice in chosen.models:
        model = model_of(choice, grounds.models)
        if model is None:
            continue
        room = max(0, MOST_ROWS - len(rows))
        gpus = grounds.gpus[:room]
        left_out += len(grounds.gpus) - len(gpus)
        for gpu in gpus:
            host = None if gpu.shares_main_memory and gpu.id != TOGETHER else grounds.host
            plan, parts = hooks_of(grounds.here, host) if gpu.id == TOGETHER else (plan_memory, None)
            rows += [(row, choice) for row in compare([model], [gpu], usage, host, plan, parts)]
    verdicts = _verdicts([row for row, _ in rows], usage, chosen.wanted)
    made = [_plain(row, choice, usage, grounds, verdicts.get(id(row))) for row, choice in rows]
    if verdicts:
        made.sort(key=lambda row: row.need.rank if row.need is not None else 0)
    return Worked(chosen, tuple(made), left_out, _reference(grounds))


def _reference(grounds: Grounds) -> Reference | None:
    gpu = grounds.reference
    if gpu is None or gpu in grounds.gpus or not gpu.tflops:
        return None
    return Reference(gpu.name, Roof(gpu.bandwidth, gpu.tflops, gpu.tflops * TERA / (gpu.bandwidth * GB), None, None))


def model_of(choice: ModelChoice, models: Mapping[str, PlannedModel]) -> PlannedModel | None:
    """Return a model as it is chosen; None where it was not read, or cannot be estimated."""
    model = models.get(choice.path)
    if model is None or choice.quantisation == AS_IT_IS:
        return model
    return quantised(model, choice.quantisation)


def _verdicts(rows: Sequence[Row], usage: Usage, wanted: Wanted) -> dict[int, NeedVerdict]:
    """Return what becomes of each row by the identity of it; empty where nothing is wanted."""
    if wanted.is_nothing:
        return {}
    need = Need(usage, wanted.first_token_s, wanted.tokens_per_s, wanted.may_split)
    found = sorted((_with_training(each, usage) for each in judged(rows, need)), key=lambda each: not each.meets)
    return {
        id(each.row): NeedVerdict(each.meets, rank, plan_words.need_words(each), each.is_close, not wanted.has_pace)
        for rank, each in enumerate(found)
    }


def _with_training(found: Meets, usage: Usage) -> Meets:
    """Return that a model fails whose training ends before the context that is wanted, however much memory there is."""
    trained = found.row.model.trained_context
    comes_first = found.shortfall in ("memory", "context") or found.row.verdict == "unknown"
    if comes_first or trained is None or trained >= usage.context:
        return found
    return Meets(found.row, "context", usage.context, trained)


def _plain(row: Row, choice: ModelChoice, usage: Usage, grounds: Grounds, need: NeedVerdict | None) -> ComparedRow:
    host, is_together = grounds.host, row.gpu.id == TOGETHER
    parts = hooks_of(grounds.here, host)[1] if is_together else parts_of
    own = parts(row.model, row.plan, row.gpu, host)
    beside = rests_on_both(own) if row.speed is not None else None
    doubts = caveats(own, reads=row.first_token is not None) if row.speed is not None else ()
    line = speed_by_context(row, usage, host, parts_by=parts) if row.speed is not None else None
    roof = _roof(row, usage, own)
    return ComparedRow(
        model=grounds.names.get(choice.path) or row.model.name or short_name(Path(choice.path)),
        quantisation=choice.quantisation or row.model.quantisation or "",
        is_estimate=choice.quantisation != AS_IT_IS,
        gpu=row.gpu.name,
        gpu_memory=row.gpu.memory,
        verdict=row.verdict,
        needed=row.needed,
        usable=row.gpu.usable,
        largest_context=row.largest_context,
        most_users=row.most_users,
        first_token=_time(row.first_token),
        first_token_together=_time(row.first_token_together),
        each=_speed(row.speed),
        together=_speed(row.speed, row.speed.sequences) if row.speed is not None else None,
        ceiling=row.speed.ceiling if row.speed is not None else None,
        limited_by=row.limited_by,
        line=tuple((context, band) for context, speed in (line.points if line else ()) if (band := _speed(speed))),
        fits_up_to=line.fits_up_to if line is not None else None,
        roof=roof,
        need=need,
        context=row.context,
        trained_context=row.model.trained_context,
        how_sure=(*plan_words.how_sure(row.gpu, beside), *doubts) if row.speed is not None else (),
        caveats=doubts,
        beside=beside,
        why_no_memory=plan_words.why_no_memory(row),
        why_no_speed=plan_words.why_no_speed(row),
        why_no_first_token=plan_words.why_no_first_token(row, usage.prompt),
        why_no_roof=plan_words.why_no_roof(row) if roof is None else None,
        path=choice.path,
        gpu_id=row.gpu.id,
    )


def _roof(row: Row, usage: Usage, parts: Sequence[Part]) -> Roof | None:
    if row.speed is None:
        return None
    found = roofline(parts, row.context, usage.prompt, max(1, usage.users), row.plan.options.micro_batch)
    if found is None:
        return None
    return Roof(found.bandwidth, found.peak_tflops, found.ridge, _dot(found.prefill), _dot(found.decode))


def _dot(dot: Dot | None) -> RoofDot | None:
    return RoofDot(dot.intensity, dot.tflops) if dot is not None else None


def _speed(speed: Speed | None, times: int = 1) -> Band | None:
    if speed is None:
        return None
    return Band(speed.tokens_per_s * times, speed.low * times, speed.high * times)


def _time(time: PrefillTime | None) -> Band | None:
    return Band(time.seconds, time.low, time.high, time.is_most) if time is not None else None
