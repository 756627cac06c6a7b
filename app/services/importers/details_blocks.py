"""Takes the blocks out of an answer that Open WebUI writes into its text as `<details type="…">`.

Thinking becomes thinking between the usual tags; what tools did is left out and counted. A block without an end is text.
"""

from __future__ import annotations

import html
import re

from app.core.thinking_tags import THINK

_OPENING = re.compile(r'^<details type="(reasoning|tool_calls|code_interpreter)"[^>]*+>', re.MULTILINE)
_CLOSING = "</details>"
_SUMMARY = re.compile(r"\s*+<summary>[^<]*+</summary>")


def without_details(text: str) -> tuple[str, int]:
    """Return the text with its thinking between tags, and how many blocks of tools were taken out."""
    parts: list[str] = []
    tools = at = 0
    while (opening := _OPENING.search(text, at)) is not None:
        end = text.find(_CLOSING, opening.end())
        if end < 0:
            break
        parts.append(text[at : opening.start()])
        at = end + len(_CLOSING)
        if opening[1] == "reasoning":
            parts.append(f"{THINK.opening}\n{_thought(text[opening.end() : end])}\n{THINK.closing}")
        else:
            tools += 1
            while text.startswith("\n", at):
                at += 1
    parts.append(text[at:])
    return "".join(parts), tools


def _thought(block: str) -> str:
    """Return what stands in a block, without its summary and without the marks of a quotation."""
    summary = _SUMMARY.match(block)
    lines = html.unescape(block[summary.end() :] if summary is not None else block).strip().splitlines()
    return "\n".join(line.removeprefix(">").removeprefix(" ") if line.startswith(">") else line for line in lines)
