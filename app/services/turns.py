"""The turns of a conversation, and how an answer that goes on becomes one with its beginning.

Plain values: knows no session and no view.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

import msgspec

from app.core.attached_files import as_markdown, in_words
from app.core.chat import PromptMessage
from app.core.commands import SettingsChange
from app.core.events import Finished, PromptReady
from app.core.grammar import ENDED_BY
from app.core.metrics import OPEN_ENDS
from app.core.model import ModelRef
from app.core.words import Sentence, translate
from app.services.joined_metrics import joined_metrics, without_beginning
from app.services.thinking import Thoughts

TurnState = Literal["waiting", "writing", "done", "interrupted"]

CHOSEN = "chosen"
"""Under this name a note of an answer holds how many of its tokens were chosen by hand."""
_ID_BYTES = 4
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


@dataclass(slots=True)
class Turn:
    """One turn of the conversation; an answer grows while it is written."""

    number: int
    """Which one it is to a view; it never changes."""
    role: Literal["user", "assistant"]
    text: str = ""
    state: TurnState = "done"
    author: str = ""
    """Who wrote an answer: the model's name."""
    ids: bytes = b""
    """The sampled tokens of an answer, int32."""
    finished: Finished | None = None
    ttft_ms: float | None = None
    """Send to the first painted character, where a window painted it."""
    doing: Sentence | None = None
    """What goes on while an answer is waited for; None where there is nothing to say."""
    reason: Sentence | None = None
    """Why an answer ended early, where the model did not end it."""
    notes: list[Sentence] = field(default_factory=list)
    is_held: bool = False
    """Whether an answer waits for somebody before its next token."""
    file_tokens: tuple[int, ...] = ()
    """How many tokens the files of a question had when a model read them last; empty where that is not known."""
    dropped: int = 0
    """How many earlier messages an answer was written without, because the context is full."""
    model: ModelRef | None = None
    """Which model wrote an answer."""
    tokenizer: str = ""
    """Whose token ids they are (`ModelInfo.tokenizer`)."""
    seed: int | None = None
    """The seed of an answer's draws, also of one that was cut off."""
    settings: tuple[SettingsChange, ...] = ()
    """What an answer was begun with; `finished` knows all that was moved since."""
    behind: bytes | None = None
    """A digest of the tokens that an answer is written behind; None where only the store knows them."""
    message: int = 0
    """What it is kept as."""
    parent: int | None = None
    """The message that it follows."""
    created_ms: int = 0
    edited: bool = False
    """Whether a person wrote or changed the text of an answer."""
    deleted_ms: int | None = None
    thoughts: Thoughts | None = None
    """The thinking of an answer and what it says apart; None where there is none."""
    comparison: int | None = None
    """Of which comparison an answer is a lane."""
    lane: int | None = None
    """Which of its lanes, from 0; the copy of a lane in a fork has it too and is in no comparison."""

    @property
    def was_lane(self) -> bool:
        """Whether it was written beside other lanes, in batches with tokens of them all."""
        return self.lane is not None

    @property
    def chosen(self) -> int:
        """How many tokens of an answer were chosen by hand."""
        return next((int(note.values[CHOSEN]) for note in self.notes if CHOSEN in note.values), 0)

    @property
    def said(self) -> str:
        """What a message says, without its thinking."""
        return self.thoughts.said if self.thoughts is not None else self.text

    @property
    def words(self) -> str:
        """What a message says where there is room for words alone: files of a question by their names."""
        return in_words(self.text) if self.role == "user" else self.said

    @property
    def markdown(self) -> str:
        """What a message says as it is given to other programs: files of a question under their names."""
        return as_markdown(self.text) if self.role == "user" else self.said

    @property
    def can_go_on(self) -> bool:
        """Whether an answer was stopped before its end."""
        if self.role != "assistant" or not self.text:
            return False
        ended_early = self.finished is not None and self.finished.stop_reason in OPEN_ENDS
        return self.state == "interrupted" or (self.state == "done" and (ended_early or self.edited))


def chosen_words(chosen: int) -> Sentence:
    """Return the note of an answer that says how many of its tokens were chosen by hand."""
    if chosen == 1:
        return translate("StepMode", "1 token was chosen by hand.", chosen=chosen)
    return translate("StepMode", "{chosen} tokens were chosen by hand.", chosen=chosen)


