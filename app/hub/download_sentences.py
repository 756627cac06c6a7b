"""What people are told when a download stops: what happened, what is kept, and what to do next."""

from __future__ import annotations

import errno

from app.core.errors import UserError
from app.core.hub_model import ServerFailed
from app.core.printable import printable
from app.core.words import translate
from app.hub.short_text import short

_MIB = 1 << 20
FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


class Passing(ServerFailed):
    """What another try may not meet."""


def stalled(host: str) -> UserError:
    """Nothing came for a while."""
    return Passing(
        translate(
            "Download",
            "{host} sends nothing any more: what is there is kept, so check the internet connection and resume.",
            host=short(host),
        )
    )


def lost(host: str) -> UserError:
    """The connection ended before everything was there."""
    return Passing(
        translate(
            "Download",
            "The connection to {host} was lost: what is there is kept, so check the internet connection and resume.",
            host=short(host),
        )
    )


def damaged(name: str) -> UserError:
    """Its bytes are not those that the hub lists."""
    return UserError(
        translate(
            "Download",
            "{name} arrived damaged: its checksum is not the hub's, so what was there is deleted; download it again.",
            name=short(name),
        )
    )


def changed(name: str) -> UserError:
    """The server has another file now."""
    return UserError(
        translate(
            "Download",
            "{name} was changed on the server since it was listed: cancel this download, and choose it anew on the"
            " model's page.",
            name=short(name),
        )
    )


def no_model(host: str, name: str) -> UserError:
    """What comes does not begin as the file that it should be."""
    return ServerFailed(
        translate(
            "Download",
            "{host} sends something that is no model in place of {name}: check HF_ENDPOINT and the proxy, or sign in to"
            " this network, and resume.",
            host=short(host),
            name=short(name),
        )
    )


def no_room(folder: str, missing: int) -> UserError:
    """The disk is full, or will be."""
    return UserError(
        translate(
            "Download",
            "The disk of {folder} has too little room, {missing} MiB more are needed: free some space there, and try"
            " again.",
            folder=printable(folder),
            missing=-(-missing // _MIB),
        )
    )


def too_large(folder: str, name: str) -> UserError:
    """The disk takes no file of that size, however much room it has."""
    return UserError(
        translate(
            "Download",
            "The disk of {folder} takes no file as large as {name}: choose a smaller one, or one in several parts.",
            folder=printable(folder),
            name=short(name),
        )
    )


def unwritable(folder: str, error: OSError) -> UserError:
    """The folder takes no file."""
    return UserError(
        translate(
            "Download",
            "{folder} cannot be written to ({reason}): check its permissions and the disk it is on, and resume.",
            folder=printable(folder),
            reason=error.strerror or type(error).__name__,
        )
    )


def taken(name: str) -> UserError:
    """Another file has the goal's name."""
    return UserError(
        translate(
            "Download",
            "There is another file called {name} in its folder already: rename or move that one, and resume.",
            name=short(name),
        )
    )


def vanished(name: str) -> UserError:
    """The partial file was deleted, moved or replaced while it was written."""
    return UserError(
        translate(
            "Download",
            "What was there of {name} was deleted or moved while it was being downloaded: resume to download it anew.",
            name=short(name),
        )
    )


def written_elsewhere(name: str) -> UserError:
    """Another process downloads the same file."""
    return UserError(
        translate(
            "Download",
            "{name} is being downloaded by another Tokenlight: wait for that one, or stop it and resume.",
            name=short(name),
        )
    )


def broken(name: str) -> UserError:
    """Something that nobody expected."""
    return UserError(
        translate(
            "Download",
            "The download of {name} stopped for a reason that is in the log: resume it, and report the log if it stops"
            " again.",
            name=short(name),
        )
    )
