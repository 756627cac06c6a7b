"""Sampling settings: every value that shapes the draw, with its range and meaning, and the presets.

The stages run in the order that the settings name, by default llama.cpp's: penalties, DRY, top-k, typical, top-p, min-p,
XTC, temperature; the draw is always last.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from app.core.chat import clean_text
from app.core.grammar import Grammar

MAX_SEED = 2**32 - 1
LEAST_TEMPERATURE = 1e-6
"""A lower temperature is 0: dividing by it would leave the range of float32."""
STAGES = ("penalties", "dry", "top_k", "typical", "top_p", "min_p", "xtc", "temperature")
"""The stages of the chain in their default order."""
STAGE_NAMES = {
    "top_k": "top-k",
    "top_p": "top-p",
    "min_p": "min-p",
    "typical": "typical-p",
    "xtc": "XTC",
    "dry": "DRY",
}
"""What stages are called that have the same name in every language."""
STAGE_FIELDS: dict[str, tuple[str, ...]] = {
    "penalties": ("repeat_penalty", "frequency_penalty", "presence_penalty", "penalty_last_n"),
    "dry": ("dry_multiplier", "dry_base", "dry_allowed_length", "dry_penalty_last_n", "dry_sequence_breakers"),
    "top_k": ("top_k",),
    "typical": ("typical_p",),
    "top_p": ("top_p",),
    "min_p": ("min_p",),
    "xtc": ("xtc_probability", "xtc_threshold"),
    "temperature": ("temperature",),
}
"""The settings that shape each stage."""
_MOST_XTC_THRESHOLD = 0.5
REMEMBERING = ("penalties", "dry")
"""Those that look at earlier tokens: they change logits, cut nobody, and are the only ones before a greedy choice."""
_ROUNDS_TO_0 = 2.0**-150
"""Half of the least number above 0 in float32, in which llama.cpp keeps a temperature."""


class Bounds(msgspec.Struct, frozen=True):
    """The range of one setting; both ends are allowed."""

    low: float
    high: float


BOUNDS: dict[str, Bounds] = {
    "temperature": Bounds(0.0, 5.0),
    "top_k": Bounds(0, 1_000_000),
    "top_p": Bounds(0.0, 1.0),
    "min_p": Bounds(0.0, 1.0),
    "typical_p": Bounds(0.0, 1.0),
    "repeat_penalty": Bounds(0.1, 3.0),
    "frequency_penalty": Bounds(-2.0, 2.0),
    "presence_penalty": Bounds(-2.0, 2.0),
    "penalty_last_n": Bounds(-1, 1_000_000),
    "dry_multiplier": Bounds(0.0, 5.0),
    "dry_base": Bounds(1.0, 4.0),
    "dry_allowed_length": Bounds(1, 100),
    "dry_penalty_last_n": Bounds(-1, 1_000_000),
    "xtc_probability": Bounds(0.0, 1.0),
    "xtc_threshold": Bounds(0.0, 0.5),
    "max_tokens": Bounds(0, 1_000_000),
}


class SamplingSettings(msgspec.Struct, frozen=True):
    """One complete set of sampling settings: nothing is left to a hidden default of the engine."""

    temperature: float = 0.8
    """Divides the surviving logits; 0 takes the most likely token after the penalties."""
    top_k: int = 40
    """Keep the k largest logits; 0 is off."""
    top_p: float = 0.95
    """Keep the smallest set of most likely tokens whose probability reaches p; 1 is off."""
    min_p: float = 0.05
    """Keep tokens with at least this share of the most likely token's probability; 0 is off."""
    typical_p: float = 1.0
    """Keep the tokens whose surprise is closest to the entropy, up to mass p; 1 is off."""
    repeat_penalty: float = 1.0
    """Divides positive and multiplies negative logits of recent tokens; 1 is off."""
    frequency_penalty: float = 0.0
    """Subtracted from a recent token's logit once per occurrence."""
    presence_penalty: float = 0.0
    """Subtracted from a recent token's logit once if it occurred."""
    penalty_last_n: int = 64
    """How many of the last tokens of prompt and answer count as recent; 0 is none, -1 the whole context."""
    dry_multiplier: float = 0.0
    """Strength of DRY, which penalises the continuation of a repeated sequence; 0 is off."""
    dry_base: float = 1.75
    """DRY's penalty grows as multiplier x base ^ (match length - allowed length)."""
    dry_allowed_length: int = 2
    """Repetitions up to this many tokens cost nothing."""
    dry_penalty_last_n: int = -1
    """How far DRY looks back, in tokens; 0 is off, -1 the whole context."""
    dry_sequence_breakers: tuple[str, ...] = ("\n", ":", '"', "*")
    """Texts over which DRY does not match."""
    xtc_probability: float = 0.0
    """Chance per token that XTC drops the most likely candidates; 0 is off."""
    xtc_threshold: float = 0.1
    """XTC drops all but the least likely of the candidates at or above this probability; above 0.5 is off."""
    seed: int | None = None
    """Fixed seed of the draw, 0 to 2^32 - 1; None draws one for each answer, and the one used is kept."""
    max_tokens: int = 0
    """Most tokens of one answer; 0 is no limit but the context."""
    stop: tuple[str, ...] = ()
    """Texts that end the answer; they are not part of it."""
    order: tuple[str, ...] = STAGES
    """The stages from first to last, those included that are off."""
    off: tuple[str, ...] = ()
    """The stages that are switched off, whatever their values; without temperature the logits are not divided."""
    grammar: Grammar | None = None
    """What the whole answer has to fit, from its first token on: it cuts before the first stage; None is anything."""

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages that are switched on, in the order in which they run; their values may still do nothing."""
        ordered = self.order if self.order == STAGES else whole_order(self.order)
        return tuple(name for name in ordered if name not in self.off) if self.off else ordered

    @property
    def is_greedy(self) -> bool:
        """Whether the most likely token after penalties and DRY is taken without a draw: no other stage runs then."""
        return self.temperature <= _ROUNDS_TO_0 and "temperature" not in self.off

    @property
    def running_order(self) -> tuple[str, ...]:
        """All stages in the order in which they run, those that are off included; a greedy choice always comes last."""
        ordered = whole_order(self.order)
        if not self.is_greedy:
            return ordered
        return (*(name for name in ordered if name != "temperature"), "temperature")

    def penalty_reach(self, cells: int) -> int:
        """Return how many earlier tokens the three penalties look at, 0 when they are off; `cells` stands for -1."""
        penalties = (self.repeat_penalty, self.frequency_penalty, self.presence_penalty)
        if "penalties" in self.off or penalties == (1.0, 0.0, 0.0):
            return 0
        return cells if self.penalty_last_n < 0 else self.penalty_last_n

    def dry_reach(self, cells: int) -> int:
        """Return how many earlier tokens DRY looks at, 0 when it is off; `cells` stands for -1."""
        if "dry" in self.off or self.dry_multiplier <= 0:
            return 0
        return cells if self.dry_penalty_last_n < 0 else self.dry_penalty_last_n

    def validated(self) -> SamplingSettings:
        """Return the settings with every value inside its range (no number becomes the default), and text that can be sent."""
        changes: dict[str, float | int] = {}
        for name, bounds in BOUNDS.items():
            value = getattr(self, name)
            default = _DEFAULTS[name]
            usable = isinstance(value, int) or math.isfinite(value)
            kept = min(max(value, bounds.low), bounds.high) if usable else default
            changes[name] = int(kept) if isinstance(default, int) else float(kept)
        if changes["temperature"] < LEAST_TEMPERATURE:
            changes["temperature"] = 0.0
        seed = self.seed if self.seed is None else min(max(int(self.seed), 0), MAX_SEED)
        grammar = self.grammar and Grammar(self.grammar.kind, clean_text(self.grammar.text))
        breakers, stop = (tuple(map(clean_text, texts)) for texts in (self.dry_sequence_breakers, self.stop))
        return msgspec.structs.replace(
            self,
            **changes,
            seed=seed,
            dry_sequence_breakers=breakers,
            stop=stop,
            order=whole_order(self.order),
            off=tuple(name for name in STAGES if name in self.off),
            grammar=grammar,
        )


def whole_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return an order with each stage once: what is no stage is left out, and what is missing stands beside the stage
    that is its neighbour by default."""
    ordered = [name for name in dict.fromkeys(names) if name in STAGES]
    for place, name in enumerate(STAGES):
        if name in ordered:
            continue
        if place:
            ordered.insert(ordered.index(STAGES[place - 1]) + 1, name)
        else:
            ordered.insert(ordered.index(STAGES[1]) if STAGES[1] in ordered else 0, name)
    return STAGES if tuple(ordered) == STAGES else tuple(ordered)


