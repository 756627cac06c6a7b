"""What uses the presets of whole chats, made around those who keep them."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from app.services.chat import Chat
from app.services.chat_presets import ChatPresets
from app.services.conversations import Conversations
from app.services.engine_session import EngineSession
from app.services.models import Models
from app.services.notices import Notices
from app.services.preset_model import PresetModels
from app.services.preset_use import PresetUse
from app.services.sampling import Sampling
from app.services.system_prompt import SystemPrompt
from app.system.jobs import Jobs


class PresetServices(NamedTuple):
    """What loads their models, and what copies them into chats."""

    preset_models: PresetModels
    preset_use: PresetUse


class PresetTargets(Protocol):
    """What of a chat a preset is copied into."""

    @property
    def chat_presets(self) -> ChatPresets: ...  # noqa: D102

    @property
    def system_prompt(self) -> SystemPrompt: ...  # noqa: D102

    @property
    def chat(self) -> Chat: ...  # noqa: D102

    @property
    def conversations(self) -> Conversations: ...  # noqa: D102


def preset_services(
    talk: PresetTargets, sampling: Sampling, session: EngineSession, models: Models, jobs: Jobs, notices: Notices
) -> PresetServices:
    """Make them."""
    wanted = PresetModels(session, models, jobs)
    use = PresetUse(talk.chat_presets, talk.system_prompt, sampling, talk.chat, talk.conversations, wanted, notices)
    return PresetServices(wanted, use)
