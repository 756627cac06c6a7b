"""What llama.cpp refuses whatever memory there is, as a sentence with the next step. Pure.

Source: `llama_init_from_model` (`src/llama-context.cpp`) of llama.cpp as of llama-cpp-python 0.3.36.
"""

from __future__ import annotations

from app.core.model import MOST_SEQUENCES
from app.core.words import Sentence, translate
from app.planner.buffer_formula import uses_flash
from app.planner.cache_formula import BLOCK
from app.planner.plan_options import PlanOptions
from app.planner.planned_model import PlannedModel


def refusal(model: PlannedModel, options: PlanOptions) -> Sentence | None:
    """Return why a context with these options cannot be made; None where nothing speaks against it."""
    if options.sequences > MOST_SEQUENCES:
        return translate(
            "Planner",
            "llama.cpp holds at most {most} conversations at once. Plan for fewer.",
            most=MOST_SEQUENCES,
        )
    if options.kv_type_v != "f16" and not uses_flash(model, options):
        if options.flash_attention:
            return translate(
                "Planner",
                "A quantised V cache needs flash attention, which llama.cpp does not have for this architecture. Keep V in f16.",
            )
        return translate(
            "Planner",
            "A quantised V cache needs flash attention. Turn flash attention on, or keep V in f16.",
        )
    if model.latent_width and options.kv_type_k != options.kv_type_v:
        return translate(
            "Planner",
            "This model keeps keys and values in one row, so both need the same type. Choose one type for K and V.",
        )
    if uses_flash(model, options) and _does_not_divide(model, options):
        return translate(
            "Planner",
            "The heads of this model do not divide into blocks of {block}, as a quantised cache needs. Keep K and V in f16.",
            block=BLOCK,
        )
    return None


def _does_not_divide(model: PlannedModel, options: PlanOptions) -> bool:
    quantised_keys, quantised_values = options.kv_type_k != "f16", options.kv_type_v != "f16"
    return any(
        (quantised_keys and layer.key_width % BLOCK) or (quantised_values and layer.value_width % BLOCK)
        for layer in model.cache
    )
