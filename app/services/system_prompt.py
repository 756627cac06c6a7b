"""The system prompt of the conversation that is shown: what it says, another text for it, and that taken back.

A change is kept at once and holds from the next answer on; one that is being written goes on with what it was asked with.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from app.core.chat import clean_text
from app.core.chat_preset import ChatSettings
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.chat import Chat
from app.services.conversations import Conversations
from app.services.drafts import place_of
from app.services.notices import Notice, Notices
from app.services.units import count
from app.system.settings_file import SettingsFile

LONGEST_PROMPT = 100_000
"""Characters of a system prompt: more than the contexts of most models hold."""
LONGEST_LINE = 5_000
"""Characters of one line of it that can be laid out at every key without anybody noticing."""
MOST_DRAFTS = 20
"""Chats whose unsaved system prompts are kept, the latest ones."""
MOST_DRAFT_BYTES = 4 << 20
"""Of all of them together: a settings file that is too large is not read any more."""
LONGEST_DRAFT = MOST_DRAFT_BYTES // 8
"""Characters of one, each of which takes six bytes at most; what cannot be saved is kept all the same."""


class PromptState(NamedTuple):
    """The system prompt that a conversation had, to go back to."""

    conversation: int
    text: str
    is_own: bool
    """Whether somebody chose it for that chat, where the chat has no message yet."""
    unsent: str | None


class SystemPrompt:
    """One text at a time; what is typed and not saved stays with its chat, also over a restart."""

    def __init__(self, chat: Chat, conversations: Conversations, settings: SettingsFile, notices: Notices) -> None:
        self.changed: Signal[()] = Signal()
        """It is another text, or what is typed and not saved is another one, there or gone."""
        self._chat = chat
        self._conversations = conversations
        self._settings = settings
        self._notices = notices
        self._shown = chat.shown
        self._place = place_of(chat.shown)
        self._undo: PromptState | None = None
        self._told = (self.text, self.draft)
        chat.opened.connect(self._follow)
        chat.head_changed.connect(self._follow)
        chat.rebranched.connect(lambda _first: self._follow())

    @property
    def text(self) -> str:
        """What the model is told before the first message; empty is nothing."""
        shown, values = self._chat.shown, self._settings.values
        follows = shown.is_new and not shown.has_own_prompt
        return values.chats.start_prompt(values.system_prompt) if follows else shown.head.system_prompt

    @property
    def draft(self) -> str | None:
        """What was typed for this chat and not saved; None where there is nothing."""
        draft = self._kept.prompt_drafts.get(str(self._place))
        return None if draft == self.text else draft

    @property
    def state(self) -> PromptState:
        """What there is now."""
        head, is_own = self._chat.shown.head, self._chat.shown.has_own_prompt
        return PromptState(head.id, self.text, is_own, self._kept.unsent_prompt)

    def write(self, text: str) -> None:
        """Keep what is typed, however long, until it is saved; the text in force is no draft."""
        self._keep_draft(self._place, None if text == self.text else text)
        self._tell()

    def save(self, text: str) -> bool:
        """Use a text from the next answer on, with an offer to undo that; False where it is in force already."""
        text = clean_text(text)
        text = text if text.strip() else ""
        self._keep_draft(self._place, None)
        before = self.state
        if text == before.text:
            self._tell()
            return False
        self._undo = before
        is_new = self._chat.shown.is_new
        self.put(before._replace(text=text, is_own=True, unsent=text if is_new else before.unsent))
        self._notices.post(Notice(_said(text, is_new=is_new), level="hint", remedy="undo_system_prompt", brief=True))
        return True

    def undo(self) -> None:
        """Go back to the text before the one that was saved last, in its chat."""
        before, self._undo = self._undo, None
        self._notices.settle("undo_system_prompt")
        if before is not None:
            self.put(before)

    def put(self, state: PromptState) -> None:
        """Give a conversation a system prompt, and keep it; one that is gone keeps what it had."""
        shown = self._chat.shown
        if state.conversation == shown.head.id and shown.is_new:
            shown.has_own_prompt = state.is_own
            shown.change_head(system_prompt=state.text)
            self._change(unsent_prompt=state.unsent)
        elif any(head.id == state.conversation for head in self._conversations.heads):
            self._conversations.change(state.conversation, system_prompt=state.text)
        self._tell()

    def look_again(self) -> None:
        """What is set for new chats may be another text."""
        self._tell()

    @property
    def _kept(self) -> ChatSettings:
        return self._settings.values.chats

    def _tell(self) -> None:
        """Say that something is new, if it is: a branch that is shown is none while its answer is about to be asked."""
        now = (self.text, self.draft)
        if now != self._told:
            self._told = now
            self.changed.emit()

    def _follow(self) -> None:
        """Show what belongs to the chat that is shown; where that has its first message now, take along what is typed."""
        shown, place = self._chat.shown, place_of(self._chat.shown)
        if shown is self._shown and place != self._place:
            draft = self._kept.prompt_drafts.get(str(self._place))
            self._keep_draft(self._place, None)
            self._keep_draft(place, draft)
            self._change(unsent_prompt=shown.head.system_prompt if shown.is_new and shown.has_own_prompt else None)
        self._shown, self._place = shown, place
        self._tell()

    def _keep_draft(self, place: int, text: str | None) -> None:
        """Keep what is typed for a chat as the latest; None is nothing."""
        drafts = {key: draft for key, draft in self._kept.prompt_drafts.items() if key != str(place)}
        if text is not None:
            drafts[str(place)] = clean_text(text)[:LONGEST_DRAFT]
        drafts = dict(list(drafts.items())[-MOST_DRAFTS:])
        while len(msgspec.json.encode(drafts)) > MOST_DRAFT_BYTES:
            del drafts[next(iter(drafts))]
        self._change(prompt_drafts=drafts)

    def _change(self, **changes: object) -> None:
        self._settings.change(chats=msgspec.structs.replace(self._kept, **changes))


def too_long(text: str) -> Sentence | None:
    """Return why a text cannot be a system prompt; None where it can."""
    if len(text) > LONGEST_PROMPT:
        return translate(
            "SystemPrompt",
            "This text has {characters} characters, and a system prompt {most} at most: leave out a part of it.",
            characters=count(len(text)),
            most=count(LONGEST_PROMPT),
        )
    if any(len(line) > LONGEST_LINE for line in text.split("\n")):
        return translate(
            "SystemPrompt",
            "A line of this text has more than {most} characters: break it into shorter ones first.",
            most=count(LONGEST_LINE),
        )
    return None


def _said(text: str, *, is_new: bool) -> Sentence:
    if is_new and text:
        return translate("SystemPrompt", "The system prompt goes with the first message.")
    if is_new:
        return translate("SystemPrompt", "This chat begins without a system prompt.")
    if text:
        return translate("SystemPrompt", "The new system prompt holds from the next answer on.")
    return translate("SystemPrompt", "The next answer is given without a system prompt.")