def in_effect(settings: SamplingSettings) -> SamplingSettings:
    """Return one set of settings for all that do the same at every draw.

    Whatever does nothing has the values that do nothing, and `order` holds the stages that do something alone.
    """
    s = settings
    acts = {
        "penalties": s.penalty_reach(1) > 0,
        "dry": s.dry_reach(1) > 0,
        "top_k": s.top_k > 0,
        "typical": s.typical_p < 1,
        "top_p": s.top_p < 1,
        "min_p": s.min_p > 0,
        "xtc": s.xtc_probability > 0 and s.xtc_threshold <= _MOST_XTC_THRESHOLD,
        "temperature": s.temperature != 1,
    }
    names = tuple(name for name in s.stages if acts[name])
    if s.is_greedy:
        names = (*(name for name in names if name in REMEMBERING), "temperature")
    idle = {field: _DOES_NOTHING[field] for stage in STAGES if stage not in names for field in STAGE_FIELDS[stage]}
    return msgspec.structs.replace(s, **idle, order=names, off=())


_DEFAULTS = {field.name: field.default for field in msgspec.structs.fields(SamplingSettings)}
"""Looked up once: a slider asks for them at every step."""
_DOES_NOTHING = {
    **_DEFAULTS,
    "temperature": 1.0,
    "top_k": 0,
    "typical_p": 1.0,
    "top_p": 1.0,
    "min_p": 0.0,
}
"""Values with which a stage does nothing."""

PRESETS: dict[str, SamplingSettings] = {
    "Greedy": SamplingSettings(temperature=0.0, top_k=0, top_p=1.0, min_p=0.0),
    "Precise": SamplingSettings(temperature=0.3, top_k=40, top_p=0.9, min_p=0.05),
    "Balanced": SamplingSettings(),
    "Creative": SamplingSettings(temperature=1.1, top_k=100, top_p=0.98, min_p=0.03),
    "Wild": SamplingSettings(temperature=1.6, top_k=0, top_p=1.0, min_p=0.02),
}
"""The presets that ship; names are translated where they are shown."""
