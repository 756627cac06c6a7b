"""Sentences are written where the collector of translations finds them."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CALLS = {"tr", "translate"}


def hidden_calls(source: str) -> list[int]:
    """List the lines of `tr()` and `translate()` calls inside an f-string: lupdate does not look there."""
    lines = []
    for text in ast.walk(ast.parse(source)):
        if isinstance(text, ast.JoinedStr):
            calls = [node for node in ast.walk(text) if isinstance(node, ast.Call)]
            lines += [call.lineno for call in calls if name_of(call.func) in CALLS]
    return lines


def name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def test_a_call_inside_an_f_string_is_found() -> None:
    hidden = "f\"{self.tr('One')}\"\nf\"{translate('A', 'Two')} {[QCoreApplication.translate('A', 'B')]}\"\n"
    assert hidden_calls(hidden) == [1, 2, 2]
    assert hidden_calls("told = self.tr('One')\nf'{told} {render(told)}'") == []


def test_no_sentence_is_hidden_from_translators_in_an_f_string() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / "app").rglob("*.py"))
        for line in hidden_calls(path.read_text(encoding="utf-8"))
    ]
    assert found == []
