"""Presets of whole chats: a system prompt, sampling settings and a model, each of which a preset may leave out.

Plain values. What of a chat they are copied into is the services' to say.
"""

from __future__ import annotations

import msgspec

from app.core.model import ModelRef
from app.core.sampling import SamplingSettings

_MOST_DIGITS = 19
"""Of a file's size: no file is larger than 2^63 bytes."""


class PresetModel(msgspec.Struct, frozen=True):
    """The model of a preset: where its file was, and which one it is wherever that file lies now."""

    name: str = ""
    path: str = ""
    identity: str = ""
    """`ModelRef.identity`; empty is unknown."""

    @property
    def ref(self) -> ModelRef | None:
        """Which model it is; None where that is unknown or cannot be read."""
        size, _, digest = self.identity.partition("-")
        is_size = size.isascii() and size.isdigit() and len(size) <= _MOST_DIGITS
        return ModelRef(int(size), digest, self.path) if is_size and digest else None

    def moved(self, old: frozenset[str], new: str) -> PresetModel:
        """Return it with its file's new path, if it had one of the old ones; empty is none, and the old one stays."""
        return msgspec.structs.replace(self, path=new) if new and self.path in old else self


class ChatPreset(msgspec.Struct, frozen=True):
    """What a chat can be begun with; None leaves that part of the chat as it is."""

    system_prompt: str | None = None
    sampling: SamplingSettings | None = None
    model: PresetModel | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it leaves everything as it is."""
        return self.system_prompt is None and self.sampling is None and self.model is None

    def validated(self) -> ChatPreset:
        """Return the preset with every value inside its range, and without a model that names no file."""
        sampling = self.sampling.validated() if self.sampling is not None else None
        model = self.model if self.model is not None and self.model.path else None
        return ChatPreset(self.system_prompt, sampling, model)


class ChatSettings(msgspec.Struct, frozen=True):
    """What chats begin with, and what was written for them and is not in force yet."""

    presets: dict[str, ChatPreset] = {}
    """People's presets of whole chats by name."""
    start_with: str = ""
    """The preset that new chats start with; empty is none."""
    unsent_prompt: str | None = None
    """The system prompt that somebody gave to the new chat, until its first message is sent."""
    prompt_drafts: dict[str, str] = {}
    """What was typed as a system prompt and not saved, by the id of its chat; `NEW_CHAT` is the new one."""

    @property
    def start(self) -> ChatPreset:
        """The preset that new chats start with; one without parts where there is none."""
        return self.presets.get(self.start_with, ChatPreset()).validated()

    def start_prompt(self, usual: str) -> str:
        """Return the system prompt of new chats: that of the preset that they start with, else the usual one."""
        chosen = self.start.system_prompt
        return usual if chosen is None else chosen
