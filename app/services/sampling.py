"""The sampling settings in force for the chat, and the presets they can be copied from.

Presets are copied, never linked: a preset that changes leaves every chat as it is. Which conversation the values belong
to is for others to know.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from app.core import preset_names
from app.core.errors import ExitCode, UserError
from app.core.preset_names import cleaned as _cleaned
from app.core.preset_names import name_key as _key
from app.core.sampling import PRESETS, SamplingSettings
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.stage_order import StageOrder
from app.system.settings_file import SettingsFile

LONGEST_NAME = preset_names.LONGEST_NAME
"""Characters of a preset's name."""
MORE = "sampling_more"
"""What the less usual settings are called among the folded sections."""
MOST_CHANGES = 3
"""Settings that differ from a preset in more values than this have nothing to do with it."""


class DeletedPreset(NamedTuple):
    """A preset that can be brought back."""

    name: str
    values: SamplingSettings


class Sampling(StageOrder):
    """One complete set of settings, and people's own presets in the settings file."""

    def __init__(self, settings: SettingsFile) -> None:
        self.changed: Signal[()] = Signal()
        """At least one value is another one."""
        self.changed_by_people: Signal[()] = Signal()
        """People changed a value or took a preset; showing another chat's settings does not count."""
        self.presets_changed: Signal[()] = Signal()
        """People's own presets, the one that was taken last or the last answer's seed are others."""
        self.is_new_chat = True
        """Whether the chat has no turn yet: what people change then is what the next new chat starts with."""
        self.last_seed: int | None = None
        """The seed that the last answer was drawn with."""
        self.deleted: DeletedPreset | None = None
        """The preset that was deleted last."""
        self._settings = settings
        self._read_from: dict[str, SamplingSettings] | None = None
        self._own: dict[str, SamplingSettings] = {}
        self._values = self.start_values()
        self._chosen: str | None = settings.values.last_preset
        self._origins: dict[SamplingSettings, str | None] = {}
        self._chosen = self.preset or self._nearest()

    @property
    def values(self) -> SamplingSettings:
        """The settings as they are now."""
        return self._values

    @property
    def presets(self) -> dict[str, SamplingSettings]:
        """People's own presets by name, every value inside its range."""
        kept = self._settings.values.presets
        if kept is not self._read_from:
            self._read_from = kept
            self._own = {name: values.validated() for name, values in kept.items() if name not in PRESETS}
        return self._own

    @property
    def preset(self) -> str | None:
        """The preset that would change nothing about these settings; None when they are nobody's."""
        equal = [name for name in self._all() if self._under(name) == self._values]
        if self._chosen in equal:
            return self._chosen
        own = self.presets.get(self._chosen or "")
        if own is not None and _with_limits_of(self._values, own) == self._values:
            return None  # an own preset with another seed, limit or stops; one that ships may well equal that
        return next(iter(equal), None)

    @property
    def chosen(self) -> str | None:
        """The preset that these settings were copied from, or that is nearest; whether or not they equal it."""
        return self._chosen if self._chosen in self._all() else None

    @property
    def more_shown(self) -> bool:
        """Whether the less usual settings are unfolded."""
        return MORE not in self._settings.values.folded

    @more_shown.setter
    def more_shown(self, shown: bool) -> None:
        """Unfold or fold the less usual settings, also at the next start."""
        others = tuple(section for section in self._settings.values.folded if section != MORE)
        self._settings.change(folded=others if shown else (*others, MORE))

    def start_values(self) -> SamplingSettings:
        """Return what a new chat starts with.

        The preset of whole chats that is set for that, else the preset chosen last, else what people last set in a new chat.
        """
        kept = self._settings.values
        if (start := kept.chats.start.sampling) is not None:
            return start
        return self._under(kept.last_preset, kept.sampling) if kept.last_preset in self._all() else kept.sampling

    def show(self, values: SamplingSettings) -> None:
        """Take over the settings of a chat; nothing is kept of it but from which preset they were changed."""
        self._origins[self._values] = self._chosen
        is_other, self._values = values != self._values, values
        self._chosen = self._origins.get(values)
        self._chosen = self.preset or self.chosen or self._nearest()
        self.presets_changed.emit()
        if is_other:
            self.changed.emit()

    def change(self, **changes: object) -> None:
        """Use other values for some settings, held within their ranges."""
        values = msgspec.structs.replace(self._values, **changes).validated()
        if values == self._values:
            return
        self._values = values
        if self.is_new_chat:
            self._settings.change(sampling=values, last_preset=self.preset or "")
        self.changed.emit()
        self.changed_by_people.emit()

    def use_preset(self, name: str) -> None:
        """Copy a preset: an own one with its limit and stops, and its seed if it is fixed; else these stay."""
        values = self._under(name)
        is_other, self._values, self._chosen = values != self._values, values, name
        self._settings.change(last_preset=name)
        if self.is_new_chat:
            self._settings.change(sampling=values)
        self.presets_changed.emit()
        if is_other:
            self.changed.emit()
            self.changed_by_people.emit()

    def name_problem(self, name: str, instead_of: str | None = None) -> Sentence | None:
        """Return why a preset cannot have a name, which may replace an own one; None where it can."""
        cleaned = _cleaned(name)
        if not cleaned:
            return translate("Presets", "Type a name for the preset.")
        if len(cleaned) > LONGEST_NAME:
            return translate("Presets", "Use at most {most} characters for the name.", most=LONGEST_NAME)
        if not cleaned.isprintable():
            return translate("Presets", "Use letters, digits and signs for the name, on one line.")
        taken = {_key(other): other for other in self._all() if other != instead_of}
        if _key(cleaned) in taken:
            return translate("Presets", "“{name}” exists already: use another name.", name=taken[_key(cleaned)])
        return None

    def save_preset(self, name: str) -> None:
        """Keep the values as a preset of people's own: a new one, or the own one of exactly this name with new values."""
        instead_of = name if name in self.presets else None
        self._refuse(name, instead_of)
        self._chosen = instead_of or _cleaned(name)
        self._keep({**self._settings.values.presets, self._chosen: self._values}, self._chosen)

    def rename_preset(self, name: str, new_name: str) -> None:
        """Give an own preset another name; it keeps its place."""
        self._refuse(new_name, name)
        cleaned = _cleaned(new_name)
        kept = self._settings.values
        presets = {cleaned if each == name else each: values for each, values in kept.presets.items()}
        self._chosen = cleaned if self._chosen == name else self._chosen
        self._keep(presets, cleaned if kept.last_preset == name else kept.last_preset)

    def delete_preset(self, name: str) -> None:
        """Forget an own preset; the values in force stay, and `restore_preset` brings it back."""
        self.deleted = DeletedPreset(name, self.presets[name])
        kept = self._settings.values
        left = {each: values for each, values in kept.presets.items() if each != name}
        self._chosen = None if self._chosen == name else self._chosen
        self._keep(left, "" if kept.last_preset == name else kept.last_preset)

    def restore_preset(self) -> None:
        """Bring back the preset that was deleted last, unless another one has its name by now."""
        deleted = self.deleted
        if deleted is None:
            return
        self._refuse(deleted.name, None)
        self.deleted = None
        kept = self._settings.values
        self._keep({**kept.presets, deleted.name: deleted.values}, kept.last_preset)

    def note_seed(self, seed: int) -> None:
        """Remember what the last answer was drawn with."""
        if seed != self.last_seed:
            self.last_seed = seed
            self.presets_changed.emit()

    def _all(self) -> dict[str, SamplingSettings]:
        return {**PRESETS, **self.presets}

    def _under(self, name: str, values: SamplingSettings | None = None) -> SamplingSettings:
        """Return what a preset would make of settings, or of those in force."""
        now, preset = self._values if values is None else values, self._all()[name]
        if name in PRESETS:
            return _with_limits_of(now, preset)
        return msgspec.structs.replace(preset, seed=now.seed) if preset.seed is None else preset

    def _nearest(self) -> str | None:
        """Return the preset that the fewest values differ from, if these are few."""
        changes = {name: _differing(self._under(name), self._values) for name in self._all()}
        nearest = min(changes, key=changes.__getitem__)
        return nearest if changes[nearest] <= MOST_CHANGES else None

    def _refuse(self, name: str, instead_of: str | None) -> None:
        problem = self.name_problem(name, instead_of)
        if problem is not None:
            raise UserError(problem, ExitCode.WRONG_USE)

    def _keep(self, presets: dict[str, SamplingSettings], last_preset: str) -> None:
        self._settings.change(presets=presets, last_preset=last_preset)
        self.presets_changed.emit()


def _with_limits_of(own: SamplingSettings, preset: SamplingSettings) -> SamplingSettings:
    return msgspec.structs.replace(
        preset, seed=own.seed, max_tokens=own.max_tokens, stop=own.stop, grammar=own.grammar
    )


def _differing(one: SamplingSettings, other: SamplingSettings) -> int:
    return sum(getattr(one, name) != getattr(other, name) for name in SamplingSettings.__struct_fields__)
