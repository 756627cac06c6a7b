"""An answer that was stopped goes on as if nothing had stopped it."""

from __future__ import annotations

import msgspec
import pytest

from app.core.chat import ChatPrompt, PromptMessage
from app.core.commands import SettingsChange
from app.core.events import Event, Finished, PromptReady, Tokens
from app.core.sampling import PRESETS, SamplingSettings
from app.engine.control import Control
from app.engine.detokenizer import Detokenizer
from app.engine.kv_cache import KVCache
from app.engine.llama_model import LlamaBackend
from app.engine.prompt_size import PromptTooLong
from app.engine.scripted import Script, ScriptedBackend
from app.engine.scripted_vocabulary import ScriptedVocabulary
from app.engine.stops import StopWatch
from app.probability.record import RESUMED
from tests.engine.harness import GREEDY, ids_of, records_of, user
from tests.engine.test_loop import finished, run, streamed

QUESTION = PromptMessage("user", "Tell me a story of a fox.")
WILD = msgspec.structs.replace(PRESETS["Wild"], seed=5)
PENALISED = msgspec.structs.replace(
    PRESETS["Creative"], seed=5, repeat_penalty=1.3, dry_multiplier=0.8, xtc_probability=0.5
)


class Longer(ScriptedBackend):
    """Writes on in its script where an answer goes on, instead of beginning anew."""

    written = 0

    def remove(self, sequence: int, start: int) -> bool:
        done = super().remove(sequence, start)
        self._turn, self._answer = 0, self.written - 1
        return done


def open_prompt(*parts: Finished, earlier: tuple[PromptMessage, ...] = ()) -> ChatPrompt:
    """The prompt that lets an answer go on after these parts of it."""
    text, ids = "".join(part.text for part in parts), b"".join(part.ids for part in parts)
    messages = (*earlier, QUESTION, PromptMessage("assistant", text, ids))
    return ChatPrompt(messages, continue_last=True)


