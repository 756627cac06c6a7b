"""The attention of one token is what the model computed with, in every layer that has one; the others say why not."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import gguf
import numpy as np
import numpy.typing as npt
import psutil
import pytest

from app.core.attention import AttentionProgress, AttentionRead, LayerAttention
from app.core.commands import Cancel, Quit, ReadAttention, Tokenize
from app.core.devices import MainMemory
from app.core.errors import UserError
from app.core.events import Event, Failed, PromptReady, Tokenized
from app.core.model import INSPECTION_BATCH, LoadOptions
from app.engine import attention as attention_module
from app.engine.attention import read_attention
from app.engine.backend import Backend, NoInspection, TokenIds
from app.engine.control import Control
from app.engine.inspection import LlamaInspection
from app.engine.kv_cache import KVCache
from app.engine.llama import LogCapture
from app.engine.llama_model import LlamaBackend
from app.engine.prompt_size import PromptTooLong
from tests.engine.exchanges import WRITERS, as_prompt, limited, tokens
from tests.engine.harness import Engine, assert_same_answer, records_of
from tests.engine.test_graph_watch import Watching
from tests.engine.test_loop import finished, run, scripted
from tests.ggufs import write_tiny_llama
from tests.ggufs_kinds import write_tiny_latent

PROMPT = tokens(3 * INSPECTION_BATCH + 9, 1)
"""Several batches, and several times the window of the models here."""
LONG = tokens(700, 1)
"""More than a cache of windows has cells."""
WINDOW = 64
TEXT = "The developer restarted the server because it"
Rows = list[npt.NDArray[np.float32] | None]


@pytest.fixture
def opened(llama_log: LogCapture) -> Iterator[Callable[[Path], LlamaBackend]]:
    """Loads models with 1,024 cells."""
    made: list[LlamaBackend] = []

    def open_model(path: Path) -> LlamaBackend:
        made.append(LlamaBackend(str(path), LoadOptions(context=1024, threads=1), llama_log, lambda percent: True))
        return made[-1]

    yield open_model
    for backend in made:
        backend.close()


def read(backend: Backend, ids: list[int], control: Control | None = None) -> list[Event]:
    """Read the attention of the last token to the end."""
    command = ReadAttention(1, np.asarray(ids, "<i4").tobytes())
    return list(read_attention(backend, command, control or Control(1)))


def last(events: list[Event]) -> AttentionRead:
    assert isinstance(events[-1], AttentionRead), events[-1]
    return events[-1]


def rows_of(event: AttentionRead, count: int) -> Rows:
    """Return the rows of the heads of each layer, shape (heads, tokens); None where it has none.

    The average that comes with them, and the strongest token of each, are held against them.
    """
    found: Rows = []
    at = 0
    values = np.frombuffer(event.rows, "<f4")
    for layer in event.layers:
        rows = values[at : at + layer.rows * count].reshape(layer.rows, count)
        at += rows.size
        found.append(rows[1:] if layer.rows else None)
        if layer.rows:
            np.testing.assert_allclose(rows[0], rows[1:].mean(axis=0), atol=1e-6)
    assert at == len(values)
    np.testing.assert_array_equal(np.frombuffer(event.strongest, "<i4"), values.reshape(-1, count).argmax(axis=1))
    if mean := [rows.mean(axis=0) for rows in found if rows is not None]:
        np.testing.assert_allclose(np.frombuffer(event.mean, "<f4"), np.mean(mean, axis=0), atol=1e-6)
    return found


def by_hand(backend: LlamaBackend, ids: list[int], prefix: str) -> Watching:
    """Return what was computed for the last token, read in the same batches."""
    watching = Watching(prefix)
    with closing(backend.inspect(len(ids), None, watching)) as context:
        for start in range(0, len(ids) - 1, INSPECTION_BATCH):
            assert context.read(ids[start : min(start + INSPECTION_BATCH, len(ids) - 1)], start)
        assert context.read(ids[-1:], len(ids) - 1, watched=True)
    return watching


def softmax(products: npt.NDArray[np.float32], scale: float, first: int, count: int) -> npt.NDArray[np.float64]:
    """Return the softmax over the tokens from `first` on; those before are outside of the window."""
    seen = products[:, first:count].astype(np.float64) * scale
    powers = np.exp(seen - seen.max(axis=-1, keepdims=True))
    expected = np.zeros((len(products), count))
    expected[:, first:] = powers / powers.sum(axis=-1, keepdims=True)
    return expected


def test_the_starter_models_attention_is_the_softmax_of_what_it_computed(starter_backend: LlamaBackend) -> None:
    ids = starter_backend.vocabulary.tokenize(TEXT, special=False)
    event = last(read(starter_backend, ids))
    assert event.layers == (LayerAttention(9, 10),) * 30
    products, scale = by_hand(starter_backend, ids, "kq-"), 1 / np.sqrt(64)
    for layer, rows in enumerate(rows_of(event, len(ids))):
        assert rows is not None
        np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-5)
        expected = softmax(products.arrays[f"kq-{layer}"][0, :, 0], scale, 0, len(ids))
        np.testing.assert_allclose(rows, expected, atol=1e-5)


def test_what_a_token_looked_at_is_the_same_whatever_comes_after_it(starter_backend: LlamaBackend) -> None:
    ids = starter_backend.vocabulary.tokenize(TEXT, special=False)
    middle, watching = len(ids) // 2, Watching("kq-")
    with closing(starter_backend.inspect(len(ids), None, watching)) as context:
        assert context.read(ids, 0, watched=True), "all of the text at once"
    for layer, rows in enumerate(rows_of(last(read(starter_backend, list(ids[: middle + 1]))), middle + 1)):
        assert rows is not None
        expected = softmax(watching.arrays[f"kq-{layer}"][0, :, middle], 1 / np.sqrt(64), 0, middle + 1)
        np.testing.assert_allclose(rows, expected, atol=1e-4)


def test_a_layer_with_a_sliding_window_looks_at_nothing_outside_of_it(
    opened: Callable[[Path], LlamaBackend], tmp_path: Path
) -> None:
    backend = opened(WRITERS["window"](tmp_path / "model.gguf"))
    event = last(read(backend, LONG))
    products = by_hand(backend, LONG, "kq")
    firsts = []
    for layer, rows in enumerate(rows_of(event, len(LONG))):
        assert rows is not None
        np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-5)
        first = int(np.flatnonzero(rows.any(axis=0))[0])
        firsts.append(first)
        scale = products.scales[f"kq_soft_max-{layer}"]
        expected = softmax(products.arrays[f"kq-{layer}"][0, :, 0], scale, first, len(LONG))
        np.testing.assert_allclose(rows, expected, atol=1e-5)
    assert sorted(set(firsts)) == [0, len(LONG) - WINDOW], "one mask each"


def test_heads_that_share_one_compressed_key_have_rows_of_their_own(
    opened: Callable[[Path], LlamaBackend], tmp_path: Path
) -> None:
    backend = opened(write_tiny_latent(tmp_path / "latent.gguf"))
    event = last(read(backend, PROMPT))
    assert event.layers == (LayerAttention(2, 3),) * 2
    products = by_hand(backend, PROMPT, "kq")
    for layer, rows in enumerate(rows_of(event, len(PROMPT))):
        assert rows is not None and not np.allclose(rows[0], rows[1])
        scale = products.scales[f"kq_soft_max-{layer}"]
        expected = softmax(products.arrays[f"kq-{layer}"][0, :, 0], scale, 0, len(PROMPT))
        np.testing.assert_allclose(rows, expected, atol=1e-5)


@pytest.mark.parametrize(("kind", "without"), [("plain", ()), ("recurrent", (0, 1, 2, 3)), ("hybrid", (0, 2))])
def test_recurrent_layers_say_that_they_have_none(
    kind: str, without: tuple[int, ...], opened: Callable[[Path], LlamaBackend], tmp_path: Path
) -> None:
    event = last(read(opened(WRITERS[kind](tmp_path / "model.gguf")), PROMPT))
    assert tuple(place for place, layer in enumerate(event.layers) if layer.lacks == "recurrent") == without
    for place, rows in enumerate(rows_of(event, len(PROMPT))):
        assert (rows is None) == (place in without)
        if rows is not None:
            np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-5)


def test_a_softmax_that_is_no_node_of_the_graph_is_told_of(scripted_backend: Backend) -> None:
    event = last(read(scripted_backend, [70, 71]))
    assert {layer.lacks for layer in event.layers} == {"not_told"} and not event.rows and not event.embedding


@pytest.fixture
def scripted_backend() -> Backend:
    return scripted()


def test_the_embedding_is_the_tokens_row_of_the_matrix(
    opened: Callable[[Path], LlamaBackend], tmp_path: Path
) -> None:
    for kind in ("plain", "window", "recurrent", "hybrid_window"):
        path = WRITERS[kind](tmp_path / f"{kind}.gguf")
        matrix = next(each for each in gguf.GGUFReader(path).tensors if each.name == "token_embd.weight").data
        event = last(read(opened(path), [70]))
        np.testing.assert_array_equal(np.frombuffer(event.embedding, "<f4"), matrix[70])


def test_rows_that_would_be_too_much_are_averaged_over_the_heads(
    quick_backend: LlamaBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = last(read(quick_backend, PROMPT))
    monkeypatch.setattr(attention_module, "MOST_ROW_BYTES", len(whole.rows) * 2 // 3 - 1)
    averaged = last(read(quick_backend, PROMPT))
    assert averaged.layers == tuple(LayerAttention(layer.heads, 1) for layer in whole.layers)
    means = np.frombuffer(averaged.rows, "<f4").reshape(-1, len(PROMPT))
    for all_heads, mean in zip(rows_of(whole, len(PROMPT)), means, strict=True):
        assert all_heads is not None
        np.testing.assert_allclose(mean, all_heads.mean(axis=0), atol=1e-6)
    assert averaged.mean == whole.mean and len(averaged.strongest) == 4 * len(means)


def test_progress_comes_with_every_batch(quick_backend: LlamaBackend) -> None:
    events = read(quick_backend, PROMPT)
    progress = [event for event in events if isinstance(event, AttentionProgress)]
    ends = [*range(INSPECTION_BATCH, len(PROMPT) - 1, INSPECTION_BATCH), len(PROMPT) - 1, len(PROMPT)]
    assert [(each.done, each.total) for each in progress] == [(end, len(PROMPT)) for end in ends]


def test_only_the_last_token_is_watched(quick_backend: LlamaBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    stretches: list[tuple[int, bool]] = []
    evaluate = LlamaInspection._evaluate

    def noted(inspection: LlamaInspection, ids: TokenIds, position: int, *, watched: bool = False) -> bool:
        stretches.append((len(ids), watched))
        return evaluate(inspection, ids, position, watched=watched)

    monkeypatch.setattr(LlamaInspection, "_evaluate", noted)
    read(quick_backend, PROMPT)
    assert stretches == [*[(INSPECTION_BATCH, False)] * 3, (8, False), (1, True)]


def test_a_single_token_looks_at_itself(quick_backend: LlamaBackend) -> None:
    for rows in rows_of(last(read(quick_backend, [70])), 1):
        assert rows is not None and (rows == 1.0).all()


def test_reading_leaves_the_chat_as_it_is(quick_backend: LlamaBackend, quick_cache: KVCache) -> None:
    run(quick_backend, as_prompt(PROMPT), limited(12), cache=quick_cache)
    read(quick_backend, tokens(300, 2))
    further = [*PROMPT, *tokens(40, 2)]
    got = run(quick_backend, as_prompt(further), limited(12), cache=quick_cache)
    assert finished(got).metrics.prompt_tokens_from_cache >= len(PROMPT) - 1
    expected = run(quick_backend, as_prompt(further), limited(12), cache=KVCache(quick_backend))
    assert_same_answer(records_of(got, 1), records_of(expected, 1))


class _Later(Control):
    """Is cancelled once it was asked so often."""

    def __init__(self, asked: int) -> None:
        super().__init__(1)
        self._left = asked

    def is_cancelled(self) -> bool:
        self._left -= 1
        return self._left < 0


@pytest.mark.parametrize("asked", [0, 1, 12, 90])
def test_a_cancel_ends_it_before_within_and_between_batches(
    quick_backend: LlamaBackend, monkeypatch: pytest.MonkeyPatch, asked: int
) -> None:
    closed: list[None] = []
    close = LlamaInspection.close
    monkeypatch.setattr(LlamaInspection, "close", lambda inspection: closed.append(close(inspection)))
    end = read(quick_backend, PROMPT, _Later(asked))[-1]
    assert isinstance(end, Failed) and end.kind == "cancelled"
    assert len(closed) == (asked > 0), "the context is given back, and made only where it is needed"
    assert rows_of(last(read(quick_backend, PROMPT)), len(PROMPT))


def test_what_cannot_be_read_is_refused(quick_backend: LlamaBackend) -> None:
    with pytest.raises(PromptTooLong, match=r"1,025 tokens.*holds 1,024"):
        read(quick_backend, tokens(quick_backend.cells + 1, 1))
    with pytest.raises(UserError, match="does not know"):
        read(quick_backend, [5, 10**6])
    with pytest.raises(UserError, match="no token"):
        read(quick_backend, [])


def test_too_little_memory_is_refused_with_the_numbers(tmp_path: Path) -> None:
    with Engine() as engine:
        engine.load(WRITERS["plain"](tmp_path / "plain.gguf"), context=1024, threads=1)
        ids = np.asarray(PROMPT, "<i4").tobytes()
        engine.send(ReadAttention(90, ids, MainMemory(1 << 34, 1 << 16, 1 << 34)))
        failed = engine.wait(Failed, request=90)
        assert failed.kind == "memory" and "0 MiB can be used" in failed.sentence.english()
        engine.send(ReadAttention(91, ids, MainMemory(1 << 34, 1 << 33, 1 << 34)))
        engine.wait(AttentionRead, request=91)


def test_a_context_that_runs_out_of_memory_is_a_refusal(
    quick_backend: LlamaBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.engine.llama.api.llama_decode", lambda handle, batch: -2)
    with pytest.raises(NoInspection):
        read(quick_backend, PROMPT)


def test_the_engine_process_reads_attention_in_turn_stops_and_goes_on(tmp_path: Path) -> None:
    ids = np.asarray(PROMPT, "<i4").tobytes()
    with Engine() as engine:
        engine.send(ReadAttention(90, ids))
        assert "No model" in engine.wait(Failed, request=90).sentence.english()
        engine.load(WRITERS["plain"](tmp_path / "plain.gguf"), context=1024, threads=1)
        asked = engine.start(as_prompt(PROMPT), limited(3))
        engine.send(ReadAttention(91, ids))
        first = engine.wait(AttentionRead, request=91)
        kinds = [type(event) for event in engine.seen if getattr(event, "request", 0) in (asked, 91)]
        assert kinds.index(PromptReady) < kinds.index(AttentionProgress), "the answer was first"
        engine.send(ReadAttention(92, ids))
        engine.send(ReadAttention(93, ids))
        engine.send(Cancel(93))
        again = engine.wait(AttentionRead, request=92)
        assert again.rows == first.rows and engine.wait(Failed, request=93).kind == "cancelled"
        engine.send(ReadAttention(94, ids))
        engine.send(Quit())
        engine.wait(Failed, AttentionRead, request=94)


def test_its_memory_is_given_back_again_and_again(quick_backend: LlamaBackend) -> None:
    ids = tokens(1024, 3)
    process = psutil.Process()
    for _ in range(5):
        read(quick_backend, ids)
    gc.collect()
    before = process.memory_info().rss
    for _ in range(40):
        read(quick_backend, ids)
    gc.collect()
    grown = process.memory_info().rss - before
    print(f"{grown / (1 << 20):.2f} MiB more")
    assert grown < 4 << 20, "forty times the cells and rows of one pass would be more"


def test_a_text_is_turned_into_the_tokens_of_a_prompt(tmp_path: Path) -> None:
    with Engine() as engine:
        engine.load(write_tiny_llama(tmp_path / "begins.gguf", tokenizer="spm"), context=64, threads=1)
        ids = []
        for request, as_prompt in ((90, False), (91, True)):
            engine.send(Tokenize(request, "it had", as_prompt=as_prompt))
            ids.append(np.frombuffer(engine.wait(Tokenized, request=request).ids, "<i4").tolist())
    plain, prompt = ids
    assert prompt[1:] == plain and len(prompt) == len(plain) + 1
