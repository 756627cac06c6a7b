"""How many bytes of weights one token reads: all of them but the embedding table, of a mixture the experts used.

Formula: sum of tensor bytes - `token_embd` (unless it also is the output matrix), expert tensors x used / count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.core.gguf_header import Header
from app.core.gguf_tensors import Tensor

EMBEDDING, OUTPUT = "token_embd.weight", "output.weight"
EXPERTS = "_exps."
MOVED_EXPERTS = r"\.ffn_(up|down|gate|gate_up)_(ch|)exps"
"""Tensors that stay in main memory where the experts of a mixture do: a pattern that llama.cpp is given."""
MOST_MOVED = 10_000
"""Layers that a pattern can name: more than any model has."""
INPUTS = ("token_embd", "token_types", "position_embd", "per_layer_token_embd", "rope_f")
"""Tensors outside the layers that come before the first one; the others belong to the output layer."""
_BLOCK = re.compile(r"^(?:enc\.|dec\.)?blk\.(?P<layer>\d{1,9})\.")


def block_of(tensor: str) -> int | None:
    """Return the layer that a tensor of this name belongs to; None for those outside of the layers."""
    block = _BLOCK.match(tensor)
    return None if block is None else int(block["layer"])


def moved_experts(layers: int) -> str:
    """Return the pattern of the tensors that stay in main memory where the experts of so many first layers do; -1 is all.

    The numbers are told by their digits: llama.cpp reads the pattern anew for every tensor, so that it has to be short.
    """
    if not 0 <= layers < MOST_MOVED:
        return MOVED_EXPERTS
    last = str(layers - 1) if layers else ""
    numbers = [f"[0-9]{{1,{len(last) - 1}}}"] if len(last) > 1 else []
    for place, digit in enumerate(last):
        least, rest = int(place == 0 and len(last) > 1), "[0-9]" * (len(last) - place - 1)
        if int(digit) > least:
            numbers.append(f"{last[:place]}[{least}-{int(digit) - 1}]{rest}")
    return rf"blk\.({'|'.join((*numbers, last))}){MOVED_EXPERTS}"


def loaded_tensors(headers: Sequence[Header]) -> list[Tensor]:
    """Return the tensors that llama.cpp loads: all but those of blocks that only predict further tokens (`load_mtp` is off)."""
    first = headers[0]
    architecture = first.text("general.architecture")
    blocks = first.integer(f"{architecture}.block_count")
    predicting = first.integer(f"{architecture}.nextn_predict_layers") or 0
    tensors = [tensor for header in headers for tensor in header.tensors]
    if blocks is None or not 0 < predicting < blocks:
        return tensors
    return [tensor for tensor in tensors if (block_of(tensor.name) or 0) < blocks - predicting]


def weight_bytes_per_token(headers: Sequence[Header]) -> int | None:
    """Return the bytes of weights that decoding one token reads; None when a tensor's type is not known."""
    tensors = loaded_tensors(headers)
    architecture = headers[0].text("general.architecture")
    count = headers[0].integer(f"{architecture}.expert_count") or 0
    used = headers[0].integer(f"{architecture}.expert_used_count") or 0
    tied = all(tensor.name != OUTPUT for tensor in tensors)
    total = 0.0
    for tensor in tensors:
        if tensor.size is None:
            return None
        if tensor.name == EMBEDDING and not tied:
            continue
        share = used / count if EXPERTS in tensor.name and 0 < used <= count else 1.0
        total += tensor.size * share
    return round(total)
