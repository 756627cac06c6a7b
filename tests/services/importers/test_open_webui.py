from __future__ import annotations

import json
from typing import Any

import pytest

from app.services.importers import open_webui
from app.services.importers.details_blocks import without_details
from app.services.importers.foreign_chats import found_in
from app.services.importers.message_nodes import NO_CONVERSATION
from tests.services.importers.reading import EXPORTS, branch, reasons, whole

FIXTURE = (EXPORTS / "open_webui.json").read_bytes()


def _row(messages: object, current: object = None, **more: object) -> dict[str, Any]:
    return {"title": "T", "chat": {"history": {"messages": messages, "currentId": current}, **more}}


def test_an_export_becomes_conversations_with_all_their_branches() -> None:
    leaves, sums, old = whole(found_in(FIXTURE)).chats

    assert (leaves.head.title, leaves.head.system_prompt, leaves.head.pinned) == (
        "Colours of leaves",
        "You teach children.",
        True,
    )
    assert (leaves.head.created_ms, leaves.head.changed_ms) == (1730000000000, 1730000061000)
    assert [(each.id, each.parent, each.role, each.text) for each in leaves.messages] == [
        (2, None, "user", "Why are leaves green?"),
        (3, 2, "assistant", "<think>\nChlorophyll.\na < b\n</think>\nThey hold chlorophyll."),
        (4, 2, "assistant", "Because of a dye."),
        (5, 4, "user", "And in autumn?"),
        (6, 5, "assistant", ""),
    ]
    assert leaves.head.leaf == 3
    assert [(each.answer.model_name, each.answer.state) for each in leaves.answers] == [
        ("qwen3:4b", "done"),
        ("gemma3:4b", "done"),
        ("gemma3:4b", "interrupted"),
    ]
    assert branch(sums) == [
        ("user", "What is 2 + 2?"),
        ("assistant", "<think>\nTwo and two.\n</think>\nIt is 4."),
    ]
    assert (old.head.title, old.head.system_prompt, old.head.created_ms) == ("Old one", "Be kind.", 1700000000000)
    assert branch(old) == [("user", "Hello"), ("assistant", "Hello!"), ("user", "Are you well?")]


def test_what_is_left_out_is_told_kind_by_kind() -> None:
    assert reasons(whole(found_in(FIXTURE))) == [
        "Messages to tools and from tools were left out: 1.",
        "Lists of sources were left out: 1.",
        "Error notes in answers were left out: 1.",
        "It lay in a folder, of which the file does not say the name.",
        "Images and files were left out (3): leaves.txt, image/png, red.png.",
        "Tags were left out (1): nature.",
        "Messages to tools and from tools were left out: 2.",
        "It lay in the archive there, and is among the other chats here.",
    ]


def test_a_conversation_that_begins_with_a_system_message_has_it_as_its_own() -> None:
    messages = [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "Q"},
        {"role": "system", "content": "X"},
    ]
    found = open_webui.read({"messages": messages})

    assert found.chats[0].head.system_prompt == "S"
    assert branch(found.chats[0]) == [("user", "Q")]
    assert reasons(found) == ["System messages were left out: 1."]


def test_messages_of_others_are_passed_over_and_told() -> None:
    messages = {
        "a": {"role": "user", "content": "A", "parentId": None, "childrenIds": ["b"]},
        "b": {"role": "tool", "content": "B", "parentId": "a", "childrenIds": ["c"]},
        "c": {"role": "assistant", "content": "C", "parentId": "b", "childrenIds": ["d"]},
        "d": {"role": "judge", "content": "D", "parentId": "c"},
        "e": {"role": 5, "content": "E", "parentId": "c"},
        "f": "F",
    }
    found = open_webui.read(_row(messages, "d"))

    assert branch(found.chats[0]) == [("user", "A"), ("assistant", "C")]
    assert reasons(found) == [
        "Messages that cannot be read were left out: 2.",
        "Messages to tools and from tools were left out: 1.",
        "Messages that are neither yours nor a model's were left out: 1.",
    ]


def test_a_message_of_a_list_that_stands_there_twice_counts_once_and_is_told() -> None:
    messages = [{"id": "a", "role": "user", "content": text} for text in ("A", "B")]
    found = open_webui.read({"messages": messages})

    assert branch(found.chats[0]) == [("user", "B")]
    assert reasons(found) == ["Of entries that stand in the file twice the last one was taken: 1."]


def test_contents_of_unknown_kinds_are_told() -> None:
    messages = {"a": {"role": "user", "content": [{"type": "video"}, "A"]}, "b": {"role": "user", "content": 5}}
    found = open_webui.read(_row(messages))

    assert [each.text for each in found.chats[0].messages] == ["A", ""]
    assert reasons(found) == ["Parts of messages of a kind that is not known here were left out: 2."]


@pytest.mark.parametrize(
    "value", [{"title": "T"}, {"title": "T", "chat": {"history": 3}}, {"title": "T", "chat": None}]
)
def test_what_has_no_messages_is_told_by_its_title(value: object) -> None:
    (unread,) = open_webui.read(value, "[7]").unread

    assert (unread.title, unread.place, unread.reason) == ("T", "[7]", NO_CONVERSATION)


