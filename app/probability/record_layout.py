"""How a block of the per-token record is laid out in bytes, and the one column that is read while lanes are written.

Knows no numbers library: what reads a few tokens every moment costs a start nothing. `record` reads everything.
"""

from __future__ import annotations

import struct
import zlib

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


def first_tokens(block: bytes, count: int) -> bytes:
    """Return the block of the first tokens of a whole block, of which there are more."""
    magic, version, generator, vocabulary, tokens, alternatives, base_ns = HEAD.unpack_from(block)
    layout, wide = step_layout(vocabulary), 2 if vocabulary <= NARROW_VOCABULARY else 4
    counts_at = BODY_AT + tokens * layout.size
    ids_at = counts_at + tokens
    logs_at = ids_at + alternatives * wide
    counts = block[counts_at : counts_at + count]
    kept = sum(counts)
    parts = (
        block[BODY_AT : BODY_AT + count * layout.size],
        counts,
        block[ids_at : ids_at + kept * wide],
        block[logs_at : logs_at + kept * 2],
    )
    body, head = b"".join(parts), HEAD.pack(magic, version, generator, vocabulary, count, kept, base_ns)
    return b"".join((head, CHECKSUM.pack(zlib.crc32(body, zlib.crc32(head))), body))


def tokens_in(block: bytes) -> int:
    """Return of how many tokens a block is; of bytes that are no block none."""
    return int(HEAD.unpack_from(block)[4]) if len(block) >= BODY_AT and block.startswith(MAGIC) else 0


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
