"""Reads the items that newer versions of Open WebUI keep of an answer, in `output` of its message.

They are those of OpenAI's Responses (`message`, `reasoning`, calls of tools and what came of them) and one of its own,
`open_webui:code_interpreter`; in some versions the text of the message has all of it once more, in others its text alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.services.importers.json_values import as_list, as_object, as_text
from app.services.importers.losses import Losses

_RESULTS = ("function_call_output", "custom_tool_call_output")
"""Each belongs to a call, which counts."""


@dataclass(frozen=True)
class Items:
    """What the items of an answer hold."""

    text: str = ""
    thinking: str = ""
    tools: int = 0
    """Calls of tools and programs that were run."""


def read_items(output: object, losses: Losses) -> Items:
    """Return what stands in the items, and note those of a kind that is not known."""
    texts: list[str] = []
    thoughts: list[str] = []
    tools = 0
    for item in map(as_object, as_list(output)):
        kind = as_text(item.get("type"))
        if kind == "message":
            texts.append(_parts(item.get("content"), losses))
        elif kind == "reasoning":
            thoughts.append(_parts(item.get("summary"), losses) or _parts(item.get("content"), losses))
        elif kind.endswith(("_call", "code_interpreter")):
            tools += 1
        elif kind not in _RESULTS:
            losses.note("contents")
    return Items(_joined(texts), _joined(thoughts), tools)


def _parts(content: object, losses: Losses) -> str:
    if isinstance(content, str):
        return content
    found: list[str] = []
    for part in as_list(content):
        text = as_object(part).get("text")
        if isinstance(text, str):
            found.append(text)
        else:
            losses.note("contents")
    return "".join(found)


def _joined(texts: list[str]) -> str:
    return "\n\n".join(stripped for text in texts if (stripped := text.strip()))
