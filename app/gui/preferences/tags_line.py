"""A line with names of tags: in force as they are typed, and what cannot be one is said once the typing is over."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit

from app.core.thinking_tags import LONGEST_NAME, pair_named
from app.gui import theme
from app.gui.widgets.labels import label

MOST_CHARACTERS = 1_000
_BETWEEN = re.compile(r"[\s,]+")


class TagsLine(QLineEdit):
    """Emits `tags_changed` whenever all that is typed can be tags."""

    tags_changed = Signal(tuple)
    """Somebody typed other tags: all of them in order, each once."""

    def __init__(self, placeholder: str) -> None:
        super().__init__()
        self.setProperty("look", "field")
        self.setPlaceholderText(placeholder)
        self.setMaxLength(MOST_CHARACTERS)
        self.problem = label(look="problem", pixels=theme.SMALL_PX)
        """Why what is typed is not in force."""
        self.problem.setWordWrap(True)
        self.problem.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.problem.hide()
        self._tags: tuple[str, ...] = ()
        self._hint = ""
        self.textEdited.connect(self._take)
        self.editingFinished.connect(self._judge)

    def show_tags(self, tags: tuple[str, ...]) -> None:
        """Show the tags that are in force, unless what is typed says the same."""
        if tags != self._tags or tags != read_tags(self.text()):
            self._tags = tags
            self.setText(" ".join(tags))
            self._say("")

    def _take(self, text: str) -> None:
        tags = read_tags(text)
        if _wrong(tags) is not None:
            return  # a tag that is half typed is not wrong yet
        self._say("")
        self._use(tags)

    def _judge(self) -> None:
        """Say what cannot be a tag, and use the others."""
        tags = read_tags(self.text())
        self._use(tuple(tag for tag in tags if pair_named(tag) is not None))
        wrong = _wrong(tags)
        if wrong is None:
            self._say("")
            return
        words = self.tr(
            "“{tag}” cannot be a tag: type its name, such as reflection, or its opening, such as <reflection>."
        )
        if len(wrong) > LONGEST_NAME:
            words = self.tr("A tag has at most {most} characters.")
        self._say(words.format(tag=wrong, most=LONGEST_NAME))

    def _use(self, tags: tuple[str, ...]) -> None:
        if tags != self._tags:
            self._tags = tags
            self.tags_changed.emit(tags)

    def _say(self, problem: str) -> None:
        if not self.problem.text():
            self._hint = self.accessibleDescription()
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.setAccessibleDescription(problem or self._hint)


def _wrong(tags: tuple[str, ...]) -> str | None:
    return next((tag for tag in tags if pair_named(tag) is None), None)


def read_tags(text: str) -> tuple[str, ...]:
    """Return the names in a line, each once, in the order in which they were typed."""
    return tuple(dict.fromkeys(name for name in _BETWEEN.split(text) if name))
