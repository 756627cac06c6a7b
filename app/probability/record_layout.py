"""How a block of the per-token record is laid out in bytes, and the one column that is read while lanes are written.

Knows no numbers library: what reads a few tokens every moment costs a start nothing. `record` reads everything.
"""

from __future__ import annotations

import struct

MAGIC = b"TLr"
VERSION = 1
HEAD = struct.Struct("<3sBBIIIq")
"""Magic, version, generator, vocabulary, tokens, alternatives, base time in ns."""
CHECKSUM = struct.Struct("<I")
BODY_AT = HEAD.size + CHECKSUM.size
NARROW_VOCABULARY = 65_536
"""Up to this size ids have two bytes."""
_STEPS = {True: struct.Struct("<iffIffHB"), False: struct.Struct("<iffIffIB")}
"""By whether ids have two bytes."""
_ENTROPY = 4


def step_layout(vocabulary: int) -> struct.Struct:
    """Return a token's row: time, log-probability, probability after, rank, entropy, log-sum-exp, token, flags."""
    return _STEPS[vocabulary <= NARROW_VOCABULARY]


def entropies(block: bytes) -> list[float]:
    """Return the entropy of every token of a block, in nats; of bytes that are no whole block none."""
    if len(block) < BODY_AT:
        return []
    magic, version, _generator, vocabulary, count, _alternatives, _base_ns = HEAD.unpack_from(block)
    layout = step_layout(vocabulary)
    if (magic, version) != (MAGIC, VERSION) or len(block) < BODY_AT + count * layout.size:
        return []
    rows = layout.iter_unpack(memoryview(block)[BODY_AT : BODY_AT + count * layout.size])
    return [row[_ENTROPY] for row in rows]
