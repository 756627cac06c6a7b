"""The programs whose decode is compared: child processes that generate slices, and the application's engine."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from app.core.commands import RecordKind
from app.core.sampling import PRESETS
from tests.bench.arithmetic import BenchError
from tests.bench.children import Child
from tests.bench.engine_user import EngineUser, token_prompt

FEWEST_TOKENS = 35
"""A slice whose answer ended before this many tokens is made again with another seed."""
SEEDS_TRIED = 5
NEXT_SEED = 1_000_003
STORY = (
    "<|im_start|>system\nYou are a patient storyteller who never hurries.<|im_end|>\n<|im_start|>user\n"
    "Tell the long story of a lighthouse keeper who finds a map in a bottle, with every detail of the island, of the "
    "weather, of the people in the harbour and of what the keeper thinks on the way there.<|im_end|>\n"
    "<|im_start|>assistant\n"
)
"""A prompt that the starter model answers at length; every contender gets its ids, and draws behind the same cells."""


@dataclass(frozen=True)
class Text:
    """What a slice is: a prompt's ids, and how many tokens to generate behind it."""

    prompt: list[int]
    tokens: int


class ChildDecoder:
    """A child process whose handler `what` generates slices."""

    def __init__(self, child: Child, text: Text, what: str = "decode") -> None:
        self._child = child
        self._text = text
        self._what = what

    @property
    def process_id(self) -> int:
        """The process that evaluates."""
        return self._child.process_id

    def slice(self, seed: int) -> float:
        """Generate one slice and return its speed in tokens/s, by the child's clock from its first token on."""
        for attempt in range(SEEDS_TRIED):
            text, tried = self._text, seed + attempt * NEXT_SEED
            answer = self._child.ask(self._what, prompt=text.prompt, tokens=text.tokens, seed=tried)
            if answer["steps"] >= FEWEST_TOKENS - 1:
                return float(answer["steps"] / answer["ns"] * 1e9)
        raise BenchError("The answers of the model are too short to measure.")


class AppDecoder:
    """The application: the engine process, with its record on or off, read through the client."""

    def __init__(self, engine: EngineUser, text: Text, record: RecordKind = "all") -> None:
        self._engine = engine
        self._prompt = token_prompt(text.prompt)
        self._tokens = text.tokens
        self._record = record

    @property
    def process_id(self) -> int:
        """The process that evaluates."""
        return self._engine.process_id

    def slice(self, seed: int) -> float:
        """Generate one slice and return its speed in tokens/s.

        The moments are those at which the tokens were drawn, as the bare loop takes its own; the reading is in them as
        far as it takes time from the two cores, and the whole slice is read before the next contender's turn.
        """
        for attempt in range(SEEDS_TRIED):
            tried = seed + attempt * NEXT_SEED
            settings = msgspec.structs.replace(PRESETS["Balanced"], max_tokens=self._tokens, seed=tried)
            tokens, _ = self._engine.answer(self._engine.generate(self._prompt, settings, self._record))
            steps = sum(event.count for event in tokens) - 1
            if any(event.record for event in tokens) != (self._record != "off"):
                raise BenchError("The engine sent tokens without their record, or with one that nobody wanted.")
            if steps >= FEWEST_TOKENS - 1:
                return steps / (tokens[-1].last_ns - tokens[0].first_ns) * 1e9
        raise BenchError("The answers of the model are too short to measure.")
