"""Which kind of failure a known error is: the kinds are types, never texts."""

from __future__ import annotations

from app.core.errors import UserError
from app.core.events import FailureKind
from app.core.words import Sentence, translate
from app.engine.backend import NoInspection
from app.engine.logits import BrokenLogits
from app.engine.prompt_size import PromptTooLong
from app.engine.template import TemplateError
from app.engine.tokenizer import TemplateMissing

KINDS: tuple[tuple[type[UserError], FailureKind], ...] = (
    (PromptTooLong, "prompt_too_long"),
    (TemplateMissing, "template_missing"),
    (TemplateError, "template"),
    (BrokenLogits, "model"),
    (NoInspection, "memory"),
)


class LoadRefused(UserError):
    """A model that is not loaded, with the lines of llama.cpp's log that say why."""

    def __init__(self, sentence: Sentence, kind: FailureKind = "model", log: tuple[str, ...] = ()) -> None:
        super().__init__(sentence)
        self.kind: FailureKind = kind
        self.log = log

    @classmethod
    def cancelled(cls) -> LoadRefused:
        """Return the refusal of a load that somebody cancelled."""
        return cls(translate("Engine", "Loading was cancelled."), "cancelled")


def failure_kind(error: UserError) -> FailureKind:
    """Return the kind of a known error; what is not a prompt's or a model's fault is wrong use."""
    return next((kind for known, kind in KINDS if isinstance(error, known)), "wrong_use")
