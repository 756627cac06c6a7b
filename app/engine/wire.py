"""Bytes for the pipe between the two processes: msgpack of closed unions, never pickle."""

from __future__ import annotations

from functools import cache

import msgspec

from app.core.chat import clean_value
from app.core.commands import Command
from app.core.events import Event

MESSAGE_LIMIT = 1 << 30
"""No message is longer, in bytes; a longer one ends the connection."""

UNSENDABLE = (ValueError, TypeError, OverflowError, RecursionError)
"""What `encode` raises for values that no message can hold."""

_encoder = msgspec.msgpack.Encoder()


def encode(message: Command | Event) -> bytes:
    """Return a command or an event as bytes; halves of characters in any of its texts become U+FFFD."""
    try:
        return _encoder.encode(message)
    except UnicodeEncodeError:
        return _encoder.encode(clean_value(msgspec.to_builtins(message, builtin_types=(bytes,))))


def decode_command(data: bytes) -> Command:
    """Return the command; raises `msgspec.DecodeError` on anything else."""
    return _command_decoder().decode(data)


def decode_event(data: bytes) -> Event:
    """Return the event; raises `msgspec.DecodeError` on anything else."""
    return _event_decoder().decode(data)


# Each process reads one of the two alone, and making them takes milliseconds of its start.
@cache
def _command_decoder() -> msgspec.msgpack.Decoder[Command]:
    return msgspec.msgpack.Decoder(Command)


@cache
def _event_decoder() -> msgspec.msgpack.Decoder[Event]:
    return msgspec.msgpack.Decoder(Event)
