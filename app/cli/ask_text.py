"""Writes an answer as text, and one quiet line of figures to standard error when a person reads it."""

from __future__ import annotations

from app.cli.first_byte import FirstByte
from app.cli.terminal import Terminal
from app.core.events import Failed, Finished, Loaded, LoadProgress, PrefillProgress, PromptReady, Step, Tokens
from app.services.ask import Ask
from app.services.questions import AnswerEvent
from app.services.units import count, milliseconds, rate, stop_words


class TextWriter:
    """Text to standard output as it comes."""

    def __init__(self, terminal: Terminal, ask: Ask) -> None:
        self._terminal = terminal
        self._first_byte = FirstByte(ask)
        self._written = ""

    def write(self, event: LoadProgress | Loaded | AnswerEvent) -> None:
        """Write one event."""
        match event:
            case LoadProgress():
                self._terminal.progress(f"Loading the model: {event.percent:.0f} %")
            case PrefillProgress():
                self._terminal.progress(f"Reading the prompt: {event.done:,} of {event.total:,} tokens")
            case Tokens():
                self._text(event.text)
            case Finished():
                self._finish(event)
            case Failed():
                self._end_line()
            case Loaded() | PromptReady() | Step():
                self._terminal.clear_progress()
        if isinstance(event, PromptReady | Finished):
            for note in event.notes:
                self._terminal.say(note.english())
        elif isinstance(event, Loaded):
            for remark in event.model.remarks:
                self._terminal.say(remark.english())

    def _text(self, text: str) -> None:
        if text:
            self._terminal.write(text)
            self._first_byte.mark(text)
            self._written += text

    def _finish(self, event: Finished) -> None:
        if event.text.startswith(self._written):
            self._text(event.text[len(self._written) :])
        self._end_line()
        if self._terminal.shows_figures:
            metrics = self._first_byte.measured(event.metrics)
            parts = [
                "1 token" if metrics.sampled_tokens == 1 else f"{count(metrics.sampled_tokens)} tokens",
                f"{rate(metrics.decode_tokens_per_s)} tok/s",
                f"TTFT {milliseconds(metrics.ttft_ms)}",
                stop_words(event.stop_reason).english(),
            ]
            self._terminal.say(" · ".join(parts))
        elif event.stop_reason == "context_full":
            self._terminal.say(
                f"The answer stops here, since the context of {event.metrics.kv.cells:,} tokens is full. "
                "Add --context N for a larger one."
            )

    def _end_line(self) -> None:
        if self._written and not self._written.endswith("\n"):
            self._text("\n")
