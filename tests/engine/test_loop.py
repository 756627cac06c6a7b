"""Once round the loop and out of it: every way in which an answer goes on or ends."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec
import numpy as np
import pytest

from app.core.chat import ChatPrompt, PromptMessage, TextPrompt, TokenPrompt
from app.core.commands import Generate, SettingsChange
from app.core.events import Event, Finished, PrefillProgress, PromptReady, Step, Tokens
from app.core.sampling import PRESETS, SamplingSettings
from app.engine.backend import Backend, TokenIds
from app.engine.control import Control
from app.engine.kv_cache import KVCache
from app.engine.llama_model import LlamaBackend
from app.engine.loop import Answer
from app.engine.prompt_size import PromptTooLong
from app.engine.scripted import Script, ScriptedBackend
from app.probability.record import join_blocks, read_records
from tests.engine.harness import GREEDY, ids_of, user

ANSWER = "Light bends. 日本 😀 done"


def scripted(**script: object) -> ScriptedBackend:
    return ScriptedBackend(Script(**{"answers": (ANSWER,), **script}), "script")  # type: ignore[arg-type]


def run(
    backend: Backend,
    prompt: object = None,
    settings: SamplingSettings = GREEDY,
    *,
    cache: KVCache | None = None,
    on_event: Callable[[Event, Control], None] = lambda event, control: None,
    watched: bool = False,
    whole: bool = False,
    **more: object,
) -> list[Event]:
    """Run one answer to its end and return its events."""
    control = Control(1)
    command = Generate(1, prompt or user("Why?"), settings, time.perf_counter_ns(), **more)  # type: ignore[arg-type]
    events = []
    for event in Answer(backend, cache or KVCache(backend), command, control).run(lambda: watched, lambda: whole):
        events.append(event)
        on_event(event, control)
    return events


def finished(events: list[Event]) -> Finished:
    last = events[-1]
    assert isinstance(last, Finished)
    return last


def streamed(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Tokens))


def test_the_events_come_in_the_order_of_the_stages() -> None:
    kinds = [type(event) for event in run(scripted())]
    assert kinds[:2] == [PromptReady, PrefillProgress]
    assert set(kinds[2:-1]) == {Tokens}
    assert kinds[-1] is Finished


def test_streamed_text_and_final_text_are_the_same() -> None:
    events = run(scripted())
    assert finished(events).stop_reason == "end"
    assert streamed(events) == finished(events).text == ANSWER
    assert len(ids_of(finished(events).ids)) == len(ANSWER.encode()) + 1


def test_the_end_token_counts_as_sampled_and_says_nothing() -> None:
    done = finished(run(scripted()))
    assert done.metrics.sampled_tokens == len(ANSWER.encode()) + 1
    assert "<|end|>" not in done.text


@pytest.mark.parametrize(("limit", "text"), [(5, "Light"), (15, "Light bends. \ufffd"), (16, "Light bends. 日")])
def test_a_length_limit_never_shows_half_a_character(limit: int, text: str) -> None:
    limit = limit + 1 if limit > 5 else limit
    events = run(scripted(), settings=msgspec.structs.replace(GREEDY, max_tokens=limit - 1 if limit == 16 else limit))
    done = finished(events)
    assert done.stop_reason == "length"
    expected = ANSWER.encode()[: done.metrics.sampled_tokens].decode("utf-8", "ignore")
    assert done.text.rstrip("\ufffd") == expected
    assert done.text.count("\ufffd") <= 1
    assert streamed(events) == done.text


@pytest.mark.parametrize(
    ("stop", "text"),
    [(("bends",), "Light "), (("L",), ""), (("xyz", "本 😀"), "Light bends. 日"), (("ends. 日本", "end"), "Light b")],
)
def test_a_stop_string_ends_the_answer_and_never_leaks(stop: tuple[str, ...], text: str) -> None:
    events = run(scripted(), settings=msgspec.structs.replace(GREEDY, stop=stop))
    assert finished(events).stop_reason == "stop_string"
    assert streamed(events) == finished(events).text == text


def test_text_that_only_began_like_a_stop_string_is_let_go() -> None:
    events = run(scripted(), settings=msgspec.structs.replace(GREEDY, stop=("done and more", "😀 d!")))
    assert finished(events).stop_reason == "end"
    assert streamed(events) == ANSWER


def test_a_blank_stop_string_is_dropped_with_a_hint() -> None:
    events = run(scripted(), settings=msgspec.structs.replace(GREEDY, stop=("", "  ")))
    assert finished(events).stop_reason == "end"
    assert isinstance(events[0], PromptReady) and events[0].notes


def test_an_answer_ends_when_the_context_is_full_and_keeps_what_it_has() -> None:
    backend = scripted(answers=("x" * 600,), context=256)
    done = finished(run(backend))
    assert done.stop_reason == "context_full"
    assert set(done.text) == {"x"}
    assert done.metrics.prompt_tokens + done.metrics.sampled_tokens == 256


@pytest.mark.parametrize(("result", "reason"), [("no_room", "context_full"), ("aborted", "cancelled")])
def test_an_answer_whose_decode_came_to_nothing_keeps_what_it_has(
    result: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = scripted()
    decode, asked = backend.decode, []

    def decode_a_few(ids: TokenIds, position: int, *, sequence: int, logits: bool) -> object:
        asked.append(len(ids))
        is_over = asked.count(1) > 5
        return result if is_over else decode(ids, position, sequence=sequence, logits=logits)

    monkeypatch.setattr(backend, "decode", decode_a_few)
    events = run(backend)
    assert finished(events).stop_reason == reason
    assert streamed(events) == finished(events).text == "Light "


def test_a_prompt_that_cannot_fit_says_so_with_the_numbers_and_loses_nothing() -> None:
    backend = scripted(context=256)
    cache = KVCache(backend)
    run(backend, cache=cache)
    held = list(cache.ids)
    with pytest.raises(PromptTooLong) as caught:
        run(backend, TokenPrompt(np.full(256, 65, np.int32).tobytes()), cache=cache)
    assert "256" in caught.value.sentence.english()
    assert list(cache.ids) == held
    just_fits = finished(run(backend, TokenPrompt(np.full(255, 65, np.int32).tobytes()), cache=cache))
    assert just_fits.stop_reason == "context_full"
    assert just_fits.metrics.sampled_tokens == 1


def test_a_cancel_ends_within_one_token_and_keeps_the_text() -> None:
    def cancel(event: Event, control: Control) -> None:
        control.cancelled = control.cancelled or isinstance(event, Tokens)

    events = run(scripted(), on_event=cancel)
    done = finished(events)
    assert done.stop_reason == "cancelled"
    assert done.metrics.sampled_tokens == 2
    assert streamed(events) == done.text == "Li"


def test_a_cancel_during_prefill_ends_with_no_text() -> None:
    def cancel(event: Event, control: Control) -> None:
        control.cancelled = True

    done = finished(run(scripted(), on_event=cancel))
    assert (done.stop_reason, done.text, done.metrics.ttft_ms) == ("cancelled", "", None)


def test_moved_settings_hold_from_the_next_token_and_can_be_replayed() -> None:
    wild = msgspec.structs.replace(PRESETS["Wild"], seed=3)

    def move(event: Event, control: Control) -> None:
        if isinstance(event, PrefillProgress):
            control.settings = GREEDY

    done = finished(run(scripted(), settings=wild, on_event=move))
    greedy = msgspec.structs.replace(GREEDY, seed=3)
    assert done.settings == (SettingsChange(0, greedy),)
    replayed = finished(run(scripted(), settings=wild, replay=(SettingsChange(4, GREEDY),)))
    assert replayed.settings == (SettingsChange(0, wild), SettingsChange(4, greedy))
    assert replayed.seed == 3


def test_tokens_tell_which_settings_hold_from_one_of_them_on() -> None:
    wild = msgspec.structs.replace(PRESETS["Wild"], seed=3)
    events = run(scripted(), settings=wild, first_token=2, replay=(SettingsChange(6, GREEDY),))
    told = [(event.first, event.count, event.settings) for event in events if isinstance(event, Tokens)]
    assert tuple(change for _first, _count, moved in told for change in moved) == finished(events).settings
    assert [change.token for change in finished(events).settings] == [2, 6]
    for first, count, moved in told:
        assert all(2 + first <= change.token < 2 + first + count for change in moved)


def test_seed_limits_and_stops_stay_those_of_the_answer_when_settings_move() -> None:
    asked = SamplingSettings(seed=3, max_tokens=9, stop=("zzz",))

    def move(event: Event, control: Control) -> None:
        control.settings = SamplingSettings(temperature=0.1, seed=99, max_tokens=2, stop=("L",))

    done = finished(run(scripted(), settings=asked, on_event=move))
    assert (done.metrics.sampled_tokens, done.stop_reason, done.seed) == (9, "length", 3)
    last = done.settings[-1].settings
    assert (last.temperature, last.seed, last.max_tokens, last.stop) == (0.1, 3, 9, ("zzz",))


def test_a_random_seed_is_drawn_anew_and_kept() -> None:
    seeds = {finished(run(scripted(), settings=PRESETS["Balanced"])).seed for _ in range(4)}
    assert len(seeds) == 4


def test_whoever_looks_gets_the_latest_step_and_at_the_end_the_whole_row() -> None:
    steps = [event for event in run(scripted(), watched=True) if isinstance(event, Step)]
    first, last = steps[0], steps[-1]
    assert len(np.frombuffer(first.logits, np.float32)) == len(ids_of(first.ids)) == 512
    assert last.ids == b""
    row = np.frombuffer(last.logits, np.float32)
    assert row.shape == (512,)
    assert last.token == len(ANSWER.encode())
    assert float(np.log(np.exp(row.astype(np.float64)).sum())) == pytest.approx(last.log_sum_exp, abs=1e-3)
    assert not [event for event in run(scripted()) if isinstance(event, Step)]


def test_the_record_tells_of_every_token() -> None:
    events = run(scripted(), settings=PRESETS["Balanced"])
    blocks = [event.record for event in events if isinstance(event, Tokens)]
    records = read_records(join_blocks(blocks))
    assert list(records.tokens) == ids_of(finished(events).ids)
    assert (records.rank == 1).all()
    assert (records.probability_after > 0.9).all()
    assert (np.diff(records.time) >= 0).all()
    unrecorded = run(scripted(), record="off")
    assert {event.record for event in unrecorded if isinstance(event, Tokens)} == {b""}


def test_the_next_turn_evaluates_only_what_is_new(starter_backend: LlamaBackend, cache: KVCache) -> None:
    limited = msgspec.structs.replace(GREEDY, max_tokens=12)
    messages = [PromptMessage("user", "Name three colours.")]
    first = finished(run(starter_backend, ChatPrompt(tuple(messages)), limited, cache=cache))
    messages += [PromptMessage("assistant", first.text, first.ids), PromptMessage("user", "And three animals.")]
    second = finished(run(starter_backend, ChatPrompt(tuple(messages)), limited, cache=cache))
    new = second.metrics.prompt_tokens - first.metrics.prompt_tokens - first.metrics.sampled_tokens
    evaluated = second.metrics.prompt_tokens - second.metrics.prompt_tokens_from_cache
    assert evaluated == new + 1
    regenerated = finished(run(starter_backend, ChatPrompt(tuple(messages)), limited, cache=cache))
    assert regenerated.metrics.prompt_tokens - regenerated.metrics.prompt_tokens_from_cache == 1
    assert regenerated.text == second.text


def test_the_same_seed_gives_the_same_answer_again(starter_backend: LlamaBackend) -> None:
    settings = msgspec.structs.replace(PRESETS["Creative"], seed=11, max_tokens=24)
    texts = set()
    for _ in range(2):
        starter_backend.remove(0, 0)
        texts.add(finished(run(starter_backend, user("Tell me a story."), settings)).text)
    assert len(texts) == 1
    other = msgspec.structs.replace(settings, seed=12)
    starter_backend.remove(0, 0)
    assert finished(run(starter_backend, user("Tell me a story."), other)).text not in texts


def test_plain_text_is_continued_without_a_template(starter_backend: LlamaBackend, cache: KVCache) -> None:
    events = run(
        starter_backend,
        TextPrompt("One, two, three, four,"),
        msgspec.structs.replace(GREEDY, max_tokens=4),
        cache=cache,
    )
    assert "five" in finished(events).text
    assert isinstance(events[0], PromptReady)
    assert ids_of(events[0].ids) == starter_backend.vocabulary.tokenize("One, two, three, four,", special=False)
