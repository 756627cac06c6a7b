"""The services behind the pictures of the whole process, which the page Inside shows part by part."""

from __future__ import annotations

from dataclasses import dataclass

from app.services.attention import Attention
from app.services.bandwidth import Bandwidth
from app.services.calibrating import Calibrating
from app.services.kv_map import KVMap
from app.services.loop_picture import LoopPicture
from app.services.operations import Operations
from app.services.timeline import Timeline


@dataclass(frozen=True)
class ProcessViews:
    """What each part of the page Inside looks at, beside the tokens of an answer."""

    attention: Attention
    kv_map: KVMap
    operations: Operations
    """Which operations the time of a computation goes to."""
    timeline: Timeline
    """Where the time of an answer went."""
    bandwidth: Bandwidth
    """How fast the machine's memories are."""
    calibrating: Calibrating
    """What answers show of the machine's speed."""
    loop: LoopPicture
    """The whole process in one picture."""
