"""The answer whose tokens people look at one by one: which it is, what is known of it, and which token is looked at.

Follows the newest answer of the conversation that is shown, also while it is written, until somebody chooses another.
"""

from __future__ import annotations

from app.core.signal import Signal
from app.services.chat import Chat
from app.services.inspection import InspectedAnswer, InspectedPrompt, TokenInsight
from app.services.lane_inputs import LaneInputs
from app.services.turns import Turn


class Inspecting:
    """One answer at a time; nothing is read while nobody looks."""

    def __init__(self, chat: Chat) -> None:
        self.opened: Signal[()] = Signal()
        """Another answer is looked at, or none any more."""
        self.changed: Signal[()] = Signal()
        """More is known of it: its tokens, its prompt, or what could have come at the token that is looked at."""
        self.token_changed: Signal[int | None] = Signal()
        """Another token of it is looked at, counted from 0; None for none."""
        self._chat = chat
        self._turn: Turn | None = None
        self._token: int | None = None

    @property
    def turn(self) -> Turn | None:
        """The answer that is looked at; None while there is none."""
        return self._turn

    @property
    def token(self) -> int | None:
        """The token that is looked at, counted from 0 in `turn.ids`; None for none."""
        return self._token

    @property
    def answer(self) -> InspectedAnswer | None:
        """What is known of the answer's tokens; None before it is."""
        return None

    @property
    def insight(self) -> TokenInsight | None:
        """What could have come at the token that is looked at; None before that is known, and where it is not."""
        return None

    @property
    def prompt(self) -> InspectedPrompt | None:
        """What is known of the answer's prompt; None before it is, and where it is not kept."""
        return None

    @property
    def inputs(self) -> LaneInputs | None:
        """The answer as the one lane of a comparison (index 0), its record among it, for jobs that replay it."""
        return None

    def look_at(self, token: int | None) -> None:
        """Look at another token of the answer."""
        if token != self._token:
            self._token = token
            self.token_changed.emit(token)
