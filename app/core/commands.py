"""What the parent process asks of the engine: one closed union of frozen values."""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.chat import ChatPrompt, Prompt, PromptSpan, ReadStretch
from app.core.devices import MainMemory
from app.core.kept_state import StatePlace
from app.core.model import LoadOptions
from app.core.sampling import SamplingSettings

RecordKind = Literal["all", "chosen", "off"]
"""What is kept of every token: its alternatives too, only the chosen one, or nothing."""
WhenFull = Literal["stop", "drop_oldest"]
"""What happens to a prompt that the context cannot hold: refuse it, or drop whole turns, oldest first."""


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
    record: RecordKind = "all"
    """What of a per-token record is sent along with the tokens."""
    replay: tuple[SettingsChange, ...] = ()
    """Settings that take effect at later tokens, to reproduce an answer whose settings were moved."""
    when_full: WhenFull = "stop"
    first_token: int = 0
    """Index in its answer of the first token to be drawn: above 0 for an answer that goes on where it stopped.

    A chat whose last message goes on says it itself: the tokens that the model gets for it are counted. Draws and
    settings are counted in the answer, so that it goes on as if nothing had stopped it; events hold what this request
    adds.
    """
    tokens_per_s: float | None = None
    """The pace that it begins with, as `SetPace` says it."""
    forced: tuple[int, ...] = ()
    """Its first tokens where somebody chose them: they use no draw, and the record marks them."""
    kept: StatePlace | None = None
    """Where the conversation's keys and values may be kept on disk, and come back from; None keeps nothing."""


class SetPace(msgspec.Struct, frozen=True, tag="set_pace"):
    """Write an answer at another pace from its next token on; the time that it waits is in none of its figures."""

    request: int
    tokens_per_s: float | None = None
    """None is as fast as it goes; at 0 the answer is held, `Held` tells it, and each token waits for a `StepOn`."""


class StepOn(msgspec.Struct, frozen=True, tag="step_on"):
    """Let an answer that is held go on by one token."""

    request: int
    token: int | None = None
    """The token that somebody chose; None leaves it to the draw. It uses no draw, and the record marks it."""
    place: int | None = None
    """`Held.token` of what it answers: at any other token it comes too late and is forgotten. None is any."""


class Reproduce(msgspec.Struct, frozen=True, tag="reproduce"):
    """Write an answer once more, from an empty cache, as long as its tokens are the same.

    Answered by `PromptReady`, `PrefillProgress`, `Tokens`, then `Reproduced`, or by `Failed`. What the cache held is
    given up for it: in another sequence beside it the batches would have other shapes, and so would the sums.
    """

    request: int
    prompt: bytes
    """What the answer was written behind, without anything of it (int32, little endian)."""
    ids: bytes
    """All tokens of the answer."""
    settings: tuple[SettingsChange, ...]
    """From which token of the answer on which settings held; tokens before the first of them were not drawn."""
    seed: int
    sent_ns: int
    given: int = 0
    """So many of its first tokens were in the prompt when it was last asked for; they may be others than were drawn."""
    spans: tuple[PromptSpan, ...] = ()
    """The parts of the prompt."""
    record: tuple[bytes, ...] = ()
    """Its per-token record, as far as it is kept: it knows how likely other tokens were."""
    stretches: tuple[ReadStretch, ...] = ()
    """How what it found in the cache had come there: batches of other shapes round differently."""


class Compare(msgspec.Struct, frozen=True, tag="compare"):
    """Answer one prompt in several lanes, each with settings of its own, from one prefill.

    Answered by `PromptReady`, `PrefillProgress`, `LanesPlanned`, `LaneTokens` and one `LaneFinished` for each lane, then
    `Compared`, or by `Failed`. `Cancel` ends all lanes, `StopLane` one. What the chat's cells held of other prompts is
    given up as for any question; afterwards they hold the prompt and nothing of the lanes.
    """

    request: int
    prompt: Prompt
    lanes: tuple[SamplingSettings, ...]
    """1 to `MOST_LANES` complete settings; a seed that is None is drawn, the same one for all lanes without one."""
    sent_ns: int
    record: RecordKind = "all"
    when_full: WhenFull = "stop"
    main_memory: MainMemory | None = None
    """As it was when the command was sent; None is unknown. Lanes that need more than there is run a few at a time."""


class StopLane(msgspec.Struct, frozen=True, tag="stop_lane"):
    """End one lane of a comparison; the others go on."""

    request: int
    lane: int


