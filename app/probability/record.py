"""The per-token record: what is kept of every step, as compact self-contained blocks of bytes.

A block is a header, a fixed row for each token, how many alternatives each token has, then the ids of all
alternatives, then their log-probabilities; all little endian. Must not know where blocks are kept or sent.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from app.probability.candidates import Ids
from app.probability.draw import GENERATOR_VERSION
from app.probability.record_layout import BODY_AT, CHECKSUM, HEAD, MAGIC, NARROW_VOCABULARY, VERSION, step_layout
from app.probability.row import PREFIX, RowFacts

RECORD_VERSION = VERSION

FORCED = 1
"""Flag: somebody chose the token, the draw did not."""
NO_DRAW = 2
"""Flag: the most likely token was taken without a draw."""
RESUMED = 4
"""Flag: the answer went on with this token after it had stopped: what passed before it is nobody's time."""

MASS = 0.99
"""The alternatives of a token reach down to this share of the raw distribution, within the two numbers below."""
LEAST_ALTERNATIVES = 8
MOST_ALTERNATIVES = PREFIX

_TIMES = -(2**31), 2**31 - 1
_FIRST_CAPACITY = 16
TICK_NS = 10_000
"""Times are kept in hundredths of a millisecond: four bytes reach over almost six hours."""


class RecordError(ValueError):
    """A block of bytes that is no record, is cut off, or is of another kind than its neighbours."""


@dataclass(frozen=True, slots=True)
class TokenRecords:
    """The records of n tokens, a column a field."""

    vocabulary: int
    generator: int
    """Version of the generator that drew the tokens."""
    base_ns: int
    """The moment from which `time` counts."""
    tokens: Ids
    flags: npt.NDArray[np.uint8]
    log_probability: npt.NDArray[np.float32]
    """In the raw distribution, before any stage of the chain."""
    probability_after: npt.NDArray[np.float32]
    """After the chain: what the draw saw."""
    rank: npt.NDArray[np.int32]
    """Place in the raw distribution, 1 for the most likely."""
    entropy: npt.NDArray[np.float32]
    """Of the raw distribution, in nats."""
    log_sum_exp: npt.NDArray[np.float32]
    """Of the raw logits."""
    time: npt.NDArray[np.int64]
    """When the token was sampled, in ns after `base_ns`, to a hundredth of a millisecond."""
    offsets: npt.NDArray[np.int64]
    """n + 1 numbers: the alternatives of token i are those from offsets[i] to offsets[i + 1]."""
    alternative_ids: Ids
    """The most likely tokens of the raw distribution, by falling probability."""
    alternative_log_probability: npt.NDArray[np.float16]

    def __len__(self) -> int:
        """Return the number of tokens."""
        return self.tokens.size

    def alternatives(self, index: int) -> tuple[Ids, npt.NDArray[np.float16]]:
        """Return ids and log-probabilities of the most likely tokens at one step."""
        span = slice(self.offsets[index], self.offsets[index + 1])
        return self.alternative_ids[span], self.alternative_log_probability[span]


class RecordBlock(NamedTuple):
    """A block as it is laid out in bytes: to look at it costs next to nothing."""

    vocabulary: int
    generator: int
    base_ns: int
    steps: npt.NDArray[np.void]
    counts: npt.NDArray[np.uint8]
    ids: npt.NDArray[np.generic]
    log_probabilities: npt.NDArray[np.float16]

    @property
    def tokens(self) -> npt.NDArray[np.generic]:
        """The tokens that were chosen."""
        return self.steps["token"]

    def is_beside(self, other: RecordBlock) -> bool:
        """Return whether both are of one model and one generator, so that they can be joined."""
        return (self.vocabulary, self.generator) == (other.vocabulary, other.generator)


