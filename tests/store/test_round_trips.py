from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.chat import clean_text
from app.core.commands import SettingsChange
from app.core.conversation import Chunk, Conversation, Message, StoredAnswer, Thinking
from app.core.metrics import DeviceMemory, ItlQuantiles, KVUse, Metrics, TtftParts
from app.core.model import ModelRef
from app.core.sampling import SamplingSettings
from app.core.store_commands import (
    EndAnswer,
    KeepChunk,
    KeepConversation,
    KeepQuestion,
    MeasureStore,
    ReadRecord,
    RemoveMessages,
)
from app.core.store_events import Kept, RecordRead, StoreFailed, StoreMeasured
from app.core.words import translate
from tests.store.shelf import Shelf, chunk, end, ids, question, shelf

MODEL = ModelRef(7, "abc", "/models/ö.gguf", "owner/name", "main", "f" * 64)
HEAD = Conversation(
    id=2**53,
    title="Ein „Gespräch“ 🦙",
    created_ms=1_700_000_000_000,
    changed_ms=1_700_000_000_001,
    settings=SamplingSettings(temperature=0.0, top_k=7, seed=2**32 - 1, stop=("\n\n", "ö")),
    system_prompt="Be brief.\n",
    model=MODEL,
    leaf=12,
    folder="Work",
    pinned=True,
)
METRICS = Metrics(
    ttft_ms=12.5,
    ttft_parts_ms=TtftParts(0.1, 0.2, 3.0, None, None, save=1.5, paint=None),
    prompt_tokens=10,
    prompt_tokens_from_cache=3,
    prefill_tokens_per_s=None,
    decode_tokens_per_s=31.25,
    sampled_tokens=4,
    itl_ms=ItlQuantiles(1.0, 2.0, 3.0),
    kv=KVUse(10, 20, None),
    memory=(DeviceMemory("CPU", 1, 2, None),),
    traffic_gb_per_s=None,
)
ANSWER = StoredAnswer(
    message=12,
    state="done",
    model=MODEL,
    model_name="SmolLM2",
    tokenizer="t" * 64,
    ids=ids(3, 70_000, 1),
    settings=(SettingsChange(0, SamplingSettings()), SettingsChange(2, SamplingSettings(top_p=0.5))),
    seed=2**32 - 1,
    metrics=METRICS,
    ttft_ms=13.25,
    stop_reason="stop_string",
    reason=translate("Chat", "It ended at {what}.", what="ö"),
    notes=(translate("Chat", "A note."), translate("Chat", "{n} more", n=3)),
    comparison=5,
    lane=1,
    thinking=Thinking(opened=True, tag="reason", tokens=7, ms=12.5, first_answer_ms=99.0, closed=False),
)


def test_every_value_comes_back_after_the_program_was_started_again(tmp_path: Path) -> None:
    asked = Message(11, HEAD.id, None, "user", "Hä?\n", 5)
    answer = Message(12, HEAD.id, 11, "assistant", "Nun ja …", 6, edited=True)
    with shelf(tmp_path) as first:
        kept = first.ask(KeepQuestion(4, HEAD, (asked, answer), StoredAnswer(12, "open")), Kept)
        assert kept == Kept(4, on_disk=True)
        first.send(
            KeepChunk(Chunk(12, "Nun ", ids(3), b"first")),
            KeepChunk(Chunk(12, "ja …", ids(70_000, 1), b"second")),
            EndAnswer(answer, ANSWER),
        )
    second = Shelf(tmp_path)
    assert second.open().conversations == (HEAD,)
    read = second.read(HEAD.id)
    assert read.messages == (asked, answer)
    assert read.answers == (ANSWER,)
    assert second.ask(ReadRecord(9, 12), RecordRead) == RecordRead(9, 12, (b"first", b"second"))
    second.close()


@settings(max_examples=50)
@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_a_text_of_any_characters_is_saved(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder, shelf(Path(folder)) as kept:
        head = Conversation(1, text, 1, 1, system_prompt=text, folder=text)
        model = ModelRef(1, "d", path=text)
        asked = Message(1, 1, None, "user", text, 1)
        answer = StoredAnswer(2, "open", model=model, model_name=text, notes=(translate("C", "{t}", t=text),))
        kept.send(KeepQuestion(1, head, (asked,), answer), KeepChunk(Chunk(2, text, ids(1))))
        read = kept.read()
        assert [message.text for message in read.messages] == [clean_text(text), clean_text(text)]
        assert read.answers[0].model_name == clean_text(text)
        assert read.answers[0].model is not None
        assert kept.open().conversations[0].title == clean_text(text)


def test_the_list_is_newest_first_without_the_deleted_ones(tmp_path: Path) -> None:
    old, new, gone = (Conversation(key, "", key, key) for key in (1, 2, 3))
    with shelf(tmp_path) as kept:
        kept.send(*(KeepConversation(head) for head in (old, new, gone)))
        kept.send(KeepConversation(msgspec.structs.replace(old, changed_ms=9)))
        kept.send(KeepConversation(msgspec.structs.replace(gone, deleted_ms=2**52)))
        assert [head.id for head in kept.open().conversations] == [1, 2]


def test_a_conversation_holds_only_its_own_messages_and_not_the_removed_ones(tmp_path: Path) -> None:
    one, two = (Conversation(key, "", key, key) for key in (1, 2))
    with shelf(tmp_path) as kept:
        kept.send(question(1, one, 10), question(2, two, 20), question(3, one, 30, parent=11))
        kept.send(RemoveMessages((30, 31), deleted_ms=5))
        assert [message.id for message in kept.read(1).messages] == [10, 11]
        assert [answer.message for answer in kept.read(1).answers] == [11]
        assert [message.id for message in kept.read(2).messages] == [20, 21]


def test_an_answer_that_is_being_written_is_read_with_what_is_there(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, Conversation(1, "", 1, 1), 1))
        kept.store.work.do((chunk(2, "Once ", 5), chunk(2, "upon", 6, 7)))
        read = kept.read()
        assert (read.messages[1].text, read.answers[0].ids, read.answers[0].state) == (
            "Once upon",
            ids(5, 6, 7),
            "open",
        )


