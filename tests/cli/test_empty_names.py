from __future__ import annotations

import pytest

from app.core.errors import ExitCode, UserError
from tests.cli.conftest import CommandLine


@pytest.mark.parametrize("typed", ["", " ", "\t\n", "\u3000"])
@pytest.mark.parametrize(
    "words",
    [
        ["models", "show", "?"],
        ["models", "download", "?"],
        ["models", "inspect", "?"],
        ["models", "inspect", "a.gguf", "?"],
        ["models", "search", "?"],
        ["models", "search", "a", "--license", "?"],
        ["models", "search", "a", "--language", "?"],
        ["models", "search", "a", "--kind", "?"],
        ["models", "?"],
        ["plan", "?"],
        ["plan", "a", "--gpu", "?"],
        ["ask", "a", "--model", "?"],
    ],
)
def test_a_name_that_was_left_empty_is_told(line: CommandLine, words: list[str], typed: str) -> None:
    """As a variable of a script that is not set leaves it: never is anything else done in its place."""
    try:
        code = line.run(*(typed if word == "?" else word for word in words))
        told = line.err.rstrip("\n")
    except UserError as error:
        code, told = error.exit_code, error.sentence.english()
    assert code == ExitCode.WRONG_USE and line.out == ""
    assert told.endswith(".") and not told.startswith("The following")
