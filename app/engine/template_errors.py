"""What people are told of a chat template that cannot be used, or that does not do what templates usually do.

Knows nothing of how templates run. The template's and Jinja's own words go into a sentence as values.
"""

from __future__ import annotations

from app.core.errors import UserError
from app.core.words import Sentence, translate
from app.engine.message_layout import Layout
from app.engine.template_limits import TEXT_CHARACTERS, FaultKind, TemplateFault

RENDER_SECONDS = 1.0


class TemplateError(UserError):
    """A chat template that cannot be used for this conversation."""

    def __init__(self, fault: TemplateFault) -> None:
        super().__init__(_sentence(fault))
        self.kind: FaultKind = fault.kind
        self.line = fault.line


def layout_notes(layout: Layout) -> tuple[Sentence, ...]:
    """Return what people should know of a template that does not put out each text once, as it is."""
    notes = []
    if layout.left_out:
        notes.append(
            translate(
                "Prompt",
                "Messages that the chat template leaves out of the prompt: {count}.",
                count=len(layout.left_out),
            )
        )
    if not layout.exact:
        notes.append(
            translate(
                "Prompt",
                "The chat template changes the texts of messages. Where they lie in the prompt is partly unknown, and "
                "names of control tokens there count as plain text.",
            )
        )
    return tuple(notes)


def _sentence(fault: TemplateFault) -> Sentence:
    """Return what people are told, and what they can do."""
    line, message = fault.line or 0, fault.message.rstrip(".")
    match fault.kind:
        case "refused":
            return translate(
                "Prompt",
                "The chat template refuses this conversation: “{message}”. Choose another chat template for this model.",
                message=message,
            )
        case "time":
            return translate(
                "Prompt",
                "The chat template was stopped because it did not end within {seconds} s. "
                "Choose another chat template for this model.",
                seconds=RENDER_SECONDS,
            )
        case "size":
            return translate(
                "Prompt",
                "The chat template was stopped because it adds more than {millions} million characters. "
                "Choose another chat template for this model.",
                millions=TEXT_CHARACTERS // 1_000_000,
            )
        case _ if not line:
            return translate(
                "Prompt",
                "The chat template has an error: {message}. Choose another chat template for this model.",
                message=message,
            )
        case _:
            return translate(
                "Prompt",
                "The chat template has an error in line {line}: {message}. "
                "Choose another chat template for this model.",
                line=line,
                message=message,
            )
