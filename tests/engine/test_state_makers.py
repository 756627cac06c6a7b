"""Whatever a load computes otherwise makes its states another maker's, and nothing else does."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.engine import llama_context
from app.engine.llama import LogCapture, api
from app.engine.llama_model import LlamaBackend
from app.engine.llama_parameters import ROPE_PARAMETERS
from app.engine.state_file import Maker
from tests.engine.test_state_keeping import MODEL, OPTIONS
from tests.ggufs_kinds import write_tiny_plain

ORIGINAL = 512
"""Tokens of context before the model was stretched."""
USUAL: dict[str, object] = {}
OTHERWISE: dict[str, dict[str, object]] = {
    "keys": {"kv_type_k": "q8_0"},
    "values": {"kv_type_v": "q8_0"},
    "flash attention": {"flash_attention": "off"},
    "rope factors": {"context": ORIGINAL},
}
ALIKE: dict[str, dict[str, object]] = {
    "threads": {"threads": 2},
    "batch": {"batch": 128},
    "more context": {"context": 2 * ORIGINAL + 256},
    "what auto comes to": {"flash_attention": "on"},
}


def maker_of(path: Path, llama_log: LogCapture, options: dict[str, object]) -> Maker:
    """What makes the states of a model that is really loaded with these options."""
    loaded = LlamaBackend(str(path), msgspec.structs.replace(OPTIONS, **options), llama_log, lambda percent: True)
    maker = loaded.whole.maker(MODEL)
    loaded.close()
    return maker


def test_each_load_that_computes_otherwise_is_another_maker(tmp_path: Path, llama_log: LogCapture) -> None:
    path = write_tiny_plain(tmp_path / "m.gguf", stretched_from=ORIGINAL)
    usual = maker_of(path, llama_log, USUAL)
    others = {name: maker_of(path, llama_log, options) for name, options in OTHERWISE.items()}
    assert len({usual, *others.values()}) == 1 + len(others), others
    alike = {name: maker_of(path, llama_log, options) for name, options in ALIKE.items()}
    assert set(alike.values()) == {usual}, alike


@pytest.mark.parametrize("name", ROPE_PARAMETERS)
def test_every_rope_setting_makes_another_maker(
    quick_backend: LlamaBackend, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    usual = quick_backend.whole.maker(MODEL)
    params = api.llama_context_default_params()
    monkeypatch.setattr(llama_context, "context_parameters", lambda *_: params)
    assert quick_backend.whole.maker(MODEL) == usual
    setattr(params, name, 3)
    assert quick_backend.whole.maker(MODEL) != usual


def test_another_scale_of_the_model_and_another_llama_cpp_are_another_maker(
    quick_backend: LlamaBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = quick_backend.whole.maker(MODEL)
    for name, value in (("llama_model_rope_freq_scale_train", 0.25), ("llama_version", b"0.0.1")):
        with monkeypatch.context() as patch:
            patch.setattr(api, name, lambda *_, value=value: value)
            assert quick_backend.whole.maker(MODEL) != usual, name
