from __future__ import annotations

import json
from typing import Any

import pytest

from app.services.importers import chatgpt
from app.services.importers.foreign_chats import found_in
from app.services.importers.message_nodes import NO_CONVERSATION, NO_MESSAGES
from tests.services.importers.reading import EXPORTS, branch, reasons, whole

FIXTURE = (EXPORTS / "chatgpt.json").read_bytes()
_ANSWER = (
    "<think>\n**Judging the dough**\n\nIt looks dry.\n\nMore water.\n</think>\n\n"
    "```python\nprint(500 * 0.75)\n```\n\nTake 375 g. ([baking](https://example.org)) Not more."
)


def _message(role: str, text: str, **more: object) -> dict[str, Any]:
    return {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}, "metadata": {}, **more}


def _node(message: object, parent: str | None = None, *children: str) -> dict[str, Any]:
    return {"message": message, "parent": parent, "children": list(children)}


def _chat(mapping: dict[str, Any], current: object = None, **more: object) -> dict[str, Any]:
    return {"title": "T", "mapping": mapping, "current_node": current, **more}


def test_an_export_becomes_conversations_with_all_their_branches() -> None:
    baking, qubit = whole(found_in(FIXTURE)).chats

    assert (baking.head.title, baking.head.created_ms, baking.head.changed_ms, baking.head.pinned) == (
        "Bread without kneading",
        1714560000250,
        1714560300500,
        True,
    )
    assert [(each.role, each.parent, each.created_ms) for each in baking.messages] == [
        ("user", None, 1714560001000),
        ("assistant", 2, 1714560005000),
        ("user", None, 1714560100000),
        ("assistant", 4, 1714560104000),
    ]
    assert branch(baking) == [
        ("user", "Is this enough water?"),
        (
            "assistant",
            _ANSWER,
        ),
    ]
    assert [(each.answer.message, each.answer.model_name, each.answer.state) for each in baking.answers] == [
        (3, "gpt-4o", "done"),
        (5, "o3", "done"),
    ]
    assert qubit.head.title == "What is a qubit?"
    assert qubit.answers[0].answer.state == "interrupted"


def test_what_is_left_out_is_told_kind_by_kind() -> None:
    found = whole(found_in(FIXTURE))

    assert {(each.title, each.place) for each in found.unread} == {("Bread without kneading", "[0]")}
    assert reasons(found) == [
        "Messages to tools and from tools were left out: 3.",
        "Hidden messages, like those of custom instructions, were left out: 1.",
        "Notes on how long a model thought were left out: 1.",
        "Marks that refer to sources were taken out of the texts: 1.",
        "Images and files were left out (2): dough.jpg, recipe.pdf.",
    ]


def test_an_answer_behind_one_that_is_over_is_a_message_of_its_own() -> None:
    first, second = _message("assistant", "A", end_turn=True), _message("assistant", "B", end_turn=True)
    found = chatgpt.read(_chat({"a": _node(first, None, "b"), "b": _node(second, "a")}, "b"))

    assert branch(found.chats[0]) == [("assistant", "A"), ("assistant", "B")]


def test_parts_of_an_answer_with_two_ways_on_stay_apart() -> None:
    mapping = {
        "q": _node(_message("user", "Q"), None, "a"),
        "a": _node(_message("assistant", "A"), "q", "b", "c"),
        "b": _node(_message("assistant", "B", end_turn=True), "a"),
        "c": _node(_message("assistant", "C", end_turn=True), "a"),
    }
    (chat,) = chatgpt.read(_chat(mapping, "b")).chats

    assert [(each.text, each.parent) for each in chat.messages] == [("Q", None), ("A", 2), ("B", 3), ("C", 3)]
    assert branch(chat)[-1] == ("assistant", "B")


def test_thinking_goes_to_one_answer_and_is_told_where_none_follows() -> None:
    thoughts = {
        "author": {"role": "assistant"},
        "content": {"content_type": "thoughts", "thoughts": [{"content": "Hm."}]},
    }
    mapping = {
        "t": _node(thoughts, None, "a", "b"),
        "a": _node(_message("assistant", "A", end_turn=True), "t"),
        "b": _node(_message("assistant", "B", end_turn=True), "t"),
        "u": _node(thoughts),
    }
    found = chatgpt.read(_chat(mapping, "b"))

    assert [each.text for each in found.chats[0].messages] == ["<think>\nHm.\n</think>\n\nA", "B"]
    assert reasons(found) == ["Thinking that no answer follows was left out: 1."]


def test_missing_parents_two_beginnings_and_circles_cost_no_message() -> None:
    mapping = {
        "a": _node(_message("user", "A"), "gone"),
        "b": _node(_message("user", "B")),
        "c": _node(_message("assistant", "C", end_turn=True), "d"),
        "d": _node(_message("user", "D"), "c"),
        "e": _node(_message("assistant", "E", end_turn=True), "d"),
        "f": _node(_message("user", "F"), "f"),
    }
    found = chatgpt.read(_chat(mapping, "elsewhere"))

    (chat,) = found.chats
    texts = {each.id: each.text for each in chat.messages}
    assert [(each.text, texts.get(each.parent or 0)) for each in chat.messages] == [
        ("A", None),
        ("B", None),
        ("F", None),
        ("C", None),
        ("D", "C"),
        ("E", "D"),
    ]
    assert reasons(found) == [
        "Messages that follow one that is missing begin the conversation anew: 2.",
        "Circles of messages that follow one another were cut: 1.",
        "Which branch was shown is not known: the newest one is.",
    ]


