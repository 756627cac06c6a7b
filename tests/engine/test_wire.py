"""Commands and events cross the pipe unchanged; anything else is refused."""

from __future__ import annotations

import msgspec
import pytest

from app.core.chat import ChatPrompt, PromptMessage, TextPrompt, TokenPrompt
from app.core.commands import (
    Cancel,
    ChangeSettings,
    Command,
    Generate,
    Load,
    Quit,
    Render,
    ScorePrompt,
    SettingsChange,
    Tokenize,
    Watch,
)
from app.core.devices import MainMemory
from app.core.events import EngineGone, Failed, LoadProgress, Tokens, Unloaded
from app.core.model import LoadOptions
from app.core.prompt_scores import PromptScored, ScoreProgress
from app.core.sampling import PRESETS
from app.core.words import translate
from app.engine.wire import decode_command, decode_event, encode

CHAT = ChatPrompt((PromptMessage("user", "ümlaut 日本 😀"), PromptMessage("assistant", "yes", b"\x01\x00\x00\x00")))


@pytest.mark.parametrize(
    "command",
    [
        Load(1, "/a b/ü.gguf", LoadOptions(context=512, kv_type_k="q8_0")),
        Generate(2, CHAT, PRESETS["Wild"], 3, replay=(SettingsChange(4, PRESETS["Greedy"]),)),
        Generate(2, TextPrompt("x"), PRESETS["Wild"], 3),
        Generate(2, TokenPrompt(b"\x05\x00\x00\x00"), PRESETS["Wild"], 3),
        ScorePrompt(2, b"\x05\x00\x00\x00", MainMemory(3, 2, 3)),
        Cancel(2),
        ChangeSettings(2, PRESETS["Precise"]),
        Watch(on=True),
        Watch(on=True, whole=True),
        Tokenize(5, ""),
        Render(6, CHAT),
        Quit(),
    ],
)
def test_every_command_comes_back(command: object) -> None:
    assert decode_command(encode(command)) == command  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "event",
    [
        LoadProgress(1, 12.5),
        Tokens(1, 0, 1, b"\x01\x00\x00\x00", "日", b"\x00", 3, 4, 5),
        Tokens(1, 0, 0, b"", "", b"", 3, 4, 5, settings=(SettingsChange(2, PRESETS["Wild"]),)),
        ScoreProgress(1, 5, 6),
        PromptScored(1, b"\x00", b"\x01", b"\x02"),
        Failed(1, "model", translate("Engine", "No {what}.", what="luck"), ("line",)),
        EngineGone(-9, (1, 2), translate("Engine", "Gone.")),
        Unloaded(),
    ],
)
def test_every_event_comes_back(event: object) -> None:
    assert decode_event(encode(event)) == event  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("message", "arrives"),
    [
        (Load(1, "/a\ud800"), Load(1, "/a\ufffd")),
        (Tokenize(5, "\udcff x"), Tokenize(5, "\ufffd x")),
        (Render(6, ChatPrompt((), "\ud83d")), Render(6, ChatPrompt((), "\ufffd"))),
        (
            Generate(2, ChatPrompt((PromptMessage("user", "\ud800", b"\xff\x00\x00\x00"),)), PRESETS["Wild"], 3),
            Generate(2, ChatPrompt((PromptMessage("user", "\ufffd", b"\xff\x00\x00\x00"),)), PRESETS["Wild"], 3),
        ),
    ],
)
def test_half_a_character_crosses_as_one_that_is_missing(message: Command, arrives: Command) -> None:
    assert decode_command(encode(message)) == arrives


def test_half_a_character_in_an_event_crosses_as_one_that_is_missing() -> None:
    sentence = translate("Engine", "No {what}.", what="\udc80")
    assert decode_event(encode(Failed(1, "model", sentence, ("\ud800",)))) == Failed(
        1, "model", translate("Engine", "No {what}.", what="\ufffd"), ("\ufffd",)
    )


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\x80", encode(Cancel(1))[:-1], encode(Unloaded())])
def test_anything_else_is_no_command(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_command(data)
