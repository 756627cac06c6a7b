"""Between a plan and a load: what is chosen of a model as it is loaded, and what a load is asked for as it is planned. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from app.core.model import CONTEXT_STEP, LoadOptions, ModelInfo
from app.planner.plan_options import PlanOptions
from app.services.planning_values import PlanChoice


def as_loaded(choice: PlanChoice, loaded: ModelInfo, asked: LoadOptions) -> PlanChoice:
    """Return the choice of a model as it is loaded; what was left to the load to choose is left to the plan."""
    options = loaded.options
    is_automatic = asked.gpu_layers is None
    return replace(
        choice,
        context=loaded.context,
        kv_type=options.kv_type_k,
        kv_type_v=options.kv_type_v if options.kv_type_v != options.kv_type_k else None,
        gpu_layers=None if is_automatic else options.gpu_layers,
        experts_on_cpu=asked.experts_on_cpu if is_automatic else options.experts_on_cpu,
        micro_batch=options.micro_batch,
        flash_attention=options.flash_attention != "off",
    )


def is_loaded_so(choice: PlanChoice, layers: int | None, loaded: ModelInfo, asked: LoadOptions) -> bool:
    """Return whether a model is loaded as it is chosen, so that another load would change nothing.

    `layers` are those on the GPU as they are planned now, `asked` the options that the load was asked for.
    """
    cells = choice.context * choice.sequences
    is_as_long = _steps(cells) == _steps(loaded.context)
    planned = replace(choice, sequences=1, context=loaded.context if is_as_long else cells)
    return layers in (None, loaded.gpu_layers) and as_loaded(planned, loaded, asked) == planned


def _steps(cells: int) -> int:
    """Return how many steps of cells llama.cpp gives a context."""
    return -(-cells // CONTEXT_STEP)


def load_changes(planned: PlanOptions, loaded: LoadOptions) -> dict[str, object]:
    """Return what a load is asked for, so that it is the one that is planned; `loaded` is how the model is loaded now."""
    is_same_way = planned.flash_attention == (loaded.flash_attention != "off")
    return {
        "context": planned.context,
        "gpu_layers": planned.gpu_layers,
        "experts_on_cpu": planned.experts_on_cpu,
        "kv_type_k": planned.kv_type_k,
        "kv_type_v": planned.kv_type_v,
        "micro_batch": planned.micro_batch,
        "flash_attention": loaded.flash_attention if is_same_way else "auto" if planned.flash_attention else "off",
        "may_shorten_context": False,
    }
