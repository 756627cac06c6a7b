"""How an answer that is written once more ends, and what of it is not drawn."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from app.core.chat import PromptSpan
from app.core.commands import Reproduce, SettingsChange
from app.core.errors import UserError
from app.core.events import PromptReady
from app.core.replay_events import Reproduced
from app.core.sampling import PRESETS, SamplingSettings
from app.engine.kv_cache import KVCache
from app.engine.prompt_size import PromptTooLong
from app.engine.scripted import Script, ScriptedBackend
from app.probability.draw import GENERATOR_VERSION
from app.probability.record import FORCED, RecordWriter
from app.probability.row import RowReader
from tests.engine.harness import GREEDY, Engine, ids_of, write_script
from tests.engine.replays import again, end_of, written


def scripted(**script: object) -> ScriptedBackend:
    return ScriptedBackend(Script(**{"answers": ("Light bends.",), **script}), "script")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (GREEDY, "end"),
        (msgspec.structs.replace(GREEDY, stop=("bend",)), "stop_string"),
        (msgspec.structs.replace(GREEDY, max_tokens=5), "length"),
        (PRESETS["Wild"], "end"),
    ],
)
def test_it_ends_as_the_answer_did(settings: SamplingSettings, reason: str) -> None:
    backend = scripted()
    cache = KVCache(backend)
    command = written(backend, cache, settings)
    done = end_of(again(backend, cache, command))
    assert (done.difference, done.compared, done.stop_reason) == (None, len(command.ids) // 4, reason)


def test_it_goes_on_where_a_stop_is_found_no_more() -> None:
    backend = scripted()
    cache = KVCache(backend)
    command = written(backend, cache, msgspec.structs.replace(GREEDY, stop=("bend",)))
    without = msgspec.structs.replace(command, settings=(SettingsChange(0, GREEDY),))
    assert end_of(again(backend, cache, without)).stop_reason == "length"
    parts = (*command.settings, SettingsChange(3, GREEDY))
    assert end_of(again(backend, cache, msgspec.structs.replace(command, settings=parts))).stop_reason is None


def test_a_stop_that_begins_in_given_words_ends_it_all_the_same() -> None:
    backend = scripted(answers=(" bends.",))
    cache = KVCache(backend)
    settings = msgspec.structs.replace(GREEDY, stop=("t b",))
    ids = np.asarray(list(b"Light b"), np.int32).tobytes()
    command = Reproduce(2, ids, ids, (SettingsChange(5, settings),), 1, 0, given=5)
    done = end_of(again(backend, cache, command))
    assert (done.first, done.compared, done.stop_reason) == (5, 7, "stop_string")


def test_tokens_that_somebody_forced_are_forced_again() -> None:
    backend = scripted()
    cache = KVCache(backend)
    command = written(backend, cache, GREEDY)
    ids = ids_of(command.ids)
    forced = [*ids[:3], ord("X"), *ids[4:]]
    facts = RowReader(backend.vocabulary.size).read(backend.logits())
    record = RecordWriter(backend.vocabulary.size)
    for place, token in enumerate(forced):
        record.add(token, 0.0, facts, 1, 1.0, place, FORCED if place == 3 else 0)
    changed = msgspec.structs.replace(command, ids=np.asarray(forced, np.int32).tobytes())
    told = msgspec.structs.replace(changed, record=(record.take(),))
    assert end_of(again(backend, cache, told)).difference is None
    found = end_of(again(backend, cache, msgspec.structs.replace(changed, record=()))).difference
    assert found is not None and found.token == 3


def test_a_beginning_that_was_sent_in_other_tokens_is_taken_as_it_was_sent() -> None:
    backend = scripted(answers=("", " bends."))
    cache = KVCache(backend)
    command = written(backend, cache, GREEDY)
    rest = np.asarray([*b" bends.", 257], np.int32)
    facts = RowReader(backend.vocabulary.size).read(backend.logits())
    record = RecordWriter(backend.vocabulary.size)
    for place, token in enumerate(rest.tolist()):
        record.add(token, 0.0, facts, 1, 1.0, place)
    ids = np.asarray(list(b"Lite"), np.int32).tobytes() + rest.tobytes()
    sent = msgspec.structs.replace(command, ids=ids, given=4, record=(record.take(),))
    backend = scripted(answers=(" bends.",))
    done = end_of(again(backend, KVCache(backend), sent))
    assert (done.first, done.compared, done.difference) == (4, 12, None)


def test_a_full_context_ends_it_before_the_end() -> None:
    backend = scripted(answers=("x" * 300,), context=512)
    command = written(backend, KVCache(backend), GREEDY)
    small = scripted(answers=("x" * 300,), context=256)
    done = end_of(again(small, KVCache(small), command))
    assert (done.stop_reason, done.difference) == ("context_full", None)
    assert 0 < done.compared < 301


def test_a_prompt_that_does_not_fit_is_refused_before_the_cache_is_given_up() -> None:
    backend = scripted(context=256)
    cache = KVCache(backend)
    command = written(backend, cache, GREEDY)
    held = list(cache.ids)
    with pytest.raises(PromptTooLong):
        again(backend, cache, msgspec.structs.replace(command, prompt=command.prompt * 90))
    assert list(cache.ids) == held


def test_what_cannot_be_drawn_again_is_refused_in_a_sentence() -> None:
    backend = scripted()
    cache = KVCache(backend)
    command = written(backend, cache, GREEDY)
    facts = RowReader(backend.vocabulary.size).read(backend.logits())
    record = RecordWriter(backend.vocabulary.size, GENERATOR_VERSION + 1)
    record.add(ids_of(command.ids)[0], 0.0, facts, 1, 1.0, 0)
    with pytest.raises(UserError, match="another version of Tokenlight"):
        again(backend, cache, msgspec.structs.replace(command, record=(record.take(),)))
    foreign = np.asarray([backend.vocabulary.size], np.int32).tobytes()
    with pytest.raises(UserError, match="does not know"):
        again(backend, cache, msgspec.structs.replace(command, ids=foreign))
    with pytest.raises(UserError, match="wrote nothing"):
        again(backend, cache, msgspec.structs.replace(command, settings=(SettingsChange(99, GREEDY),)))


def test_a_damaged_record_costs_only_what_it_knew() -> None:
    backend = scripted()
    cache = KVCache(backend)
    command = written(backend, cache, GREEDY)
    assert end_of(again(backend, cache, msgspec.structs.replace(command, record=(b"no record",)))).difference is None


def test_an_engine_process_reproduces_and_takes_the_next_question(tmp_path: Path) -> None:
    with Engine("scripted") as engine:
        engine.load(write_script(tmp_path, Script(answers=("Light bends.",))))
        done = engine.ask("Why?")
        ready = next(event for event in engine.seen if isinstance(event, PromptReady))
        request = engine.client.new_request()
        spans = (PromptSpan(0, len(ready.ids) // 4, "history", 0),)
        engine.send(Reproduce(request, ready.ids, done.ids, done.settings, done.seed or 0, 0, spans=spans))
        assert engine.wait(PromptReady, request=request).spans == spans
        found = engine.wait(Reproduced, request=request)
        assert (found.difference, found.compared, found.stop_reason) == (None, len(done.ids) // 4, "end")
        assert engine.ask("And?").text == "Light bends."


def test_one_that_waits_can_be_cancelled_before_it_begins(tmp_path: Path) -> None:
    with Engine("scripted") as engine:
        engine.load(write_script(tmp_path, Script(answers=("word " * 50,), tokens_per_s=50)))
        first = engine.start("Why?")
        ready = engine.wait(PromptReady, request=first)
        request = engine.client.new_request()
        ids = np.asarray(list(b"word"), np.int32).tobytes()
        engine.send(Reproduce(request, ready.ids, ids, (SettingsChange(0, GREEDY),), 1, 0))
        engine.cancel(request)
        engine.cancel(first)
        found = engine.wait(Reproduced, request=request)
        assert (found.stop_reason, found.compared) == ("cancelled", 0)
        assert not [event for event in engine.seen if isinstance(event, PromptReady) and event.request == request]
