"""The scores of a prompt are those of reading it token by token, and nothing of the chat changes for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from app.core.commands import Cancel, ScorePrompt
from app.core.errors import UserError
from app.core.events import Event, Failed, PromptReady
from app.core.model import INSPECTION_BATCH, LoadOptions
from app.core.prompt_scores import PromptScored, ScoreProgress
from app.engine.backend import Backend
from app.engine.control import Control
from app.engine.inspection import LlamaInspection
from app.engine.kv_cache import KVCache
from app.engine.llama import LogCapture
from app.engine.llama_model import LlamaBackend
from app.engine.logits import BrokenLogits
from app.engine.prompt_size import PromptTooLong
from app.engine.scoring import score
from app.engine.scripted import Script
from app.probability.row import RowReader
from tests.engine.exchanges import OPTIONS, WRITERS, as_prompt, limited, tokens
from tests.engine.harness import Engine, assert_same_answer, records_of, write_script
from tests.engine.test_loop import finished, run, scripted

NEAR = 0.02
PROMPT = tokens(3 * INSPECTION_BATCH + 9, 1)
"""Several batches, and several times the window of the models here."""
TEXT = (
    "The sky looks blue because air scatters the light of short waves more than that of long ones. Towards evening the "
    "light has a longer way through the air, most of the blue is gone before it arrives, and the sun turns red. On the "
    "Moon there is no air, and its sky is black at noon. Lord Rayleigh worked this out in 1871."
)
Column = npt.NDArray[Any]


def scored(backend: Backend, ids: list[int], control: Control | None = None) -> list[Event]:
    """Score a prompt to the end."""
    command = ScorePrompt(1, np.asarray(ids, "<i4").tobytes())
    return list(score(backend, command, control or Control(1)))


def columns(events: list[Event]) -> tuple[Column, Column, Column]:
    """Return log-probabilities, ranks and entropies, shape (tokens - 1,) each."""
    end = events[-1]
    assert isinstance(end, PromptScored), end
    return (
        np.frombuffer(end.log_probabilities, "<f4"),
        np.frombuffer(end.ranks, "<u4"),
        np.frombuffer(end.entropies, "<f4"),
    )


def one_by_one(backend: LlamaBackend, ids: list[int]) -> tuple[Column, Column, Column, Column]:
    """Return the same, read in the chat's context as an answer is, and the log-probabilities of all tokens."""
    reader, found, rows = RowReader(backend.vocabulary.size), [], []
    backend.remove(0, 0)
    for position, token in enumerate(ids[:-1]):
        assert backend.decode([token], position, sequence=0, logits=True) == "done"
        row, following = backend.logits(), ids[position + 1]
        facts = reader.read(row)
        found.append((float(row[following]) - facts.log_sum_exp, facts.rank(following), facts.entropy))
        rows.append(row - np.float32(facts.log_sum_exp))
    backend.remove(0, 0)
    return (*(np.asarray(column) for column in zip(*found, strict=True)), np.asarray(rows))  # type: ignore[return-value]


@pytest.fixture(params=list(WRITERS))
def backend(request: pytest.FixtureRequest, llama_log: LogCapture, tmp_path: Path) -> Iterator[LlamaBackend]:
    """A small model of each kind of memory."""
    path = WRITERS[request.param](tmp_path / f"{request.param}.gguf")
    loaded = LlamaBackend(str(path), LoadOptions(**OPTIONS), llama_log, lambda percent: True)  # type: ignore[arg-type]
    yield loaded
    loaded.close()


def test_the_scores_are_those_of_reading_token_by_token(backend: LlamaBackend) -> None:
    log_probabilities, ranks, entropies = columns(scored(backend, PROMPT))
    expected, places, uncertainties, rows = one_by_one(backend, PROMPT)
    gap = float(np.abs(log_probabilities - expected).max())
    print(f"{gap:.5f} apart")
    assert gap <= NEAR
    assert np.abs(entropies - uncertainties).max() <= NEAR
    # A rank may differ by the tokens that are as likely as this one, within what the two may be apart.
    ties = (np.abs(rows - expected[:, None]) <= 2 * NEAR).sum(1)
    assert (np.abs(ranks.astype(int) - places) < ties).all()
    assert 1 < np.median(ranks) < backend.vocabulary.size