def test_a_message_is_kept_whatever_became_of_what_it_belongs_to(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        stray = Message(8, 1, 999, "user", "My parent is gone", 1)
        kept.send(KeepQuestion(1, Conversation(1, "", 1, 1), (stray,), StoredAnswer(9, "open")))
        kept.send(chunk(9, "kept", 1), end(30, "without a conversation", key=77))
        assert kept.read(1).messages[0] == stray
        assert kept.read(1).messages[1].text == "kept"
        assert kept.read(77).messages[0].text == "without a conversation"
        assert {head.id for head in kept.open().conversations} == {1, 77}


def test_a_value_that_cannot_be_read_costs_that_value(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(KeepQuestion(1, HEAD, (Message(11, HEAD.id, None, "user", "a", 5),), ANSWER))
    broken = b"\xff{"
    kept.sql("UPDATE conversation SET settings = ?, model = '[]', leaf = 'x', created_ms = 'y'", "{nonsense")
    kept.sql("UPDATE answer SET state = 'odd', metrics = ?, notes = '{', reason = 5, stop_reason = 'odd'", broken)
    kept.sql("UPDATE message SET role = 'odd', text = CAST(? AS TEXT)", b"caf\xe9")
    with shelf(tmp_path) as again:
        (head,) = again.open().conversations
        assert (head.title, head.settings, head.model, head.leaf) == (HEAD.title, SamplingSettings(), None, None)
        read = again.read(HEAD.id)
        assert (read.messages[0].role, read.messages[0].text) == ("user", "caf\ufffd")
        (answer,) = read.answers
        assert (answer.state, answer.metrics, answer.notes, answer.reason) == ("interrupted", None, (), None)
        assert (answer.model, answer.seed, answer.stop_reason) == (MODEL, ANSWER.seed, None)
        assert not any(isinstance(event, StoreFailed) for event in again.events)


def test_settings_of_which_one_is_out_of_shape_keep_the_others(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(KeepConversation(HEAD))
    kept.sql('UPDATE conversation SET settings = replace(settings, \'"top_k":7\', \'"top_k":"many"\')')
    with shelf(tmp_path) as again:
        (head,) = again.open().conversations
        assert head.settings == msgspec.structs.replace(HEAD.settings, top_k=SamplingSettings().top_k)


def test_the_bytes_of_records_are_counted_apart(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, Conversation(1, "", 1, 1), 1), chunk(2, "a", 1, record=b"r" * 1000), end(2, "a"))
        measured = kept.ask(MeasureStore(3), StoreMeasured)
        assert measured.record_bytes == 1004
        sizes = [path.stat().st_size for path in tmp_path.iterdir() if path.suffix != ".sqlite3-shm"]
        assert len(sizes) == 4 and measured.total_bytes == sum(sizes)


def test_half_characters_and_nuls_are_replaced_wherever_they_stand(tmp_path: Path) -> None:
    odd = "a\ud83d\0b"
    with shelf(tmp_path) as kept:
        answer = StoredAnswer(2, "open", model=ModelRef(1, "d", path=odd), notes=(translate("C", "{t}", t=odd),))
        head = Conversation(1, odd, 1, 1, settings=SamplingSettings(stop=(odd,)))
        kept.send(KeepQuestion(1, head, (Message(1, 1, None, "user", odd, 1),), answer), chunk(2, odd, 1))
        read = kept.read()
        assert [message.text for message in read.messages] == ["a\ufffdb", "a\ufffdb"]
        assert read.answers[0].model == ModelRef(1, "d", path="a\ufffdb")
        assert read.answers[0].notes == (translate("C", "{t}", t="a\ufffdb"),)
        assert kept.open().conversations[0].settings.stop == ("a\ufffdb",)
        kept.send(end(2, odd))
        assert kept.read().messages[1].text == "a\ufffdb"
