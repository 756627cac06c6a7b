"""What one question from the command line can be given; plain values, so that reading what was typed loads no service."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from app.core.grammar import GrammarKind
from app.core.sampling import SamplingSettings


class AskOptions(msgspec.Struct, frozen=True):
    """Everything that one question can be given."""

    prompt: str
    model: Path | None = None
    """None takes the model that was used last, else the first that is found."""
    system: str = ""
    template: str | None = None
    """Name of a shipped template, or a file."""
    raw: bool = False
    """Let the model continue the plain text, without a chat template."""
    load: Mapping[str, object] = {}
    """Fields of `LoadOptions` that were asked for."""
    load_anyway: bool = False
    """Load the model although memory does not seem to be enough."""
    preset: SamplingSettings | None = None
    """None begins with the model's own settings, as a new chat with it does, else with Balanced."""
    changes: Mapping[str, object] = {}
    """Fields of `SamplingSettings` that were asked for."""
    grammar: tuple[GrammarKind, Path] | None = None
    """The file of a grammar or a JSON schema that the answer has to fit."""
    files: tuple[Path, ...] = ()
    """They go before the question, in this order."""

    def settings(self, own: SamplingSettings | None) -> SamplingSettings:
        """Return what the answer is written with, for a model with settings of its own or none."""
        base = self.preset or own or SamplingSettings()
        return msgspec.structs.replace(base, **self.changes).validated()
