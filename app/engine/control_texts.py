"""Which texts that name control tokens must stay text, because a person or an earlier answer wrote them.

Knows nothing of how text is tokenised. The same goes for user-defined tokens that the template itself uses: some models
mark their turns with those.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from app.core.chat import PromptMessage
from app.engine.message_layout import MessageSpan
from app.engine.special_texts import Occurrence, SpecialTexts
from app.engine.template import Rendered


def texts_to_break(rendered: Rendered, messages: Sequence[PromptMessage], specials: SpecialTexts) -> list[Occurrence]:
    """Return the places that name a special token and are not the template's own, in order."""
    search = _Search(rendered, messages)
    found = [(each, search.owners(each)) for each in specials.find(rendered.text)]
    of_template = {each.token for each, owners in found if not owners}
    return [
        each
        for each, owners in found
        if any(search.must_break(each, owner, each.token in of_template) for owner in owners)
    ]


class _Search:
    """Whose text a place of the prompt is."""

    def __init__(self, rendered: Rendered, messages: Sequence[PromptMessage]) -> None:
        self._text = rendered.text
        self._spans = sorted(rendered.spans, key=lambda span: span.start)
        self._starts = [span.start for span in self._spans]
        self._doubtful = rendered.doubtful
        self._messages = messages
        self._holders: dict[str, frozenset[int]] = {}
        self._sampled: dict[int, frozenset[int]] = {}

    def owners(self, place: Occurrence) -> list[int]:
        """Return the messages that a place lies in, or may lie in."""
        last = bisect_left(self._starts, place.end)
        near = self._spans[max(last - 2, 0) : last]
        sure = [span.message for span in near if span.end > place.start and not _is_across_cut(place, span)]
        if sure:
            return sure
        # What a message does not hold in any spelling of it is the template's, wherever it stands.
        holders = self._holding(self._text[place.start : place.end])
        return [
            message
            for stretch in self._doubtful
            if stretch.start < place.end and place.start < stretch.end
            for message in holders.intersection(stretch.messages)
        ]

    def must_break(self, place: Occurrence, message: int, used_by_template: bool) -> bool:
        """Return whether this message's text must not become the token; an answer's own tokens may."""
        if place.is_control:
            return True
        return used_by_template and place.token not in self._sampled_in(message)

    def _holding(self, text: str) -> frozenset[int]:
        if text not in self._holders:
            folded = text.casefold()
            self._holders[text] = frozenset(
                number for number, message in enumerate(self._messages) if folded in message.text.casefold()
            )
        return self._holders[text]

    def _sampled_in(self, message: int) -> frozenset[int]:
        if message not in self._sampled:
            self._sampled[message] = frozenset(np.frombuffer(self._messages[message].ids, "<i4").tolist())
        return self._sampled[message]


def _is_across_cut(place: Occurrence, span: MessageSpan) -> bool:
    """Return whether a place crosses an edge where the template cut the text: then it is the template's own."""
    return (span.cut_start and place.start < span.start) or (span.cut_end and place.end > span.end)
