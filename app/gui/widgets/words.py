"""Words for people: sentences from below in the language of the window, and hints on hover."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from html import escape

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from app.core.words import Sentence, grouped

LONGEST_LINE = 60
"""Characters; a hint with a longer line is wrapped."""
_ISOLATE, _END_OF_ISOLATE, _LEFT_TO_RIGHT = "\u2068", "\u2069", "\u200e"
_SHOWN, _WORDS, _ACTION, _KEYS = "hint", "hint_words", "hint_action", "hint_keys"
"""Properties of a widget: its hint as plain text, that without keys, the action that it does, and the keys of that."""
_IS_SILENT = "hint_without_keys"


def render(sentence: Sentence) -> str:
    """Return a sentence translated and filled in."""
    values = {
        name: isolated(value) if isinstance(value, str) else value for name, value in grouped(sentence.values).items()
    }
    template = QCoreApplication.translate(sentence.context, sentence.template)
    said = template.format(**values)
    # Text that can be selected takes its direction from the first letter, also from one in an isolate.
    return f"{_LEFT_TO_RIGHT}{said}" if _ISOLATE in said and not _has_right_to_left(template) else said


def isolated(text: str) -> str:
    """Return text such that a name in it that runs right to left does not turn round the words beside it."""
    return f"{_ISOLATE}{text}{_END_OF_ISOLATE}" if _has_right_to_left(text) else text


def _has_right_to_left(text: str) -> bool:
    return not text.isascii() and any(unicodedata.bidirectional(character) in ("R", "AL") for character in text)


def set_hint(widget: QWidget, text: str, action: str | None = None) -> None:
    """Show plain text on hover, wrapped where it is long; those who listen hear it without markup.

    `action` names the action of the window that the widget does, whose keys are told behind the text; "" tells none
    for now, and without it that stays as it was.
    """
    if action is not None:
        widget.setProperty(_IS_SILENT, not action)
        widget.setProperty(_ACTION, action or widget.property(_ACTION))
    widget.setProperty(_WORDS, text)
    _show_hint(widget)


def tell_keys(parent: QWidget, keys: Mapping[str, str]) -> None:
    """Tell in the hints of a widget and of all inside of it which keys actions have now: as people read them, by name."""
    for widget in (parent, *parent.findChildren(QWidget)):
        action = widget.property(_ACTION)
        if action and widget.property(_KEYS) != keys.get(action, ""):
            widget.setProperty(_KEYS, keys.get(action, ""))
            _show_hint(widget)


def _show_hint(widget: QWidget) -> None:
    words, keys, before = widget.property(_WORDS) or "", widget.property(_KEYS), widget.property(_SHOWN)
    text = f"{words} ({keys})" if keys and words and not widget.property(_IS_SILENT) else words
    if before == text:
        return
    widget.setProperty(_SHOWN, text)
    wrapped = hint_of(text)
    widget.setToolTip(wrapped)
    # Without a description of its own, Qt reads the hint out as it stands, markup and all.
    if (wrapped != text or before) and widget.accessibleDescription() in ("", before):
        widget.setAccessibleDescription(text)


def hint_under(widget: QWidget) -> str:
    """Return the hint of a widget as plain text."""
    return str(widget.property(_SHOWN) or "")


def hint_of(text: str) -> str:
    """Return plain text as Qt shows it on hover: nothing in it is taken for markup, and long lines are wrapped."""
    is_short = all(len(line) <= LONGEST_LINE for line in text.splitlines())
    if is_short and "<" not in text:
        return text
    return "<qt>" + escape(text, quote=False).replace("\n", "<br>")  # Qt wraps rich text alone, and needs no end tag
