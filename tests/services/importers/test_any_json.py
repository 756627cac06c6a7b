from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.services.importers import chatgpt, open_webui
from app.services.importers.foreign_chats import found_in
from app.services.importers.found import Found

_TEXT = st.text(st.characters(exclude_categories=()), max_size=5)
"""Halves of characters are in it."""
_PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | _TEXT
_ANY = st.recursive(_PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3))
_KEYS = st.sampled_from(["a", "b", "c", "d", "e"])
_ROLES = st.sampled_from(["user", "assistant", "system", "tool", "?"]) | _ANY


def _sometimes(likely: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return what is likely, and anything else now and then."""
    return st.one_of(likely, likely, likely, _ANY)


def _objects(**values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return _sometimes(st.fixed_dictionaries({}, optional={key: _sometimes(value) for key, value in values.items()}))


_PART = _TEXT | _objects(content_type=st.just("image_asset_pointer"), asset_pointer=_TEXT, text=_TEXT)
_CONTENT = _objects(
    content_type=st.sampled_from(["text", "code", "thoughts", "multimodal_text", "reasoning_recap"]),
    parts=st.lists(_PART, max_size=3),
    text=_TEXT,
    thoughts=st.lists(_objects(summary=_TEXT, content=_TEXT), max_size=2),
)
_MESSAGE = _objects(
    author=st.fixed_dictionaries({"role": _ROLES}),
    content=_CONTENT,
    create_time=st.floats(),
    end_turn=st.booleans(),
    recipient=st.sampled_from(["all", "python", "web"]),
    metadata=_objects(attachments=st.lists(_objects(id=_KEYS, name=_KEYS), max_size=2), model_slug=_KEYS),
)
_LINKS = {"parent": _sometimes(_KEYS), "children": _sometimes(st.lists(_KEYS, max_size=3))}
_MAPPING = st.dictionaries(_KEYS, st.fixed_dictionaries({"message": _MESSAGE, **_LINKS}), min_size=2)
_CHATGPT = _objects(title=_TEXT, mapping=_MAPPING, current_node=_KEYS, create_time=st.floats())
_TURN = _objects(
    id=_KEYS,
    parentId=_KEYS,
    childrenIds=st.lists(_KEYS, max_size=3),
    role=_ROLES,
    content=_TEXT | st.lists(_objects(type=_KEYS, text=_KEYS), max_size=2),
    timestamp=st.integers(),
    files=st.lists(_objects(name=_KEYS, url=_KEYS), max_size=2),
)
_HISTORY = _objects(messages=st.dictionaries(_KEYS, _TURN), currentId=_KEYS)
_OPEN_WEBUI = _objects(
    title=_TEXT,
    chat=_objects(history=_HISTORY, messages=st.lists(_TURN, max_size=4), params=_objects(system=_KEYS)),
    messages=st.lists(_TURN, max_size=4),
)


def _is_sound(found: Found) -> None:
    """Assert that what was made can be kept."""
    for each in found.unread:
        assert each.reason.english()
    for chat in found.chats:
        ids = [message.id for message in chat.messages]
        assert ids == list(range(2, len(ids) + 2))
        assert all(message.parent is None or 1 < message.parent < message.id for message in chat.messages)
        assert chat.head.leaf in set(ids) - {message.parent for message in chat.messages}
        assert [each.answer.message for each in chat.answers] == [
            message.id for message in chat.messages if message.role == "assistant"
        ]
        times = [message.created_ms for message in chat.messages] + [chat.head.created_ms, chat.head.changed_ms]
        assert all(0 <= time < 1 << 48 for time in times)
        json.dumps([message.text for message in chat.messages], ensure_ascii=False).encode()
        f"{chat.head.title}{chat.head.system_prompt}".encode()


@given(_CHATGPT)
def test_anything_becomes_a_sound_conversation_of_chatgpt_or_none(value: object) -> None:
    found = chatgpt.read(value)

    assert found.chats or found.unread
    _is_sound(found)


@given(_OPEN_WEBUI)
def test_anything_becomes_a_sound_conversation_of_open_webui_or_none(value: object) -> None:
    found = open_webui.read(value)

    assert found.chats or found.unread
    _is_sound(found)


@given(st.lists(_CHATGPT | _OPEN_WEBUI, max_size=4), st.integers(0, 300), st.binary(max_size=2))
def test_a_file_with_anything_in_it_and_damage_raises_nothing(values: list[object], at: int, damage: bytes) -> None:
    content = json.dumps(values).encode()
    for each in found_in(content[:at] + damage + content[at + 1 :]):
        _is_sound(each)
    for whole in found_in(content):
        _is_sound(whole)
