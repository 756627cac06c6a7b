"""Lets the engine of a desk write an answer once more, and reads what is told of it."""

from __future__ import annotations

from array import array

import msgspec

from app.core.commands import Reproduce
from app.core.events import PrefillProgress, PromptReady, Tokens
from app.core.metrics import KVUse
from app.core.replay_events import Reproduced
from app.services.reproduction import Reproduction
from app.services.turns import Turn
from tests.desk import Desk
from tests.fake_engine import CONTEXT


def answer(desk: Desk) -> Turn:
    return desk.program.chat.turns[-1]


def asked(desk: Desk) -> Reproduce:
    return desk.engine.all(Reproduce)[-1]


def known(desk: Desk, turn: Turn | None = None) -> Reproduction:
    found = desk.program.reproducing.of(turn or answer(desk))
    assert found is not None
    return found


def told(found: Reproduction) -> str:
    return " ".join(sentence.english() for sentence in found.sentences)


def ids(count: int) -> bytes:
    return array("i", range(count)).tobytes()


def read(desk: Desk, *, done: int = 40) -> None:
    """Let the engine read the prompt."""
    request = asked(desk).request
    desk.engine.say(PromptReady(request, asked(desk).prompt, asked(desk).spans, 0, 0))
    desk.engine.say(PrefillProgress(request, done, 40, 0, 0))
    desk.settle()


def compared(desk: Desk, count: int) -> None:
    """Let the engine compare tokens."""
    desk.engine.say(Tokens(asked(desk).request, 0, count, ids(count), "x", b"", 40 + count - 1, 0, 0))
    desk.settle()


def end(desk: Desk, same: int = 3, **changes: object) -> None:
    """Let it end with so many tokens that are the same."""
    kv = KVUse(40 + same, CONTEXT, 1)
    found = Reproduced(asked(desk).request, 0, same, None, "end", kv)
    desk.engine.say(msgspec.structs.replace(found, **changes))
    desk.settle()
