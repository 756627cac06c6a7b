"""Chats are searched on the terminal, beside whoever has them open."""

from __future__ import annotations

import json

import pytest

from app.core.errors import ExitCode, UserError
from app.core.search import PAGE
from tests.cli.conftest import CommandLine
from tests.store.shelf import chunk, end, head, question


@pytest.fixture
def chats(line: CommandLine) -> CommandLine:
    """Return a command line beside a program whose chats are open."""
    line.desk.program.conversations.start()
    for number in (1, 3, 5):
        line.desk.store.send(question(number, head(), number))
        line.desk.store.send(chunk(number + 1, f"C++ has {number} llamas"))
        line.desk.store.send(end(number + 1, f"C++ has {number} llamas"))
    return line


def test_what_is_found_is_printed_newest_first(chats: CommandLine) -> None:
    assert chats.run("search", "c++", "--limit", "2") == ExitCode.DONE
    first, *rows, last = chats.out.splitlines()
    assert first.split() == ["Day", "Chat", "By", "Text"]
    assert [row.split(maxsplit=4)[1:] for row in rows] == [
        ["Chat", "1", "model", "C++ has 5 llamas"],
        ["Chat", "1", "model", "C++ has 3 llamas"],
    ]
    assert last == "These are the newest 2: there may be more (--limit)."


def test_as_json_a_match_has_its_place(chats: CommandLine) -> None:
    assert chats.run("search", "QUESTION 5", "--json") == ExitCode.DONE
    (hit,) = json.loads(chats.out)
    assert (hit["message"], hit["conversation"], hit["title"], hit["role"]) == (5, 1, "Chat 1", "user")
    assert [hit["text"][begin:until] for begin, until in hit["matches"]] == ["Question 5"]


def test_more_than_a_page_is_printed_where_that_is_wanted(chats: CommandLine) -> None:
    for number in range(7, 7 + 2 * PAGE, 2):
        chats.desk.store.send(question(number, head(), number))
    assert chats.run("search", "question", "--limit", "1000", "--json") == ExitCode.DONE
    assert len(json.loads(chats.out)) == PAGE + 3


def test_what_is_nowhere_is_said_to_be(chats: CommandLine) -> None:
    assert chats.run("search", "zebra") == ExitCode.DONE
    assert chats.out == "No message holds this text, letter for letter.\n"


def test_before_there_are_chats_nothing_is_found_and_nothing_made(line: CommandLine) -> None:
    assert line.run("search", "llama", "--json") == ExitCode.DONE
    assert line.out == "[]\n"
    assert not list(line.desk.program.paths.data.glob("*.sqlite3"))


def test_nothing_to_look_for_is_wrong_use(line: CommandLine) -> None:
    with pytest.raises(UserError, match="a text to look for"):
        line.run("search", " ")
