"""The Markdown of an answer's thinking: read as it grows where it is unfolded, and not at all where it is folded."""

from __future__ import annotations

from collections.abc import Iterator

from app.gui import theme
from app.gui.chat.answer_text import AnswerText
from app.gui.chat.block_pictures import quiet
from app.gui.chat.text_view import QUIET_LINE_PX


class ThinkingText:
    """The text of the thinking of one answer."""

    def __init__(self, answer: AnswerText, *, is_folded: bool) -> None:
        self.is_folded = is_folded
        """Whether only the line is shown."""
        self._read = answer.another(theme.reading_px(QUIET_LINE_PX), quiet)
        """The Markdown; none while it is folded."""
        self.source = ""
        """The Markdown as the model wrote it, also while it is folded."""
        self._is_open = True

    @property
    def text(self) -> str:
        """The text that can be selected, without the marks of Markdown: none while it is folded."""
        return "".join(self.texts())

    @property
    def length(self) -> int:
        """How many characters `text` has; while not all of it is read, the rest counts with its marks."""
        return self._read.length

    @property
    def is_unread(self) -> bool:
        """Whether there is more to read before all that is unfolded can be shown."""
        return not self.is_folded and self._read.is_unread

    @property
    def is_unfinished(self) -> bool:
        """Whether something would look better painted once more, a moment later."""
        return not self.is_folded and self._read.is_unfinished

    def texts(self, *, at_once: bool = False) -> Iterator[str]:
        """Return `text` in pieces, as `AnswerText.texts` does."""
        return iter(()) if self.is_folded else self._read.texts(at_once=at_once)

    def use_size(self) -> None:
        """Show the text in the size in force now."""
        self._read.use_size(theme.reading_px(QUIET_LINE_PX))

    def release(self) -> None:
        """Drop the lines; the height stays, and so does what is read, by which the answer's characters are counted."""
        self._read.release_lines()

    def _read_anew(self) -> None:
        """Begin with the text, or forget all of it where it is folded."""
        self._read.set_text("" if self.is_folded else self.source, is_open=self.is_folded or self._is_open)
