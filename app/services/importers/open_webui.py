"""Makes conversations of those that Open WebUI exports as JSON.

The format is that of open-webui/open-webui: `importChatsHandler` (src/lib/components/chat/Settings/DataControls.svelte)
takes rows with `chat`, times in seconds and `folder_id`, and bare chats as older versions wrote them; messages are a tree
in `history.messages` with `currentId` (src/lib/components/chat/Chat.svelte), or in old ones the list `messages`
(`convertMessagesToHistory` in src/lib/utils/index.ts); thinking stands in `<details type="reasoning">` inside the text
(`serialize_content_blocks` in backend/open_webui/utils/middleware.py), in newer versions in the items of `output` (`serialize_output` there); tags stand in `meta.tags`
(backend/open_webui/models/chats.py), in old versions in the chat, and ratings in the `annotation` of a message
(src/lib/components/chat/Messages/RateComment.svelte).
"""

from __future__ import annotations

from itertools import pairwise

from app.core.thinking_tags import THINK
from app.services.importers.details_blocks import without_details
from app.services.importers.found import Found, Unread
from app.services.importers.json_values import as_key, as_list, as_object, as_text, milliseconds
from app.services.importers.losses import Kind, Losses
from app.services.importers.message_nodes import NO_CONVERSATION, Head, Node, Said, conversation
from app.services.importers.output_items import read_items

_LEFT_OUT: dict[str, Kind] = {"system": "system", "tool": "tools"}


def is_own(value: object) -> bool:
    """Return whether something out of a JSON file is a conversation of this format."""
    chat = _chat(as_object(value))
    if isinstance(as_object(chat.get("history")).get("messages"), dict):
        return True
    messages = as_list(chat.get("messages"))
    return bool(messages) and all("role" in as_object(each) and "content" in as_object(each) for each in messages[:1])


def read(value: object, place: str = "", doubled: int = 0) -> Found:
    """Return the conversation that a value is; `doubled` entries of it stood there twice."""
    row, losses = as_object(value), Losses()
    chat = _chat(row)
    title = as_text(row.get("title")) or as_text(chat.get("title"))
    history = as_object(chat.get("history"))
    messages = history.get("messages")
    if not isinstance(messages, dict) and not isinstance(chat.get("messages"), list):
        return Found((), (Unread(losses.clean(title), place, NO_CONVERSATION),))
    if doubled:
        losses.note("doubled", doubled)
    if row.get("archived") is True:
        losses.note("archived")
    if row.get("folder_id"):
        losses.note("folder")
    _note_files(chat.get("files"), losses)
    _note_tags(row, chat, losses)
    head = Head(
        title,
        _first_time(row.get("created_at"), chat.get("timestamp")),
        _first_time(row.get("updated_at")),
        as_text(as_object(chat.get("params")).get("system")) or as_text(chat.get("system")),
        row.get("pinned") is True,
        as_key(history.get("currentId")),
    )
    told = as_object(messages)
    if not told:
        told = _listed(as_list(chat.get("messages")), losses)
        head.current = next(reversed(told), None)
    taken = _system_message(told) if not head.system_prompt else None
    if taken is not None:
        head.system_prompt = _text(as_object(told[taken]).get("content"), losses)
    nodes = {key: _node(message, losses, is_taken=key == taken) for key, message in told.items()}
    return conversation(head, nodes, losses, place)


def _chat(row: dict[str, object]) -> dict[str, object]:
    chat = row.get("chat")
    return chat if isinstance(chat, dict) else row


def _first_time(*values: object) -> int | None:
    return next((ms for value in values if (ms := milliseconds(value)) is not None), None)


def _listed(messages: list[object], losses: Losses) -> dict[str, object]:
    """Return the messages of a list as those of a tree, each behind the one before it."""
    found: dict[str, object] = {}
    for number, message in enumerate(messages):
        key = as_key(as_object(message).get("id")) or f"#{number}"
        if key in found:
            losses.note("doubled")
            del found[key]
        found[key] = message
    return _chained(found)


def _chained(messages: dict[str, object]) -> dict[str, object]:
    before = {key: above for above, key in pairwise(messages)}
    return {
        key: {**message, "parentId": before.get(key), "childrenIds": []} if isinstance(message, dict) else message
        for key, message in messages.items()
    }


