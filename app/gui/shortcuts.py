"""The keys of the window's actions: those that people chose, what speaks against others, and where they are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, cast

from PySide6.QtCore import QKeyCombination, QObject, Qt, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QWidget

from app.core.words import Sentence, translate
from app.gui.actions import ESCAPE, Actions, shown_keys, words_alone
from app.gui.widgets.words import render
from app.system.settings_file import SettingsFile
from app.system.settings_words import listed

Keys = tuple[QKeySequence, ...]
_PORTABLE = QKeySequence.SequenceFormat.PortableText
_FUNCTION_KEYS = range(Qt.Key.Key_F1, Qt.Key.Key_F35 + 1)
_WITH = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
_NO_KEYS = (
    Qt.Key.Key_unknown,
    Qt.Key.Key_Shift,
    Qt.Key.Key_Control,
    Qt.Key.Key_Alt,
    Qt.Key.Key_AltGr,
    Qt.Key.Key_Meta,
)


class Shortcuts(QObject):
    """Gives actions the keys of the settings file, and takes others for them."""

    changed = Signal()
    """An action has other keys."""

    def __init__(
        self,
        actions: Actions,
        settings: SettingsFile,
        window: QWidget,
        place_keys: Callable[[], Container[QKeySequence]],
    ) -> None:
        """`place_keys` are those that mean something in one place; they are asked for where the file has keys at all."""
        super().__init__(window)
        self._place_keys = place_keys
        self._actions = actions
        self._settings = settings
        self._window = window
        self._usual = actions.usual_keys
        self.problem: Sentence | None = None
        """What could not be taken out of the settings file."""
        self._read()

    def keys(self, name: str) -> Keys:
        """Return the keys of an action; none, one, or several of which each does it."""
        return self._actions.keys[name]

    def usual(self, name: str) -> Keys:
        """Return the keys that an action has where nobody chose others."""
        return self._usual[name]

    def is_usual(self, name: str) -> bool:
        """Whether an action has the keys that it has where nobody chose others."""
        return self.keys(name) == self._usual[name]

    @property
    def are_usual(self) -> bool:
        """Whether all actions have."""
        return all(map(self.is_usual, self._usual))

    def refusal(self, name: str, keys: Sequence[QKeySequence]) -> str:
        """Return why an action cannot have keys; nothing where it can."""
        for other, taken in self._actions.keys.items():
            if other != name and (both := [key for key in keys if key in taken]):
                said = translate(
                    "Shortcuts",
                    "{keys} is the shortcut of “{action}” already: choose another one, or change that one first.",
                    keys=shown_keys(both),
                    action=words_alone(self._actions[other]),
                )
                return render(said)
        for key in keys:
            if key not in self._usual[name] and (why := _needed_elsewhere(key)) is not None:
                return render(why)
        return ""

    def choose(self, name: str, keys: Sequence[QKeySequence]) -> str:
        """Have keys for an action from now on, none included; return why not where they are refused."""
        refusal = self.refusal(name, keys)
        if not refusal:
            self._use({**self._actions.keys, name: tuple(keys)})
        return refusal

    def reset(self, name: str) -> str:
        """Give an action its usual keys again; return why not where another one has them."""
        return self.choose(name, self._usual[name])

    def reset_all(self) -> None:
        """Give all actions their usual keys again."""
        self._use(self._usual)

    def _use(self, keys: Mapping[str, Keys]) -> None:
        self._actions.use_keys(keys)
        self._actions.tell_keys(self._window)
        chosen = {name: _texts(keys[name]) for name in self._usual if keys[name] != self._usual[name]}
        self._settings.change(shortcuts=chosen)
        self.changed.emit()

    def _read(self) -> None:
        """Use what the file says, as far as it is of actions that there are, and of keys that no two have."""
        read = {name: _keys_of(texts) for name, texts in self._settings.values.shortcuts.items()}
        needed = self._place_keys() if read else ()
        fit = {name: keys for name, keys in read.items() if keys is not None and self._may_have(name, keys, needed)}
        while doubles := self._in_conflict(fit):
            for name in doubles:
                del fit[name]
        left_out = [name for name in read if name not in fit]
        if fit:
            self._actions.use_keys(fit)
            self._actions.tell_keys(self._window)
        if left_out:
            self.problem = translate(
                "Shortcuts",
                "These shortcuts of the settings file name no action or no free keys, and are left out: {names}.",
                names=listed(left_out),
            )
            self._settings.change(shortcuts={name: _texts(keys) for name, keys in fit.items()})

    def _may_have(self, name: str, keys: Keys, needed: Container[QKeySequence]) -> bool:
        usual = self._usual.get(name)
        return usual is not None and all(
            key in usual or (key not in needed and _needed_elsewhere(key) is None) for key in keys
        )

    def _in_conflict(self, chosen: Mapping[str, Keys]) -> list[str]:
        """Return those that have a key which another action has too."""
        every = {**self._usual, **chosen}
        times = Counter(text for keys in every.values() for text in set(_texts(keys)))
        return [name for name, keys in chosen.items() if any(times[text] > 1 for text in _texts(keys))]


def _texts(keys: Keys) -> tuple[str, ...]:
    return tuple(key.toString(_PORTABLE) for key in keys)


def _keys_of(texts: Sequence[str]) -> Keys | None:
    """Return the keys that texts of a file name; None where one names none."""
    keys = tuple(QKeySequence.fromString(text, _PORTABLE) for text in texts)
    return keys if all(key.count() == 1 and _combination(key).key() not in _NO_KEYS for key in keys) else None


def _combination(key: QKeySequence) -> QKeyCombination:
    return cast("QKeyCombination", cast("Any", key)[0])  # the stubs do not know that it can be asked for by place


def _needed_elsewhere(key: QKeySequence) -> Sentence | None:
    """Return why no action can have a key; None where one can."""
    if key == ESCAPE:
        return translate("Shortcuts", "Esc leaves what is open everywhere: choose other keys.")
    combination = _combination(key)
    is_alone = not combination.keyboardModifiers() & _WITH
    if is_alone and combination.key() not in _FUNCTION_KEYS:
        return translate(
            "Shortcuts",
            "{keys} is needed to write or to move: choose a key with Ctrl or Alt, or a function key.",
            keys=shown_keys([key]),
        )
    if any(key in QKeySequence.keyBindings(standard) for standard in _EDITING):
        return translate(
            "Shortcuts", "{keys} is needed while a text is written: choose other keys.", keys=shown_keys([key])
        )
    return None


_EDITING = (
    QKeySequence.StandardKey.Copy,
    QKeySequence.StandardKey.Cut,
    QKeySequence.StandardKey.Paste,
    QKeySequence.StandardKey.Undo,
    QKeySequence.StandardKey.Redo,
    QKeySequence.StandardKey.SelectAll,
    QKeySequence.StandardKey.DeleteStartOfWord,
    QKeySequence.StandardKey.DeleteEndOfWord,
    QKeySequence.StandardKey.MoveToNextWord,
    QKeySequence.StandardKey.MoveToPreviousWord,
    QKeySequence.StandardKey.MoveToStartOfDocument,
    QKeySequence.StandardKey.MoveToEndOfDocument,
    QKeySequence.StandardKey.SelectNextWord,
    QKeySequence.StandardKey.SelectPreviousWord,
    QKeySequence.StandardKey.SelectStartOfDocument,
    QKeySequence.StandardKey.SelectEndOfDocument,
    QKeySequence.StandardKey.InsertParagraphSeparator,
    QKeySequence.StandardKey.InsertLineSeparator,
)