class RecordWriter:
    """Collects the records of an answer until somebody takes them."""

    def __init__(self, vocabulary: int, generator: int = GENERATOR_VERSION, *, alternatives: bool = True) -> None:
        """Without `alternatives` only what was chosen is noted of each token."""
        self._vocabulary = vocabulary
        self._generator = generator
        self._step = step_layout(vocabulary)
        self._width = min(MOST_ALTERNATIVES, vocabulary) if alternatives else 0
        self._least = min(LEAST_ALTERNATIVES, vocabulary)
        self._ids = np.empty((_FIRST_CAPACITY, self._width), np.int32)
        self._logits = np.empty((_FIRST_CAPACITY, self._width), np.float32)
        self._log_sums: list[float] = []
        self._steps = bytearray()
        self._base_ns = 0

    def __len__(self) -> int:
        """Return how many tokens were noted since the last take."""
        return len(self._log_sums)

    def add(
        self,
        token: int,
        logit: float,
        facts: RowFacts,
        rank: int,
        probability_after: float,
        at_ns: int,
        flags: int = 0,
    ) -> None:
        """Note one token with its raw logit and the facts of the row that it came from."""
        count = len(self._log_sums)
        if count == 0:
            self._base_ns = at_ns // TICK_NS * TICK_NS
        elif count == len(self._ids):
            self._ids = np.concatenate((self._ids, np.empty_like(self._ids)))
            self._logits = np.concatenate((self._logits, np.empty_like(self._logits)))
        if self._width:
            self._ids[count], self._logits[count] = facts.top(self._width)
        log_sum = facts.log_sum_exp
        time = (at_ns - self._base_ns) // TICK_NS
        self._steps += self._step.pack(
            time, logit - log_sum, probability_after, rank, facts.entropy, log_sum, token, flags
        )
        self._log_sums.append(log_sum)

    def take(self) -> bytes:
        """Return the records since the last take as one block, and forget them; nothing is no bytes."""
        count = len(self._log_sums)
        if count == 0:
            return b""
        log_probabilities = self._logits[:count] - np.array(self._log_sums, np.float32)[:, None]
        kept = np.ones((count, self._width), np.bool_)
        if self._width:
            mass = np.add.accumulate(np.exp(log_probabilities), axis=1)
            # An alternative is kept while those before it do not reach the mass.
            np.less(mass[:, self._least - 1 : -1], MASS, out=kept[:, self._least :])
        block = _packed(
            (self._vocabulary, self._generator, self._base_ns),
            self._steps,
            np.add.reduce(kept, axis=1, dtype=np.uint8),
            self._ids[:count][kept].astype(_id_type(self._vocabulary)),
            log_probabilities[kept].astype("<f2"),
        )
        self._steps.clear()
        self._log_sums.clear()
        return block


def read_records(block: bytes, *more: bytes) -> TokenRecords:
    """Return the records of blocks, in their order; bytes that are not exactly one block are a `RecordError`."""
    return joined_records([unpack_block(each) for each in (block, *more)])


def joined_records(blocks: Sequence[RecordBlock]) -> TokenRecords:
    """Return the records of blocks, at least one, in their order; those of other models are a `RecordError`."""
    parts = joined_block(blocks)
    steps = parts.steps
    return TokenRecords(
        vocabulary=parts.vocabulary,
        generator=parts.generator,
        base_ns=parts.base_ns,
        tokens=steps["token"].astype(np.int32),
        flags=steps["flags"].copy(),
        log_probability=steps["log_probability"].astype(np.float32),
        probability_after=steps["probability_after"].astype(np.float32),
        rank=steps["rank"].astype(np.int32),
        entropy=steps["entropy"].astype(np.float32),
        log_sum_exp=steps["log_sum_exp"].astype(np.float32),
        time=steps["time"].astype(np.int64) * TICK_NS,
        offsets=np.concatenate(([0], np.cumsum(parts.counts, dtype=np.int64))),
        alternative_ids=parts.ids.astype(np.int32),
        alternative_log_probability=parts.log_probabilities.astype(np.float16),
    )


