"""Chats go into files and come out of them on the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from app.cli.arguments import read_arguments
from app.cli.run import run
from app.core.conversation import Message, StoredAnswer, Thinking
from app.core.errors import ExitCode, UserError
from app.core.whole_chat import WholeAnswer, WholeChat
from app.gui.markdown.page import PageWriter
from app.services.chat_markdown import MarkdownWriter
from app.services.program import Program
from app.system.instance import Instance
from tests.cli.conftest import CommandLine
from tests.store.shelf import chunk, end, head, lose, question


@pytest.fixture
def chats(line: CommandLine) -> Iterator[CommandLine]:
    """Return a command line beside a store with two chats, whose program goes on after a command."""
    line.desk.program.conversations.start()
    for key in (10, 20):
        _send(line, question(key, head(key), key + 1), chunk(key + 2, "C++ *has* llamas"))
        _send(line, end(key + 2, "C++ *has* llamas", key))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Program, "stop", lambda _program: None)
        yield line


def _send(line: CommandLine, *commands: object) -> None:
    for command in commands:
        line.desk.store.send(command)  # type: ignore[arg-type]


def test_all_chats_go_into_a_file_and_out_of_it(chats: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    assert chats.run("export", "--all", "--output", str(path)) == ExitCode.DONE
    assert chats.out == f"2 chats in {path}\n"
    assert [chat["head"]["title"] for chat in json.loads(path.read_bytes())["chats"]] == ["Chat 20", "Chat 10"]
    assert chats.run("import", str(path), "--json") == ExitCode.DONE
    assert json.loads(chats.out) == {"imported": 0, "already_here": 2, "unread": []}
    path.write_bytes(path.read_bytes().replace(b"Chat 10", b"Other"))
    assert chats.run("import", str(path)) == ExitCode.DONE
    assert chats.out == "1 imported, 1 already here.\n"


def test_every_chat_is_told_of_which_a_part_could_not_be_read(chats: CommandLine, tmp_path: Path) -> None:
    assert chats.run("export", "--all", "--output", str(tmp_path / "a.json")) == ExitCode.DONE
    assert "could not be read" not in chats.err
    lose(tmp_path, "attachment")
    assert chats.run("export", "--all", "--output", str(tmp_path / "b.json")) == ExitCode.DONE
    for title in ("Chat 10", "Chat 20"):
        assert f"A part of “{title}” could not be read; the rest of it is in the file." in chats.err


def test_a_chat_by_its_title_or_number_as_markdown(chats: CommandLine, tmp_path: Path) -> None:
    for word in ("chat  20", "20"):
        path = tmp_path / f"{len(word)}.md"
        assert chats.run("export", word, "--format", "markdown", "--output", str(path)) == ExitCode.DONE
        text = path.read_text(encoding="utf-8")
        assert (
            text.startswith("# Chat 20\n") and "## User\n\nQuestion 21\n\n## Assistant\n\nC++ *has* llamas\n" in text
        )


def test_a_page_has_no_script_and_says_what_markdown_means(chats: CommandLine, tmp_path: Path) -> None:
    _send(chats, question(30, head(30), 31), end(32, "<script>x</script>\n\n> [a](javascript:x) **b**\n\n1. one", 30))
    path, words = tmp_path / "all.html", ["export", "--all", "--format", "html", "--output"]
    arguments = read_arguments([*words, str(path)])
    assert run(arguments, [], lambda: chats.desk.program, lambda p: PageWriter(p.resources)) == ExitCode.DONE
    page = path.read_text(encoding="utf-8")
    assert "<i>has</i>" in page and "<b>b</b>" in page and "<blockquote>" in page and page.count("<article") == 3
    assert "<script" not in page and 'href="java' not in page and "&lt;script&gt;" in page


def test_thinking_is_folded_in_a_page_and_in_markdown(line: CommandLine, tmp_path: Path) -> None:
    messages = [Message(31, 30, None, "user", "What of <think>?", 1)]
    texts = ("<think>\nI *muse*\n</think>\n\nYes", "So I do\n</think>\nNo", "<think>\n\n</think>\n\nPerhaps", "Plain")
    messages += [Message(32 + place, 30, 31 + place, "assistant", text, 1) for place, text in enumerate(texts)]
    answers = tuple(
        WholeAnswer(StoredAnswer(32 + place, "done", thinking=thinking))
        for place, thinking in enumerate((None, Thinking(opened=True), Thinking(), None))
    )
    chat = WholeChat(msgspec.structs.replace(head(30), leaf=35), tuple(messages), answers)
    page = PageWriter(line.desk.program.resources)
    page.begin([chat.head])
    shown = page.add(chat).decode()
    assert shown.count("<details><summary>Thinking</summary>") == 2
    first, second = (each.split("</details>")[0] for each in shown.split("<details>")[1:])
    assert "I <i>muse</i>" in first and "Yes" not in first
    assert "So I do" in second and "No" not in second
    assert shown.count("think&gt;") == 1  # what was asked

    written = MarkdownWriter().add(chat).decode()
    folded = "<details>\n<summary>Thinking</summary>\n\nI *muse*\n\n</details>\n\nYes\n"
    assert folded in written and "\n\nSo I do\n\n</details>\n\nNo\n" in written
    assert written.count("think>") == 1 and written.count("<details>") == 2
    assert "## Assistant\n\nPerhaps\n\n## Assistant\n\nPlain\n" in written


def test_what_cannot_be_read_has_its_row(chats: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("{}")
    assert chats.run("import", str(tmp_path / "no.json")) == ExitCode.WRONG_USE
    assert chats.out.splitlines()[0] == "0 imported, 0 already here." and "no.json" in chats.out


def test_exports_of_others_are_taken_in(chats: CommandLine, tmp_path: Path) -> None:
    message = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Hello"]}}
    mapping: dict[str, object] = {"a": {"id": "a", "message": {"id": "a", **message}, "parent": None, "children": []}}
    chat = {"title": "Foreign", "mapping": mapping, "current_node": "a", "create_time": 1.5e9, "update_time": 1.6e9}
    (tmp_path / "conversations.json").write_text(json.dumps([chat]))
    assert chats.run("import", str(tmp_path / "conversations.json"), "--json") == ExitCode.DONE
    assert json.loads(chats.out)["imported"] == 1
    assert "Foreign" in [each.title for each in chats.desk.program.conversations.heads]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("export", "Chat 10", "--output", "FILE"), "is there already"),
        (("export", "Nowhere", "--output", "FILE.json"), "There is no chat “Nowhere”"),
        (("export", "Chat 10", "--output", "FILE.html", "--format", "html"), "HTML cannot be written here"),
    ],
)
def test_what_cannot_be_done_is_said(words: tuple[str, ...], said: str, chats: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("before")
    typed = [word.replace("FILE", str(tmp_path / "there")) for word in words]
    assert chats.run(*typed) == ExitCode.WRONG_USE
    assert said in chats.err and (tmp_path / "there").read_text() == "before"


def test_several_chats_of_a_title_are_told_apart(chats: CommandLine, tmp_path: Path) -> None:
    chats.desk.program.conversations.start()
    chats.desk.program.conversations.rename(20, "Chat 10")
    assert chats.run("export", "chat 10", "--output", str(tmp_path / "a")) == ExitCode.WRONG_USE
    assert "name one by its number: 20, 10." in chats.err


def test_while_a_window_is_open_it_is_done_there(chats: CommandLine, tmp_path: Path) -> None:
    instance = Instance(chats.desk.program.paths.data)
    assert instance.acquire()
    try:
        assert chats.run("export", "--all", "--output", str(tmp_path / "a")) == ExitCode.WRONG_USE
        assert "window of Tokenlight is open" in chats.err
    finally:
        instance.close()


def exported(path: Path) -> list[str]:
    return [chat["head"]["title"] for chat in json.loads(path.read_bytes())["chats"]]


def test_the_chats_of_a_folder_or_of_a_search_go_into_a_file(chats: CommandLine, tmp_path: Path) -> None:
    program, path = chats.desk.program, str(tmp_path / "some.json")
    program.conversations.start()
    _send(chats, question(30, head(30), 31), end(32, "Nothing of them: 50% wool", 30))
    program.conversations.start()
    program.chat_folders.move(20, "My animals")
    assert chats.run("export", "--folder", "my  ANIMALS", "--output", path) == ExitCode.DONE
    assert exported(Path(path)) == ["Chat 20"]
    assert chats.run("export", "--search", "50%", "--output", path, "--replace") == ExitCode.DONE
    assert exported(Path(path)) == ["Chat 30"]
    assert chats.run("export", "--search", "LLAMA", "--output", path, "--replace") == ExitCode.DONE
    assert exported(Path(path)) == ["Chat 20", "Chat 10"]
    for words, said in (
        (("--folder", "animals"), "There is no chat in a folder “animals”"),
        (("--search", "zebra"), "No message holds “zebra”, letter for letter."),
    ):
        assert chats.run("export", *words, "--output", path, "--replace") == ExitCode.WRONG_USE
        assert said in chats.err and exported(Path(path)) == ["Chat 20", "Chat 10"]


@pytest.mark.parametrize(
    "words",
    [
        ("export", "--output", "a"),
        ("export", "x", "--all", "--output", "a"),
        ("export", "--folder", "x", "--search", "y", "--output", "a"),
    ],
)
def test_one_chat_or_all(words: tuple[str, ...]) -> None:
    with pytest.raises(UserError) as raised:
        read_arguments(list(words))
    assert "--all" in raised.value.sentence.english()