def _system_message(messages: dict[str, object]) -> str | None:
    """Return the system message that a conversation begins with."""
    first = next(iter(messages), None)
    message = as_object(messages.get(first or ""))
    return first if message.get("role") == "system" and message.get("parentId") is None else None


def _node(value: object, losses: Losses, *, is_taken: bool) -> Node:
    if not isinstance(value, dict):
        losses.note("malformed")
        return Node(None)
    parent = as_key(value.get("parentId"))
    children = [key for child in as_list(value.get("childrenIds")) if (key := as_key(child)) is not None]
    time = value.get("timestamp")
    ms = milliseconds(time)
    if ms is None and time is not None:
        losses.note("times")
    role = value.get("role")
    if role == "user" or role == "assistant":
        return Node(parent, children, ms, _said(value, losses, is_user=role == "user"))
    if not is_taken:
        losses.note(_LEFT_OUT.get(role, "roles") if isinstance(role, str) else "malformed")
    return Node(parent, children, ms)


def _said(message: dict[str, object], losses: Losses, *, is_user: bool) -> Said:
    _note_files(message.get("files"), losses)
    _note_files(message.get("images"), losses)
    text = _text(message.get("content"), losses)
    if is_user:
        return Said("user", text)
    text = _answer(message, text, losses)
    losses.note("sources", int(bool(message.get("sources") or message.get("citations"))))
    losses.note("contents", int(bool(as_object(message.get("merged")).get("content"))))
    losses.note("errors", int(bool(message.get("error"))))
    losses.note("ratings", int(as_object(message.get("annotation")).get("rating") is not None))
    is_whole = message.get("done") is not False and not message.get("error")
    model = as_text(message.get("model")) or as_text(message.get("modelName"))
    return Said("assistant", text, model, is_whole, edited="originalContent" in message)


def _answer(message: dict[str, object], content: str, losses: Losses) -> str:
    """Return the text of an answer behind its thinking, wherever a version keeps them; tools are counted once."""
    text, tools = without_details(content)
    items = read_items(message.get("output"), losses)
    calls = len(as_list(message.get("tool_calls"))) + len(as_list(message.get("code_executions")))
    losses.note("tools", max(tools, items.tools, calls))
    thinking = items.thinking or as_text(message.get("reasoning_content")).strip()
    text = text if text.strip() else items.text
    if not thinking or THINK.opening in text:
        return text
    return f"{THINK.opening}\n{thinking}\n{THINK.closing}\n{text}"


def _text(content: object, losses: Losses) -> str:
    """Return the text of a content: it is one, or a list of parts."""
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for part in as_list(content):
        found = as_object(part)
        if isinstance(part, str) or isinstance(found.get("text"), str):
            texts.append(as_text(part) or as_text(found.get("text")))
        elif "image_url" in found:
            _note_file(as_object(found.get("image_url")), losses)
        else:
            losses.note("contents")
    if content is not None and not isinstance(content, list):
        losses.note("contents")
    return "\n\n".join(text for text in texts if text)


def _note_tags(row: dict[str, object], chat: dict[str, object], losses: Losses) -> None:
    """Note the tags: names in newer versions, objects with a name in older ones."""
    for tag in (*as_list(as_object(row.get("meta")).get("tags")), *as_list(chat.get("tags"))):
        if name := as_text(tag) or as_text(as_object(tag).get("name")):
            losses.note_tag(name)


def _note_files(files: object, losses: Losses) -> None:
    for file in as_list(files):
        _note_file(as_object(file) if isinstance(file, dict) else {"url": file}, losses)


def _note_file(file: dict[str, object], losses: Losses) -> None:
    """Note an image or a file by its name; one that is written out in the file itself has its kind alone."""
    inner = as_object(file.get("file"))
    url = as_text(file.get("url"))
    shown = url.split(";", 1)[0].removeprefix("data:") if url.startswith("data:") else url.rsplit("/", 1)[-1]
    name = as_text(file.get("name")) or as_text(inner.get("filename")) or shown or as_text(file.get("type"))
    losses.note_file(name or "?", as_text(file.get("id")) or url)
