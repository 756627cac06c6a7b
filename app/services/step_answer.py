"""The answer that steps belong to, as far as a sampler chain looks back at it.

Plain state; who follows the answer adds its tokens.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from app.core.events import PromptReady
from app.services.open_conversation import Run


@dataclass(slots=True)
class StepAnswer:
    """What the chain of an answer looks at."""

    request: int
    prompt: bytes
    """Token ids before those of this request, int32."""
    first: int
    """Place in the answer of the first token of this request."""
    seed: int | None
    sampled: array[int] = field(default_factory=lambda: array("i"))
    """The tokens of this request."""
    chosen: set[int] = field(default_factory=set)
    """The places among them of those that somebody chose."""

    def before(self, token: int) -> bytes:
        """Return all tokens before one of this request, int32."""
        return self.prompt + self.sampled[:token].tobytes()


def first_of(event: PromptReady) -> int:
    """Return the place in its answer of the first token of a request: above 0 for an answer that goes on."""
    span = next((span for span in event.spans if span.part == "answer"), None)
    return 0 if span is None else span.end - span.start


def answer_of(run: Run) -> StepAnswer | None:
    """Return an answer that is written as far as it has come; None before its prompt is ready."""
    if run.prompt is None:
        return None
    answer = StepAnswer(run.request, run.prompt.ids, first_of(run.prompt), run.prompt.seed)
    is_writing = run.turn.state == "writing"
    answer.sampled.frombytes(run.turn.ids[len(run.beginning.ids) :] if is_writing else run.early_ids)
    return answer
