from __future__ import annotations

import msgspec
import pytest
from hypothesis import given

from app.core.conversation import Conversation, Message, Pieces, StoredAnswer
from app.core.errors import UserError
from app.core.sampling import SamplingSettings
from app.core.whole_chat import WholeAnswer, WholeChat, WholePrompt, WholeStretch
from app.core.words import Sentence, translate
from app.services.importers.chat_file import ChatLines, is_ours, newer_version, parts_of, without_folders
from app.services.importers.found import Unread
from app.services.importers.taking import checked, renumbered
from tests.store.shelf import ids
from tests.whole_chats import MODEL, whole_chats

PIECES = Pieces("tok", 0, ids(1, 3), b"abc")


def _file(*chats: WholeChat, pieces: tuple[Pieces, ...] = ()) -> bytes:
    lines = ChatLines()
    parts = [lines.begin(()), *map(lines.add, chats), lines.begin_vocabularies(), *map(lines.add_vocabulary, pieces)]
    return b"".join([*parts, lines.end()])


def _chat(key: int, *messages: Message, **changes: object) -> WholeChat:
    return WholeChat(msgspec.structs.replace(Conversation(key, f"Chat {key}", 1, 2), **changes), messages)


def _message(key: int, parent: int | None = None, **changes: object) -> Message:
    return msgspec.structs.replace(Message(key, 1, parent, "user", "Hello", 5), **changes)


@given(whole_chats(), whole_chats(first=100))
def test_conversations_come_back_out_of_a_file_as_they_went_in(one: WholeChat, other: WholeChat) -> None:
    data = _file(one, other, pieces=(PIECES,))
    assert is_ours(data) and newer_version(data) is None
    assert tuple(parts_of(data)) == (one, other, PIECES)
    assert [checked(chat) for chat in (one, other)] == [one, other]


@given(whole_chats())
def test_other_numbers_change_nothing_else(chat: WholeChat) -> None:
    moved = renumbered(chat, 1000)
    assert renumbered(moved, 1) == renumbered(chat, 1)
    assert moved.head.id == 1000 and all(message.id > 1000 for message in moved.messages)
    assert [message.text for message in moved.messages] == [message.text for message in chat.messages]


def test_a_file_names_models_and_not_where_they_lie() -> None:
    model = msgspec.structs.replace(MODEL, path="C:\\Users\\me/models\\ö.gguf")
    answer = WholeAnswer(StoredAnswer(2, "done", model))
    chat = msgspec.structs.replace(_chat(1, _message(2, role="assistant"), model=model), answers=(answer,))
    data = _file(chat)
    assert b"Users" not in data and data.count("ö.gguf".encode()) == 2
    assert next(parts_of(data)) == without_folders(chat)


def test_vocabularies_are_asked_for_where_tokens_are_kept() -> None:
    lines = ChatLines()
    with_tokens = WholeAnswer(StoredAnswer(2, "done", tokenizer="tok"), (WholeStretch("A", ids(1)),))
    lines.add(msgspec.structs.replace(_chat(1), answers=(with_tokens,)))
    lines.add(msgspec.structs.replace(_chat(3), answers=(WholeAnswer(StoredAnswer(4, "done", tokenizer="none")),)))
    assert lines.tokenizers == ("tok",)


def test_damage_costs_the_lines_that_it_hits() -> None:
    chats = [_chat(key) for key in (1, 2, 3)]
    broken = _file(*chats).replace(b'"title":"Chat 2"', b'"title":"Chat 2",,')
    first, told, third = parts_of(broken)
    assert (first, third) == (chats[0], chats[2])
    assert isinstance(told, Unread) and (told.title, told.place) == ("Chat 2", "line 3")


def test_a_wrong_value_costs_its_conversation_alone() -> None:
    first, told = parts_of(_file(_chat(1), _chat(2)).replace(b'"created_ms":1', b'"created_ms":"x"', 1))
    assert isinstance(first, Unread) and first.place == "chats[0]" and "created_ms" in first.reason.english()
    assert told == _chat(2)