def test_a_very_long_branch_is_kept_whole() -> None:
    count = 20_000
    messages = [{"role": "user" if number % 2 else "assistant", "content": "x"} for number in range(count)]
    (chat,) = open_webui.read({"messages": messages}).chats

    assert len(chat.messages) == count
    assert chat.head.leaf == count + 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", ("plain", 0)),
        ('<details type="reasoning">\n> a', ('<details type="reasoning">\n> a', 0)),
        ("Use <details> here.</details>", ("Use <details> here.</details>", 0)),
        ('A\n<details type="reasoning" done="true">\na\n</details>\nB', ("A\n<think>\na\n</think>\nB", 0)),
        ('<details type="code_interpreter" done="true">\nx\n</details>\n\nB', ("B", 1)),
        ('say `<details type="reasoning">x</details>`', ('say `<details type="reasoning">x</details>`', 0)),
    ],
)
def test_blocks_inside_a_text(text: str, expected: tuple[str, int]) -> None:
    assert without_details(text) == expected


@pytest.mark.parametrize(
    ("more", "text", "tools"),
    [
        ({"content": "A", "reasoning_content": "T"}, "<think>\nT\n</think>\nA", 0),
        ({"content": "A", "tool_calls": [{}, {}], "code_executions": [{}]}, "A", 3),
        (
            {"content": "A", "output": [{"type": "reasoning", "summary": [{"text": "T"}]}]},
            "<think>\nT\n</think>\nA",
            0,
        ),
        (
            {
                "content": '<details type="reasoning" done="true">\n&gt; T\n</details>\nA',
                "output": [{"type": "reasoning", "content": "T"}, {"type": "message", "content": "A"}],
            },
            "<think>\nT\n</think>\nA",
            0,
        ),
        (
            {
                "content": '<details type="tool_calls" done="true">\n</details>\nA',
                "output": [{"type": "function_call"}, {"type": "function_call_output"}],
            },
            "A",
            1,
        ),
        ({"content": "A", "output": [{"type": "web_search_call"}]}, "A", 1),
    ],
)
def test_thinking_and_tools_are_found_once_wherever_a_version_keeps_them(
    more: dict[str, object], text: str, tools: int
) -> None:
    found = open_webui.read({"messages": [{"role": "user", "content": "Q"}, {"role": "assistant", **more}]})

    assert branch(found.chats[0]) == [("user", "Q"), ("assistant", text)]
    assert reasons(found) == ([f"Messages to tools and from tools were left out: {tools}."] if tools else [])


def test_files_of_a_whole_conversation_are_told_with_those_of_its_messages() -> None:
    messages = [{"role": "user", "content": "Q", "files": [{"id": "f1", "name": "a.txt"}]}]
    files = [{"id": "f1", "name": "a.txt"}, {"id": "f2", "name": "b.txt"}]

    assert reasons(open_webui.read({"messages": messages, "files": files})) == [
        "Images and files were left out (2): a.txt, b.txt."
    ]


def test_items_of_an_answer_that_are_not_known_are_told() -> None:
    output = [{"type": "hologram"}, "x", {"type": "message", "content": [{"type": "refusal"}, {"text": "A"}]}]
    found = open_webui.read({"messages": [{"role": "assistant", "content": "", "output": output}]})

    assert branch(found.chats[0]) == [("assistant", "A")]
    assert reasons(found) == ["Parts of messages of a kind that is not known here were left out: 3."]


def test_one_conversation_by_itself_is_an_export_too() -> None:
    (row, *_) = json.loads(FIXTURE)

    assert [chat.head.title for chat in whole(found_in(json.dumps(row).encode())).chats] == ["Colours of leaves"]
    assert [chat.head.title for chat in whole(found_in(json.dumps(row["chat"]).encode())).chats] == [
        "Colours of leaves"
    ]


def test_tags_and_ratings_are_told_to_be_left_out() -> None:
    messages = {
        "q": {"parentId": None, "childrenIds": ["a", "b"], "role": "user", "content": "Q"},
        "a": {"parentId": "q", "role": "assistant", "content": "A", "annotation": {"rating": 1, "tags": ["Science"]}},
        "b": {"parentId": "q", "role": "assistant", "content": "B", "annotation": {"rating": -1, "reason": "wrong"}},
        "c": {"parentId": "q", "role": "assistant", "content": "C", "annotation": {"tags": ["Science"]}},
    }
    row = _row(messages, "a", tags=[{"name": "garden"}, {"name": "old"}, 3])
    row["meta"] = {"tags": ["garden", "bad\udcfftag"]}
    assert reasons(open_webui.read(row)) == [
        "Ratings of answers were left out: 2.",
        "Tags were left out (3): garden, bad�tag, old.",
    ]
    row["meta"] = {"tags": [f"t{number}" for number in range(12)]}
    assert reasons(open_webui.read(row))[-1] == "Tags were left out (14): t0, t1, t2, t3, t4, t5, t6, t7, …."
