"""Conversations as a JSON file of our own: complete, and a line for each, so that damage costs the lines that it hits.

Pure: bytes in and out. Of a model's path the name alone is written. Byte strings stand in it as base64.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from app.core.chat import clean_value
from app.core.conversation import Conversation, Pieces
from app.core.model import ModelRef
from app.core.whole_chat import WholeAnswer, WholeChat
from app.core.words import Sentence, translate
from app.services.importers.found import Unread

FORMAT = "tokenlight-chats"
VERSION = 1
_HEAD = re.compile(rb'\A(?:\xef\xbb\xbf)?\s*\{\s*"format"\s*:\s*"tokenlight-chats"')
_VERSION = re.compile(rb'"version"\s*:\s*(\d{1,9})')
_FOLDERS = re.compile(r"[\\/]")
HEAD_BYTES = 200
_MOST_TITLE = 200
_CHAT = msgspec.json.Decoder(WholeChat)
_TITLE = re.compile(rb'"title"\s*:\s*("(?:[^"\\]|\\.){0,400}")')
_UNREADABLE = (msgspec.MsgspecError, RecursionError)

Part = WholeChat | Pieces | Unread


class _Whole(msgspec.Struct):
    chats: list[msgspec.Raw] = []
    vocabularies: list[msgspec.Raw] = []


_WHOLE = msgspec.json.Decoder(_Whole)
_PIECES = msgspec.json.Decoder(Pieces)


class ChatLines:
    """Writes such a file piece by piece; what is joined in order is the file."""

    def __init__(self) -> None:
        self._lines = 0
        self._tokenizers: dict[str, None] = {}

    @property
    def tokenizers(self) -> tuple[str, ...]:
        """Whose vocabularies the answers so far need to be read without their models."""
        return tuple(self._tokenizers)

    def begin(self, _heads: Sequence[Conversation]) -> bytes:
        """Return the beginning of the file."""
        return f'{{"format":"{FORMAT}","version":{VERSION},"chats":['.encode()

    def add(self, chat: WholeChat) -> bytes:
        """Return the line of a conversation, with what ends the line before."""
        for whole in chat.answers:
            if whole.answer.tokenizer and whole.stretches:
                self._tokenizers[whole.answer.tokenizer] = None
        return self._line(without_folders(chat))

    def begin_vocabularies(self) -> bytes:
        """Return what stands between the conversations and the vocabularies."""
        self._lines = 0
        return b'\n],"vocabularies":['

    def add_vocabulary(self, pieces: Pieces) -> bytes:
        """Return the line of a vocabulary, with what ends the line before."""
        return self._line(pieces)

    def end(self) -> bytes:
        """Return the end of the file."""
        return b"\n]}\n"

    def _line(self, value: object) -> bytes:
        self._lines += 1
        return (b"\n" if self._lines == 1 else b",\n") + _encoded(value)


def _encoded(value: object) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:  # a lone surrogate, as in the name of a file that is no UTF-8
        return msgspec.json.encode(clean_value(msgspec.to_builtins(value)))


def without_folders(chat: WholeChat) -> WholeChat:
    """Return a conversation that says of its models what their files are called, and not where they lie."""
    head = msgspec.structs.replace(chat.head, model=_named(chat.head.model))
    return msgspec.structs.replace(chat, head=head, answers=tuple(_answer_without(each) for each in chat.answers))


def _answer_without(whole: WholeAnswer) -> WholeAnswer:
    answer = msgspec.structs.replace(whole.answer, model=_named(whole.answer.model))
    return msgspec.structs.replace(whole, answer=answer)


def _named(model: ModelRef | None) -> ModelRef | None:
    return model and msgspec.structs.replace(model, path=_FOLDERS.split(model.path)[-1])


def is_ours(data: bytes) -> bool:
    """Whether these are the bytes of such a file, be it whole or cut off."""
    return _HEAD.match(data[:HEAD_BYTES]) is not None


def newer_version(data: bytes) -> Sentence | None:
    """Return what people should know of a file that a later version has written; None where it can be read."""
    found = _VERSION.search(data[:HEAD_BYTES])
    if found is None or int(found[1]) <= VERSION:
        return None
    return translate(
        "Importing", "This file was written by a newer version of Tokenlight: bring this one up to date to read it."
    )


def parts_of(data: bytes) -> Iterator[Part]:
    """Yield what is in such a file, one conversation after another, and what cannot be read of it."""
    try:
        whole = _WHOLE.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except _UNREADABLE:
        yield from _lines_of(data)
        return
    for number, chat in enumerate(whole.chats):
        yield _chat_of(bytes(chat), f"chats[{number}]")
    for number, pieces in enumerate(whole.vocabularies):
        yield _pieces_of(bytes(pieces), f"vocabularies[{number}]")


def _lines_of(data: bytes) -> Iterator[Part]:
    """Yield what stands on the lines of a file that is broken somewhere or cut off."""
    reader, number, start, line = _chat_of, 0, 0, b""
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        line, start, number = data[start:end].strip(b" \t\r"), end + 1, number + 1
        if number == 1 or not line:
            continue
        if line.startswith(b"]"):
            reader = _pieces_of
            continue
        part = reader(line.removesuffix(b","), f"line {number}")
        if not isinstance(part, Unread) or start <= len(data):
            yield part
    if not line.startswith(b"]}"):
        reason = translate("Importing", "The file ends too early: what came from here on is missing.")
        yield Unread(_title_in(line), f"line {number}", reason)


def _chat_of(line: bytes, place: str) -> Part:
    try:
        return _CHAT.decode(line)
    except _UNREADABLE as error:
        reason = translate("Importing", "It is damaged: {fault}", fault=str(error))
        return Unread(_title_in(line), place, reason)


def _pieces_of(line: bytes, place: str) -> Part:
    try:
        return _PIECES.decode(line)
    except _UNREADABLE as error:
        return Unread("", place, translate("Importing", "A vocabulary is damaged: {fault}", fault=str(error)))


def _title_in(line: bytes) -> str:
    """Return what a damaged conversation is called, where that can still be read."""
    found = _TITLE.search(line[: HEAD_BYTES * 10])
    try:
        return msgspec.json.decode(found[1], type=str)[:_MOST_TITLE] if found else ""
    except msgspec.MsgspecError:
        return ""
