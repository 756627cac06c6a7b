"""The changes that the program can make after a diagnosis: what they change, and the words of their buttons."""

from __future__ import annotations

from app.core.circumstances import Circumstances
from app.core.diagnosis import Remedy
from app.core.model import CONTEXT_STEP, LoadOptions
from app.core.words import translate

LARGE_MICRO_BATCH = 2048
TOP_K = 40
"""llama.cpp's own default."""


def gpu_layers_remedy() -> Remedy:
    """Return: as many layers on the GPU as fit."""
    return Remedy("load_options", translate("Diagnosis", "Put more layers on the GPU…"), {"gpu_layers": None})


def threads_remedy() -> Remedy:
    """Return: as many threads as suit this machine."""
    return Remedy("load_options", translate("Diagnosis", "Use as many threads as cores…"), {"threads": None})


def micro_batch_remedy(circumstances: Circumstances, evaluated: int) -> Remedy | None:
    """Return: more tokens at once, which keeps a GPU busier; None where that changes nothing."""
    size = circumstances.micro_batch
    if size is None or not circumstances.gpu_layers or size >= LARGE_MICRO_BATCH or evaluated <= size:
        return None
    return Remedy(
        "load_options",
        translate("Diagnosis", "Read more tokens at once…"),
        {"micro_batch": LARGE_MICRO_BATCH, "batch": max(LARGE_MICRO_BATCH, LoadOptions().batch)},
    )


def kv_type_remedy() -> Remedy:
    """Return: keys and values in half the bytes."""
    return Remedy(
        "load_options",
        translate("Diagnosis", "Keep the KV cache in 8 bits…"),
        {"kv_type_k": "q8_0", "kv_type_v": "q8_0"},
    )


def larger_context_remedy(cells: int) -> Remedy:
    """Return: twice the cells."""
    return Remedy(
        "load_options", translate("Diagnosis", "Use a larger context…"), {"context": 2 * max(cells, CONTEXT_STEP)}
    )


def shorter_context_remedy(cells: int) -> Remedy | None:
    """Return: half the cells; None where there are hardly any."""
    half = cells // 2 // CONTEXT_STEP * CONTEXT_STEP
    if half < CONTEXT_STEP:
        return None
    return Remedy("load_options", translate("Diagnosis", "Use a shorter context…"), {"context": half})


def more_checkpoints_remedy(present: int | None) -> Remedy | None:
    """Return: more saved states to go back to; None where there are as many as usual."""
    usual = LoadOptions().checkpoints
    if present is None or present >= usual:
        return None
    return Remedy("load_options", translate("Diagnosis", "Save states to go back to…"), {"checkpoints": usual})


def lock_remedy() -> Remedy:
    """Return: hold the weights in main memory."""
    return Remedy("load_options", translate("Diagnosis", "Keep the model in memory…"), {"mlock": True})


def new_chat_remedy() -> Remedy:
    """Return: begin anew."""
    return Remedy("new_chat", translate("Diagnosis", "Begin a new chat"))


def model_remedy() -> Remedy:
    """Return: a smaller model, or the same one in fewer bits."""
    return Remedy("choose_model", translate("Diagnosis", "Choose a smaller model…"))


def top_k_remedy() -> Remedy:
    """Return: draw from the likeliest tokens alone."""
    return Remedy(
        "top_k", translate("Diagnosis", "Draw from the likeliest {count} tokens", count=TOP_K), {"top_k": TOP_K}
    )
