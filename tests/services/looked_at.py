"""A program in which somebody looks at an answer: what passes over its tokens and its prompt start from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.desk import Desk

PROMPT = 40


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "home", monkeypatch)
    made.program.conversations.start()
    made.load(model)
    made.program.inspecting.watch(True)
    yield made
    made.program.stop()


def ask(desk: Desk, question: str = "Why?", tokens: int = PROMPT) -> None:
    """Have a question answered in two tokens, behind a prompt of so many, and look at the answer."""
    assert desk.program.chat.send(question)
    desk.settle()
    desk.engine.prompt(tokens)
    desk.engine.write("So", 2)
    desk.engine.finish()
    desk.until(lambda: not desk.program.inspecting.is_busy and desk.program.inspecting.prompt is not None)
