"""Conversations and chat templates that tests of the prompt share."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from app.core.chat import PromptMessage

TEMPLATES = Path(__file__).resolve().parents[2] / "resources" / "templates"
OUR_TEMPLATES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(TEMPLATES.glob("*.jinja"))}

CHATML = OUR_TEMPLATES["chatml"]

GEMMA_1 = (
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}"
    "{% endif %}{% for message in messages %}"
    "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
    "{% set role = 'model' if message['role'] == 'assistant' else message['role'] %}"
    "{{ '<start_of_turn>' + role + '\\n' + message['content'] | trim + '<end_of_turn>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}"
)
"""Refuses a system role and whatever does not alternate."""

MISTRAL_1 = (
    "{{ bos_token }}{% for message in messages %}"
    "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
    "{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}"
    "{% elif message['role'] == 'assistant' %}{{ message['content'] + eos_token }}"
    "{% else %}{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}{% endfor %}"
)
"""Refuses the same in other words, and a system role only by its place."""

SILENT = (
    "{% for message in messages %}{% if message.role == 'user' %}{{ '<|user|>' + message.content }}"
    "{% elif message.role == 'assistant' %}{{ '<|answer|>' + message.content }}{% endif %}{% endfor %}"
)
"""Leaves a system prompt out without a word."""

THINKING = (
    "{% for message in messages %}{% set content = message.content %}"
    "{% if message.role == 'assistant' and '</think>' in content %}"
    "{% set content = content.split('</think>')[-1].lstrip('\\n') %}{% endif %}"
    "{{ '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n<think>\\n' }}{% endif %}"
)
"""Takes the thinking out of earlier answers and opens the next one with it."""


def system(text: str) -> PromptMessage:
    """Return a system prompt."""
    return PromptMessage("system", text)


def user(text: str) -> PromptMessage:
    """Return a question."""
    return PromptMessage("user", text)


def answer(text: str, ids: list[int] | None = None) -> PromptMessage:
    """Return an answer, with the ids that it was sampled as."""
    return PromptMessage("assistant", text, np.asarray(ids or [], "<i4").tobytes())


PLAIN_CHATS = (
    [user("Hello there")],
    [user("  two\nlines \n")],
    [system("Be brief."), user("Hello")],
    [
        system("Be brief."),
        user("Hello"),
        answer("Hi! What can I do?"),
        user("Tell me of <b>HTML</b> & co 😀\n\n\tcode"),
    ],
    [user("a"), answer("b"), user("c"), answer("d"), user("e")],
)
