"""A conversation in memory: its head, the turns of the branch that is shown, and the answer that is being written.

Plain state; who changes it says so.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import msgspec

from app.core.chat import PromptMessage, clean_text
from app.core.commands import SettingsChange
from app.core.conversation import Conversation
from app.core.model import ModelRef
from app.services.turns import Beginning, Turn

TITLE_CHARACTERS = 60


@dataclass
class OpenConversation:
    """What the window shows, or what an answer is written into while it shows another one."""

    head: Conversation
    turns: list[Turn] = field(default_factory=list)
    run: Run | None = None
    """The answer that is being waited for or written."""

    @property
    def is_new(self) -> bool:
        """Whether nobody said anything in it yet."""
        return not self.turns

    @property
    def leaf(self) -> int | None:
        """The message that the branch ends with."""
        return self.turns[-1].message if self.turns else None

    def change_head(self, **changes: object) -> None:
        """Take over other values of the head."""
        self.head = msgspec.structs.replace(self.head, **changes)

    def prompt_messages(self, turns: list[Turn]) -> list[PromptMessage]:
        """Return turns as they are sent, after the system prompt; an answer that was cut off gives its text alone."""
        system = clean_text(self.head.system_prompt)
        messages = [PromptMessage("system", system)] if system.strip() else []
        for turn in turns:
            if turn.text:
                whole = turn.finished is not None
                messages.append(PromptMessage(turn.role, turn.text, turn.ids if whole else b""))
        return messages


@dataclass(frozen=True)
class Made:
    """What an answer is made with: the model, whose tokens, the seed and the settings."""

    model: ModelRef | None = None
    tokenizer: str = ""
    seed: int | None = None
    settings: tuple[SettingsChange, ...] = ()


@dataclass
class Run:
    """One answer on its way: the request, the turn that it fills, and what to go back to if it comes to nothing."""

    request: int
    conversation: OpenConversation
    turn: Turn
    message: int
    """Where it is kept; a turn that is answered again takes it over with the first text."""
    beginning: Beginning = field(default_factory=Beginning)
    earlier: Turn | None = None
    early_ids: bytes = b""
    began_ns: int = field(default_factory=time.perf_counter_ns)
    made: Made = field(default_factory=Made)
    """Set when the prompt is ready; the turn takes it over with the first text."""

    @property
    def is_first(self) -> bool:
        """Whether the question came with it: then both go if it comes to nothing."""
        return self.earlier is None

    @property
    def is_sibling(self) -> bool:
        """Whether it is kept as another message than the one that the turn shows still."""
        return self.message != self.turn.message

    def take_over(self) -> None:
        """Let the turn be what is written now."""
        turn, made = self.turn, self.made
        turn.message, turn.model, turn.tokenizer = self.message, made.model, made.tokenizer
        turn.seed, turn.settings = made.seed, made.settings


def title_of(text: str) -> str:
    """Return the title that a conversation gets from its first message: the first line, cut at a word."""
    line = next((" ".join(line.split()) for line in text.splitlines() if line.strip()), "")
    if len(line) <= TITLE_CHARACTERS:
        return line
    cut = line[:TITLE_CHARACTERS].rpartition(" ")[0]
    return (cut if len(cut) >= TITLE_CHARACTERS // 2 else line[:TITLE_CHARACTERS]).rstrip(" ,;:.-–") + "…"
