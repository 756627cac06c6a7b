"""Settings of single models: a chat without a message begins with those of sampling as soon as their model is loaded.

They are copied into the chat, and change nothing that new chats with other models begin with.
"""

from __future__ import annotations

import msgspec

from app.core.model import LoadOptions
from app.core.sampling import SamplingSettings
from app.core.signal import Signal
from app.services.chat import Chat
from app.services.engine_session import EngineSession
from app.services.sampling import Sampling
from app.system.settings_file import SettingsFile


class ModelSampling:
    """What somebody set in the new chat by hand stays, whatever is loaded after that."""

    def __init__(self, session: EngineSession, chat: Chat, sampling: Sampling, settings: SettingsFile) -> None:
        self.changed: Signal[()] = Signal()
        """A model has other settings of its own, or none any more."""
        self._session = session
        self._chat = chat
        self._sampling = sampling
        self._settings = settings
        self._put: SamplingSettings | None = None
        """What the new chat that is shown was given for the sake of its model."""
        self._is_by_hand = False
        chat.opened.connect(self._begin)
        session.changed.connect(self._follow)
        sampling.changed_by_people.connect(self._note)
        self._model = ""

    def of(self, identity: str) -> SamplingSettings | None:
        """Return the settings of a model, every value inside its range; None where it has none."""
        return own_sampling(self._settings, identity)

    def load_options(self, identity: str) -> LoadOptions | None:
        """Return what a model last loaded well with; None where it never did."""
        return self._settings.model(identity).options if identity else None

    @property
    def current(self) -> SamplingSettings:
        """Those of the chat that is shown."""
        return self._sampling.values

    def use_current(self, identity: str) -> None:
        """Have new chats with a model begin with the settings of the chat that is shown."""
        self._keep(identity, self._sampling.values)

    def forget(self, identity: str) -> None:
        """Have new chats with a model begin as others do; chats that there are stay as they are."""
        self._keep(identity, None)

    def _keep(self, identity: str, values: SamplingSettings | None) -> None:
        if identity:
            kept = self._settings.model(identity)
            self._settings.remember_model(identity, msgspec.structs.replace(kept, sampling=values))
            self.changed.emit()

    def _begin(self) -> None:
        """Another chat is shown."""
        self._put, self._is_by_hand, self._model = None, False, ""
        self._follow()

    def _note(self) -> None:
        self._is_by_hand = self._is_by_hand or self._chat.shown.is_new

    def _follow(self) -> None:
        """Give the new chat the settings of the model that was loaded, or take those of the one before away again."""
        ref = self._session.ref
        if not self._chat.shown.is_new or ref is None or ref.identity == self._model:
            return
        self._model = ref.identity
        start, values = self._sampling.start_values(), self.of(ref.identity)
        if self._is_by_hand or self._sampling.values not in (start, self._put):
            return
        if values is None and self._put is None:
            return
        self._put = values
        # A slider that is moved now says nothing of new chats with other models.
        self._sampling.is_new_chat = values is None
        self._sampling.show(start if values is None else values)


def own_sampling(settings: SettingsFile, identity: str) -> SamplingSettings | None:
    """Return the settings of a model out of the settings file, every value inside its range; None where it has none."""
    kept = settings.model(identity).sampling if identity else None
    return kept.validated() if kept is not None else None
