"""Says once which package of fonts is missing where the characters of a conversation cannot be shown.

Looks at what is in view when the window has nothing else to do; fonts are asked in the background, once a script.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QFont, QFontMetricsF

from app.core.words import Sentence, translate
from app.gui import theme
from app.gui.chat.turn_view import TurnView
from app.services.notices import Notice

LOOK_MS = 700
"""So long after something came into view it is looked at."""
MOST_CHARACTERS = 20_000
"""Of one message; a script that a message has is nearly always among them."""
_SCRIPTS = {
    "han": "[\u2e80-\u2fdf\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]",
    "kana": "[\u3041-\u30ff\uff66-\uff9f]",
    "hangul": "[\u1100-\u11ff\uac00-\ud7af]",
    "emoji": "[\U0001f300-\U0001faff]",
}
"""The characters of each; as an expression they are made when they are first looked for, which most chats never do."""
_PACKAGES = {"han": "fonts-noto-cjk", "kana": "fonts-noto-cjk", "hangul": "fonts-noto-cjk"}
_EMOJI_PACKAGE = "fonts-noto-color-emoji"
_FIRST = "\u1100"
"""No script that is looked for begins earlier."""
Submit = Callable[[Callable[[], None]], None]


class Glyphs(QObject):
    """Watches what a view shows."""

    def __init__(
        self, view: TurnView, submit: Submit, tell: Callable[[Notice], None], platform: str = sys.platform
    ) -> None:
        """`submit` runs what it is given at another time, on any thread."""
        super().__init__(view)
        self._view = view
        self._submit = submit
        self._tell = tell
        self._platform = platform
        self._asked: set[str] = set()
        """Scripts that the fonts were asked for."""
        self._read: set[tuple[int, int]] = set()
        """Messages that were looked at, by number and length."""
        self._told: set[str] = set()
        self._waiting = 0
        """How many answers are still to come."""
        self._answers: SimpleQueue[tuple[str, bool]] = SimpleQueue()
        """Scripts, and whether a font has them; the thread that asks puts them there."""
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(LOOK_MS)
        self._later.timeout.connect(self._look)
        view.moved.connect(self._wait)

    def _wait(self) -> None:
        if not self._later.isActive():
            self._later.start()

    def _look(self) -> None:
        height, scrolled = self._view.viewport().height(), self._view.verticalScrollBar().value()
        for index in self._view.turns.visible(scrolled, scrolled + height):
            turn = self._view.turns.blocks[index].turn
            seen = turn.number, min(len(turn.text), MOST_CHARACTERS)
            if seen not in self._read:
                self._read.add(seen)
                self._ask(turn.text[:MOST_CHARACTERS])
        self._hear()
        if self._waiting:
            self._later.start()

    def _ask(self, text: str) -> None:
        if text.isascii() or max(text) < _FIRST:
            return
        font = QFont(theme.reading_font(theme.READING_PX))
        for script, pattern in _SCRIPTS.items():
            found = re.search(pattern, text) if script not in self._asked else None
            if found is not None:
                self._asked.add(script)
                self._waiting += 1
                self._submit(partial(self._find, font, script, found.group()))

    def _find(self, font: QFont, script: str, character: str) -> None:
        self._answers.put((script, has_glyph(font, character)))

    def _hear(self) -> None:
        while not self._answers.empty():
            script, is_there = self._answers.get()
            self._waiting -= 1
            package = _PACKAGES.get(script, _EMOJI_PACKAGE)
            if not is_there and package not in self._told:
                self._told.add(package)
                self._tell(Notice(_words(package, self._platform), level="hint"))


def has_glyph(font: QFont, character: str) -> bool:
    """Return whether a font, or one that takes its place where it has gaps, can show a character."""
    return QFontMetricsF(font).inFontUcs4(ord(character))


def _words(package: str, platform: str) -> Sentence:
    if platform.startswith("linux"):
        return translate(
            "Glyphs",
            "Some characters here cannot be shown because no font has them: install the package {package}, then start"
            " Tokenlight again.",
            package=package,
        )
    if package == _EMOJI_PACKAGE:
        return translate(
            "Glyphs", "Some emoji here cannot be shown: install a font that has them, then start Tokenlight again."
        )
    return translate(
        "Glyphs",
        "Some Chinese, Japanese or Korean characters here cannot be shown: install a font that has them, then start"
        " Tokenlight again.",
    )
