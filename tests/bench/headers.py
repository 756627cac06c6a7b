"""What is fetched of a model that is not on this machine so that it can be planned: its header, and how much beyond."""

from __future__ import annotations

import tempfile
from pathlib import Path

import gguf
import numpy as np

from app.core.hub_model import HubReference
from app.hub.reading import HubReader
from tests.bench.arithmetic import Measurement
from tests.bench.setting import Setting
from tests.hub.loopback_hub import LoopbackHub

VOCABULARIES = (300, 49_152, 151_936, 262_144)
"""Of made-up models: from a header of some kilobytes to one of some twenty megabytes."""
WEIGHTS = 24 << 20
MEGABYTE = 1_000_000


def header_bytes(_setting: Setting) -> Measurement:
    """Measure how many MB are fetched beyond the end of the header, of the header for which they are most."""
    extra = []
    for tokens in VOCABULARIES:
        with tempfile.TemporaryDirectory(prefix="tokenlight-bench-") as folder:
            path = _write(Path(folder) / "model.gguf", tokens)
            extra.append(_fetched_beyond(path) / MEGABYTE)
    return Measurement(max(extra), extra, more={"extra_mb": round(max(extra), 3)})


def _fetched_beyond(path: Path) -> int:
    """Return what a hub has sent of a model, less its header."""
    with LoopbackHub({path.name: path.read_bytes()}) as hub:
        reading = HubReader({"HF_ENDPOINT": hub.endpoint})
        (model,) = reading.models(HubReference(hub.repository, path.name))
        (header,) = reading.headers(model)
        return hub.delivered - header.data_offset


def _write(path: Path, tokens: int) -> Path:
    """Write a model with so many tokens and a merge for each, whose weights are nothing."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(1)
    writer.add_context_length(4096)
    writer.add_embedding_length(64)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list([f"token {number}" for number in range(tokens)])
    writer.add_token_types([1] * tokens)
    writer.add_token_merges([f"token {number}" for number in range(tokens)])
    writer.add_tensor_info("token_embd.weight", (WEIGHTS // 4,), np.dtype(np.float32), WEIGHTS)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    writer.close()
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size + WEIGHTS + 64)
    return path
