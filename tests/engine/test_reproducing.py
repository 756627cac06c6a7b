"""An answer that is written once more is the same, or the first difference is found where it is."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from app.core.chat import ChatPrompt, PromptMessage, ReadStretch
from app.core.commands import Reproduce
from app.core.events import Event, PrefillProgress, PromptReady, Tokens
from app.core.sampling import PRESETS, STAGES
from app.engine.control import Control
from app.engine.kv_cache import KVCache
from app.engine.llama_model import LlamaBackend
from app.probability.record import join_blocks, read_records
from tests.engine.exchanges import as_prompt, tokens
from tests.engine.harness import ids_of
from tests.engine.replays import again, assert_cache_is_true, assert_same, end_of, records_of, written
from tests.engine.test_going_on import QUESTION, open_prompt
from tests.engine.test_loop import finished, run

BALANCED = msgspec.structs.replace(PRESETS["Balanced"], seed=11, max_tokens=24)
"""Temperature 0.8."""
LATER = "Now tell me one of a crow."
LONG = " ".join(["Tell me a long story of a quick brown fox that jumps over a lazy dog in a garden."] * 4)


def test_an_answer_from_an_empty_cache_is_the_same_to_the_last_token(
    starter_backend: LlamaBackend, cache: KVCache
) -> None:
    command = written(starter_backend, cache, BALANCED)
    events = again(starter_backend, cache, command)
    done = end_of(events)
    assert (done.difference, done.first, done.compared, done.stop_reason) == (None, 0, 24, "length")
    ready = events[0]
    assert isinstance(ready, PromptReady)
    assert (ready.from_cache, ready.spans) == (0, command.spans)
    assert b"".join(event.ids for event in events if isinstance(event, Tokens)) == command.ids
    assert_cache_is_true(cache, command, done)


def test_an_answer_that_found_its_prompt_in_the_cache_is_the_same(
    starter_backend: LlamaBackend, cache: KVCache
) -> None:
    written(starter_backend, cache, msgspec.structs.replace(BALANCED, max_tokens=3))
    command = written(starter_backend, cache, BALANCED)
    done = end_of(again(starter_backend, cache, command))
    assert_same(done, command)
    assert_cache_is_true(cache, command, done)


def test_sliders_that_were_moved_are_moved_again(starter_backend: LlamaBackend, cache: KVCache) -> None:
    def move(event: Event, control: Control) -> None:
        if isinstance(event, Tokens) and event.first == 0:
            control.settings = msgspec.structs.replace(PRESETS["Wild"], seed=99)

    command = written(starter_backend, cache, BALANCED, on_event=move)
    assert [change.settings.temperature for change in command.settings] == [0.8, 1.6]
    assert_same(end_of(again(starter_backend, cache, command)), command)


def test_penalties_look_back_at_prompt_and_answer_alike(starter_backend: LlamaBackend, cache: KVCache) -> None:
    settings = msgspec.structs.replace(
        BALANCED, repeat_penalty=1.3, dry_multiplier=0.8, xtc_probability=0.5, xtc_threshold=0.05
    )
    command = written(starter_backend, cache, settings)
    assert_same(end_of(again(starter_backend, cache, command)), command)


def test_an_answer_that_went_on_is_written_again_in_one(starter_backend: LlamaBackend, cache: KVCache) -> None:
    limited = msgspec.structs.replace(BALANCED, max_tokens=8)
    begun = run(starter_backend, ChatPrompt((QUESTION,)), limited, cache=cache)
    first = finished(begun)
    events = run(starter_backend, open_prompt(first), limited, cache=cache, first_token=8)
    rest, ready = finished(events), next(event for event in events if isinstance(event, PromptReady))
    span = next(span for span in ready.spans if span.part == "answer")
    assert first.seed is not None
    command = Reproduce(
        2,
        ready.ids[: span.start * 4],
        first.ids + rest.ids,
        (*first.settings, *rest.settings),
        first.seed,
        0,
        given=8,
        record=(*records_of(begun), *records_of(events)),
    )
    done = end_of(again(starter_backend, cache, command))
    assert_same(done, command)
    assert done.first == 0


def test_words_that_were_given_are_not_drawn(starter_backend: LlamaBackend, cache: KVCache) -> None:
    begun = ChatPrompt((QUESTION, PromptMessage("assistant", "Once upon")), continue_last=True)
    events = run(starter_backend, begun, BALANCED, cache=cache)
    done, ready = finished(events), next(event for event in events if isinstance(event, PromptReady))
    span = next(span for span in ready.spans if span.part == "answer")
    given = span.end - span.start
    assert done.settings[0].token == given
    ids = ready.ids[span.start * 4 :] + done.ids
    command = Reproduce(2, ready.ids[: span.start * 4], ids, done.settings, BALANCED.seed or 0, 0, given=given)
    command = msgspec.structs.replace(command, record=records_of(events))
    found = end_of(again(starter_backend, cache, command))
    assert_same(found, command)
    assert found.first == given


def test_another_token_is_found_where_it_is_with_its_gap(starter_backend: LlamaBackend, cache: KVCache) -> None:
    command = written(starter_backend, cache, BALANCED)
    records, ids = read_records(join_blocks(command.record)), ids_of(command.ids)
    others, log_probabilities = records.alternatives(9)
    other = next(place for place in range(len(others)) if others[place] != ids[9])
    wrong = np.asarray([*ids[:9], others[other], *ids[10:]], np.int32).tobytes()
    done = end_of(again(starter_backend, cache, msgspec.structs.replace(command, ids=wrong)))
    found = done.difference
    assert found is not None
    assert (found.token, found.stored, found.drawn, done.compared) == (9, int(others[other]), ids[9], 9)
    expected = abs(float(records.log_probability[9]) - float(log_probabilities[other]))
    assert found.gap == pytest.approx(expected, abs=0.02)  # the record keeps alternatives in 16 bits
    assert found.stored_gap is None  # this record is of other tokens
    assert_cache_is_true(cache, command, done)


def test_the_record_knows_how_far_apart_the_two_were_then(starter_backend: LlamaBackend, cache: KVCache) -> None:
    command = written(starter_backend, cache, BALANCED)
    found = end_of(again(starter_backend, cache, msgspec.structs.replace(command, seed=12))).difference
    assert found is not None and found.stored_gap is not None
    assert found.gap > 0 and found.stored_gap == pytest.approx(found.gap, abs=0.02)
    assert found.draw_distance is None or found.draw_distance > 0
    without = msgspec.structs.replace(command, seed=12, record=())
    same = end_of(again(starter_backend, cache, without)).difference
    assert same == msgspec.structs.replace(found, stored_gap=None)


@pytest.mark.parametrize("kind", [PrefillProgress, Tokens])
def test_a_cancel_ends_it_in_whatever_phase_and_the_cache_stays_true(
    quick_backend: LlamaBackend, quick_cache: KVCache, kind: type[Event]
) -> None:
    long = as_prompt(tokens(600, 1))
    command = written(quick_backend, quick_cache, msgspec.structs.replace(BALANCED, max_tokens=12), long)

    def cancel(event: Event, control: Control) -> None:
        control.cancelled = control.cancelled or isinstance(event, kind)

    done = end_of(again(quick_backend, quick_cache, command, cancel))
    assert (done.stop_reason, done.difference) == ("cancelled", None)
    assert done.compared < 12
    assert_cache_is_true(quick_cache, command, done)


def test_the_next_turn_reuses_what_the_reproduction_left(starter_backend: LlamaBackend, cache: KVCache) -> None:
    command = written(starter_backend, cache, BALANCED)
    text = "".join(starter_backend.vocabulary.piece(token).decode() for token in ids_of(command.ids))
    again(starter_backend, cache, command)
    answer = PromptMessage("assistant", text, command.ids)
    following = ChatPrompt((QUESTION, answer, PromptMessage("user", LATER)))
    limited = msgspec.structs.replace(BALANCED, max_tokens=8)
    warm = written(starter_backend, cache, limited, following)
    events = run(starter_backend, following, limited, cache=cache)
    ready = events[0]
    assert isinstance(ready, PromptReady)
    assert ready.from_cache == len(ready.ids) // 4 - 1
    assert_same(end_of(again(starter_backend, cache, warm)), warm)


def test_the_first_turn_after_it_finds_prompt_and_answer_in_the_cache(
    starter_backend: LlamaBackend, cache: KVCache
) -> None:
    command = written(starter_backend, cache, BALANCED)
    again(starter_backend, cache, command)
    text = "".join(starter_backend.vocabulary.piece(token).decode() for token in ids_of(command.ids))
    following = ChatPrompt((QUESTION, PromptMessage("assistant", text, command.ids), PromptMessage("user", LATER)))
    ready = run(starter_backend, following, msgspec.structs.replace(BALANCED, max_tokens=1), cache=cache)[0]
    assert isinstance(ready, PromptReady)
    assert ready.from_cache == len(command.prompt + command.ids) // 4 - 1  # the last token is never decoded


def test_a_prompt_is_read_in_the_stretches_in_which_it_had_come_into_the_cache(
    starter_backend: LlamaBackend, cache: KVCache
) -> None:
    first = written(starter_backend, cache, BALANCED, ChatPrompt((PromptMessage("user", LONG),)))
    text = "".join(starter_backend.vocabulary.piece(token).decode() for token in ids_of(first.ids))
    question, answer = PromptMessage("user", LONG), PromptMessage("assistant", text, first.ids)
    following = ChatPrompt((question, answer, PromptMessage("user", LONG.replace("fox", "crow"))))
    warm = written(starter_backend, cache, BALANCED, following)
    asked, said = len(first.prompt) // 4, len(first.ids) // 4
    cached = asked + said - 1  # the last token is never decoded
    stretches = (ReadStretch(asked), ReadStretch(cached, one_by_one=True))
    events = again(starter_backend, cache, msgspec.structs.replace(warm, stretches=stretches))
    read = [event.done for event in events if isinstance(event, PrefillProgress)]
    assert read == [asked, *range(asked + 1, cached + 1), len(warm.prompt) // 4]
    assert end_of(events).difference is None
    assert end_of(events).compared == len(warm.ids) // 4
    # So that this is a test: a batch of more than 64 rounds otherwise.
    assert asked > 64 < read[-1] - cached


@pytest.mark.parametrize("is_recorded", [True, False])
def test_what_was_added_behind_another_prompt_is_the_same_and_its_beginning_is_given(
    starter_backend: LlamaBackend, cache: KVCache, is_recorded: bool
) -> None:
    short = msgspec.structs.replace(BALANCED, max_tokens=8)
    first = finished(run(starter_backend, ChatPrompt((QUESTION,)), short, cache=cache))
    begun = open_prompt(first, earlier=(PromptMessage("system", "You are a pirate. Speak French only."),))
    events = run(starter_backend, begun, short, cache=cache, first_token=8)
    rest, ready = finished(events), next(event for event in events if isinstance(event, PromptReady))
    span = next(span for span in ready.spans if span.part == "answer")
    command = Reproduce(
        request=2,
        prompt=ready.ids[: span.start * 4],
        ids=first.ids + rest.ids,
        settings=rest.settings,
        seed=rest.seed or 0,
        sent_ns=0,
        given=8,
        record=records_of(events) if is_recorded else (),
    )
    done = end_of(again(starter_backend, cache, command))
    assert (done.difference, done.first, done.compared) == (None, 8, 16)


def test_an_answer_whose_stages_were_moved_and_switched_is_the_same(
    starter_backend: LlamaBackend, cache: KVCache
) -> None:
    hot = msgspec.structs.replace(
        BALANCED, temperature=1.4, repeat_penalty=1.2, order=("temperature", "top_k", "penalties"), off=("min_p",)
    )

    def move(event: Event, control: Control) -> None:
        if isinstance(event, Tokens) and event.first == 0:
            control.settings = msgspec.structs.replace(hot, order=STAGES[::-1], off=())

    command = written(starter_backend, cache, hot, on_event=move)
    assert [(change.settings.order[-1], change.settings.off) for change in command.settings] == [
        ("dry", ("min_p",)),
        ("penalties", ()),
    ]
    assert_same(end_of(again(starter_backend, cache, command)), command)
