"""Stage 2, when the context is full: refuse the prompt with the numbers, or drop whole turns, oldest first.

Turns go in blocks of a quarter of the context: what went stays the same from one question to the next until another
block must go, so that the cache keeps the beginning of the prompt. Knows nothing of the cache and remembers nothing:
the same conversation with the same settings gives the same prompt.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

import msgspec

from app.core.chat import ChatPrompt, Prompt, PromptMessage, clean_text, last_asked
from app.core.commands import WhenFull
from app.engine.backend import Vocabulary
from app.engine.deadline import Deadline
from app.engine.prompt_size import PromptSize, PromptTooLong, UncountedPrompt, chat_too_long, too_long
from app.engine.tokenizer import Part, Prepared, prepare

TOKENS_AROUND = 4
"""What a template usually puts around a message."""
BYTES_PER_TOKEN = 4
"""What a token of a text usually stands for."""


@dataclass(frozen=True)
class Fitted:
    """A prompt that fits the context, and the indices of the messages that were left out for it, oldest first."""

    prepared: Prepared
    dropped: tuple[int, ...] = ()
    template_ns: int | None = field(default=None, compare=False)
    """How long the chat template took, all renderings together; None without one."""

    @property
    def given(self) -> int | None:
        """Tokens of an answer at the end of the prompt, which is to go on; None where there is none."""
        sent = next((span for span in self.prepared.spans if span.part == "answer"), None)
        return None if sent is None else sent.end - sent.start


@dataclass(frozen=True)
class Policy:
    """What becomes of a prompt that the context cannot hold, and the longest answer that gets room; 0 is any."""

    when_full: WhenFull
    max_tokens: int


def fit(prompt: Prompt, policy: Policy, vocabulary: Vocabulary, deadline: Deadline | None, cells: int) -> Fitted:
    """Return a prompt as a context of `cells` tokens gets it; its spans name messages as they were given.

    Raises `PromptTooLong`, or what `prepare` raises.
    """

    spent: list[int] = []

    def make(prompt: Prompt) -> Prepared:
        prepared = prepare(prompt, vocabulary, deadline=deadline, cells=cells)
        if prepared.template_ns is not None:
            spent.append(prepared.template_ns)
        return prepared

    if not isinstance(prompt, ChatPrompt):
        prepared = make(prompt)
        if len(prepared.ids) >= cells:
            raise too_long(PromptSize(len(prepared.ids), cells))
        return Fitted(prepared)

    def count(text: str) -> int:
        return len(vocabulary.tokenize(clean_text(text), special=False))

    chat = _Chat(prompt, make, count, cells)
    quarter = cells // 4
    if policy.when_full == "stop":
        fitted = chat.whole()
    else:
        fitted = chat.without_oldest(min(policy.max_tokens or quarter, quarter), quarter)
    return replace(fitted, template_ns=sum(spent) if spent else None)


class _Chat:
    """A conversation as turns: a question with the answers that follow it. The last one always stays."""

    def __init__(
        self, prompt: ChatPrompt, make: Callable[[ChatPrompt], Prepared], count: Callable[[str], int], cells: int
    ) -> None:
        """`make` renders and tokenises a prompt, `count` tokenises a text by itself."""
        self._prompt = prompt
        self._make = make
        self._count = count
        self._cells = cells
        self._turns = _turns(prompt.messages)
        self._last = max(len(self._turns) - 1, 0)

    def whole(self) -> Fitted:
        """Return the prompt with every message, or refuse it."""
        tokens: int | None = None
        try:
            fitted = self._without(0)
        except UncountedPrompt:
            if not self._last:
                raise
        else:
            tokens = len(fitted.prepared.ids)
            if tokens < self._cells:
                return fitted
            if not self._last:
                raise self._refusal(fitted)
        alone = self._without(self._last)
        fits = len(alone.prepared.ids) < self._cells
        refusal = chat_too_long(tokens, self._cells) if fits else self._refusal(alone)
        refusal.tokens = tokens  # also where the last turn alone is named: it is the whole chat that must fit
        raise refusal

    def without_oldest(self, reserve: int, block: int) -> Fitted:
        """Return the prompt without as many blocks of the oldest turns as it takes for it and the reserve to fit.

        The last turn gets what is left where the reserve is more than that.
        """
        first, fitted = self._newest(reserve, block)
        freed = self._freed(fitted.prepared, first)
        count, blocks, more = first, 0, 0
        while count < self._last and (excess := self._excess(fitted, reserve)) > 0:
            blocks += max(-(-excess // block), more)
            needed = excess if count == first else blocks * block
            count = max(count + 1, first + _whole_turns(freed, needed, blocks * block, block // 2))
            fitted = self._without(count)
            more = max(1, 2 * more)  # the spans told too much: a template that always does is not asked for ever
        if len(fitted.prepared.ids) >= self._cells:
            raise self._refusal(fitted)
        return fitted

    def _newest(self, reserve: int, block: int) -> tuple[int, Fitted]:
        """Return the newest turns, all of them or at least more than fit, and how many turns came before them.

        A chat that grows on for ever is not rendered and counted whole, but about once to twice what the context
        holds. The first turn of that stays the same for many questions, since the blocks are counted from it.
        """
        usual = [0, *accumulate(map(self._usual, self._turns))]
        window = self._cells
        while True:
            before = max(usual[-1] // window - 1, 0) * window
            count = min(_cut(usual, before), self._last)
            try:
                fitted = self._without(count)
            except UncountedPrompt:
                return self._countable(usual, before, block)
            if not count or self._excess(fitted, reserve) > 0:
                return count, fitted
            window *= 2  # a template that takes thinking out of answers makes them far shorter than usual

    def _countable(self, usual: Sequence[int], before: int, block: int) -> tuple[int, Fitted]:
        """Return as many of the newest turns as can be counted, where a template names many tokens a message."""
        while True:
            before += block
            count = min(_cut(usual, before), self._last)
            try:
                return count, self._without(count)
            except UncountedPrompt:
                if count == self._last:
                    raise

    def _excess(self, fitted: Fitted, reserve: int) -> int:
        return len(fitted.prepared.ids) + reserve - self._cells

    def _freed(self, prepared: Prepared, first: int) -> Sequence[int]:
        """Return how many tokens go with the turns from `first` on: none of them, one, two, and so on."""
        turn_of = {message: number for number, turn in enumerate(self._turns) for message in turn}
        starts: dict[int, int] = {}
        for span in prepared.spans:
            if span.message in turn_of:
                starts.setdefault(turn_of[span.message], span.start)
        if first not in starts or self._last not in starts:
            return [0, *accumulate(map(self._by_itself, self._turns[first : self._last]))]
        # A turn of which nothing came out begins where the next one does.
        backwards = accumulate(
            (starts.get(turn, starts[self._last]) for turn in range(self._last, first - 1, -1)), min
        )
        return [start - starts[first] for start in reversed(list(backwards))]

    def _usual(self, turn: Sequence[int]) -> int:
        """Return what turns as long as this one usually cost, without counting."""
        texts = (self._prompt.messages[message].text.encode("utf-8", "surrogatepass") for message in turn)
        return sum(TOKENS_AROUND + len(text) // BYTES_PER_TOKEN for text in texts)

    def _by_itself(self, turn: Sequence[int]) -> int:
        """Return what a turn costs about, where a template changes texts and nobody knows where they lie."""
        return sum(TOKENS_AROUND + self._count(self._prompt.messages[message].text) for message in turn)

    def _without(self, count: int) -> Fitted:
        """Return the prompt without its oldest turns."""
        dropped = tuple(message for turn in self._turns[:count] for message in turn)
        if not dropped:
            return Fitted(self._make(self._prompt))
        gone = frozenset(dropped)
        kept = [message for message in range(len(self._prompt.messages)) if message not in gone]
        messages = tuple(self._prompt.messages[message] for message in kept)
        prepared = self._make(msgspec.structs.replace(self._prompt, messages=messages))
        spans = tuple(
            msgspec.structs.replace(span, message=kept[span.message]) if span.message >= 0 else span
            for span in prepared.spans
        )
        return Fitted(replace(prepared, spans=spans), dropped)

    def _refusal(self, fitted: Fitted) -> PromptTooLong:
        """Return why a prompt that holds nothing but the last turn is refused."""
        sizes: dict[Part, int] = {}
        asked = last_asked(fitted.prepared.spans)
        for span in fitted.prepared.spans:
            part: Part = "prompt" if span.part == "files" and span.message == asked else span.part
            sizes[part] = sizes.get(part, 0) + span.end - span.start
        return too_long(
            PromptSize(
                tokens=len(fitted.prepared.ids),
                cells=self._cells,
                system=sizes.get("system", 0),
                asked=sizes.get("prompt", 0),
                answer=sizes.get("answer", 0),
            )
        )


def _turns(messages: Sequence[PromptMessage]) -> list[list[int]]:
    """Return the indices of the messages of each turn; system prompts are nobody's turn and always stay.

    An answer before the first question belongs to that question's turn.
    """
    turns: list[list[int]] = []
    is_asked = False
    for index, message in enumerate(messages):
        if message.role == "system":
            continue
        if not turns or (is_asked and message.role == "user"):
            turns.append([])
        is_asked = is_asked or message.role == "user"
        turns[-1].append(index)
    return turns


def _whole_turns(freed: Sequence[int], needed: int, wanted: int, slack: int) -> int:
    """Return the fewest turns with which `wanted` tokens go; where turns are large, so that this takes far more than
    wanted, the most turns that stay below, as long as these are enough for what is `needed`.
    """
    count = _cut(freed, wanted)
    below = bisect_right(freed, wanted) - 1
    return below if freed[count] - wanted > slack and freed[below] >= needed else count


def _cut(freed: Sequence[int], tokens: int) -> int:
    """Return the fewest turns with which so many tokens go, or all of them; `freed` grows from 0."""
    return min(bisect_left(freed, tokens), len(freed) - 1)
