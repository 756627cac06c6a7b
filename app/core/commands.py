"""What the parent process asks of the engine: one closed union of frozen values."""

from __future__ import annotations

import msgspec

from app.core.chat import ChatPrompt, Prompt
from app.core.model import LoadOptions
from app.core.sampling import SamplingSettings


class Load(msgspec.Struct, frozen=True, tag="load"):
    """Load a model; answered by load progress, then `Loaded`, or by `Failed`."""

    request: int
    path: str
    options: LoadOptions = LoadOptions()


class SettingsChange(msgspec.Struct, frozen=True):
    """Settings in force from one token of an answer on (index from 0)."""

    token: int
    settings: SamplingSettings


class Generate(msgspec.Struct, frozen=True, tag="generate"):
    """Answer a prompt; answered by `PromptReady`, `PrefillProgress`, `Tokens`, then `Finished`, or by `Failed`."""

    request: int
    prompt: Prompt
    settings: SamplingSettings
    sent_ns: int
    """When the request was made (`perf_counter_ns`): the time to the first token starts here."""
    record: bool = True
    """Send a per-token record along with the tokens."""
    replay: tuple[SettingsChange, ...] = ()
    """Settings that take effect at later tokens, to reproduce an answer whose settings were moved."""


class ChangeSettings(msgspec.Struct, frozen=True, tag="change_settings"):
    """Use other sampling settings from the next token on; seed, limits and stops of the answer stay as they are."""

    request: int
    settings: SamplingSettings


class Cancel(msgspec.Struct, frozen=True, tag="cancel"):
    """End a request in whatever phase it is, also one that still waits."""

    request: int


class Watch(msgspec.Struct, frozen=True, tag="watch"):
    """Whether somebody looks at the latest step: then `Step` events come along, at most ten a second."""

    on: bool


class Tokenize(msgspec.Struct, frozen=True, tag="tokenize"):
    """Count and return the tokens of plain text, also while a prompt is being prefilled."""

    request: int
    text: str


class Render(msgspec.Struct, frozen=True, tag="render"):
    """Render and tokenise a conversation without running it, also while another one runs."""

    request: int
    prompt: ChatPrompt


class Quit(msgspec.Struct, frozen=True, tag="quit"):
    """End the engine process; all of its memory goes back."""


Command = Load | Generate | ChangeSettings | Cancel | Watch | Tokenize | Render | Quit
