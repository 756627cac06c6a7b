"""A grammar or a JSON schema out of a file, on the command line."""

from __future__ import annotations

from pathlib import Path

from app.core.commands import Load
from app.core.grammar import Grammar
from tests.cli.conftest import CommandLine


def test_a_grammar_comes_from_its_file_and_a_wrong_one_is_told_before_a_model_is_loaded(
    line: CommandLine, model: Path, tmp_path: Path
) -> None:
    file = tmp_path / "yes.gbnf"
    file.write_text('root ::= "yes"', "utf-8")
    assert line.run("ask", "Hi", "--model", str(model), "--grammar", str(file)) == 0
    assert line.desk.engine.question.settings.grammar == Grammar("gbnf", 'root ::= "yes"')
    loads = len(line.desk.engine.all(Load))
    file.write_text("root ::= yes", "utf-8")
    assert line.run("ask", "Hi", "--model", str(model), "--grammar", str(file)) == 2
    assert line.err.startswith("Line 1, column 10: there is no rule “yes”")
    assert line.err.count("\n") == 1
    assert len(line.desk.engine.all(Load)) == loads
