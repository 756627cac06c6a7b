"""Token ids as bytes, int32 each, as they are kept and sent.

Plain rules; knows no vocabulary.
"""

from __future__ import annotations

_ID_BYTES = 4


def common_start(one: bytes | bytearray, other: bytes | bytearray) -> int:
    """Return how many tokens both begin with, by halving: comparing long stretches of bytes is what Python does fast."""
    least, most = 0, min(len(one), len(other)) // _ID_BYTES
    while least < most:
        middle = (least + most + 1) // 2
        first, last = least * _ID_BYTES, middle * _ID_BYTES
        if one[first:last] == other[first:last]:
            least = middle
        else:
            most = middle - 1
    return least
