"""The state that a recurrent layer keeps for each sequence, by the header.

Source: `llama_hparams::n_embd_r` and `n_embd_s` (`src/llama-hparams.cpp`) of llama.cpp as of llama-cpp-python 0.3.36. What such
a layer takes while it is computed was measured by that version's dry run, on a Mamba, three Mamba 2 and a delta net.
"""

from __future__ import annotations

from app.planner.architectures import BY_INTERVAL
from app.planner.header_numbers import Numbers
from app.planner.model_parts import RecurrentState

CONVOLUTION_OF_KDA = 3
"""Inputs that Kimi's recurrent layers look back at where the header has no number."""
TOKEN_SHIFTS = 2
"""States of the last token that an RWKV layer keeps where the header has no number."""
RWKV_WIDTHS = 19
"""Rows as wide as the embedding that an RWKV layer takes a token, about."""
DELTA_NET_COPIES, SCAN_COPIES = 2.07, 1.13
"""States that are held beside the kept ones."""


def recurrent_state(numbers: Numbers, architecture: str, embedding: int) -> RecurrentState | None:
    """Return the state of one recurrent layer; None where the header does not tell."""
    heads = next(iter(numbers.each("attention.head_count", 1) or ()), 0)
    if architecture == "minimax-01":
        width = numbers.one("attention.key_length") or (embedding // heads if heads else 0)
        return RecurrentState(0, width * width * heads, DELTA_NET_COPIES, 4 * width * heads)
    if head := numbers.one("wkv.head_size"):
        shifts = numbers.one("token_shift_count")
        shift = (TOKEN_SHIFTS if shifts is None else shifts) * embedding
        return RecurrentState(shift, embedding * head, SCAN_COPIES, RWKV_WIDTHS * embedding)
    if (length := numbers.one("shortconv.l_cache")) is not None:
        return RecurrentState(embedding * max(0, length - 1), 0, SCAN_COPIES, 5 * embedding)
    kernel = numbers.one("ssm.conv_kernel")
    if head := numbers.one("kda.head_dim"):
        back = kernel - 1 if kernel else CONVOLUTION_OF_KDA
        width = heads * head
        return RecurrentState(3 * back * width, head * width, DELTA_NET_COPIES, 12 * width)
    inner, state = numbers.one("ssm.inner_size"), numbers.one("ssm.state_size")
    if inner is None or state is None or kernel is None:
        return None
    groups = numbers.one("ssm.group_count") or 0
    convolved = inner + 2 * groups * state
    is_delta_net = architecture in BY_INTERVAL
    if is_delta_net:
        width = 2 * convolved + 3 * inner
    elif groups:
        width = 2 * (inner + convolved) + 2 * convolved + inner
    else:
        width = 6 * inner + embedding
    copies = DELTA_NET_COPIES if is_delta_net else SCAN_COPIES
    return RecurrentState(max(0, kernel - 1) * convolved, state * inner, copies, width)
