"""What a template leaves out of earlier answers is neither sent nor foretold: thinking fills no context for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.events import Finished
from tests.e2e.inside import Inside
from tests.ggufs import copy_with

WITHOUT_THINKING = (
    "{% for m in messages %}{% set said = m.content %}"
    "{% if m.role == 'assistant' and '</think>' in said %}{% set said = said.split('</think>')[-1] %}{% endif %}"
    "{{ '<|im_start|>' + m.role + '\n' + said + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
THOUGHT = "<think>" + "And then again, it may be otherwise. " * 40 + "</think>Yes."
MOST_OF_THE_REST = 120
"""Tokens of four short questions and answers, with their marks; one thinking alone has more."""


def test_earlier_thinking_is_neither_sent_nor_foretold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, starter_model: Path
) -> None:
    model = copy_with(starter_model, tmp_path / "thinks.gguf", chat_template=WITHOUT_THINKING)
    with Inside(tmp_path / "home", monkeypatch, scripted=False) as inside:
        inside.load(model)
        program = inside.program
        program.sampling.change(max_tokens=2)
        for question in ("Is it so?", "And now?", "And then?"):
            inside.ask(question)
            assert program.branches.edit(inside.answer, THOUGHT)
        program.prompt_count.set_draft("At last?")
        count = program.prompt_count
        inside.until(lambda: count.count.message == "At last?" and count.count.prompt is not None)
        foretold = count.count
        inside.ask("At last?")
        finished = inside.answer.finished
        assert isinstance(finished, Finished)
        sent = finished.metrics.prompt_tokens
        assert sent < MOST_OF_THE_REST
        assert foretold.prompt == sent
