"""What a plan needs to know of a model: its weights by layer, and what each layer keeps of the past. Plain values.

Taken from the headers of its files alone, so that a model can be planned which is not here yet. What a header does not
say is None or `unknown_reason`, never a guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from app.core.gguf_cursor import shown_name
from app.core.gguf_header import Header
from app.core.gguf_tensors import Tensor
from app.core.gguf_verdict import MAX_LAYERS
from app.core.model_facts import model_facts
from app.core.words import Sentence, translate
from app.planner.architectures import BOTH_IN_EACH, BY_INTERVAL, BY_KV_HEADS, PLANNED
from app.planner.header_numbers import Numbers
from app.planner.layer_caches import is_latent, layer_caches, window_tokens
from app.planner.model_parts import LayerCache, PlannedWeights, RecurrentState, Widths
from app.planner.quantised_types import Shape, estimates
from app.planner.recurrent_states import recurrent_state
from app.planner.weights import active_parameters, experts_of, network_widths, weights_of

ModelKind = Literal["dense", "window", "latent", "recurrent", "hybrid", "unknown"]
"""Every layer keeps all tokens; some a window of them; one compressed row a token (MLA); a state of fixed size; both."""


class PlannedModel(msgspec.Struct, frozen=True):
    """A model as far as a plan is concerned; None is unknown."""

    name: str
    architecture: str
    kind: ModelKind
    quantisation: str | None = None
    layers: int | None = None
    """Blocks, without the output layer and without those that only predict further tokens."""
    trained_context: int | None = None
    embedding: int | None = None
    vocabulary: int | None = None
    heads: int | None = None
    """Most heads of attention of a layer."""
    feed_forward: int | None = None
    """Most numbers in the middle of the feed-forward network of a layer."""
    parameters: int | None = None
    active_parameters: int | None = None
    """Numbers that work on one token: of a mixture, the experts used."""
    file_bytes: int | None = None
    weights: PlannedWeights | None = None
    """None where a tensor is of a type whose size is not known."""
    cache: tuple[LayerCache, ...] = ()
    """One for each of `layers`; empty where unknown."""
    window: int = 0
    """Tokens of the sliding window; 0 for none."""
    latent_width: int = 0
    """Numbers of the compressed row of MLA; 0 for none."""
    state: RecurrentState = RecurrentState()
    widths: Widths = Widths()
    estimates: tuple[tuple[str, PlannedWeights], ...] = ()
    """The weights as they would be in other quantisations, by name; empty where nothing tells of each tensor."""
    per_layer_width: int = 0
    """Numbers of the embedding that each layer has of its own; 0 for none."""
    unknown_reason: Sentence | None = None
    """Why the cache cannot be worked out; None where it can."""

    @property
    def is_mixture(self) -> bool:
        """Whether only some experts work on each token."""
        return self.weights is not None and self.weights.experts > 1


def planned_model(headers: Sequence[Header], file_bytes: int | None = None) -> PlannedModel:
    """Return what the headers of all files of one model say of it, the first one first; never raises.

    `file_bytes` are those of all its files together, where they are known.
    """
    if not headers:
        return PlannedModel("", "", "unknown", unknown_reason=_no_header(), file_bytes=file_bytes)
    facts = model_facts(headers)
    architecture = facts.architecture or ""
    numbers = Numbers(headers[0], architecture)
    blocks, predicting = numbers.one("block_count"), numbers.one("nextn_predict_layers") or 0
    layers = None if blocks is None or not predicting < blocks <= MAX_LAYERS else blocks - predicting
    tensors = [tensor for header in headers for tensor in header.tensors]
    weights = weights_of(tensors, blocks or 0, experts_of(numbers)) if layers is not None else None
    model = PlannedModel(
        name=facts.name or "",
        architecture=architecture,
        kind="unknown",
        quantisation=facts.quantisation,
        layers=layers,
        trained_context=numbers.one("context_length"),
        embedding=numbers.one("embedding_length"),
        vocabulary=facts.tokenizer.vocabulary,
        heads=numbers.most("attention.head_count"),
        feed_forward=numbers.most("feed_forward_length"),
        parameters=facts.parameters or None,
        active_parameters=active_parameters(tensors, experts_of(numbers)) or None,
        file_bytes=file_bytes,
        weights=weights,
        estimates=() if weights is None else estimates(tensors, _shape(numbers, architecture, blocks or 0)),
        widths=_networks(tensors, numbers),
        per_layer_width=numbers.one("embedding_length_per_layer_input") or 0,
    )
    return _with_cache(model, numbers, predicting)


def _shape(numbers: Numbers, architecture: str, blocks: int) -> Shape:
    heads, keys = numbers.most("attention.head_count") or 0, numbers.most("attention.head_count_kv") or 0
    return Shape(architecture, blocks, experts_of(numbers), heads // keys if keys else 1)


def _networks(tensors: Sequence[Tensor], numbers: Numbers) -> Widths:
    experts = experts_of(numbers)
    networks = network_widths(tensors, experts)
    rows = experts.used * (numbers.one("embedding_length") or 0) if networks.experts else 0
    return Widths(networks.dense, networks.experts, rows, shared=networks.shared, is_fused=networks.is_fused)


def _with_cache(model: PlannedModel, numbers: Numbers, predicting: int) -> PlannedModel:
    """Return the model with what its layers keep, or with the reason why that is unknown."""
    architecture, layers, embedding = model.architecture, model.layers, model.embedding
    if architecture not in PLANNED:
        return replace(model, unknown_reason=_unplanned(architecture))
    if layers is None or embedding is None:
        return replace(model, unknown_reason=_incomplete())
    is_hybrid = architecture in BY_KV_HEADS or architecture in BOTH_IN_EACH or architecture in BY_INTERVAL
    if is_hybrid and predicting and architecture not in BY_INTERVAL:
        return replace(model, unknown_reason=_unplanned(architecture))
    cache = layer_caches(numbers, architecture, layers, layers + predicting)
    recurs = any(layer.is_recurrent for layer in cache or ())
    state = recurrent_state(numbers, architecture, embedding) if recurs else RecurrentState()
    if cache is None or state is None:
        return replace(model, unknown_reason=_incomplete())
    has_window = any(layer.is_window for layer in cache)
    latent = is_latent(numbers)
    kind: ModelKind = "window" if has_window else "latent" if latent else "dense"
    if recurs:
        kind = "hybrid" if any(layer.attends for layer in cache) else "recurrent"
    return replace(
        model,
        kind=kind,
        cache=cache,
        window=window_tokens(numbers, architecture, layers) if has_window else 0,
        latent_width=max((layer.key_width for layer in cache), default=0) if latent else 0,
        state=state,
        widths=replace(
            model.widths,
            queries=(model.heads or 0) * max((layer.key_width for layer in cache), default=0),
            kv=max((layer.kv_heads * layer.key_width for layer in cache), default=0),
        ),
    )


def _no_header() -> Sentence:
    return translate("Planner", "There is no header to plan with. Choose a GGUF file.")


def _unplanned(architecture: str) -> Sentence:
    return translate(
        "Planner",
        "What a model of the architecture “{architecture}” keeps of the past is not worked out here. Download it to have "
        "llama.cpp asked.",
        architecture=shown_name(architecture) or "?",
    )


def _incomplete() -> Sentence:
    return translate(
        "Planner",
        "The header of this model lacks sizes that memory is worked out from. Get another GGUF file of the model.",
    )
