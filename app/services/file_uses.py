"""What is said of a model's file before it is renamed or moved to the trash: who uses it, and what stands against it.

Plain sentences out of plain values; looks at nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from app.core.found_file import ORIGIN_NAMES, FileOrigin
from app.core.words import Sentence, counted, translate
from app.services.file_names import short_name, short_path
from app.system.model_moves import NotMoved, NoTrash
from app.system.own_models import FileLook

Deed = Literal["rename", "trash"]
_MOST_NAMED = 3


class Users(msgspec.Struct, frozen=True):
    """Who uses a model now, or will."""

    is_loaded: bool = False
    is_loading: bool = False
    is_answering: bool = False
    is_wanted: bool = False
    """The next message goes to it, or the next start begins with it."""
    presets: tuple[str, ...] = ()
    chats: tuple[str, ...] | None = None
    """Titles; None while nobody knows, and where it cannot be known."""
    copy: str = ""
    """Where the same model lies, too: presets find it there."""
    download: str = ""
    """The state of a download that will write it; empty where there is none."""


def of_others(origin: FileOrigin) -> Sentence:
    """Return why a file that another program keeps stays as it is."""
    return translate(
        "LibraryFiles", "This file belongs to {program}: only that may change it.", program=ORIGIN_NAMES[origin]
    )


def of_added_folder() -> Sentence:
    """Return why a file in a folder that people added stays as it is."""
    return translate(
        "LibraryFiles", "This file is not in Tokenlight's own models folder: it is only read, and stays as it is."
    )


def hindrance(look: FileLook, users: Users) -> Sentence | None:
    """Return what stands against both, now; None where nothing does."""
    if look.place == "gone":
        return translate("LibraryFiles", "This file is not there any more.")
    if look.owner != "own":
        return of_others(look.owner)
    if look.place != "own":
        return of_added_folder()
    if users.download or look.is_written:
        return translate(
            "LibraryFiles", "A download of it has not ended: wait for its end, or cancel it under Downloads."
        )
    if users.is_loading:
        return translate("LibraryFiles", "It is being loaded: wait until that is done, or cancel it.")
    if users.is_loaded and users.is_answering:
        return translate("LibraryFiles", "It is writing or reading now: wait for the end, or stop it.")
    return None


def uses(deed: Deed, look: FileLook, users: Users) -> tuple[Sentence, ...]:
    """Return what uses it, and what becomes of that."""
    told = _loaded(deed, users)
    told += _chats(deed, users.chats or ())
    told += _presets(deed, users.presets, users.copy)
    if look.link_to:
        where = short_path(Path(look.link_to))
        told.append(
            translate("LibraryFiles", "It is a link to {file}: only the link changes, that file stays.", file=where)
        )
    if look.links:
        told.append(_linked(look.links))
    if look.has_other_names and deed == "trash":
        told.append(translate("LibraryFiles", "The same file has another name on this disk, which stays."))
    if len(look.files) > 1:
        together = translate("LibraryFiles", "Its {count} files go together.", count=len(look.files))
        told.append(together)
    if look.partials and deed == "trash":
        told.append(translate("LibraryFiles", "What is left of a download of it that did not end goes with it."))
    return tuple(told)


def failure(deed: Deed, error: NotMoved) -> Sentence:
    """Return why nothing was done, or how far it went."""
    file, reason = short_name(Path(error.file)), error.reason.strerror or type(error.reason).__name__
    if error.stuck:
        names = ", ".join(short_name(Path(each)) for each in error.stuck[:_MOST_NAMED])
        half = translate(
            "LibraryFiles",
            "“{file}” could not be renamed ({reason}), and these have their new names already: {names}."
            " Give them their old names back in their folder.",
            file=file,
            reason=reason,
            names=names,
        )
        gone = translate(
            "LibraryFiles",
            "“{file}” could not be moved ({reason}), and these are in the trash already: {names}."
            " Take them back out of the trash of this system.",
            file=file,
            reason=reason,
            names=names,
        )
        return half if deed == "rename" else gone
    if isinstance(error.reason, NoTrash):
        return translate(
            "LibraryFiles",
            "There is no trash for the disk that “{file}” is on, so nothing was moved: to be rid of it for good, delete it"
            " in its folder.",
            file=file,
        )
    return translate(
        "LibraryFiles",
        "“{file}” could not be moved ({reason}), so nothing was changed: check who may write in its folder, and whether"
        " another program has it open.",
        file=file,
        reason=reason,
    )


def _loaded(deed: Deed, users: Users) -> list[Sentence]:
    if users.is_loaded and deed == "rename":
        return [
            translate("LibraryFiles", "It is loaded: it is unloaded for this, and loaded again under its new name.")
        ]
    if users.is_loaded:
        return [translate("LibraryFiles", "It is loaded: it is unloaded first, and gives its memory back.")]
    if users.is_wanted and deed == "trash":
        return [translate("LibraryFiles", "It is the model that was used last: choose another one afterwards.")]
    return []


def _chats(deed: Deed, titles: Sequence[str]) -> list[Sentence]:
    if not titles:
        return []
    names = _named(titles)
    if deed == "rename":
        one = translate("LibraryFiles", "1 chat was written with it, and goes on with it: {names}", names=names)
        several = translate(
            "LibraryFiles",
            "{count} chats were written with it, and go on with it: {names}",
            count=len(titles),
            names=names,
        )
    else:
        one = translate(
            "LibraryFiles",
            "1 chat was written with it: {names}. It stays, and can go on with another model.",
            names=names,
        )
        several = translate(
            "LibraryFiles",
            "{count} chats were written with it: {names}. They stay, and can go on with another model.",
            count=len(titles),
            names=names,
        )
    return [counted(len(titles), one, several)]


def _presets(deed: Deed, names: Sequence[str], copy: str) -> list[Sentence]:
    if not names:
        return []
    said = _named(names)
    if deed == "rename":
        return [translate("LibraryFiles", "Chat presets that load it go on doing so: {names}", names=said)]
    if copy:
        place = short_path(Path(copy))
        return [
            translate(
                "LibraryFiles",
                "Chat presets that load it will take the same model at {place}: {names}",
                place=place,
                names=said,
            )
        ]
    return [translate("LibraryFiles", "Chat presets that load it will not find it any more: {names}", names=said)]


def _linked(links: Sequence[str]) -> Sentence:
    first = short_path(Path(links[0]))
    one = translate("LibraryFiles", "A link leads to it and will lead nowhere: {link}", link=first)
    several = translate(
        "LibraryFiles",
        "{count} links lead to it and will lead nowhere, such as {link}",
        count=len(links),
        link=first,
    )
    return counted(len(links), one, several)


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(f"“{name}”" for name in names[:_MOST_NAMED])
    return f"{shown} …" if len(names) > _MOST_NAMED else shown
