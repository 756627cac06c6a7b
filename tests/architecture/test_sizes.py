"""Files, functions, classes and parameter lists stay small enough to be read in one go."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES_IN_FILE = 350
MOST_LINES_IN_FUNCTION = 60
MOST_PUBLIC_METHODS = 15
MOST_PARAMETERS = 7

Function = ast.FunctionDef | ast.AsyncFunctionDef


def sources(*folders: str) -> list[Path]:
    """List the Python files of these folders."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def functions(tree: ast.AST) -> Iterator[Function]:
    """Yield every function, also nested ones and methods."""
    for node in ast.walk(tree):
        if isinstance(node, Function):
            yield node


def length(function: Function) -> int:
    """Count the lines from the first line of the signature to the last of the body."""
    return (function.end_lineno or function.lineno) - function.lineno + 1


def parameter_names(function: Function) -> list[str]:
    """List the parameters, without what a method is called on."""
    every = function.args
    names = [each.arg for each in (*every.posonlyargs, *every.args, *every.kwonlyargs)]
    names += [each.arg for each in (every.vararg, every.kwarg) if each is not None]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def public_methods(node: ast.ClassDef) -> list[str]:
    """List our public methods; a property and its setter count once, what overrides Qt (camelCase) does not."""
    names = {each.name for each in node.body if isinstance(each, Function)}
    return sorted(name for name in names if not name.startswith("_") and name == name.lower())


def too_long_files(folder: str) -> list[str]:
    counted = ((path, len(path.read_text(encoding="utf-8").splitlines())) for path in sources(folder))
    return [f"{path.relative_to(ROOT)}: {lines} lines" for path, lines in counted if lines > MOST_LINES_IN_FILE]


@pytest.mark.parametrize("folder", ["app", "packaging", "tests"])
def test_no_file_is_longer_than_350_lines(folder: str) -> None:
    assert sources(folder), f"{folder} holds no Python file"
    assert too_long_files(folder) == []


def test_no_function_is_longer_than_60_lines() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{function.lineno} {function.name}: {length(function)} lines"
        for path in sources("app", "packaging")
        for function in functions(ast.parse(path.read_text(encoding="utf-8")))
        if length(function) > MOST_LINES_IN_FUNCTION
    ]
    assert found == []


def test_no_function_takes_more_than_7_parameters() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{function.lineno} {function.name}: {len(parameter_names(function))} parameters"
        for path in sources("app", "packaging")
        for function in functions(ast.parse(path.read_text(encoding="utf-8")))
        if len(parameter_names(function)) > MOST_PARAMETERS
    ]
    assert found == []


def test_no_class_has_more_than_15_public_methods() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}: {len(public_methods(node))} public methods"
        for path in sources("app", "packaging")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and len(public_methods(node)) > MOST_PUBLIC_METHODS
    ]
    assert found == []


def test_the_counting_itself_is_right() -> None:
    tree = ast.parse(
        "class C:\n"
        "    def a(self, b, /, c, *d, e, **f):\n"
        "        return 1\n"
        "    @property\n"
        "    def p(self): ...\n"
        "    @p.setter\n"
        "    def p(self, v): ...\n"
        "    def _q(self): ...\n"
        "    def paintEvent(self, event): ...\n"
    )
    node = tree.body[0]
    assert isinstance(node, ast.ClassDef)
    assert public_methods(node) == ["a", "p"]
    first = next(functions(tree))
    assert parameter_names(first) == ["b", "c", "e", "d", "f"]
    assert length(first) == 2


def test_every_package_has_an_empty_init_file_and_packaging_has_none() -> None:
    folders = {path.parent for path in sources("app")}
    assert [str(folder.relative_to(ROOT)) for folder in folders if not (folder / "__init__.py").is_file()] == []
    assert [str(path.relative_to(ROOT)) for path in (ROOT / "app").rglob("__init__.py") if path.stat().st_size] == []
    # It would shadow PyPI's `packaging` for every tool that runs in the checkout.
    assert not (ROOT / "packaging" / "__init__.py").exists()


def test_every_module_says_what_it_does() -> None:
    found = [
        str(path.relative_to(ROOT))
        for path in sources("app", "packaging")
        if path.name != "__init__.py" and not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []
