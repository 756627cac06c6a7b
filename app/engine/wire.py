"""Bytes for the pipe between the two processes: msgpack of closed unions, never pickle."""

from __future__ import annotations

import msgspec

from app.core.commands import Command
from app.core.events import Event

MESSAGE_LIMIT = 1 << 30
"""No message is longer, in bytes; a longer one ends the connection."""

_encoder = msgspec.msgpack.Encoder()
_commands = msgspec.msgpack.Decoder(Command)
_events = msgspec.msgpack.Decoder(Event)


def encode(message: Command | Event) -> bytes:
    """Return a command or an event as bytes."""
    return _encoder.encode(message)


def decode_command(data: bytes) -> Command:
    """Return the command; raises `msgspec.DecodeError` on anything else."""
    return _commands.decode(data)


def decode_event(data: bytes) -> Event:
    """Return the event; raises `msgspec.DecodeError` on anything else."""
    return _events.decode(data)
