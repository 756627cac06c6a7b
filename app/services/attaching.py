"""Files that somebody attaches to a message: read by jobs, then put into the draft of where they were attached.

Knows no widget. What the shown draft is to get is told in `attached`; the draft of another conversation is changed here.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from app.core.attached_files import framed, joined
from app.core.draft import MAX_CHARACTERS
from app.core.errors import UserError
from app.core.job_events import DocumentRead
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.chat import Chat
from app.services.drafts import place_of
from app.services.file_names import short_name
from app.services.notices import Level, Notice, Notices
from app.services.reading_files import document_text
from app.services.units import count
from app.system.jobs import Jobs

READERS = 2
"""Files that are read at once: each waits for a process, half a minute at worst, and nothing else is to wait with it."""
MOST_TOLD = 8
"""Files of which one notice tells what became of them; of more than these it tells how many."""


class Reading(msgspec.Struct, frozen=True):
    """One file that is being read."""

    number: int
    path: Path
    place: int
    """The conversation whose draft gets it, or `NEW_CHAT`."""
    message: int | None = None
    """The message that is being changed and gets it in place of a draft."""

    @property
    def name(self) -> str:
        """What it is called in a sentence."""
        return short_name(self.path)


class Attaching:
    """Reads what is attached; what cannot be read is told in a notice."""

    def __init__(self, chat: Chat, jobs: Jobs, notices: Notices) -> None:
        self.changed: Signal[()] = Signal()
        """Another file is being read, or one is not any more."""
        self.attached: Signal[str] = Signal()
        """A file, in its frame, is to be a part of the draft that is shown."""
        self.attached_to: Signal[int, str] = Signal()
        """A file, in its frame, is to be a part of a message (its id) that is being changed."""
        self._chat = chat
        self._jobs = jobs.beside("document", READERS)
        self._notices = notices
        self._reading: dict[int, Reading] = {}
        self._done: dict[int, DocumentRead] = {}
        """What was read already and waits for a file before it."""
        self._told: Notice | None = None
        """The latest notice about files, and all that is to be said in it."""
        self._said: tuple[Sentence, ...] = ()
        self._count = 0

    @property
    def reading(self) -> tuple[Reading, ...]:
        """The files that are being read for the draft that is shown, in the order in which they were attached."""
        place = place_of(self._chat.shown)
        return tuple(each for each in self._reading.values() if each.place == place and each.message is None)

    def reading_for(self, message: int) -> tuple[Reading, ...]:
        """Return the files that are being read for a message that is being changed, in order."""
        return tuple(each for each in self._reading.values() if each.message == message)

    def attach(self, paths: Iterable[Path], message: int | None = None) -> None:
        """Have files read for the draft that is shown, or for a message that is being changed; none is read twice."""
        place = place_of(self._chat.shown)
        if not self._reading and self._told is not None:
            self._notices.withdraw(self._told)  # it was about the files before
        for path in paths:
            there = self.reading if message is None else self.reading_for(message)
            if any(each.path == path for each in there):
                self.tell_again(path.name)
                continue
            self._count += 1
            self._reading[self._count] = Reading(self._count, path, place, message)
            self._begin(self._count, path)
        self.changed.emit()

    def leave(self, number: int) -> None:
        """Attach a file no longer that is being read."""
        if self._forget(number) is not None:
            self._hand_on()

    def leave_changes(self) -> None:
        """Attach none of the files that are being read for messages: none is being changed any more."""
        for number in [each.number for each in self._reading.values() if each.message is not None]:
            self._forget(number)
        self._hand_on()

    def take(self, event: DocumentRead) -> None:
        """Take in what a file says, or why it says nothing."""
        if event.request in self._reading:
            self._done[event.request] = event
            self._hand_on()

    def tell_again(self, name: str) -> None:
        """Say that a file is a part of the message already."""
        self.tell(translate("Documents", "“{name}” is attached already.", name=short_name(Path(name))))

    def tell_no_room(self, name: str) -> None:
        """Say that a message has no room for a file beside what is in it."""
        sentence = translate(
            "Documents",
            "“{name}” does not fit into the message, which may have {characters} characters: attach a part of it, "
            "or remove something from the message.",
            name=short_name(Path(name)),
            characters=count(MAX_CHARACTERS),
        )
        self.tell(sentence, "error")

    def tell(self, sentence: Sentence, level: Level = "hint") -> None:
        """Say what became of a file, or of a text: together with what was said of others and still stands."""
        earlier = self._told
        if earlier is None or not self._notices.stands(earlier):
            earlier, self._said = None, ()
        if sentence in self._said:
            return
        if earlier is not None:
            self._notices.withdraw(earlier)
        self._said = (*self._said, sentence)
        is_error = level == "error" or (earlier is not None and earlier.level == "error")
        first, *more = _shortened(self._said)
        self._told = Notice(first, "error" if is_error else "hint", more=tuple(more), brief=not is_error, apart=True)
        self._notices.post(self._told)

    def _forget(self, number: int) -> Reading | None:
        self._done.pop(number, None)
        return self._reading.pop(number, None)

    def _hand_on(self) -> None:
        """Hand on what is read, in the order in which it was attached; what cannot be read is told at once."""
        waiting: set[tuple[int, int | None]] = set()
        for reading in tuple(self._reading.values()):
            event, where = self._done.get(reading.number), (reading.place, reading.message)
            if event is None:
                waiting.add(where)
            elif event.problem is not None:
                self._forget(reading.number)
                self.tell(event.problem, "error")
            elif where not in waiting:
                self._forget(reading.number)
                self._put(reading, event.framed)
        self.changed.emit()

    def _put(self, reading: Reading, framed_text: str) -> None:
        """Put a file where it was attached."""
        if reading.message is not None:
            self.attached_to.emit(reading.message, framed_text)
        elif reading.place == place_of(self._chat.shown):
            self.attached.emit(framed_text)
        else:
            earlier = self._chat.drafts.of(reading.place)
            if framed_text in earlier.pasted:
                self.tell_again(reading.path.name)
            elif len(joined((*earlier.pasted, framed_text, earlier.text))) > MAX_CHARACTERS:
                self.tell_no_room(reading.path.name)
            else:
                self._chat.drafts.write(msgspec.structs.replace(earlier, pasted=(*earlier.pasted, framed_text)))

    def _begin(self, number: int, path: Path) -> None:
        def read() -> DocumentRead:
            try:
                return DocumentRead(number, framed(path.name, document_text(path)))
            except UserError as error:
                return DocumentRead(number, problem=error.sentence)

        self._jobs.submit("document", read, lambda: DocumentRead(number, problem=_broken(path)))


def _broken(path: Path) -> Sentence:
    return translate(
        "Documents", "The file “{name}” could not be attached; the log has the details.", name=short_name(path)
    )


def _shortened(said: tuple[Sentence, ...]) -> tuple[Sentence, ...]:
    """Return sentences of which no window has too many."""
    if len(said) <= MOST_TOLD:
        return said
    more = len(said) - MOST_TOLD + 1
    rest = translate("Documents", "And {count} more: attach them one by one to read why.", count=more)
    return (*said[: MOST_TOLD - 1], rest)
