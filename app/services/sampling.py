"""The sampling settings in force for the chat, and the presets they can be copied from."""

from __future__ import annotations

import msgspec

from app.core.sampling import PRESETS, SamplingSettings
from app.core.signal import Signal
from app.system.settings_file import SettingsFile


class Sampling:
    """One complete set of settings; every change is kept for the next start."""

    def __init__(self, settings: SettingsFile) -> None:
        self.changed: Signal[()] = Signal()
        """At least one value is another one."""
        self._settings = settings
        self._values = settings.values.sampling

    @property
    def values(self) -> SamplingSettings:
        """The settings as they are now."""
        return self._values

    @property
    def preset(self) -> str | None:
        """The preset that these settings equal, seed, limit and stops aside; None when they are nobody's."""
        for name, preset in PRESETS.items():
            if self._with_own_limits(preset) == self._values:
                return name
        return None

    def change(self, **changes: object) -> None:
        """Use other values for some settings, held within their ranges."""
        self._set(msgspec.structs.replace(self._values, **changes).validated())

    def use_preset(self, name: str) -> None:
        """Copy a preset; seed, limit and stops stay."""
        self._set(self._with_own_limits(PRESETS[name]))

    def _with_own_limits(self, preset: SamplingSettings) -> SamplingSettings:
        own = self._values
        return msgspec.structs.replace(preset, seed=own.seed, max_tokens=own.max_tokens, stop=own.stop)

    def _set(self, values: SamplingSettings) -> None:
        if values != self._values:
            self._values = values
            self._settings.change(sampling=values)
            self.changed.emit()
