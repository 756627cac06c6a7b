"""Bytes of the buffers for computing, and of the rows of logits. Pure.

llama.cpp builds the graph of the largest batch and keeps what is alive in it at its widest place. Which tensors those are was
read off its dry runs (llama-cpp-python 0.3.36) of twenty models at many contexts and batches; coefficients are theirs, and
numbers are f32 (4 bytes) but for the attention mask. Widest place, for each token of the batch:

- the feed-forward network: what goes in, the gate's, the product, and three or four rows as wide as the embedding;
- of a mixture the same of the experts used, and what comes out of them where that is wider than two thirds of it;
- without flash attention the scores of one layer: heads x cells;
- the recurrent layer, with copies of its states;
- beside them the mask: one number a cell, of 2 bytes with flash attention, of 4 without.
"""

from __future__ import annotations

from typing import NamedTuple

from app.core.lane_memory import PLAIN_SEQUENCES, ROW_BYTES
from app.planner.cache_formula import cells_of
from app.planner.plan_options import PlanOptions
from app.planner.planned_model import PlannedModel

FLOAT = 4
MASK_BYTES, PLAIN_MASK_BYTES = 2, 4
SOFT_GEMMA = frozenset({"gemma2", "gemma3", "gemma3n", "gemma4"})
"""They norm what attention gives before it is added: its row is alive longer."""
GATED_QUERIES = frozenset({"qwen3next", "qwen35", "qwen35moe"})
"""Their queries carry a gate that is as wide as themselves."""
PARALLEL = frozenset({"cohere2", "cohere2moe", "command-r", "falcon", "phi2"})
"""Attention and network work beside each other: what the one gives waits for the other."""
DECI_ROWS = 3
"""Further rows where layers leave out attention or network."""
ALTUP_ROWS = 5
"""Further rows of Gemma 3n, which carries four versions of each token."""


class Buffers(NamedTuple):
    """Buffers of one configuration, in bytes."""

    device: int
    """On each device that computes layers."""
    host: int
    """In main memory where a GPU computes all layers: what goes into the first one."""
    inputs: int
    """What goes into the first layer, a part of `host`; the rest are masks."""
    output: int
    """Rows of logits, in main memory."""


def loaded_sequences(model: PlannedModel, options: PlanOptions) -> int:
    """Return with how many sequences a context is made: a cache without windows and states has some for comparisons."""
    is_plain = model.kind in ("dense", "latent") and options.unified
    return max(1, options.sequences, PLAIN_SEQUENCES if is_plain else 1)


def buffers(model: PlannedModel, options: PlanOptions, sequences: int | None = None) -> Buffers | None:
    """Return the buffers for computing; None where a size is unknown. `sequences` None are those of a load."""
    embedding, vocabulary = model.embedding, model.vocabulary
    if model.kind == "unknown" or embedding is None or vocabulary is None:
        return None
    rows = loaded_sequences(model, options) if sequences is None else max(1, sequences)
    tokens = -(-min(max(1, options.micro_batch), options.cells) // rows) * rows
    masks = _masks(model, options, tokens)
    widest = max(_network(model, options, embedding), _attention(model, options, embedding)) * tokens * FLOAT
    device = max(
        widest + masks,
        _recurrence(model, tokens, rows) + masks,
        (vocabulary + 2 * embedding) * rows * FLOAT,
    )
    inputs = embedding * tokens * FLOAT
    return Buffers(round(device), masks + inputs, inputs, vocabulary * rows * ROW_BYTES)


def _masks(model: PlannedModel, options: PlanOptions, tokens: int) -> int:
    """Return the bytes of the masks: of all cells, and of those of the window."""
    if not any(layer.attends for layer in model.cache):
        return 0
    cells = cells_of(model, options)
    has_full = any(layer.attends and not layer.is_window for layer in model.cache)
    seen = (cells.full if has_full or model.window else 0) + (cells.window if model.window else 0)
    return seen * tokens * (MASK_BYTES if uses_flash(model, options) else PLAIN_MASK_BYTES)


def uses_flash(model: PlannedModel, options: PlanOptions) -> bool:
    """Whether flash attention computes it: llama.cpp refuses it to Grok."""
    return options.flash_attention and model.architecture != "grok"


def _network(model: PlannedModel, options: PlanOptions, embedding: int) -> float:
    """Return the numbers of one token at the widest place of the feed-forward network."""
    widths = model.widths
    mixed = float(widths.experts)
    if widths.expert_rows > widths.experts * 2 / 3:
        mixed += widths.expert_rows + embedding / 2
    shared = widths.shared + embedding if widths.shared else 0
    return max(widths.network, mixed, shared) + _around(model, options, embedding)


def _around(model: PlannedModel, options: PlanOptions, embedding: int) -> float:
    """Return what is alive beside the network: rows of the embedding, and of the queries in whose place some of them lie."""
    queries, packed = model.widths.queries, "f16" not in (options.kv_type_k, options.kv_type_v)
    if model.architecture in SOFT_GEMMA:
        rows = 4 if packed and queries < embedding else 3
        kept = queries * (1 if uses_flash(model, options) else 2)
        return rows * embedding + kept + _altup(model, ALTUP_ROWS, embedding)
    if model.architecture == "deci":
        return (4 + DECI_ROWS) * embedding
    if model.state.width > 0 or model.widths.is_fused:
        return 3 * embedding
    rows = 4 + (model.architecture in PARALLEL)
    if packed and queries == embedding and not model.widths.experts:
        return (rows - 0.5) * embedding
    slots = min(queries // embedding, rows) if embedding else 0
    return (rows - slots) * embedding + (queries if slots else 0)


def _attention(model: PlannedModel, options: PlanOptions, embedding: int) -> float:
    """Return the numbers of one token while attention is computed."""
    widths = model.widths
    if uses_flash(model, options):
        return 4.0 * (embedding + widths.queries) if model.latent_width else 0.0
    cells = cells_of(model, options)
    seen = cells.full if any(layer.attends and not layer.is_window for layer in model.cache) else cells.window
    scores = (model.heads or 0) * seen if widths.queries else 0
    if model.latent_width:
        return scores + embedding + 3.0 * widths.queries
    queries = 3 if model.architecture in SOFT_GEMMA | GATED_QUERIES else 2
    rows = 7 if model.architecture == "deci" else 3
    around = rows * embedding + _altup(model, ALTUP_ROWS - 3, embedding)
    return scores + around + queries * widths.queries + 2 * widths.kv


def _altup(model: PlannedModel, rows: int, embedding: int) -> int:
    """Return what Gemma 3n carries beside: other versions of a token, and the embeddings of all its layers."""
    if model.architecture != "gemma3n":
        return 0
    return rows * embedding + ((model.layers or 0) + 3) * model.per_layer_width


def _recurrence(model: PlannedModel, tokens: int, sequences: int) -> float:
    """Return the bytes while a recurrent layer is computed."""
    state = model.state
    return FLOAT * (state.width * tokens + state.copies * sequences * (state.shift + state.memory))
