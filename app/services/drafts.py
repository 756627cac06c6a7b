"""What is written in each conversation and not sent: kept as it is written, there again when the conversation is.

Knows no clock: whoever writes decides how often it is kept.
"""

from __future__ import annotations

import msgspec

from app.core.draft import NEW_CHAT, Draft
from app.services.keeper import Keeper
from app.services.open_conversation import OpenConversation


class Drafts:
    """The drafts of the conversations that were looked at; what people do goes before what was read."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._known: dict[int, Draft] = {}
        self._held: dict[int, tuple[str, ...]] = {}

    def of(self, place: int) -> Draft:
        """Return the draft of a place, empty where nothing is written."""
        return self._known.get(place, Draft(place))

    def write(self, draft: Draft) -> None:
        """Keep a draft in place of the earlier one of its place, unless it says the same."""
        if draft != self.of(draft.conversation):
            self._known[draft.conversation] = draft
            self._keep(draft.conversation)

    def hold(self, place: int, texts: tuple[str, ...]) -> None:
        """Keep what waits to be sent in a place before its draft: after a restart it is a part of that."""
        if texts != self._held.get(place, ()):
            self._held[place] = texts
            self._keep(place)

    def take(self, draft: Draft | None) -> None:
        """Take in what was kept by an earlier run of the program; what this one kept it never reads back."""
        if draft is not None:
            self._known.setdefault(draft.conversation, draft)

    def _keep(self, place: int) -> None:
        draft = self._known.setdefault(place, Draft(place))
        texts = (text for text in (*self._held.get(place, ()), draft.text) if text)
        self._keeper.draft(msgspec.structs.replace(draft, text="\n\n".join(texts)))


def place_of(conversation: OpenConversation) -> int:
    """Return where the draft of a conversation belongs: one without messages is the new chat, whichever it is."""
    return NEW_CHAT if conversation.is_new else conversation.head.id
