"""Stage 1: a conversation becomes the text of a prompt, by the chat template that came with the model.

Knows nothing of tokens or of who asks. The template is a program out of a downloaded file: it runs in a sandbox, piece
by piece, within limits of time and size. A template that refuses the conversation as it is gets a well-formed one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from types import MappingProxyType, TracebackType

import jinja2
from jinja2.exceptions import SecurityError

from app.core.chat import PromptMessage
from app.core.words import Sentence
from app.engine.conversation import Shape, Turn, shapes
from app.engine.deadline import Deadline, Overdue
from app.engine.message_layout import (
    DoubtfulStretch,
    Layout,
    MessageSpan,
    Written,
    find_layout,
    unknown_layout,
)
from app.engine.message_marks import Marks
from app.engine.message_thoughts import Parted, parted
from app.engine.template_errors import RENDER_SECONDS, TemplateError, layout_notes
from app.engine.template_limits import FaultKind, Limits, TemplateFault
from app.engine.template_sandbox import TemplateSandbox, compiled

__all__ = ["Rendered", "TemplateError", "render"]

NOTHING: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True)
class Rendered:
    """The text of a prompt, where the messages lie in it, and what people should know."""

    text: str
    spans: tuple[MessageSpan, ...]
    doubtful: tuple[DoubtfulStretch, ...] = ()
    notes: tuple[Sentence, ...] = ()


def render(
    source: str,
    messages: Sequence[PromptMessage],
    *,
    bos: str,
    eos: str,
    continue_last: bool = False,
    extra: Mapping[str, object] = NOTHING,
    deadline: Deadline | None = None,
) -> Rendered:
    """Return a conversation as a prompt; with `continue_last` it ends right after the last message, an open answer.

    `extra` are further variables of the template, such as `enable_thinking`. Raises `TemplateError`.
    """
    deadline = deadline or Deadline(RENDER_SECONDS)
    variables = {"bos_token": bos, "eos_token": eos, "tools": None, "documents": None, **extra}
    apart = parted(source, messages, is_open=continue_last)
    messages = apart.messages
    asked, answer = (messages[:-1], messages[-1]) if continue_last else (messages, None)
    renderer = _Renderer(source, apart, variables)
    try:
        return deadline.run(lambda: renderer.prompt(asked, answer))
    except TemplateFault as fault:
        raise TemplateError(fault) from None
    except Overdue:
        if renderer.unmarked is None:
            raise TemplateError(TemplateFault("time")) from None
        return _opened(renderer.unmarked, renderer.unmarked.text, answer, len(asked))


class _Renderer:
    """Renders one conversation in as many shapes as it takes; runs within the deadline."""

    def __init__(self, source: str, apart: Parted, variables: dict[str, object]) -> None:
        texts = apart.texts()
        self._source = source
        self._apart = apart
        self._messages = apart.messages
        self._variables = variables
        self._limits = Limits(sum(map(len, texts.values())))
        self._sandbox = TemplateSandbox(self._limits, datetime.now().astimezone())
        self._marks = Marks(texts, source)
        self.unmarked: Rendered | None = None
        """The prompt as soon as there is one, while nobody knows yet where the messages lie in it."""

    def prompt(self, messages: Sequence[PromptMessage], answer: PromptMessage | None) -> Rendered:
        """Return the prompt for an answer, or for the rest of one that begins like this."""
        asked = self._fitting(messages, asks=True)
        head = asked.text if answer is None else self._head(answer, asked)
        return _opened(asked, head, answer, len(messages))

    @cached_property
    def _template(self) -> jinja2.Template:
        return jinja2.Template.from_code(self._sandbox, compiled(self._source), self._sandbox.globals)

    def _head(self, answer: PromptMessage, asked: Rendered) -> str:
        """Return what stands before an open answer: what it was asked with, if it still is as it was sampled.

        Before other text it is what the template puts before an answer, where that says more, such as a space.
        """
        if answer.ids or not answer.text.strip():
            return asked.text
        try:
            whole = self._fitting(self._messages, asks=False)
        except TemplateFault as fault:
            if fault.kind in ("size", "syntax"):
                raise
            return asked.text
        start = next((span.start for span in whole.spans if span.message == len(self._messages) - 1), 0)
        more = whole.text[len(asked.text) : start]
        longer = start > len(asked.text) and whole.text.startswith(asked.text)
        return asked.text + more if longer and not answer.text.startswith(more) else asked.text

    def _fitting(self, messages: Sequence[PromptMessage], *, asks: bool) -> Rendered:
        """Return the conversation in the first shape that the template takes without leaving out a system prompt."""
        first_fault: TemplateFault | None = None
        second_best: Rendered | None = None
        for shape in shapes(messages):
            try:
                plain = self._render(shape, asks, lambda _, text: text)
            except TemplateFault as fault:
                if fault.kind in ("size", "syntax"):
                    raise
                first_fault = first_fault or fault
                continue
            among = self._apart.among([message for turn in shape.turns for message, _ in turn.parts])
            if asks:
                self.unmarked = _laid_out(shape, plain, self._apart.joined(unknown_layout(plain, among)))
            layout = find_layout(plain, self._marks, among, partial(self._marked, shape, asks))
            layout = self._apart.joined(layout)
            rendered = _laid_out(shape, plain, layout)
            if not any(messages[index].role == "system" for index in layout.left_out):
                return rendered
            second_best = second_best or rendered
        if second_best is not None:
            return second_best
        raise first_fault or TemplateFault("failed")

    def _marked(self, shape: Shape, asks: bool, written: Written) -> str | None:
        """Render with marks, or give None where the template fails on those."""
        try:
            return self._render(shape, asks, written)
        except TemplateFault as fault:
            if fault.kind == "size":
                raise
            return None

    def _render(self, shape: Shape, asks: bool, written: Written) -> str:
        """Render piece by piece with a running size."""
        messages = [self._fields(turn, written) for turn in shape.turns]
        variables = {**self._variables, "messages": messages, "add_generation_prompt": asks}
        self._limits.restart()
        pieces = []
        length = 0
        try:
            for piece in self._template.root_render_func(self._template.new_context(variables)):
                pieces.append(piece)
                length += len(piece)
                self._limits.check_text(length)
        except TemplateFault as fault:
            fault.line = fault.line or self._line(fault.__traceback__)
            raise
        except Exception as error:  # noqa: BLE001  a template may raise anything
            raise TemplateFault(_kind(error), _words(error), self._line(error.__traceback__)) from None
        text = "".join(pieces)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise TemplateFault("failed", "it writes half of a character") from None
        return text

    def _fields(self, turn: Turn, written: Written) -> dict[str, str]:
        """Return what the template gets for a turn: its thinking apart, where there is some and a place for it."""
        fields = {"role": turn.role, "content": turn.content(written)}
        thoughts = self._apart.thoughts
        if len(turn.parts) == 1 and (message := turn.parts[0][0]) in thoughts:
            thought = written(self._apart.number(message), thoughts[message])
            fields |= dict.fromkeys(self._apart.fields, thought)
        return fields

    def _line(self, trace: TracebackType | None) -> int | None:
        """Return the line of the template that a traceback went through last."""
        line = None
        while trace is not None:
            if trace.tb_frame.f_globals.get("__jinja_template__") is self._template:
                line = self._template.get_corresponding_lineno(trace.tb_lineno)
            trace = trace.tb_next
        return line


def _laid_out(shape: Shape, plain: str, layout: Layout) -> Rendered:
    return Rendered(plain, layout.spans, layout.doubtful, (*shape.notes, *layout_notes(layout)))


def _opened(asked: Rendered, head: str, answer: PromptMessage | None, number: int) -> Rendered:
    """Return a prompt with an open answer at its end."""
    if answer is None:
        return asked
    span = MessageSpan(len(head), len(head) + len(answer.text), number)
    return replace(asked, text=head + answer.text, spans=(*asked.spans, span))


def _kind(error: Exception) -> FaultKind:
    if isinstance(error, SecurityError):
        return "forbidden"
    return "size" if isinstance(error, (MemoryError, OverflowError)) else "failed"


def _words(error: Exception) -> str:
    """Return what Jinja or Python says of an error, short."""
    said = error.message if isinstance(error, jinja2.TemplateError) else str(error)
    return (said or type(error).__name__)[:300]
