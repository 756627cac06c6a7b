"""Where llama.cpp would put weights and KV cache, after a load that allocated neither of them.

Such a load logs which layer goes to which device; the header says how large a layer's tensors are. Pinned to
llama-cpp-python 0.3.36, as `sizes.py` is: a line it does not know leaves the figure unknown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from app.core.devices import MAIN_MEMORY
from app.core.gguf_header import Header
from app.core.gguf_tensors import Tensor
from app.core.metrics import DeviceMemory
from app.core.model_reads import EMBEDDING, INPUTS, OUTPUT, block_of, loaded_tensors
from app.engine.sizes import MIB, device_of

_LAYER = re.compile(r"^load_tensors: layer\s+(?P<layer>\d+) assigned to device (?P<device>.+?), is_swa")
_OVERRIDDEN = re.compile(r"^tensor (?P<tensor>\S+) \(\d+ MiB \S+\) buffer type overridden to (?P<buffer>\S+)$")
_MOVED = re.compile(
    r"^\w+: tensor '(?P<tensor>[^']*)' .*\(and (?P<others>\d+) others\) cannot be used with preferred buffer type "
    r"(?P<wanted>\S+), using (?P<used>\S+) instead"
)
_SPLIT = re.compile(r"^\w+:\s+\S+_Split model buffer size")
"""Matrices cut by rows over several GPUs: which one gets how much is not said."""
_MAPPED = re.compile(r"^\w+:\s+CPU_Mapped model buffer size")
_CACHE_LAYER = re.compile(r"^llama_kv_cache: layer\s+(?P<layer>\d+): dev = (?P<device>.+)$")
_CACHE = re.compile(r"^llama_kv_cache: size =\s+(?P<mib>[0-9.]+) MiB \(\s*\d+ cells,\s+(?P<layers>\d+) layers")


class Weights(NamedTuple):
    """Bytes of weights by device."""

    sizes: dict[str, int]
    exact: bool
    """Whether each tensor's place is known; otherwise some that a GPU cannot hold still count there."""


class _Placement(msgspec.Struct, frozen=True):
    """Device by layer, the output layer being the last, and the tensors that lie elsewhere."""

    layers: dict[int, str]
    elsewhere: dict[str, str]
    exact: bool = True
    by_rows: bool = False

    def device(self, tensor: Tensor) -> str | None:
        """Return where a tensor lies; None where the log does not say."""
        if tensor.name in self.elsewhere:
            return self.elsewhere[tensor.name]
        block = block_of(tensor.name)
        if block is not None:
            return self.layers.get(block)
        return MAIN_MEMORY if tensor.name.startswith(INPUTS) else self.output

    @property
    def output(self) -> str:
        """The device of the output layer."""
        return self.layers[max(self.layers)]


def weights_by_device(headers: Sequence[Header], lines: Sequence[str]) -> Weights | None:
    """Return the weights on each device; None where the log or a tensor's type leaves it open."""
    placement = _placement(lines)
    if not placement.layers or placement.by_rows:
        return None
    tensors = loaded_tensors(headers)
    sums: dict[str, int] = {}
    for tensor in tensors:
        device = placement.device(tensor)
        if device is None or tensor.size is None:
            return None
        sums[device] = sums.get(device, 0) + tensor.size
    if placement.output != MAIN_MEMORY and all(tensor.name != OUTPUT for tensor in tensors):
        # the embedding table is the output matrix too: the GPU gets a second one
        table = next((tensor.size or 0 for tensor in tensors if tensor.name == EMBEDDING), 0)
        sums[placement.output] = sums.get(placement.output, 0) + table
    return Weights(sums, placement.exact)


def cache_by_device(header: Header, lines: Sequence[str]) -> dict[str, int] | None:
    """Return the bytes of the KV cache on each device; empty for a model without one, None where it is unknown."""
    sums: dict[str, int] = {}
    devices: dict[int, str] = {}
    heads = header.integers(f"{header.text('general.architecture')}.attention.head_count_kv")
    for line in lines:
        if (layer := _CACHE_LAYER.match(line)) is not None:
            devices[int(layer["layer"])] = device_of(layer["device"].strip())
        elif (cache := _CACHE.match(line)) is not None:
            if len(devices) != int(cache["layers"]):
                return None
            shares = {layer: _heads(heads, layer) for layer in devices}
            whole = sum(shares.values()) or 1
            for device in dict.fromkeys(devices.values()):
                share = sum(shares[layer] for layer, its_device in devices.items() if its_device == device)
                sums[device] = sums.get(device, 0) + round(float(cache["mib"]) * MIB * share / whole)
            devices = {}
    return None if devices else sums


def narrowed(
    memory: tuple[DeviceMemory, ...], headers: Sequence[Header], lines: Sequence[str]
) -> tuple[DeviceMemory, ...]:
    """Return what a real load took, with no more weights in main memory than lie there.

    A mapped file counts from the first to the last tensor that main memory needs, whatever lies between them.
    """
    weights = weights_by_device(headers, lines)
    if weights is None or not weights.exact or not any(_MAPPED.match(line) for line in lines):
        return memory
    most = weights.sizes.get(MAIN_MEMORY, 0)
    return tuple(
        msgspec.structs.replace(use, weights=min(use.weights, most))
        if use.device == MAIN_MEMORY and use.weights is not None
        else use
        for use in memory
    )


def _heads(heads: int | tuple[int, ...] | None, layer: int) -> int:
    """Return how large a layer's share of the cache is beside the others'."""
    return heads[layer] if isinstance(heads, tuple) and layer < len(heads) else 1


def _placement(lines: Sequence[str]) -> _Placement:
    layers: dict[int, str] = {}
    elsewhere: dict[str, str] = {}
    exact, by_rows = True, False
    for line in lines:
        if (layer := _LAYER.match(line)) is not None:
            layers[int(layer["layer"])] = device_of(layer["device"])
        elif (tensor := _OVERRIDDEN.match(line)) is not None:
            elsewhere[tensor["tensor"]] = device_of(tensor["buffer"])
        elif (moved := _MOVED.match(line)) is not None:
            same = device_of(moved["wanted"]) == device_of(moved["used"])
            if not same and moved["tensor"] not in elsewhere:
                exact = exact and moved["others"] == "0"
                elsewhere[moved["tensor"]] = device_of(moved["used"])
        elif _SPLIT.match(line) is not None:
            by_rows = True
    return _Placement(layers, elsewhere, exact, by_rows)
