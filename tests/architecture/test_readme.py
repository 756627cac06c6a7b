"""What the README tells people to type and where it points to exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from app.cli.arguments import read_arguments
from devtools.command_line import read as read_dev

ROOT = Path(__file__).resolve().parents[2]
DEV = "packaging/dev.py"
APPLICATION = ("python3 -m app", "python -m app", "tokenlight")


def readme() -> str:
    return (ROOT / "README.md").read_text(encoding="utf-8")


def code_lines() -> list[str]:
    """List the lines of code blocks and the pieces of code in sentences, without prompts and comments."""
    text = readme()
    fenced = re.findall(r"^```[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    outside = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line for block in fenced for line in block.splitlines()]
    lines += re.findall(r"^ {4}(.+)$", outside, re.MULTILINE)
    lines += re.findall(r"`([^`\n]+)`", outside)
    return [re.sub(r"^\$ |\s+#.*$", "", line.strip()) for line in lines]


def commands(*starts: str) -> list[list[str]]:
    """List the words after one of these starts, for every line that has it."""
    found = []
    for line in code_lines():
        start = next((each for each in starts if line == each or line.startswith(each + " ")), None)
        if start is not None:
            found.append(shlex.split(line.removeprefix(start)))
    return found


def test_the_two_commands_that_everything_begins_with_are_there() -> None:
    first_words = {words[0] for words in commands(f"python3 {DEV}") if words}
    assert {"run", "test"} <= first_words


def test_every_set_up_command_in_the_readme_exists() -> None:
    typed = commands(f"python3 {DEV}", f"python {DEV}", f"py {DEV}")
    assert typed
    for words in typed:
        if words:
            options, _ = read_dev([word for word in words if word not in ("COMMAND", "--help")] or ["setup"])
            assert options.command


def test_every_application_command_in_the_readme_exists() -> None:
    typed = commands(*APPLICATION)
    assert any(words[:1] == ["ask"] for words in typed)
    for words in typed:
        read_arguments(words)


@pytest.mark.parametrize("page", ["README.md", "app/ARCHITECTURE.md"])
def test_every_link_to_a_file_leads_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = [target.split("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)]
    gone = [
        target
        for target in targets
        if target and "://" not in target and not ((ROOT / page).parent / target).exists()
    ]
    assert gone == []
