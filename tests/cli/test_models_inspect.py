from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from app.cli import models_inspect, table
from app.core.errors import ExitCode
from tests.cli.conftest import CommandLine
from tests.gguf_bytes import raw_gguf
from tests.ggufs import copy_with


def test_a_file_is_shown(line: CommandLine, model: Path) -> None:
    assert line.run("models", "inspect", str(model)) == 0, line.err
    name, summary, *rest = line.out.splitlines()
    assert name == str(model)
    assert summary.startswith("GGUF 3; ") and summary.endswith(" of them header; alignment 32; 21 tensors")
    titles = [after for before, after in itertools.pairwise(rest) if not before]
    assert titles == [
        "Metadata",
        "Tokenizer: gpt2 (gpt-2); 473 tokens; 213 merges",
        "Special tokens",
        "Chat template",
        "Size by layer",
        "Size by type",
        "Tensors",
    ]
    assert "0      <|endoftext|>  bos: begins a text" in rest
    (embedding,) = (row.split("  ") for row in rest if row.startswith("token_embd.weight "))
    assert [cell.strip() for cell in embedding if cell] == [
        "token_embd.weight",
        "128 × 473",
        "F16",
        "118 KiB",
        "12,352",
    ]


@pytest.mark.parametrize("words", [("models", "inspect", "--json"), ("models", "--json", "inspect")])
def test_as_json(line: CommandLine, model: Path, words: tuple[str, ...]) -> None:
    assert line.run(*words, str(model)) == 0, line.err
    (told,) = line.lines()
    assert told["difference"] is None
    (file,) = told["files"]
    assert file["path"] == str(model) and len(file["tensors"]) == 21
    assert file["entries"][0] == {
        "key": "general.architecture",
        "type": "text",
        "value": "llama",
        "length": 5,
        "is_shortened": False,
        "digest": file["entries"][0]["digest"],
    }
    assert file["tensors"][0]["shape"] == [128, 473]


def test_two_files_are_compared(line: CommandLine, model: Path, tmp_path: Path) -> None:
    other = copy_with(model, tmp_path / "b.gguf", set={"general.license": "mit", "llama.block_count": "2"})
    assert line.run("models", "inspect", str(model), str(other)) == 0, line.err
    rows = line.out.splitlines()
    assert rows[0] == f"1: {model}" and rows[2] == f"2: {other}"
    assert "The same in both: 21 entries, 21 tensors by shape and type." in rows
    start = rows.index("Metadata that differs")
    assert [row.split() for row in rows[start + 1 :]] == [
        ["Key", "1", "2"],
        ["general.license", "apache-2.0", "mit"],
        ["llama.block_count", "2", "(u32)", "2", "(text)"],
    ]
    assert line.run("models", "inspect", str(model), str(model)) == 0
    assert "Both say the same of themselves and of their tensors" in line.out


def test_a_damaged_file_is_one_sentence(line: CommandLine, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(b"GGUF" + bytes(40))
    assert line.run("models", "inspect", str(path)) == ExitCode.MODEL_UNUSABLE
    told = line.out + line.err
    assert told.count("\n") == 1 and "version 0 of the GGUF format" in told
    assert line.run("models", "inspect", str(model), str(path)) == ExitCode.MODEL_UNUSABLE
    assert f"{path}: This model is in version 0" in line.out + line.err


def test_what_a_file_says_cannot_lead_a_terminal(line: CommandLine, tmp_path: Path) -> None:
    evil = "\x1b[2J\nx\u202e"
    path = tmp_path / "evil.gguf"
    path.write_bytes(
        raw_gguf(
            {
                evil: evil,
                "list": [evil],
                "tokenizer.ggml.model": evil,
                "tokenizer.ggml.tokens": [evil],
                f"tokenizer.ggml.{evil}_token_id": 0,
                "tokenizer.chat_template": evil,
                f"tokenizer.chat_template.{evil}": evil,
            },
            [(evil, (4,), 0, 0)],
        )
    )
    assert line.run("models", "inspect", str(path)) == 0
    assert "\x1b" not in line.out and "\u202e" not in line.out
    assert line.run("models", "inspect", str(path), str(path)) == 0


def test_a_table_has_an_end(line: CommandLine, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models_inspect, "MOST_ROWS", 5)
    assert line.run("models", "inspect", str(model)) == 0
    assert line.out.splitlines()[-1] == "… 16 more; --json has all of them"


def test_a_key_or_a_value_without_end_floods_no_terminal(line: CommandLine, tmp_path: Path) -> None:
    long = "x\x1b[2J" * 4_000
    paths = [tmp_path / "a.gguf", tmp_path / "b.gguf"]
    for number, path in enumerate(paths):
        path.write_bytes(
            raw_gguf(
                {
                    f"{number}{long}": long,
                    "tokenizer.ggml.model": long[:500],
                    "tokenizer.ggml.pre": long[:500],
                    "tokenizer.ggml.tokens": [long],
                    f"tokenizer.ggml.{long}_token_id": 0,
                    f"tokenizer.chat_template.{long}": "short",
                },
                [("t" * 60, (4,), 0, 0)],
            )
        )
    assert line.run("models", "inspect", str(paths[0])) == 0, line.err
    assert "x␛[2Jx" in line.out and "… (20,001 characters)" in line.out
    longest = max(map(len, line.out.splitlines()))
    assert longest < 3 * table.MOST_CELL and "\x1b" not in line.out
    assert line.run("models", "inspect", *map(str, paths)) == 0, line.err
    assert "… (20,001 characters)" in line.out and "\x1b" not in line.out
    assert max(map(len, line.out.splitlines())) < 4 * table.MOST_CELL
    assert line.run("models", "inspect", "--json", str(paths[0])) == 0, line.err
    assert any(each["key"] == f"0{long}" for each in line.lines()[0]["files"][0]["entries"])
