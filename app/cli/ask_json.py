"""Writes what happens as JSON, one object a line; unknown values are null, token ids lists of integers."""

from __future__ import annotations

from array import array
from typing import Any

import msgspec

from app.cli.first_byte import FirstByte
from app.cli.terminal import Terminal
from app.core.chat import clean_text
from app.core.errors import ExitCode, UserError
from app.core.events import (
    Failed,
    FailureKind,
    Finished,
    Loaded,
    LoadProgress,
    PrefillProgress,
    PromptReady,
    Step,
    Tokens,
)
from app.core.model import ModelInfo
from app.services.ask import Ask
from app.services.questions import AnswerEvent


class JsonWriter:
    """One JSON object per event to standard output."""

    def __init__(self, terminal: Terminal, ask: Ask) -> None:
        self._terminal = terminal
        self._first_byte = FirstByte(ask)
        self._model: ModelInfo | None = None

    def write(self, event: LoadProgress | Loaded | AnswerEvent) -> None:
        """Write one event; `Loaded` comes along with `finished`."""
        match event:
            case Loaded():
                self._model = event.model
            case LoadProgress():
                self._line(msgspec.to_builtins(event))
            case PrefillProgress():
                line = msgspec.to_builtins(event)
                del line["unheard"]
                self._line(line)
            case PromptReady():
                self._line(_readable(event))
            case Tokens():
                line = _readable(event)
                del line["record"]
                self._line(line)
                self._first_byte.mark(event.text)
            case Finished():
                self._first_byte.mark(event.text)
                self._line(self._finished(event))
            case Failed():
                self._line(_readable(event))
            case Step():
                pass

    def _finished(self, event: Finished) -> dict[str, Any]:
        event = msgspec.structs.replace(event, metrics=self._first_byte.measured(event.metrics))
        line = _readable(event)
        line.update(line.pop("metrics"))
        model = None
        if self._model is not None:
            model = msgspec.to_builtins(self._model)
            del model["chat_template"]
            model["remarks"] = [remark.english() for remark in self._model.remarks]
        line["model"] = model
        return line

    def _line(self, line: dict[str, Any]) -> None:
        self._terminal.write(msgspec.json.encode(line).decode() + "\n")


def _readable(event: PromptReady | Tokens | Finished | Failed) -> dict[str, Any]:
    """Return an event with its sentences as English and its ids as integers."""
    line: dict[str, Any] = msgspec.to_builtins(event)
    if not isinstance(event, Failed):
        line["ids"] = array("i", event.ids).tolist()
    else:
        line["sentence"] = clean_text(event.sentence.english())
    if isinstance(event, PromptReady | Finished):
        line["notes"] = [note.english() for note in event.notes]
    return line


def failed_line(error: UserError) -> str:
    """Return the object for a question that could not even be asked."""
    kind: FailureKind = "wrong_use" if error.exit_code is ExitCode.WRONG_USE else "model"
    failed = {"type": "failed", "request": None, "kind": kind, "sentence": clean_text(error.sentence.english())}
    return msgspec.json.encode({**failed, "details": []}).decode() + "\n"
