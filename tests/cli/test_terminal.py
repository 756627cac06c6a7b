from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from app.cli.terminal import Terminal
from app.core.errors import UserError
from app.core.model import FoundModel
from app.core.words import translate
from tests.cli.conftest import CommandLine

HOSTILE = "".join(map(chr, [7, 8, 13, 27, 127, *range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]))


class Screen(io.StringIO):
    """Standard output or error of a person."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("character", HOSTILE)
def test_what_could_steer_a_screen_never_reaches_it(monkeypatch: pytest.MonkeyPatch, character: str) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "stderr", screen)
    terminal = Terminal()
    terminal.write(f"a{character}b\n\tc")
    terminal.say(f"a{character}b\r\nc\nd")
    out, err = screen.getvalue()[:6], screen.getvalue()[6:]
    assert character not in out + err
    assert (len(out), out[3:]) == (6, "\n\tc")
    assert (err[0], err[2:]) == ("a", "b c d\n")


def test_an_error_is_made_harmless_even_where_no_person_reads(capsys: pytest.CaptureFixture[str]) -> None:
    Terminal().say("\x1b]0;owned\x07 \u202egnp\nmore")
    assert capsys.readouterr().err == "␛]0;owned␇ \ufffdgnp more\n"


def test_a_pipe_gets_the_text_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    Terminal().write("\x1b[1m\x85")
    assert capsys.readouterr().out == "\x1b[1m\x85"


def test_the_name_of_a_model_cannot_steer_a_terminal_behind_a_pipe(
    line: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = f"m{HOSTILE}\nx"
    sentence = translate("Test", "{name} is broken.", name=bad)
    found = FoundModel(f"/m/{bad}.gguf", 1, bad, architecture=bad, quantisation=bad, problem=sentence)
    monkeypatch.setattr(line.desk.program.models, "list_now", lambda: (found,))
    assert line.run("models") == 0
    assert not set(HOSTILE) & set(line.out)
    assert line.out.count("\n") == 4


def test_a_folder_without_models_cannot_steer_a_terminal(line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line.desk.program.models, "_folders", (Path("/none\x1b[2J"),))
    line.run("models")
    assert "\x1b" not in line.out
    assert "␛[2J" in line.out


def test_a_template_whose_name_is_no_text_is_an_object_too(line: CommandLine, model: Path, tmp_path: Path) -> None:
    binary = tmp_path / "t\udcff.jinja"
    binary.write_bytes(b"\xff")
    for name in ("\udcff", str(binary)):
        assert line.run("ask", "Hi", "--json", "--model", str(model), "--template", name) == 2
        (failed,) = line.lines()
        assert (failed["type"], failed["kind"]) == ("failed", "wrong_use")
        assert "\ufffd" in failed["sentence"]


def test_a_sentence_that_cannot_be_encoded_is_written_all_the_same(
    line: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_options: object) -> None:
        raise UserError(translate("Test", "No {name}.", name="\ud800"))

    monkeypatch.setattr(line.desk.program.ask, "begin", fail)
    assert line.run("ask", "Hi", "--json") == 3
    assert line.lines()[0]["sentence"] == "No \ufffd."


@pytest.mark.parametrize("columns", [20, 80])
def test_progress_stays_on_one_line_that_can_be_taken_away(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", str(columns))
    terminal = Terminal()
    terminal.progress("word " * 50)
    terminal.progress("short")
    terminal.clear_progress()
    long, _, short, _, end = screen.getvalue().split("\r")
    assert len(long) < columns and long.startswith("word ") and long.endswith("…")
    assert (short, end) == ("short", "") and screen.getvalue().count(" " * (columns - 1)) == 1