def test_a_child_without_a_word_of_its_parent_follows_the_one_that_has_it() -> None:
    mapping = {"a": _node(_message("user", "A"), None, "b"), "b": {"message": _message("assistant", "B")}}
    (chat,) = chatgpt.read(_chat(mapping, "b")).chats

    assert branch(chat) == [("user", "A"), ("assistant", "B")]


@pytest.mark.parametrize("time", [float("nan"), float("inf"), -5.0, "yesterday", True, 1e30, [1]])
def test_a_time_that_is_none_is_that_of_the_message_before(time: object) -> None:
    mapping = {
        "a": _node(_message("user", "A", create_time=1714560001.0), None, "b"),
        "b": _node(_message("assistant", "B", create_time=time), "a"),
    }
    found = chatgpt.read(_chat(mapping, "b", create_time=time, update_time=None))

    (chat,) = found.chats
    assert [each.created_ms for each in chat.messages] == [1714560001000] * 2
    assert (chat.head.created_ms, chat.head.changed_ms) == (1714560001000, 1714560001000)
    assert reasons(found) == ["Times that cannot be read were taken from the message before: 1."]


def test_a_very_long_branch_is_kept_whole() -> None:
    count = 100_000
    mapping = {
        str(number): _node(
            _message("assistant" if number % 2 else "user", str(number), end_turn=True),
            str(number - 1) if number else None,
            str(number + 1),
        )
        for number in range(count)
    }
    (chat,) = chatgpt.read(_chat(mapping, str(count - 1))).chats

    assert len(chat.messages) == count
    assert all(each.parent == each.id - 1 for each in chat.messages[1:])
    assert chat.head.leaf == chat.messages[-1].id


def test_halves_of_characters_are_mended_and_told() -> None:
    found = whole(
        found_in(json.dumps([_chat({"a": _node(_message("user", "x\ud83d"))}, "a", title="\ud83dT")]).encode())
    )

    assert (found.chats[0].head.title, found.chats[0].messages[0].text) == ("\ufffdT", "x\ufffd")
    assert reasons(found) == ["Texts with broken characters were mended: 2."]


def test_an_entry_that_stands_there_twice_counts_once_and_is_told() -> None:
    node = json.dumps(_node(_message("user", "A")))
    found = whole(found_in(f'[{{"title": "T", "current_node": "a", "mapping": {{"a": 1, "a": {node}}}}}]'.encode()))

    assert branch(found.chats[0]) == [("user", "A")]
    assert reasons(found) == ["Of entries that stand in the file twice the last one was taken: 1."]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (
            {"content_type": "hologram", "url": "u"},
            "Parts of messages of a kind that is not known here were left out: 1.",
        ),
        (
            {"parts": ["x", {"content_type": "new"}]},
            "Parts of messages of a kind that is not known here were left out: 1.",
        ),
        ("text", "Messages that cannot be read were left out: 1."),
    ],
)
def test_a_content_that_is_not_known_is_told(content: object, reason: str) -> None:
    mapping = {
        "a": _node(_message("user", "A"), None, "b"),
        "b": _node(_message("assistant", "") | {"content": content}, "a"),
    }
    found = chatgpt.read(_chat(mapping, "b"))

    assert branch(found.chats[0])[0] == ("user", "A")
    assert reasons(found) == [reason]


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"content_type": "execution_output", "text": "4"}, "Messages to tools and from tools were left out: 1."),
        ({"content_type": "tether_quote", "text": "4"}, "Messages to tools and from tools were left out: 1."),
        ({"content_type": "system_error", "name": "E", "text": "x"}, "Error notes in answers were left out: 1."),
        (
            {"content_type": "app_pairing_content", "workspaces": []},
            "Hidden messages, like those of custom instructions, were left out: 1.",
        ),
    ],
)
def test_a_content_that_nobody_said_is_no_message_and_is_told(
    content: dict[str, object], reason: str, role: str
) -> None:
    mapping = {
        "a": _node(_message("user", "A"), None, "b"),
        "b": _node(_message(role, "") | {"content": content}, "a", "c"),
        "c": _node(_message("assistant", "C"), "b"),
    }
    found = chatgpt.read(_chat(mapping, "c"))

    assert branch(found.chats[0]) == [("user", "A"), ("assistant", "C")]
    assert reasons(found) == [reason]


def test_a_content_of_an_unknown_kind_is_told_even_where_nothing_is_in_it() -> None:
    mapping = {
        "a": _node(_message("user", "A"), None, "b"),
        "b": _node(_message("assistant", "") | {"content": {"content_type": "hologram", "beams": []}}, "a"),
    }
    found = chatgpt.read(_chat(mapping, "b"))

    assert branch(found.chats[0]) == [("user", "A")]
    assert reasons(found) == ["Parts of messages of a kind that is not known here were left out: 1."]


def test_what_has_no_messages_is_told_by_its_title() -> None:
    assert chatgpt.read({"title": "T", "mapping": []}, "[2]").unread[0].reason == NO_CONVERSATION
    (unread,) = chatgpt.read(_chat({"r": _node(None)}), "[2]").unread
    assert (unread.title, unread.place, unread.reason) == ("T", "[2]", NO_MESSAGES)