def parts_of(
    backend: LlamaBackend, cache: KVCache, settings: SamplingSettings, lengths: tuple[int, ...]
) -> list[Finished]:
    """Write an answer in parts of so many tokens."""
    parts: list[Finished] = []
    for length in lengths:
        limited = msgspec.structs.replace(settings, max_tokens=length)
        prompt = open_prompt(*parts) if parts else ChatPrompt((QUESTION,))
        written = sum(len(part.ids) // 4 for part in parts)
        parts.append(finished(run(backend, prompt, limited, cache=cache, first_token=written, record="off")))
    return parts


@pytest.mark.parametrize("settings", [GREEDY, WILD, PENALISED], ids=["greedy", "wild", "penalised"])
def test_an_answer_in_parts_is_the_answer_in_one(
    starter_backend: LlamaBackend, cache: KVCache, settings: SamplingSettings
) -> None:
    whole = parts_of(starter_backend, cache, settings, (24,))[0]
    starter_backend.remove(0, 0)
    parts = parts_of(starter_backend, KVCache(starter_backend), settings, (7, 1, 16))
    assert b"".join(part.ids for part in parts) == whole.ids
    assert "".join(part.text for part in parts) == whole.text
    assert [part.stop_reason for part in parts] == ["length", "length", whole.stop_reason]
    assert parts[2].metrics.prompt_tokens - parts[2].metrics.prompt_tokens_from_cache == 1


def test_the_record_marks_where_a_part_begins_and_nothing_else(starter_backend: LlamaBackend, cache: KVCache) -> None:
    first = run(starter_backend, ChatPrompt((QUESTION,)), msgspec.structs.replace(GREEDY, max_tokens=3), cache=cache)
    more = run(
        starter_backend,
        open_prompt(finished(first)),
        msgspec.structs.replace(GREEDY, max_tokens=3),
        cache=cache,
        first_token=3,
    )
    marked = [(records_of(events, 1).flags & RESUMED).tolist() for events in (first, more)]
    assert marked == [[0, 0, 0], [RESUMED, 0, 0]]


def test_a_part_knows_its_place_by_the_answer_that_it_is_given(starter_backend: LlamaBackend, cache: KVCache) -> None:
    first, second = parts_of(starter_backend, cache, WILD, (8, 8))
    limited = msgspec.structs.replace(WILD, max_tokens=8)
    more = finished(run(starter_backend, open_prompt(first), limited, cache=cache, first_token=0, record="off"))
    assert more.ids == second.ids
    assert [change.token for change in more.settings] == [8]


def test_a_part_counts_on_from_the_tokens_that_its_beginning_became(
    starter_backend: LlamaBackend, cache: KVCache
) -> None:
    first = parts_of(starter_backend, cache, WILD, (8,))[0]
    split = msgspec.structs.replace(first, text=first.text + " unaccustomedly", ids=b"")
    events = run(
        starter_backend, open_prompt(split), msgspec.structs.replace(WILD, max_tokens=2), cache=cache, first_token=8
    )
    ready = next(event for event in events if isinstance(event, PromptReady))
    sent = next(span for span in ready.spans if span.part == "answer")
    assert sent.end - sent.start > 8
    assert [change.token for change in finished(events).settings] == [sent.end - sent.start]


def test_a_cancelled_answer_goes_on(starter_backend: LlamaBackend, cache: KVCache) -> None:
    whole = parts_of(starter_backend, cache, WILD, (16,))[0]
    starter_backend.remove(0, 0)
    cache = KVCache(starter_backend)

    def cancel(event: Event, control: Control) -> None:
        control.cancelled = control.cancelled or isinstance(event, Tokens)

    half = finished(run(starter_backend, ChatPrompt((QUESTION,)), WILD, cache=cache, on_event=cancel))
    assert half.stop_reason == "cancelled"
    written = len(half.ids) // 4
    rest = msgspec.structs.replace(WILD, max_tokens=16 - written)
    more = finished(run(starter_backend, open_prompt(half), rest, cache=cache, first_token=written))
    assert half.ids + more.ids == whole.ids


@pytest.mark.parametrize("when_full", ["stop", "drop_oldest"])
def test_an_answer_that_meets_the_end_of_the_context_stops_under_either_policy(when_full: str) -> None:
    backend = ScriptedBackend(Script(answers=("x" * 600,), context=256), "script")
    events = run(backend, ChatPrompt((QUESTION,)), when_full=when_full)
    done = finished(events)
    assert done.stop_reason == "context_full"
    assert done.metrics.prompt_tokens + done.metrics.sampled_tokens == 256
    assert streamed(events) == done.text == "x" * done.metrics.sampled_tokens


def test_going_on_after_a_full_context_applies_the_policy() -> None:
    backend = Longer(Script(answers=("x" * 150,), context=256), "script")
    cache = KVCache(backend)
    earlier = (PromptMessage("user", "a" * 70), PromptMessage("assistant", "b" * 30))
    first = finished(run(backend, ChatPrompt((*earlier, QUESTION)), cache=cache))
    assert first.stop_reason == "context_full"
    backend.written = len(first.ids) // 4
    held = list(cache.ids)
    prompt = open_prompt(first, earlier=earlier)
    with pytest.raises(PromptTooLong) as caught:
        run(backend, prompt, cache=cache, first_token=backend.written)
    told = caught.value.sentence.english()
    assert "256" in told and "Drop the oldest turns" in told
    assert list(cache.ids) == held
    events = run(backend, prompt, cache=cache, first_token=backend.written, when_full="drop_oldest")
    ready, more = events[0], finished(events)
    assert isinstance(ready, PromptReady)
    assert ready.dropped == (0, 1)
    assert bytes(ids_of(ready.ids)[-20:]).decode() == "x" * 20
    assert (first.text + more.text, more.stop_reason) == ("x" * 150, "end")


def test_settings_are_counted_in_the_answer_and_tokens_in_the_request() -> None:
    backend = Longer(Script(answers=("Light bends.",)), "script")
    backend.written = 5
    answer = PromptMessage("assistant", "Light", b"")
    prompt = ChatPrompt((QUESTION, answer), continue_last=True)
    replay = (SettingsChange(0, WILD), SettingsChange(7, GREEDY))
    events = run(backend, prompt, PRESETS["Balanced"], first_token=5, replay=replay)
    done = finished(events)
    tokens = [event for event in events if isinstance(event, Tokens)]
    assert done.text == " bends."
    assert tokens[0].first == 0
    assert [change.token for change in done.settings] == [5, 7]
    assert done.settings[0].settings.temperature == WILD.temperature


@pytest.mark.parametrize("length", range(1, 16))
def test_a_part_that_ends_in_half_a_character_is_made_whole(length: int) -> None:
    text = "aé日😀 done"
    backend = Longer(Script(answers=(text,)), "script")
    first = finished(run(backend, ChatPrompt((QUESTION,)), msgspec.structs.replace(GREEDY, max_tokens=length)))
    backend.written = length
    more = finished(run(backend, open_prompt(first), first_token=length))
    assert first.text.removesuffix("\ufffd") + more.text == text
    assert first.ids + more.ids == b"".join(bytes([byte, 0, 0, 0]) for byte in text.encode()) + b"\x01\x01\0\0"


@pytest.mark.parametrize(
    ("text", "ids", "next_ids", "more"),
    [
        ("a\ufffd", [97, 0xF0, 0x9F], [0x98, 0x80], "😀"),
        ("a\ufffd", [97, 0xF0, 0x9F], [98], "\ufffdb"),
        ("a\ufffd", [97, 0xFF], [98], "\ufffdb"),
        ("a\ufffd", [], [98], "\ufffdb"),
        ("a", [97, 0xF0], [98], "b"),
        ("edited", [97, 0xF0], [0x98], "\ufffd"),
        ("a", [97], [], ""),
        ("a\ufffd", [97, 0xF0], [], "\ufffd"),
    ],
)
def test_the_text_goes_on_where_it_stopped(text: str, ids: list[int], next_ids: list[int], more: str) -> None:
    detokenizer = Detokenizer(ScriptedVocabulary(None))
    assert detokenizer.resume(text, ids) == text.removesuffix("\ufffd")
    assert "".join(map(detokenizer.step, next_ids)) + detokenizer.flush() == more


@pytest.mark.parametrize(
    ("shown", "text", "visible", "stopped"),
    [
        ("one ST", "OP two", "", True),
        ("one ST", "A two", "A two", False),
        ("one STOP", " two", " two", False),
        ("one", " STOP", " ", True),
        ("", "a STOP", "a ", True),
    ],
)
def test_a_stop_string_may_have_begun_before(shown: str, text: str, visible: str, stopped: bool) -> None:
    watch = StopWatch(("STOP",))
    watch.resume(shown)
    said = "".join(watch.step(character)[0] for character in text) + watch.flush()
    assert (said, watch.stopped) == (visible, stopped)


def test_a_prompt_that_is_no_open_answer_begins_anew() -> None:
    backend = ScriptedBackend(Script(answers=("\ufffd",)), "script")
    closed = ChatPrompt((QUESTION,), continue_last=True)
    assert finished(run(backend, closed)).text == "\ufffd"
    assert finished(run(backend, user("Hi"))).text == "\ufffd"
