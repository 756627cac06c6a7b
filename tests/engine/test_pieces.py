"""What tokens say, told by the engine: the whole vocabulary, while it writes, and when it dies."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from app.core.commands import ListPieces, MeasureMemory, Render, Tokenize
from app.core.conversation import Pieces
from app.core.events import EngineGone, Failed, Finished, MemoryMeasured, PiecesListed, Tokenized
from app.core.gguf_entries import UnreadValue
from app.engine.llama import LogCapture
from app.engine.llama_model import LlamaBackend
from app.engine.opening import checked_headers, tokenizer_of
from app.engine.pieces import MOST_PIECES, end_tokens, pieces_of
from app.engine.scripted import Script
from app.engine.scripted_vocabulary import TOKENIZER
from app.engine.tokenizer_digest import digest_of
from tests.engine.harness import Engine, user, write_script
from tests.engine.vocabularies import vocabulary_of
from tests.ggufs import copy_with, write_other_tokenizer, write_tiny_llama


def texts_of(pieces: Pieces) -> list[bytes]:
    """Return the bytes of each token."""
    ends = array("I")
    ends.frombytes(pieces.ends)
    return [pieces.data[start:end] for start, end in pairwise((0, *ends))]


def listed(engine: Engine, first: int, count: int) -> Pieces:
    """Ask the engine for some tokens and wait for them."""
    request = engine.client.new_request()
    engine.send(ListPieces(request, first, count))
    event = engine.wait(PiecesListed, Failed, request=request)
    assert isinstance(event, PiecesListed), event
    return event.pieces


@pytest.fixture(scope="module")
def engine(starter_model: Path) -> Iterator[Engine]:
    with Engine() as made:
        made.load(starter_model, context=512, threads=1)
        yield made


def test_every_token_says_what_the_detokenizer_says(engine: Engine, starter_backend: LlamaBackend) -> None:
    vocabulary = starter_backend.vocabulary
    controls = {token: text.encode() for token, text, is_control in vocabulary.special_texts() if is_control}
    assert len(controls) > 10
    told: list[bytes] = []
    while len(told) < vocabulary.size:
        pieces = listed(engine, len(told), 4096)
        assert pieces.first == len(told)
        told += texts_of(pieces)
    assert len(told) == vocabulary.size == 49_152
    for token, text in enumerate(told):
        assert text == (controls[token] if token in controls else vocabulary.piece(token))
    assert told[2] == b"<|im_end|>"


@pytest.mark.parametrize(
    ("first", "count", "left"),
    [(49_150, 4096, 2), (49_152, 10, 0), (1_000_000, 1, 0), (-5, 3, 3), (5, -1, 0), (0, 100_000, MOST_PIECES)],
)
def test_beyond_the_vocabulary_there_is_nothing(engine: Engine, first: int, count: int, left: int) -> None:
    assert len(texts_of(listed(engine, first, count))) == left


def test_tokens_are_told_while_an_answer_is_written_and_other_questions_come_between(engine: Engine) -> None:
    request = engine.start("Tell me a long story about the sea.")
    first, counted, second = (engine.client.new_request() for _ in range(3))
    engine.send(ListPieces(first, 0, 4096))
    engine.send(Tokenize(counted, "Hello there"))
    engine.send(ListPieces(second, 4096, 4096))
    told = engine.wait(PiecesListed)
    assert told.request == first and texts_of(told.pieces)[17] == b"!"
    assert engine.wait(Tokenized).request == counted
    assert engine.wait(PiecesListed).pieces.first == 4096
    assert not [event for event in engine.seen if isinstance(event, Finished) and event.request == request]
    engine.cancel(request)
    engine.wait(Finished, request=request)


def test_without_a_model_there_are_no_tokens() -> None:
    with Engine("scripted") as engine:
        request = engine.client.new_request()
        engine.send(ListPieces(request, 0, 10))
        assert engine.wait(Failed).request == request


def test_a_script_has_pieces_and_names_its_control_tokens(tmp_path: Path) -> None:
    with Engine("scripted") as engine:
        loaded = engine.load(write_script(tmp_path, Script()))
        pieces = listed(engine, 250, 20)
        assert (pieces.tokenizer, loaded.model.tokenizer) == (TOKENIZER, TOKENIZER)
        assert texts_of(pieces)[5:11] == [b"\xff", b"<|start|>", b"<|end|>", b"<|user|>", b"<|answer|>", b""]


def test_a_dying_engine_fails_a_question_for_pieces(tmp_path: Path) -> None:
    endless = "{% for a in range(90000) %}{% for b in range(90000) %}{{ '' }}{% endfor %}{% endfor %}"
    with Engine("scripted") as engine:
        engine.load(write_script(tmp_path, Script()))
        rendered, request = engine.client.new_request(), engine.client.new_request()
        engine.send(Render(rendered, msgspec.structs.replace(user("Hi"), template=endless)))
        engine.send(ListPieces(request, 0, 10))
        engine.send(MeasureMemory(engine.client.new_request(), str(tmp_path / "script.json")))
        engine.wait(MemoryMeasured)  # by now the engine has read both
        engine.client.kill()
        assert {rendered, request} <= set(engine.wait(EngineGone).requests)


def test_files_with_one_vocabulary_share_a_tokenizer(tmp_path: Path, starter_model: Path) -> None:
    header = checked_headers(starter_model)[0]
    assert isinstance(header.metadata["tokenizer.ggml.tokens"], UnreadValue)
    own = tokenizer_of(starter_model, header)
    renamed = copy_with(starter_model, tmp_path / "another.gguf", chat_template="x", set={"general.name": "Another"})
    assert own and len(own) == 32
    assert tokenizer_of(renamed, checked_headers(renamed)[0]) == own


def test_other_vocabularies_have_other_tokenizers(tmp_path: Path, starter_model: Path) -> None:
    tiny = write_tiny_llama(tmp_path / "tiny.gguf")
    paths = [
        starter_model,
        tiny,
        write_other_tokenizer(tmp_path / "other.gguf"),
        copy_with(tiny, tmp_path / "type.gguf", set={"tokenizer.ggml.model": "llama"}),
    ]
    digests = {tokenizer_of(path, checked_headers(path)[0]) for path in paths}
    assert len(digests) == len(paths)
    assert "" not in digests
    same = write_tiny_llama(tmp_path / "same.gguf", seed=5, layers=1)
    assert tokenizer_of(same, checked_headers(same)[0]) in digests


def test_one_changed_byte_of_a_large_vocabulary_makes_another_tokenizer(starter_model: Path) -> None:
    header = checked_headers(starter_model)[0]
    texts, types = (header.metadata[f"tokenizer.ggml.{name}"] for name in ("tokens", "token_type"))
    assert isinstance(texts, UnreadValue) and isinstance(types, UnreadValue)
    content = bytearray(starter_model.read_bytes()[: header.data_offset])

    def digest() -> str:
        return digest_of(header, lambda offset, length: bytes(content[offset : offset + length]))

    digests = [digest()]
    for value in (texts, types):
        for place in (value.offset + 9, value.offset + value.size - 1):
            content[place] ^= 1
            digests.append(digest())
    assert len(set(digests)) == 5
    assert digests[0] == tokenizer_of(starter_model, header)


def test_a_file_that_is_gone_has_no_tokenizer(tmp_path: Path, starter_model: Path) -> None:
    assert tokenizer_of(tmp_path / "gone.gguf", checked_headers(starter_model)[0]) == ""


def test_a_loaded_model_tells_its_tokenizer(engine: Engine, starter_model: Path) -> None:
    own = tokenizer_of(starter_model, checked_headers(starter_model)[0])
    assert listed(engine, 0, 1).tokenizer == own


def test_pieces_of_a_sentencepiece_vocabulary(tmp_path: Path, llama_log: LogCapture) -> None:
    assert llama_log is not None  # llama.cpp was started
    with vocabulary_of(write_other_tokenizer(tmp_path / "spm.gguf")) as vocabulary:
        told = texts_of(pieces_of(vocabulary, "x", 0, vocabulary.size))
        assert told == [
            vocabulary.piece(token) or vocabulary.token_text(token).encode() for token in range(vocabulary.size)
        ]
        assert b"" not in told


def test_the_tokens_that_end_an_answer_are_told(starter_model: Path, starter_backend: LlamaBackend) -> None:
    ends = end_tokens(starter_backend.vocabulary)
    assert ends == tuple(token for token in range(49_152) if starter_backend.vocabulary.is_end(token))
    assert 2 in ends
    with Engine() as engine:
        assert engine.load(starter_model, context=512, threads=1).model.end_tokens == ends
