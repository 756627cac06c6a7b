"""The text of an answer on its way to the screen: what of it is shown as thinking, and what as Markdown.

Reads an answer that was kept once somebody looks. Knows nothing of places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.gui.chat.answer_text import AnswerText
from app.gui.chat.thinking_view import ThinkingView
from app.gui.markdown.values import Block
from app.services.thinking import Thoughts

GAP = "\n\n"
"""What stands, in text, between the thinking and the answer."""


class PartedText:
    """The thinking of one answer and its Markdown, as they grow."""

    def __init__(self, answer: AnswerText) -> None:
        self._answer = answer
        self._unfolds = False
        self._thoughts: Thoughts | None = None
        self._view: ThinkingView | None = None
        self._source = ""
        """The whole text; only where it is not the Markdown's."""
        self._said = 0
        """Characters of the answer that the Markdown has."""
        self._restarts = 0
        self._is_open = False
        self._is_stale = False
        """Whether the text has still to be parted: an answer that was kept is, once somebody looks."""
        self.changed_top = 0.0
        """From where on the text looks different since it last grew."""

    @property
    def thinking(self) -> ThinkingView | None:
        """The thinking, where there is some."""
        self._part()
        return self._view

    @property
    def markdown(self) -> str:
        """The answer without its thinking."""
        self._part()
        return self._answer.source

    @property
    def source(self) -> str:
        """The whole text, as the model wrote it."""
        return self._answer.source if self._thoughts is None else self._source

    @property
    def blocks(self) -> Sequence[Block]:
        """What is read by now of the answer."""
        self._part()
        return self._answer.blocks

    @property
    def lead(self) -> int:
        """How many characters stand before the answer in what can be selected."""
        return self._view.length + len(GAP) if self._view is not None and self._view.length else 0

    def follow(self, thoughts: Thoughts | None) -> None:
        """Know what of the text is thinking, before the text is shown or grows; None if nothing is."""
        if thoughts is not self._thoughts:
            source, self._thoughts = self.source, thoughts
            self.set_text(source, is_open=self._is_open)

    def set_text(self, source: str, *, is_open: bool) -> None:
        """Show another text; `is_open` says that more of it will come."""
        self._is_open = is_open
        self._is_stale = self._thoughts is not None
        self._source = source if self._is_stale else ""
        if not self._is_stale:
            self._view = None
            self._answer.set_text(source, is_open=is_open)

    def append(self, text: str) -> None:
        """Let the text grow; only its open end is read and laid out again."""
        if self._thoughts is None:
            self._answer.append(text)
            self.changed_top = self._answer.changed_top
            return
        self._source += text
        if self._is_stale or self._is_another(self._thoughts):
            self._is_stale = True
            self._part()
            self.changed_top = 0.0
        else:
            self._grow(self._thoughts)

    def finish(self) -> None:
        """Say that the text is whole."""
        self._is_open = False
        if self._is_stale:
            return
        if self._thoughts is not None and self._is_another(self._thoughts):
            self._is_stale = True
            return
        if self._thoughts is not None:
            self._grow(self._thoughts)
        self._answer.finish()

    def unfold(self) -> None:
        """Show the thinking from its first word on."""
        self._unfolds = True

    def toggle_fold(self) -> None:
        """Show the thinking, or the line alone that stands for it."""
        if self._view is not None:
            self._view.toggle_fold()
            self._unfolds = not self._view.is_folded

    def texts(self, *, at_once: bool = False) -> Iterator[str]:
        """Return in pieces what can be read, as `AnswerText.texts` does; the thinking only where it is unfolded."""
        self._part()
        yield from self.lead_texts()
        yield from self._answer.texts(at_once=at_once)

    def lead_texts(self) -> Iterator[str]:
        """Return in pieces what stands before the answer in what can be selected."""
        self._part()
        if self.lead and self._view is not None:
            yield from self._view.texts(at_once=self._view.is_unread)
            yield GAP

    @property
    def _above(self) -> float:
        return self._view.height if self._view is not None else 0.0

    def _part(self) -> None:
        """Part the text, unless that is done."""
        thoughts = self._thoughts
        if not self._is_stale or thoughts is None:
            return
        self._is_stale = False
        self._restarts = thoughts.restarts
        self._view = None
        self._show_thinking(thoughts)
        text = self._answer_of(thoughts)
        self._said = len(text)
        self._answer.set_text(text, is_open=self._is_open)

    def _is_another(self, thoughts: Thoughts) -> bool:
        """Return whether what was shown as the answer is shown otherwise now: thinking came behind it, or it was some."""
        begins = self._view is None and self._said > 0 and thoughts.thinking is not None
        return begins or thoughts.restarts != self._restarts

    def _grow(self, thoughts: Thoughts) -> None:
        looks_different = self._show_thinking(thoughts)
        text = self._answer_of(thoughts)
        added, self._said = text[self._said :], max(len(text), self._said)
        if added:
            self._answer.append(added)
        self.changed_top = 0.0 if looks_different else self._above + self._answer.changed_top

    def _answer_of(self, thoughts: Thoughts) -> str:
        """Return what is shown as the answer: of one that does not think all that is decided, white space and all."""
        if self._view is not None:
            return thoughts.said
        return self._source[: thoughts.decided] if self._is_open else self._source

    def _show_thinking(self, thoughts: Thoughts) -> bool:
        """Show the thinking there is by now; return whether that looks different."""
        figures = thoughts.thinking
        if figures is None:
            return False
        if self._view is None:
            self._view = ThinkingView(self._answer, is_folded=not self._unfolds)
        return self._view.show(thoughts.thought, figures, is_open=self._is_open)