def test_the_starter_model_finds_a_prompt_as_surprising_as_read_token_by_token(starter_backend: LlamaBackend) -> None:
    """Its weights have four bits, and activations are rounded to eight.

    Another attention kernel or other batches add up in another order, which moves single tokens by some tenths. On
    average of a hundred tokens little is left of that.
    """
    ids = starter_backend.vocabulary.tokenize(TEXT, special=False)
    log_probabilities, ranks, entropies = columns(scored(starter_backend, ids))
    expected, places, uncertainties, _ = one_by_one(starter_backend, ids)
    apart = log_probabilities - expected
    print(f"mean {apart.mean():.4f}, {np.abs(apart).mean():.4f} a token, {np.abs(apart).max():.4f} at most")
    assert abs(apart.mean()) <= 0.05
    assert np.abs(apart).mean() <= 0.15 and np.abs(apart).max() <= 0.8
    assert abs((entropies - uncertainties).mean()) <= 0.05
    assert np.corrcoef(np.log(ranks), np.log(places))[0, 1] > 0.98


def test_progress_comes_with_every_batch_and_ends_with_the_prompt(quick_backend: LlamaBackend) -> None:
    events = scored(quick_backend, PROMPT)
    progress = [event for event in events if isinstance(event, ScoreProgress)]
    done = [*range(INSPECTION_BATCH, len(PROMPT) - 1, INSPECTION_BATCH), len(PROMPT) - 1]
    assert [(each.done, each.total) for each in progress] == [(count + 1, len(PROMPT)) for count in done]
    assert [len(column) for column in columns(events)] == [len(PROMPT) - 1] * 3


def test_the_chat_goes_on_as_if_nothing_had_been_scored(backend: LlamaBackend) -> None:
    cache = KVCache(backend)
    run(backend, as_prompt(PROMPT), limited(5), cache=cache)
    before = cache.use, cache.ids.tolist(), backend.memory, backend.sequences.count
    columns(scored(backend, tokens(300, 3)))
    assert (cache.use, cache.ids.tolist(), backend.memory, backend.sequences.count) == before
    further = [*PROMPT, *tokens(40, 2)]
    got = run(backend, as_prompt(further), limited(12), cache=cache)
    assert finished(got).metrics.prompt_tokens_from_cache >= len(PROMPT) - 1
    expected = run(backend, as_prompt(further), limited(12), cache=KVCache(backend))
    assert_same_answer(records_of(got, 1), records_of(expected, 1))


