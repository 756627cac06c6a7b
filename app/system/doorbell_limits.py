"""What holds for every doorbell, whatever the system makes it of. Plain values."""

from __future__ import annotations

from collections.abc import Callable

MOST_BYTES = 64 * 1024
"""No path is longer, and nobody says more."""
CALL_SECONDS = 1.0
"""Whoever rang and has not said all of it after so long is not heard."""
PREFIX = "tokenlight-"
"""How every door's name begins."""
LOOK_SECONDS = 5.0
"""So often a door's thread looks after what else the door needs."""

Answer = Callable[[bytes], bytes]
"""Gets a message, on the door's thread, and returns what is answered: nothing to somebody who is not listened to."""
Look = Callable[[], None]
"""Is called on the door's thread every few seconds; it raises nothing."""