class ScorePrompt(msgspec.Struct, frozen=True, tag="score_prompt"):
    """Tell how likely each token of a prompt was; answered by `ScoreProgress`, then `PromptScored`, or by `Failed`.

    It is read in a context of its own that is given back afterwards; the chat's cells stay as they are.
    """

    request: int
    ids: bytes
    """int32, little endian, as many as the chat's context has cells at most."""
    main_memory: MainMemory | None = None
    """As it was when the command was sent; None is unknown. What does not fit is refused with the numbers."""


class ReadAttention(msgspec.Struct, frozen=True, tag="read_attention"):
    """Tell which tokens the last of these looked at; answered by `AttentionProgress`, then `AttentionRead`, or by `Failed`.

    They are read in a context of their own that is given back afterwards; the chat's cells stay as they are.
    """

    request: int
    ids: bytes
    """int32, little endian, as many as the chat's context has cells at most."""
    main_memory: MainMemory | None = None
    """As in `ScorePrompt`."""


class TimeOperations(msgspec.Struct, frozen=True, tag="time_operations"):
    """Take one decode step and one chunk of a prefill apart; answered by `OperationsProgress`, then `OperationsTimed`, or by
    `Failed`.

    They are computed in a context of their own that is given back afterwards; the chat's cells stay as they are.
    """

    request: int
    ids: bytes
    """int32, little endian: the chunk and the step are the last of them."""
    main_memory: MainMemory | None = None
    """As in `ScorePrompt`."""


class MeasureBandwidth(msgspec.Struct, frozen=True, tag="measure_bandwidth"):
    """Measure how fast the memory of each device is; answered by `BandwidthMeasured` or `Failed`.

    Takes a second or two for each device and up to 512 MiB of its memory, which are given back.
    """

    request: int
    threads: int
    """That read main memory: as many as a decode has."""
    main_memory: MainMemory | None = None
    """As it was when the command was sent; None is unknown."""


class ChangeSettings(msgspec.Struct, frozen=True, tag="change_settings"):
    """Use other sampling settings from the next token on; seed, limits, stops and grammar of the answer stay."""

    request: int
    settings: SamplingSettings


class Cancel(msgspec.Struct, frozen=True, tag="cancel"):
    """End a request in whatever phase it is, also one that still waits."""

    request: int


class Watch(msgspec.Struct, frozen=True, tag="watch"):
    """Whether somebody looks at the latest step: then `Step` events come along, at most four a second."""

    on: bool
    whole: bool = False
    """Whether each comes with all of its row, not only the last one of an answer."""


class Tokenize(msgspec.Struct, frozen=True, tag="tokenize"):
    """Count and return the tokens of plain text, also while a prompt is being prefilled."""

    request: int
    text: str
    as_prompt: bool = False
    """Whether they are those of a prompt that is this text alone: behind the token that prompts begin with, if any."""


class Render(msgspec.Struct, frozen=True, tag="render"):
    """Render and tokenise a conversation as `Generate` would send it, also while another one runs."""

    request: int
    prompt: ChatPrompt
    when_full: WhenFull = "stop"
    max_tokens: int = 0
    """The longest answer, for which room is kept where the oldest turns are dropped; 0 is any length."""


class ListPieces(msgspec.Struct, frozen=True, tag="list_pieces"):
    """Tell what some tokens of the loaded model say, also while an answer is being written."""

    request: int
    first: int
    count: int


class ListDevices(msgspec.Struct, frozen=True, tag="list_devices"):
    """Tell what this build of llama.cpp can compute on, also while an answer is being written."""

    request: int


class MeasureMemory(msgspec.Struct, frozen=True, tag="measure_memory"):
    """Work out what a model would take, without reading its weights; answered by `MemoryMeasured` or `Failed`."""

    request: int
    path: str
    options: LoadOptions = LoadOptions()


class DropState(msgspec.Struct, frozen=True, tag="drop_state"):
    """Keep no longer on disk what the cells hold, until a prompt says anew where; what lies there is somebody else's to remove."""

    request: int
    name_begins: str = ""
    """Only where the file's name begins so."""


class Quit(msgspec.Struct, frozen=True, tag="quit"):
    """End the engine process; all of its memory goes back."""


Pass = ScorePrompt | ReadAttention | TimeOperations | MeasureBandwidth
"""What takes the engine for a while and leaves the chat's cells as they are."""
Command = (
    Load
    | Generate
    | Reproduce
    | Compare
    | ScorePrompt
    | ReadAttention
    | TimeOperations
    | MeasureBandwidth
    | StopLane
    | ChangeSettings
    | SetPace
    | StepOn
    | Cancel
    | Watch
    | Tokenize
    | Render
    | ListPieces
    | ListDevices
    | MeasureMemory
    | DropState
    | Quit
)
