"""What of a conversation an importer leaves out or has to mend, counted by kind and told in one sentence each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from itertools import islice
from typing import Literal

from app.core.chat import clean_text
from app.core.printable import printable
from app.core.words import Sentence, translate
from app.services.importers.found import Unread

Kind = Literal[
    "malformed",
    "tools",
    "system",
    "hidden",
    "roles",
    "contents",
    "thoughts",
    "recaps",
    "marks",
    "sources",
    "errors",
    "ratings",
    "folder",
    "archived",
    "orphans",
    "circles",
    "doubled",
    "times",
    "characters",
    "leaf",
]
_SENTENCES: dict[Kind, Callable[[int], Sentence]] = {
    "malformed": lambda count: translate(
        "Importing", "Messages that cannot be read were left out: {count}.", count=count
    ),
    "tools": lambda count: translate(
        "Importing", "Messages to tools and from tools were left out: {count}.", count=count
    ),
    "system": lambda count: translate("Importing", "System messages were left out: {count}.", count=count),
    "hidden": lambda count: translate(
        "Importing", "Hidden messages, like those of custom instructions, were left out: {count}.", count=count
    ),
    "roles": lambda count: translate(
        "Importing", "Messages that are neither yours nor a model's were left out: {count}.", count=count
    ),
    "contents": lambda count: translate(
        "Importing", "Parts of messages of a kind that is not known here were left out: {count}.", count=count
    ),
    "thoughts": lambda count: translate(
        "Importing", "Thinking that no answer follows was left out: {count}.", count=count
    ),
    "recaps": lambda count: translate(
        "Importing", "Notes on how long a model thought were left out: {count}.", count=count
    ),
    "marks": lambda count: translate(
        "Importing", "Marks that refer to sources were taken out of the texts: {count}.", count=count
    ),
    "sources": lambda count: translate("Importing", "Lists of sources were left out: {count}.", count=count),
    "errors": lambda count: translate("Importing", "Error notes in answers were left out: {count}.", count=count),
    "ratings": lambda count: translate("Importing", "Ratings of answers were left out: {count}.", count=count),
    "folder": lambda _: translate("Importing", "It lay in a folder, of which the file does not say the name."),
    "archived": lambda _: translate("Importing", "It lay in the archive there, and is among the other chats here."),
    "orphans": lambda count: translate(
        "Importing", "Messages that follow one that is missing begin the conversation anew: {count}.", count=count
    ),
    "circles": lambda count: translate(
        "Importing", "Circles of messages that follow one another were cut: {count}.", count=count
    ),
    "doubled": lambda count: translate(
        "Importing", "Of entries that stand in the file twice the last one was taken: {count}.", count=count
    ),
    "times": lambda count: translate(
        "Importing", "Times that cannot be read were taken from the message before: {count}.", count=count
    ),
    "characters": lambda count: translate(
        "Importing", "Texts with broken characters were mended: {count}.", count=count
    ),
    "leaf": lambda _: translate("Importing", "Which branch was shown is not known: the newest one is."),
}
_MOST_NAMES = 8
_LONGEST_NAME = 80


class Losses:
    """What one conversation lost."""

    def __init__(self) -> None:
        self._counts: Counter[Kind] = Counter()
        self._files: dict[str, str] = {}
        """Names of files by what tells them apart."""
        self._tags: dict[str, None] = {}

    def note(self, kind: Kind, count: int = 1) -> None:
        """Note that something was left out."""
        self._counts[kind] += count

    def note_file(self, name: str, identity: str = "") -> None:
        """Note an image or a file that is not taken over; with the same identity it is one."""
        known = self._files.get(identity or name)
        if known is None or known == identity:
            self._files[identity or name] = name

    def note_tag(self, name: str) -> None:
        """Note a tag that is not taken over."""
        self._tags[name] = None

    def clean(self, text: str) -> str:
        """Return text that can be kept, and note where it could not."""
        try:
            text.encode()
        except UnicodeEncodeError:
            self.note("characters")
        return clean_text(text)

    def unread(self, title: str, place: str) -> tuple[Unread, ...]:
        """Return what was left out, kind by kind."""
        told = [
            Unread(title, place, _SENTENCES[kind](self._counts[kind])) for kind in _SENTENCES if self._counts[kind]
        ]
        if self._files:
            names, count = _named(self._files.values()), len(self._files)
            files = translate(
                "Importing", "Images and files were left out ({count}): {names}.", count=count, names=names
            )
            told.append(Unread(title, place, files))
        if self._tags:
            names, count = _named(self._tags), len(self._tags)
            tags = translate("Importing", "Tags were left out ({count}): {names}.", count=count, names=names)
            told.append(Unread(title, place, tags))
        return tuple(told)


def _named(names: Collection[str]) -> str:
    """Return the first of some names, as they can be shown."""
    shown = [printable(clean_text(name)[:_LONGEST_NAME]) for name in islice(names, _MOST_NAMES)]
    return ", ".join([*shown, "…"] if len(names) > _MOST_NAMES else shown)