def test_a_cancel_ends_the_pass_between_two_batches(
    quick_backend: LlamaBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[None] = []
    close = LlamaInspection.close
    monkeypatch.setattr(LlamaInspection, "close", lambda inspection: closed.append(close(inspection)))
    control = Control(1)
    events = []
    for event in score(quick_backend, ScorePrompt(1, np.asarray(PROMPT, "<i4").tobytes()), control):
        assert (not isinstance(event, Failed)) or closed
        events.append(event)
        control.cancel()
    first, last = events
    assert isinstance(first, ScoreProgress) and first.done == INSPECTION_BATCH + 1
    assert isinstance(last, Failed) and last.kind == "cancelled"


class _Later(Control):
    """Is cancelled once it was asked so often."""

    def __init__(self, asked: int) -> None:
        super().__init__(1)
        self._left = asked

    def is_cancelled(self) -> bool:
        self._left -= 1
        return self._left < 0


def test_a_cancel_ends_the_pass_in_the_middle_of_a_batch(quick_backend: LlamaBackend) -> None:
    (event,) = scored(quick_backend, PROMPT, _Later(12))
    assert isinstance(event, Failed) and event.kind == "cancelled"


def test_where_nothing_stops_a_batch_the_next_one_does_not_begin() -> None:
    control, events = Control(1), []
    command = ScorePrompt(1, np.arange(60, 160, dtype="<i4").tobytes())
    for event in score(scripted(), command, control):
        events.append(event)
        control.cancel()
    assert [type(event) for event in events] == [ScoreProgress, Failed]


def test_a_pass_that_was_cancelled_while_it_waited_makes_no_context(
    quick_backend: LlamaBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quick_backend, "inspect", None)
    (event,) = scored(quick_backend, PROMPT, _Later(0))
    assert isinstance(event, Failed) and event.kind == "cancelled"


def test_a_prompt_that_is_longer_than_the_context_is_refused(quick_backend: LlamaBackend) -> None:
    columns(scored(quick_backend, tokens(quick_backend.cells, 1)))
    with pytest.raises(PromptTooLong, match=r"1,025 tokens.*holds 1,024") as refused:
        scored(quick_backend, tokens(quick_backend.cells + 1, 1))
    assert refused.value.tokens == quick_backend.cells + 1


@pytest.mark.parametrize("token", [-1, 10**6])
def test_tokens_that_the_model_does_not_have_are_refused(quick_backend: LlamaBackend, token: int) -> None:
    with pytest.raises(UserError, match="does not know"):
        scored(quick_backend, [5, token, 5])


@pytest.mark.parametrize("ids", [[], [5]])
def test_before_the_first_token_there_is_nothing_to_be_surprised_at(
    quick_backend: LlamaBackend, ids: list[int]
) -> None:
    assert [len(column) for column in columns(scored(quick_backend, ids))] == [0, 0, 0]


def test_values_that_are_no_numbers_are_the_models_fault(
    quick_backend: LlamaBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = quick_backend.vocabulary.size
    monkeypatch.setattr(
        LlamaInspection, "rows", lambda self, ids, position: np.full((len(ids), size), np.nan, np.float32)
    )
    with pytest.raises(BrokenLogits):
        scored(quick_backend, PROMPT)


def test_the_engine_process_scores_prompts_in_turn(tmp_path: Path) -> None:
    ids = np.asarray(PROMPT, "<i4").tobytes()
    with Engine() as engine:
        engine.send(ScorePrompt(90, ids))
        assert "No model" in engine.wait(Failed, request=90).sentence.english()
        engine.load(WRITERS["plain"](tmp_path / "plain.gguf"), context=1024, threads=1)
        asked = engine.start(as_prompt(PROMPT), limited(3))
        engine.send(ScorePrompt(91, ids))
        end = engine.wait(PromptScored, request=91)
        kinds = [type(event) for event in engine.seen if getattr(event, "request", 0) in (asked, 91)]
        assert kinds.index(PromptReady) < kinds.index(ScoreProgress), "the answer was first"
        assert len(end.ranks) == 4 * (len(PROMPT) - 1)
        engine.send(ScorePrompt(92, np.asarray(tokens(1025, 1), "<i4").tobytes()))
        assert engine.wait(Failed, request=92).kind == "prompt_too_long"


def test_a_script_takes_its_time_and_can_be_cancelled(tmp_path: Path) -> None:
    ids = np.arange(60, 160, dtype="<i4").tobytes()
    with Engine("scripted") as engine:
        engine.load(write_script(tmp_path, Script(prefill_tokens_per_s=400.0)))
        engine.send(ScorePrompt(90, ids))
        engine.wait(ScoreProgress, request=90)
        engine.send(Cancel(90))
        assert engine.wait(Failed, PromptScored, request=90) == engine.seen[-1]
        assert isinstance(engine.seen[-1], Failed) and engine.seen[-1].kind == "cancelled"
        engine.send(ScorePrompt(91, ids))
        ranks = np.frombuffer(engine.wait(PromptScored, request=91).ranks, "<u4")
        assert ranks[0] == 1 and ranks.max() > 1
