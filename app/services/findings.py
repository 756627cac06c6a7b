"""What the doctor finds: lines of facts, and what is wrong with the one command that mends it.

Plain values; knows nothing of where they come from or how they are shown.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.words import Sentence, translate

State = Literal["ok", "note", "problem"]
"""“note” is worth knowing, “problem” keeps something from working."""
Section = Literal["program", "processor", "engine", "gpu", "window", "files"]

TITLES: dict[Section, Sentence] = {
    "program": translate("Doctor", "Program"),
    "processor": translate("Doctor", "Processor and memory"),
    "engine": translate("Doctor", "llama.cpp"),
    "gpu": translate("Doctor", "Graphics processors"),
    "window": translate("Doctor", "Window"),
    "files": translate("Doctor", "Files"),
}


class Fact(msgspec.Struct, frozen=True):
    """One line of what there is."""

    section: Section
    name: Sentence
    value: Sentence


class Finding(msgspec.Struct, frozen=True):
    """Something that people should know, or should mend."""

    section: Section
    state: State
    sentence: Sentence
    command: str = ""
    """What to type to mend it; empty where no single command does."""
    reason: Sentence | None = None
    """A second sentence, where somebody else than the doctor says why."""


class Report(msgspec.Struct, frozen=True):
    """Everything that the doctor has to say."""

    facts: tuple[Fact, ...]
    findings: tuple[Finding, ...]
    engine_works: bool
    """Whether a chat can be had, be it on the processor alone."""


def plain(value: object) -> Sentence:
    """Return a name, a path or a figure as a sentence that needs no translation."""
    return Sentence("Doctor", "{value}", {"value": str(value)})