def unpack_block(block: bytes) -> RecordBlock:
    """Return a block as it is laid out; bytes that are not exactly one block are a `RecordError`."""
    if len(block) < BODY_AT:
        raise RecordError(f"{len(block)} bytes are too few for a record")
    magic, version, generator, vocabulary, count, alternatives, base_ns = HEAD.unpack_from(block)
    if magic != MAGIC:
        raise RecordError("these bytes are no record")
    if version != RECORD_VERSION:
        raise RecordError(f"a record of version {version}; this program reads version {RECORD_VERSION}")
    step_type, id_type = _step_type(vocabulary), np.dtype(_id_type(vocabulary))
    counts_at = BODY_AT + count * step_type.itemsize
    ids_at = counts_at + count
    log_probabilities_at = ids_at + alternatives * id_type.itemsize
    length = log_probabilities_at + alternatives * 2
    if len(block) != length:
        raise RecordError(f"a record of {length} bytes that has {len(block)}")
    (checksum,) = CHECKSUM.unpack_from(block, HEAD.size)
    seen = memoryview(block)
    if zlib.crc32(seen[BODY_AT:], zlib.crc32(seen[: HEAD.size])) != checksum:
        raise RecordError("a damaged record")
    steps = np.frombuffer(block, step_type, count, BODY_AT)
    counts = np.frombuffer(block, np.uint8, count, counts_at)
    if int(counts.sum(dtype=np.int64)) != alternatives:
        raise RecordError("a record whose alternatives do not add up")
    ids = np.frombuffer(block, id_type, alternatives, ids_at)
    log_probabilities = np.frombuffer(block, "<f2", alternatives, log_probabilities_at)
    return RecordBlock(vocabulary, generator, base_ns, steps, counts, ids, log_probabilities)


def join_blocks(blocks: Sequence[bytes]) -> bytes:
    """Return one block with the records of several, in their order; blocks of nothing are skipped."""
    parts = [unpack_block(block) for block in blocks if block]
    if not parts:
        return b""
    whole = joined_block(parts)
    origin = whole.vocabulary, whole.generator, whole.base_ns
    return _packed(origin, whole.steps.tobytes(), whole.counts, whole.ids, whole.log_probabilities)


def joined_block(parts: Sequence[RecordBlock]) -> RecordBlock:
    """Return blocks, at least one, as one in their order; those of other models are a `RecordError`."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    if not all(part.is_beside(first) for part in parts):
        raise RecordError("records of different vocabularies or generators do not belong together")
    # As bytes: numpy would compare the fields of every part with those of the next.
    steps = np.frombuffer(bytearray().join(part.steps.data for part in parts), _step_type(first.vocabulary))
    later = np.array([(part.base_ns - first.base_ns) // TICK_NS for part in parts], np.int64)
    times = steps["time"] + np.repeat(later, [part.steps.size for part in parts])
    steps["time"] = np.clip(times, *_TIMES)  # parts that were written days apart are farther apart than can be kept
    return RecordBlock(
        first.vocabulary,
        first.generator,
        first.base_ns,
        steps,
        np.concatenate([part.counts for part in parts]),
        np.concatenate([part.ids for part in parts]),
        np.concatenate([part.log_probabilities for part in parts]),
    )


def _is_narrow(vocabulary: int) -> bool:
    return vocabulary <= NARROW_VOCABULARY


def _id_type(vocabulary: int) -> str:
    return "<u2" if _is_narrow(vocabulary) else "<u4"


def _step_type(vocabulary: int) -> np.dtype[np.void]:
    return _step_type_of(_id_type(vocabulary))


@cache
def _step_type_of(id_type: str) -> np.dtype[np.void]:
    return np.dtype(
        [
            ("time", "<i4"),
            ("log_probability", "<f4"),
            ("probability_after", "<f4"),
            ("rank", "<u4"),
            ("entropy", "<f4"),
            ("log_sum_exp", "<f4"),
            ("token", id_type),
            ("flags", "u1"),
        ]
    )


def _packed(
    origin: tuple[int, int, int],
    steps: bytes | bytearray,
    counts: npt.NDArray[np.uint8],
    ids: npt.NDArray[np.generic],
    log_probabilities: npt.NDArray[np.float16],
) -> bytes:
    vocabulary, generator, base_ns = origin
    body = b"".join((steps, counts.tobytes(), ids.tobytes(), log_probabilities.tobytes()))
    head = HEAD.pack(MAGIC, RECORD_VERSION, generator, vocabulary, counts.size, ids.size, base_ns)
    return b"".join((head, CHECKSUM.pack(zlib.crc32(body, zlib.crc32(head))), body))
