"""Whether a load fits as its options are chosen now: by formula until llama.cpp has said, and then by that."""

from __future__ import annotations

from app.core.model import ALL_LAYERS, LoadOptions
from app.core.words import translate
from app.services.fit_verdict import Fit, is_little
from app.services.load_options import DeviceNeed, LoadOptionsDraft
from app.services.load_plan import LoadFormula, LoadLever
from app.services.units import byte_size, count


def formula_of(draft: LoadOptionsDraft) -> LoadFormula | None:
    """Return what the options take by formula; None while that is worked out, or where nobody chooses."""
    return draft.plan.get(str(draft.path), draft.options) if draft.path is not None else None


def fit_of_draft(draft: LoadOptionsDraft) -> Fit | None:
    """Return the verdict; None while nothing is known."""
    if draft.problem is not None:
        return Fit("unknown", draft.problem)
    if not draft.is_current or draft.measured is None:
        formula = formula_of(draft)
        return formula.fit if formula is not None else None
    return _asked(draft)


def needs_by_formula(draft: LoadOptionsDraft) -> tuple[DeviceNeed, ...]:
    """Return what the options take of each device by formula, as long as llama.cpp has not said; empty afterwards."""
    formula = formula_of(draft)
    if formula is None or (draft.is_current and draft.measured is not None):
        return ()
    return tuple(DeviceNeed(each.use.device, each.use, each.free) for each in formula.uses)


def levers_of_draft(draft: LoadOptionsDraft) -> tuple[LoadLever, ...]:
    """Return the changes that would help, where something lacks; a context that llama.cpp named is none of them."""
    formula, fit = formula_of(draft), fit_of_draft(draft)
    if formula is None or fit is None or fit.verdict in ("fits", "unknown"):
        return ()
    is_found = draft.is_current and draft.largest_context is not None
    return tuple(lever for lever in formula.levers if not (is_found and "context" in lever.changes))


def _asked(draft: LoadOptionsDraft) -> Fit:
    lack, measured = draft.lack, draft.measured
    if lack is not None:
        return Fit(
            "less_context" if lack.by_cache else "too_large",
            translate(
                "LoadFit",
                "It needs {needed}, and {free} are free.",
                needed=byte_size(lack.told),
                free=byte_size(lack.free),
            ),
        )
    if measured is None or any(need.fits is None for need in draft.needs):
        return Fit("unknown", translate("LoadFit", "This build does not tell all of the memory that it takes."))
    if draft.has_gpu and _is_partial(measured.options, measured.layers):
        return Fit("partly", translate("LoadFit", "A part of the model is in main memory: it is slower."))
    trained = draft.file.trained_context if draft.file is not None else None
    if draft.options.may_shorten_context and measured.context < draft.options.cells(trained):
        return Fit(
            "less_context",
            translate("LoadFit", "Its context is shortened to {tokens} tokens.", tokens=count(measured.context)),
        )
    spare = min(((need.free or 0) - (need.use.total or 0) for need in draft.needs), default=0)
    if any(_is_tight(need) for need in draft.needs):
        words = translate(
            "LoadFit", "{spare} are left free: that is tight, so close what you do not need.", spare=byte_size(spare)
        )
        return Fit("fits", words, "tight")
    return Fit("fits", translate("LoadFit", "{spare} are left free.", spare=byte_size(spare)))


def _is_tight(need: DeviceNeed) -> bool:
    return (
        bool(need.use.total) and need.room is not None and need.total is not None and is_little(need.room, need.total)
    )


def _is_partial(options: LoadOptions, layers: int) -> bool:
    on_gpu = options.gpu_layers
    return options.experts_on_cpu != 0 or (on_gpu is not None and on_gpu != ALL_LAYERS and on_gpu <= layers)
