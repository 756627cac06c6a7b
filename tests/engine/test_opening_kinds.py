"""Models that do not write one token after the other are refused with the reason, before or after llama.cpp has them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from app.core import gguf_verdict
from app.core.commands import Load
from app.core.errors import UserError
from app.core.events import Failed
from app.core.model import LoadOptions
from app.engine.failures import LoadRefused
from app.engine.llama import LogCapture
from app.engine.opening import LlamaOpener
from tests.engine.exchanges import OPTIONS, WRITERS, limited
from tests.engine.harness import Engine
from tests.ggufs import write_tiny_llama
from tests.ggufs_kinds import write_tiny_diffusion, write_tiny_encoder, write_tiny_encoder_decoder

Writer = Callable[[Path], Path]
UNUSABLE: dict[str, tuple[Writer, str]] = {
    "t5": (write_tiny_encoder_decoder, "encoder-decoder model (t5)"),
    "bert": (write_tiny_encoder, "embedding model (bert)"),
    "llada": (write_tiny_diffusion, "diffusion language model (llada)"),
    "dream": (partial(write_tiny_llama, architecture="dream"), "diffusion language model (dream)"),
}
FLAGS = {"t5": "encoder", "bert": "encoder", "llada": "diffusion", "dream": "diffusion"}
"""What llama.cpp says of them after the load."""


def open_model(log: LogCapture, path: Path) -> None:
    LlamaOpener(log)(Load(1, str(path), LoadOptions(context=256, threads=1)), lambda percent: True).close()


@pytest.mark.parametrize("kind", list(UNUSABLE))
def test_a_model_that_cannot_chat_is_refused_for_what_its_header_says(
    tmp_path: Path, llama_log: LogCapture, kind: str
) -> None:
    write, reason = UNUSABLE[kind]
    path = write(tmp_path / "model.gguf")
    llama_log.clear()
    with pytest.raises(UserError) as caught:
        open_model(llama_log, path)
    assert reason in caught.value.sentence.english()
    assert "choose" in caught.value.sentence.english()
    assert llama_log.lines() == (), "llama.cpp was not asked"


@pytest.mark.parametrize("kind", list(UNUSABLE))
def test_a_model_that_only_llama_cpp_knows_not_to_chat_is_refused_after_the_load(
    tmp_path: Path, llama_log: LogCapture, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(gguf_verdict, "_other_kind_of_model", lambda header, architecture: None)
    path = UNUSABLE[kind][0](tmp_path / "model.gguf")
    with pytest.raises(LoadRefused) as caught:
        open_model(llama_log, path)
    assert caught.value.kind == "model"
    assert "“model.gguf”" in caught.value.sentence.english()
    assert FLAGS[kind] in caught.value.sentence.english()
    assert "Choose a chat model" in caught.value.sentence.english()


@pytest.mark.parametrize("kind", list(WRITERS))
def test_a_model_with_any_memory_is_not_taken_for_one_of_them(
    tmp_path: Path, llama_log: LogCapture, kind: str
) -> None:
    open_model(llama_log, WRITERS[kind](tmp_path / "model.gguf"))


def test_an_engine_that_refused_them_loads_and_answers(tmp_path: Path) -> None:
    with Engine() as engine:
        for number, (name, (write, reason)) in enumerate(UNUSABLE.items(), start=1000):
            engine.send(Load(number, str(write(tmp_path / f"{name}.gguf"))))
            refused = engine.wait(Failed, request=number)
            assert refused.kind in ("model", "wrong_use") and reason in refused.sentence.english()
        loaded = engine.load(WRITERS["window"](tmp_path / "window.gguf"), **OPTIONS)
        assert (loaded.model.memory_kind, loaded.model.window) == ("window", 64)
        assert engine.ask("hello people", limited(3)).metrics.sampled_tokens > 0
