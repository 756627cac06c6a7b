"""Makes conversations of those that ChatGPT exports in `conversations.json`.

The format is that of docs/chatgpt-data-export-format.md in mitkury/chatgpt-export-parser: a tree of nodes in `mapping`,
each with a message or without one, its parent and its children, times in seconds, and `current_node`, where the shown
branch ends. Parts of contents are named as in exports of 2025: text, code, multimodal_text with pointers to files,
thoughts and reasoning_recap, user_editable_context, and marks of sources between private-use characters.
"""

from __future__ import annotations

import re

from app.services.importers.found import Found, Unread
from app.services.importers.json_values import as_key, as_list, as_object, as_text, milliseconds
from app.services.importers.losses import Kind, Losses
from app.services.importers.message_nodes import NO_CONVERSATION, Head, Node, Said, conversation

_LOOKED_AT = 50
"""Nodes that are looked at to know the format."""
_MARK = re.compile("\ue200[^\ue200\ue201]*\ue201")
"""A reference to a source inside a text."""
_WRITTEN_FOR = ("python", "canmore")
"""Tools for which a model writes what people read: programs, and texts on a canvas."""
_CONTEXTS = ("user_editable_context", "model_editable_context")
_READ = ("text", "code", "multimodal_text")
_NOT_SAID: dict[str, Kind] = {
    "execution_output": "tools",
    "computer_output": "tools",
    "tether_browsing_display": "tools",
    "tether_quote": "tools",
    "sonic_webpage": "tools",
    "system_error": "errors",
    "app_pairing_content": "hidden",
}
"""Kinds of contents that nobody wrote for the conversation, whoever the file says did."""
_LEFT_OUT: dict[str, Kind] = {"system": "system", "tool": "tools"}
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")


def is_own(value: object) -> bool:
    """Return whether something out of a JSON file is a conversation of this format."""
    mapping = as_object(value).get("mapping")
    if not isinstance(mapping, dict):
        return False
    some = (
        as_object(as_object(node).get("message"))
        for _, node in zip(range(_LOOKED_AT), mapping.values(), strict=False)
    )
    return "current_node" in as_object(value) or any("author" in message for message in some)


def read(value: object, place: str = "", doubled: int = 0) -> Found:
    """Return the conversation that a value is; `doubled` entries of it stood there twice."""
    chat, losses = as_object(value), Losses()
    title = as_text(chat.get("title"))
    mapping = chat.get("mapping")
    if not isinstance(mapping, dict):
        return Found((), (Unread(losses.clean(title), place, NO_CONVERSATION),))
    if doubled:
        losses.note("doubled", doubled)
    head = Head(
        title,
        milliseconds(chat.get("create_time")),
        milliseconds(chat.get("update_time")),
        pinned=chat.get("is_starred") is True,
        current=as_key(chat.get("current_node")),
    )
    return conversation(head, {key: _node(node, losses) for key, node in mapping.items()}, losses, place)


def _node(value: object, losses: Losses) -> Node:
    node = as_object(value)
    children = [key for child in as_list(node.get("children")) if (key := as_key(child)) is not None]
    parent = as_key(node.get("parent"))
    message = node.get("message")
    if message is None and isinstance(value, dict):
        return Node(parent, children)
    if not isinstance(message, dict):
        losses.note("malformed")
        return Node(parent, children)
    time = message.get("create_time")
    ms = milliseconds(time)
    if ms is None and time is not None:
        losses.note("times")
    said, thought = _said(message, losses)
    return Node(parent, children, ms, said, thought)


def _said(message: dict[str, object], losses: Losses) -> tuple[Said | None, str]:
    """Return what a message says, None for one that is passed over, and what it thinks."""
    content, metadata = message.get("content"), as_object(message.get("metadata"))
    role = as_object(message.get("author")).get("role")
    if not isinstance(content, dict) or not isinstance(role, str):
        losses.note("malformed")
        return None, ""
    kind = content.get("content_type")
    recipient = as_text(message.get("recipient")) or "all"
    is_for_people = recipient == "all" or recipient.split(".")[0] in _WRITTEN_FOR
    left_out: Kind | None = None
    if kind in _CONTEXTS or metadata.get("is_visually_hidden_from_conversation") is True:
        left_out = "hidden"
    elif role not in ("user", "assistant"):
        left_out = _LEFT_OUT.get(role, "roles")
    elif kind == "thoughts":
        return None, _thoughts(content)
    elif kind == "reasoning_recap":
        left_out = "recaps"
    elif isinstance(kind, str) and kind in _NOT_SAID:
        losses.note(_NOT_SAID[kind])
        return None, ""
    elif not is_for_people:
        left_out = "tools"
    if left_out is not None:
        losses.note(left_out, int(_says_something(content)))
        return None, ""
    _note_attachments(metadata, losses)
    text = _text(content, metadata, losses)
    if role == "user":
        return Said("user", text), ""
    return _answer(text, message, metadata) if text else None, ""


