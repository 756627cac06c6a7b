"""People's presets of whole chats: their names, and what belongs to them, in the settings file.

Presets are copied, never linked: one that changes leaves every chat as it is. What is done with them is `preset_use`'s.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from app.core import preset_names
from app.core.chat_preset import ChatPreset, ChatSettings
from app.core.errors import ExitCode, UserError
from app.core.preset_names import cleaned as _cleaned
from app.core.preset_names import name_key as _key
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.notices import Notice, Notices
from app.services.system_prompt import too_long
from app.system.settings_file import SettingsFile

LONGEST_NAME = preset_names.LONGEST_NAME
"""Characters of a preset's name."""
MOST_BYTES = 4 << 20
"""Of all presets together: a settings file that is too large is not read any more."""


class _Before(NamedTuple):
    """A preset as it was before it was deleted or replaced."""

    name: str
    preset: ChatPreset
    place: int
    started_chats: bool


class ChatPresets:
    """Presets by name, in the order in which they were saved."""

    def __init__(self, settings: SettingsFile, notices: Notices) -> None:
        self.changed: Signal[()] = Signal()
        """There are others, or new chats start with another one."""
        self.moved: Signal[frozenset[str], str] = Signal()
        """The model with these paths has another one now; empty is none any more."""
        self._settings = settings
        self._notices = notices
        self._read_from: dict[str, ChatPreset] | None = None
        self._all: dict[str, ChatPreset] = {}
        self._before: _Before | None = None

    @property
    def all(self) -> dict[str, ChatPreset]:
        """The presets by name, every value inside its range; one that holds nothing is none."""
        kept = self._kept.presets
        if kept is not self._read_from:
            self._read_from = kept
            valid = {name: preset.validated() for name, preset in kept.items()}
            self._all = {name: preset for name, preset in valid.items() if not preset.is_empty}
        return self._all

    @property
    def start(self) -> str | None:
        """The preset that new chats start with."""
        return self._kept.start_with if self._kept.start_with in self.all else None

    @property
    def lost(self) -> str | None:
        """The preset that `restore` brings back as it was."""
        return self._before.name if self._before is not None else None

    def start_with(self, name: str | None) -> None:
        """Let new chats start with a preset, or with none."""
        self._change(start_with=name or "")

    def same_name(self, name: str) -> str | None:
        """Return the preset whose name is the same to people."""
        return next((each for each in self.all if _key(each) == _key(name)), None)

    def name_problem(self, name: str, instead_of: str | None = None) -> Sentence | None:
        """Return why a preset cannot be called so; a new one may replace another, one that is renamed may not."""
        cleaned = _cleaned(name)
        if not cleaned:
            return translate("ChatPresets", "Type a name for the chat preset.")
        if len(cleaned) > LONGEST_NAME:
            return translate("ChatPresets", "Use at most {most} characters for the name.", most=LONGEST_NAME)
        if not cleaned.isprintable():
            return translate("ChatPresets", "Use letters, digits and signs for the name, on one line.")
        taken = self.same_name(cleaned)
        if instead_of is not None and taken not in (None, instead_of):
            return translate("ChatPresets", "“{name}” exists already: use another name.", name=taken or "")
        return None

    def save(self, name: str, preset: ChatPreset) -> None:
        """Keep a preset under a name; one that has that name is replaced, with an offer to undo that."""
        self._refuse(self.name_problem(name) or part_problem(preset))
        replaced = self.same_name(name)
        presets = {**self._kept.presets, replaced or _cleaned(name): preset}
        if len(msgspec.json.encode(presets)) > MOST_BYTES:
            self._refuse(translate("ChatPresets", "There is no room for more chat presets: delete one first."))
        self._forget(name)
        if replaced is not None:
            self._note(replaced, translate("ChatPresets", "The chat preset “{name}” was replaced.", name=replaced))
        self._change(presets=presets)

    def rename(self, name: str, new_name: str) -> None:
        """Give a preset another name; it keeps its place."""
        self._refuse(self.name_problem(new_name, name))
        cleaned = _cleaned(new_name)
        self._forget(new_name)
        presets = {cleaned if each == name else each: preset for each, preset in self._kept.presets.items()}
        starts = self._kept.start_with
        self._change(presets=presets, start_with=cleaned if starts == name else starts)

    def follow(self, old: frozenset[str], new: str) -> None:
        """Name a model by its new path; where it has none any more, presets keep the old one and say that it is missing."""
        if new:
            self._change(presets={name: _moved(preset, old, new) for name, preset in self._kept.presets.items()})
            if self._before is not None:
                self._before = self._before._replace(preset=_moved(self._before.preset, old, new))
        self.moved.emit(old, new)

    def delete(self, name: str) -> None:
        """Forget a preset, with an offer to undo that; chats that were begun with it stay as they are."""
        self._note(name, translate("ChatPresets", "The chat preset “{name}” was deleted.", name=name))
        left = {each: preset for each, preset in self._kept.presets.items() if each != name}
        starts = self._kept.start_with
        self._change(presets=left, start_with="" if starts == name else starts)

    def restore(self) -> None:
        """Bring back the preset that was deleted or replaced last, as it was."""
        before, self._before = self._before, None
        self._notices.settle("restore_preset")
        if before is not None:
            starts = before.name if before.started_chats else self._kept.start_with
            others = [(name, preset) for name, preset in self._kept.presets.items() if name != before.name]
            others.insert(before.place, (before.name, before.preset))
            self._change(presets=dict(others), start_with=starts)

    @property
    def _kept(self) -> ChatSettings:
        return self._settings.values.chats

    def _note(self, name: str, sentence: Sentence) -> None:
        self._before = _Before(name, self.all[name], list(self._kept.presets).index(name), self.start == name)
        self._notices.post(Notice(sentence, level="hint", remedy="restore_preset", brief=True))

    def _forget(self, name: str) -> None:
        """Offer no longer to bring back a preset whose name means another one from now on."""
        if self._before is not None and _key(self._before.name) == _key(name):
            self._before = None
            self._notices.settle("restore_preset")

    def _refuse(self, problem: Sentence | None) -> None:
        if problem is not None:
            raise UserError(problem, ExitCode.WRONG_USE)

    def _change(self, **changes: object) -> None:
        self._settings.change(chats=msgspec.structs.replace(self._kept, **changes))
        self.changed.emit()


def _moved(preset: ChatPreset, old: frozenset[str], new: str) -> ChatPreset:
    return preset if preset.model is None else msgspec.structs.replace(preset, model=preset.model.moved(old, new))


def part_problem(preset: ChatPreset) -> Sentence | None:
    """Return why a preset can be neither kept nor used; None where it can."""
    if preset.is_empty:
        return translate("ChatPresets", "Tick at least one part: a chat preset that holds nothing changes nothing.")
    return too_long(preset.system_prompt or "")