@dataclass(frozen=True)
class Beginning:
    """What an answer that goes on begins with; nothing at all for one that is written from its first word."""

    text: str = ""
    ids: bytes = b""
    finished: Finished | None = None
    """How the beginning ended; None if it was interrupted."""
    seed: int | None = None
    """The seed that the draws go on with; None where it is not known."""
    settings: tuple[SettingsChange, ...] = ()
    """What it was written with, as far as that is known."""
    is_given: bool = False
    """Whether it is nothing that was drawn here, as where a person wrote it: the first token comes behind it."""
    record: tuple[bytes, ...] = ()
    """The record of its tokens, in blocks, where it is kept with a new version."""

    @classmethod
    def of(cls, turn: Turn) -> Beginning:
        """Return the answer that is there."""
        seed = turn.finished.seed if turn.finished is not None else turn.seed
        is_given = turn.edited and turn.finished is None
        return cls(turn.text, turn.ids, turn.finished, seed, turn.settings, is_given=is_given)

    @property
    def goes_on(self) -> bool:
        """Whether there is a beginning."""
        return bool(self.text)

    @property
    def continues(self) -> bool:
        """Whether it is one answer with its beginning, so that its first token and its clock are those of that."""
        return self.goes_on and not self.is_given

    @property
    def kept(self) -> str:
        """The text that stays as it is: the engine says a U+FFFD at its end again, or the character that it became."""
        return self.text.removesuffix(_REPLACEMENT)

    @property
    def tokens(self) -> int:
        """How many tokens the beginning has."""
        return len(self.ids) // _ID_BYTES

    def differs_from(self, turn: Turn) -> bool:
        """Whether an answer cannot simply go on: its beginning is not what is kept of it."""
        return self.goes_on and (self.kept, self.ids) != (turn.text, turn.ids)

    def as_given(self) -> Beginning:
        """Return the beginning as words that are given: no draw of what follows leads to them."""
        return replace(self, is_given=True, record=())

    def message(self) -> PromptMessage:
        """Return the open answer for the prompt."""
        return PromptMessage("assistant", self.text, self.ids)

    def as_sent(self, ready: PromptReady) -> Beginning:
        """Return the beginning with the tokens that the model got for it: they can be others than those sampled."""
        sent = next((span for span in ready.spans if span.part == "answer"), None)
        if not self.goes_on or sent is None:
            return self
        return replace(self, ids=ready.ids[sent.start * _ID_BYTES : sent.end * _ID_BYTES])

    def settings_with(self, rest: SettingsChange) -> tuple[SettingsChange, ...]:
        """Return the settings of an answer whose beginning was drawn elsewhere, and which goes on with others."""
        return joined_settings(self.settings, (rest,)) if self.continues and self.settings else (rest,)

    def joined(self, rest: Finished) -> Finished:
        """Return the whole answer as if nothing had stopped it; figures that only each part has are unknown."""
        if not self.goes_on:
            return rest
        text, ids = self.kept + rest.text, self.ids + rest.ids
        if self.is_given:
            return msgspec.structs.replace(rest, text=text, ids=ids)
        first = self.finished
        if first is None:
            metrics = without_beginning(rest.metrics, len(ids) // _ID_BYTES)
            settings = joined_settings(self.settings, rest.settings)
            return msgspec.structs.replace(
                rest, text=text, ids=ids, metrics=metrics, seed=self.seed, settings=settings
            )
        return msgspec.structs.replace(
            rest,
            text=text,
            ids=ids,
            metrics=joined_metrics(first.metrics, rest.metrics),
            seed=first.seed,
            settings=joined_settings(first.settings, rest.settings),
            notes=joined_notes(first.notes, rest.notes),
        )


def joined_notes(first: Iterable[Sentence], rest: Iterable[Sentence]) -> tuple[Sentence, ...]:
    """Return the notes of both parts, each once; why the first one ended is no end of the whole."""
    kept = [note for note in first if ENDED_BY not in note.values]
    return (*kept, *(note for note in rest if note not in kept))


def joined_settings(
    first: tuple[SettingsChange, ...], rest: tuple[SettingsChange, ...]
) -> tuple[SettingsChange, ...]:
    """Return the settings of both parts, those that changed nothing left out; the seed stays as it was asked for."""
    joined = list(first)
    for change in rest:
        settings = msgspec.structs.replace(change.settings, seed=first[-1].settings.seed if first else None)
        if not joined or joined[-1].settings != settings:
            joined.append(SettingsChange(change.token, settings))
    return tuple(joined)