def _answer(text: str, message: dict[str, object], metadata: dict[str, object]) -> Said:
    how = as_text(as_object(metadata.get("finish_details")).get("type"))
    is_whole = message.get("status") != "in_progress" and how != "interrupted"
    goes_on = message.get("end_turn") is not True
    return Said("assistant", text, as_text(metadata.get("model_slug")), is_whole, goes_on=goes_on)


def _says_something(content: dict[str, object]) -> bool:
    """Return whether there is more in a content than its kind."""
    values = [value for key, value in content.items() if key != "content_type"]
    return any(
        any(part not in ("", None) for part in value) if isinstance(value, list) else value for value in values
    )


def _thoughts(content: dict[str, object]) -> str:
    found: list[str] = []
    for thought in map(as_object, as_list(content.get("thoughts"))):
        summary, text = as_text(thought.get("summary")).strip(), as_text(thought.get("content")).strip()
        found += [f"**{summary}**"] if summary and summary not in text else []
        found += [text] if text else []
    return "\n\n".join(found)


def _text(content: dict[str, object], metadata: dict[str, object], losses: Losses) -> str:
    """Return the text of a content that people read."""
    if content.get("content_type") == "code":
        return _fenced(as_text(content.get("text")), as_text(content.get("language")))
    parts = content.get("parts")
    if not isinstance(parts, list):
        if not isinstance(content.get("text"), str):
            losses.note("contents", int(content.get("content_type") not in _READ or _says_something(content)))
        return _unmarked(as_text(content.get("text")), metadata, losses)
    texts = [part if isinstance(part, str) else _part(part, losses) for part in parts]
    return _unmarked("\n\n".join(text for text in texts if text), metadata, losses)


def _part(part: object, losses: Losses) -> str:
    """Return the text of a part that is no text itself, and note the file that it points to."""
    found = as_object(part)
    pointers = [
        found.get("asset_pointer"),
        *map(_pointer, (found.get("audio_asset_pointer"), found.get("video_container_asset_pointer"))),
    ]
    is_file = False
    for pointer in filter(None, map(as_text, pointers)):
        identity = pointer.rsplit("/", 1)[-1]
        losses.note_file(identity, identity)
        is_file = True
    text = found.get("text")
    if not is_file and not isinstance(text, str) and part is not None:
        losses.note("contents")
    return as_text(text)


def _pointer(value: object) -> object:
    """Return where a part of a part points to."""
    return as_object(value).get("asset_pointer")


def _note_attachments(metadata: dict[str, object], losses: Losses) -> None:
    for attachment in map(as_object, as_list(metadata.get("attachments"))):
        identity = as_text(attachment.get("id"))
        if name := as_text(attachment.get("name")) or identity:
            losses.note_file(name, identity)


def _unmarked(text: str, metadata: dict[str, object], losses: Losses) -> str:
    """Return a text without the marks that only the service itself can show: what it shows instead, where that is told."""
    if "\ue200" not in text:
        return text
    shown: dict[str, str] = {}
    for reference in map(as_object, as_list(metadata.get("content_references"))):
        if alternative := as_text(reference.get("alt")):
            shown[as_text(reference.get("matched_text"))] = alternative

    def replaced(found: re.Match[str]) -> str:
        if found[0] not in shown:
            losses.note("marks")
        return shown.get(found[0], "")

    return _MARK.sub(replaced, text)


def _fenced(text: str, language: str) -> str:
    """Return a program as Markdown."""
    if not text:
        return ""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    name = language if _LANGUAGE.fullmatch(language) and language != "unknown" else ""
    return f"{fence}{name}\n{text}\n{fence}"
