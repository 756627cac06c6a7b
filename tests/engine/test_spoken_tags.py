"""Tags around thinking that a vocabulary has as control tokens: llama.cpp gives those no text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import gguf
import numpy as np
import pytest

from app.core.chat import ChatPrompt, PromptMessage
from app.core.thinking import ThinkingReader
from app.core.thinking_tags import tag_pairs
from app.engine.answer_ids import ids_of
from app.engine.detokenizer import Detokenizer
from app.engine.llama import LlamaVocabulary, LogCapture
from app.engine.pieces import pieces_of
from app.engine.spoken_tags import spoken_tags
from app.engine.tokenizer import prepare
from tests.engine.vocabularies import vocabulary_of
from tests.ggufs import CHATML, finish

CONTROL, DEFINED = gguf.TokenType.CONTROL, gguf.TokenType.USER_DEFINED
TURNS = (("<|endoftext|>", CONTROL), ("<|im_start|>", CONTROL), ("<|im_end|>", CONTROL))


def write_vocabulary(path: Path, specials: Sequence[tuple[str, gguf.TokenType]]) -> Path:
    """Write a vocabulary of bytes and special tokens; the third one ends an answer."""
    writer = gguf.GGUFWriter(path, "llama")
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    moved = iter(range(0x100, 0x200))
    characters = [chr(byte) if byte in plain else chr(next(moved)) for byte in range(256)]
    types = [kind for _, kind in specials] + [gguf.TokenType.NORMAL] * len(characters)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([text for text, _ in specials] + characters)
    writer.add_token_types(types)
    writer.add_token_merges([f"{characters[ord('a')]} {characters[ord('b')]}"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(False)
    writer.add_chat_template(CHATML)
    finish(writer)
    return path


def said(vocabulary: LlamaVocabulary, ids: Sequence[int]) -> str:
    detokenizer = Detokenizer(vocabulary)
    return "".join(map(detokenizer.step, ids)) + detokenizer.flush()


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("[THINK]", "[/THINK]"),
        ("<|START_THINKING|>", "<|END_THINKING|>"),
        ("<think>", "</think>"),
        ("<seed:think>", "</seed:think>"),
    ],
)
@pytest.mark.parametrize("kind", [CONTROL, DEFINED])
def test_tags_around_thinking_are_in_the_text_whatever_tokens_they_are(
    tmp_path: Path, llama_log: LogCapture, opening: str, closing: str, kind: gguf.TokenType
) -> None:
    path = write_vocabulary(tmp_path / "tags.gguf", [*TURNS, (opening, kind), (closing, kind)])
    with vocabulary_of(path) as vocabulary:
        ids = vocabulary.tokenize(f"{opening}hm{closing}Yes<|im_start|>", special=True)
        assert {3, 4, 1} <= set(ids)
        text = said(vocabulary, ids)
        assert text == f"{opening}hm{closing}Yes"
        reader = ThinkingReader(tag_pairs(opening))
        reader.finish(text)
        assert [segment.kind for segment in reader.segments] == ["thinking", "answer"]
        message = PromptMessage("assistant", text, np.asarray(ids[:-1], "<i4").tobytes())
        asked = PromptMessage("user", f"What is {opening}?")
        prepared = prepare(ChatPrompt((asked, message, asked)), vocabulary)
        spans = [span for span in prepared.spans if span.message == 1]
        assert all(before.end == span.start for before, span in pairwise(spans))
        assert prepared.ids[spans[0].start : spans[-1].end] == ids[:-1] == ids_of(message.ids, vocabulary)
        if kind is CONTROL:
            assert prepared.ids.count(3) == 1


def test_what_single_tokens_say_is_unchanged(tmp_path: Path, llama_log: LogCapture) -> None:
    path = write_vocabulary(tmp_path / "tags.gguf", [*TURNS, ("[THINK]", CONTROL)])
    with vocabulary_of(path) as vocabulary:
        pieces = pieces_of(vocabulary, "", 0, 4)
        assert pieces.data == b"<|endoftext|><|im_start|><|im_end|>[THINK]"


def test_the_channels_of_a_vocabulary_are_in_the_text(tmp_path: Path, llama_log: LogCapture) -> None:
    names = ("<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|call|>", "<|return|>")
    path = write_vocabulary(tmp_path / "tags.gguf", [*TURNS, *((name, CONTROL) for name in names)])
    whole = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Yes"
    with vocabulary_of(path) as vocabulary:
        assert said(vocabulary, vocabulary.tokenize(whole, special=True)) == whole


def test_other_control_tokens_stay_silent() -> None:
    listed = [
        (0, "<|end|>", True),
        (1, "<|start|>", True),
        (2, "<think>", True),
        (3, "</think>", True),
        (4, "x<think>", True),
        (5, "<|im_start|>", True),
        (6, "<thinking>", False),
    ]
    assert spoken_tags(listed, lambda token: token == 3) == {2: b"<think>"}
