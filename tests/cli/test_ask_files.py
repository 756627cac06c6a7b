"""Files beside a question on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.attached_files import framed
from app.core.chat import ChatPrompt, PromptMessage, TextPrompt
from tests.cli.conftest import CommandLine
from tests.pdfs import pdf_of


@pytest.mark.parametrize("raw", [False, True])
def test_files_go_before_the_question_in_their_order(
    line: CommandLine, model: Path, tmp_path: Path, raw: bool
) -> None:
    for name, text in (("b.csv", "1,2\r\n"), ("a.md", "# Title")):
        (tmp_path / name).write_bytes(text.encode())
    files = [word for name in ("b.csv", "a.md") for word in ("--file", str(tmp_path / name))]
    assert line.run("ask", "Hi", "--model", str(model), *files, *(["--raw"] if raw else [])) == 0
    expected = f"{framed('b.csv', '1,2' + chr(10))}\n\n{framed('a.md', '# Title')}\n\nHi"
    sent = TextPrompt(expected) if raw else ChatPrompt((PromptMessage("user", expected),))
    assert line.desk.engine.question.prompt == sent


def test_the_text_of_a_pdf_goes_along(line: CommandLine, model: Path, tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    (tmp_path / "a.pdf").write_bytes(pdf_of(b"BT /F1 9 Tf (From a page) Tj ET"))
    assert line.run("ask", "Hi", "--model", str(model), "--file", str(tmp_path / "a.pdf")) == 0
    assert line.desk.engine.chat.messages[0].text == framed("a.pdf", "From a page") + "\n\nHi"


def test_a_file_that_cannot_be_read_is_said_before_a_model_is_loaded(
    line: CommandLine, model: Path, tmp_path: Path
) -> None:
    for name, said in (("gone.txt", "There is no file"), (".", "is a folder")):
        assert line.run("ask", "Hi", "--model", str(model), "--file", str(tmp_path / name)) == 2
        assert said in line.err and line.err.count("\n") == 1
    assert line.desk.engine.sent == []
