"""What people do with a preset of whole chats: use it in the chat that is shown, or begin one with it.

Copies the parts that it has to where they belong; keeps what was there before, to go back to.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from app.core.chat import clean_text
from app.core.chat_preset import ChatPreset, PresetModel
from app.core.sampling import SamplingSettings
from app.core.words import Sentence, translate
from app.services.chat import Chat
from app.services.chat_presets import ChatPresets, part_problem
from app.services.conversations import Conversations
from app.services.file_names import short_path
from app.services.notices import Notice, Notices
from app.services.preset_model import PresetModels
from app.services.sampling import Sampling
from app.services.system_prompt import PromptState, SystemPrompt
from app.services.wishes import Wish, moved


class _Before(NamedTuple):
    """What a preset took the place of; the parts that it left alone are None."""

    prompt: PromptState | None
    conversation: int
    sampling: SamplingSettings | None
    model: PresetModel | None
    wish: Wish | None
    """What was about to be loaded, or was to be loaded for the next question."""


class PresetUse:
    """Uses presets; every use can be taken back until the next one."""

    def __init__(
        self,
        presets: ChatPresets,
        prompt: SystemPrompt,
        sampling: Sampling,
        chat: Chat,
        conversations: Conversations,
        models: PresetModels,
        notices: Notices,
    ) -> None:
        self.presets = presets
        """What there is to use."""
        self._prompt = prompt
        self._sampling = sampling
        self._chat = chat
        self._conversations = conversations
        self._models = models
        self._notices = notices
        self._before: _Before | None = None
        self._told: Notice | None = None
        self._name = ""
        models.missing.connect(self._tell_missing)
        presets.moved.connect(self._follow)

    def current(self, system_prompt: str) -> ChatPreset:
        """Return the chat that is shown as a preset with all of its parts, and with this system prompt."""
        text = clean_text(system_prompt)
        return ChatPreset(text if text.strip() else "", self._sampling.values, self._models.loaded)

    def use(self, name: str) -> None:
        """Use a preset in the chat that is shown, from the next answer on, with an offer to undo that."""
        if self._can_be_used(name):
            self._copy(name, is_offered=True)

    def begin(self, name: str) -> None:
        """Show a new chat that begins with a preset; a new chat that somebody prepared already can be brought back."""
        if not self._can_be_used(name):
            return
        was_prepared = self._chat.shown.is_new and self._chat.shown.has_own_prompt
        self._conversations.new()
        self._copy(name, is_offered=was_prepared)

    def new_chat(self) -> None:
        """Show a new chat, with the model of the preset that new chats start with."""
        self._conversations.new()
        start = self.presets.start
        model = self.presets.all[start].model if start is not None else None
        if start is not None and model is not None:
            self._name, self._told = start, None
            self._models.want(model)

    def undo(self) -> None:
        """Go back to what there was before a preset was used, in its chat."""
        before, self._before, self._told = self._before, None, None
        self._notices.settle("undo_preset")
        if before is None:
            return
        if before.prompt is not None:
            self._prompt.put(before.prompt)
        if before.sampling is not None:
            self._put_sampling(before.conversation, before.sampling)
            self._sampling.is_new_chat = self._chat.shown.is_new
        if before.wish is not None:
            self._models.go_back(before.wish)
        elif before.model is not None:
            self._models.want(before.model)
        else:
            self._models.drop()

    def _follow(self, old: frozenset[str], new: str) -> None:
        """Go back to a model, and load one, where its file is now."""
        self._models.follow(old, new)
        before = self._before
        if before is not None:
            model = before.model.moved(old, new) if before.model is not None else None
            self._before = before._replace(model=model, wish=moved(before.wish, old, new))

    def _can_be_used(self, name: str) -> bool:
        """Say why a preset cannot be used, as one that came into the settings file in another way."""
        problem = part_problem(self.presets.all[name])
        if problem is not None:
            self._notices.post(Notice(problem))
        return problem is None

    def _copy(self, name: str, *, is_offered: bool) -> None:
        preset, shown = self.presets.all[name], self._chat.shown
        prompt = self._prompt.state if preset.system_prompt is not None else None
        sampling = self._sampling.values if preset.sampling is not None else None
        model, wish = (self._models.loaded, self._models.wished) if preset.model is not None else (None, None)
        self._before = _Before(prompt, shown.head.id, sampling, model, wish)
        self._name, self._told = name, None
        if prompt is not None and preset.system_prompt is not None:
            self._prompt.put(prompt._replace(text=preset.system_prompt, is_own=True, unsent=None))
        if preset.sampling is not None:
            self._put_sampling(shown.head.id, preset.sampling)
            self._sampling.is_new_chat = False  # a slider that is moved now says nothing of other new chats
        self._models.drop()
        is_wanted = preset.model is not None and self._models.want(preset.model)
        if is_offered:
            later = (_LATER,) if is_wanted and self._models.waits else ()
            self._told = Notice(_used(name), level="hint", remedy="undo_preset", brief=True, more=later)
            self._notices.post(self._told)

    def _put_sampling(self, conversation: int, values: SamplingSettings) -> None:
        if conversation == self._chat.conversation_id:
            self._sampling.show(values)
        elif any(head.id == conversation for head in self._conversations.heads):
            self._conversations.change(conversation, settings=values)

    def _tell_missing(self, model: PresetModel) -> None:
        """Say which model is gone, together with the offer that may still stand."""
        sentence = translate(
            "PresetUse",
            "The model of “{name}” is no longer at {path}: open it where it is now, then update the chat preset.",
            name=self._name,
            path=short_path(Path(model.path)),
        )
        offered, self._told = self._told, None
        if offered is not None and self._notices.latest == offered:
            self._notices.withdraw(offered)
            self._notices.post(Notice(offered.sentence, level="hint", remedy="undo_preset", more=(sentence,)))
        else:
            self._notices.post(Notice(sentence, level="hint", remedy="open_model"))


def _used(name: str) -> Sentence:
    return translate("PresetUse", "“{name}” is used in this chat.", name=name)


_LATER = translate("PresetUse", "Its model is loaded once the answer is written.")