@pytest.mark.parametrize("left", range(1, 10))
def test_a_file_that_was_cut_off_says_so(left: int) -> None:
    data = _file(*(_chat(key) for key in range(1, 4)))
    *read, told = parts_of(data[: len(data) * left // 10])
    assert isinstance(told, Unread) and "ends too early" in told.reason.english()
    assert [each for each in read if isinstance(each, WholeChat)] == [_chat(key) for key in range(1, 4)][: len(read)]


def test_a_newer_file_is_told_from_ours() -> None:
    newer = newer_version(_file().replace(b'"version":1', b'"version":2'))
    assert newer is not None and "newer version" in newer.english()
    assert not is_ours(b'{"chats":[]}')


@pytest.mark.parametrize(
    "chat",
    [
        _chat(1, _message(2), _message(2)),
        _chat(1, _message(1)),
        _chat(1, _message(2, 3), _message(3)),
        _chat(1, _message(2, 2)),
        msgspec.structs.replace(_chat(1, _message(2)), answers=(WholeAnswer(StoredAnswer(2, "done")),)),
        msgspec.structs.replace(_chat(1), answers=(WholeAnswer(StoredAnswer(2, "done")),)),
    ],
)
def test_parts_that_do_not_fit_are_refused(chat: WholeChat) -> None:
    with pytest.raises(UserError):
        checked(chat)


@pytest.mark.parametrize("prompt", [WholePrompt(b"123"), WholePrompt(b"", base=2), WholePrompt(b"", shared=-1)])
def test_a_prompt_that_leads_in_a_circle_is_refused(prompt: WholePrompt) -> None:
    answer = WholeAnswer(StoredAnswer(2, "done"), prompt=prompt)
    with pytest.raises(UserError):
        checked(msgspec.structs.replace(_chat(1, _message(2, role="assistant")), answers=(answer,)))


def test_what_is_out_of_range_is_brought_into_it() -> None:
    settings = SamplingSettings(temperature=1.2e-38, top_k=-5)
    message = _message(2, 99, created_ms=2**70, deleted_ms=4)
    made = checked(_chat(1, message, title="a\n b" * 900, leaf=77, settings=settings, changed_ms=-1))
    assert made.head.settings == settings.validated() and made.head.settings.temperature == 0
    assert (made.messages[0].parent, made.messages[0].deleted_ms, made.head.leaf) == (None, None, None)
    assert made.messages[0].created_ms < 2**60 and made.head.changed_ms == 0
    assert len(made.head.title) == 200 and "\n" not in made.head.title


def test_an_answer_that_was_being_written_is_interrupted() -> None:
    answer = WholeAnswer(StoredAnswer(2, "open"))
    chat = msgspec.structs.replace(_chat(1, _message(2, role="assistant")), answers=(answer,))
    assert checked(chat).answers[0].answer.state == "interrupted"


@pytest.mark.parametrize("template", ["{x.__class__}", "{x:>999999999}", "{y}", "{x!r}", "{", "{0}", "{x[0]}"])
def test_a_sentence_out_of_a_file_is_no_program(template: str) -> None:
    answer = WholeAnswer(StoredAnswer(2, "done", reason=Sentence("C", template, {"x": 1})))
    chat = msgspec.structs.replace(_chat(1, _message(2, role="assistant")), answers=(answer,))
    reason = checked(chat).answers[0].answer.reason
    assert reason is not None and reason.english() == template


def test_a_sentence_of_ours_stays() -> None:
    said = translate("Chat", "{n:,} of {name}", n=3, name="ö")
    answer = WholeAnswer(StoredAnswer(2, "done", reason=said))
    chat = msgspec.structs.replace(_chat(1, _message(2, role="assistant")), answers=(answer,))
    assert checked(chat).answers[0].answer.reason == said
