"""What goes with a download that is given up: what it has brought itself, and nothing else."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec

from app.core.errors import UserError
from app.hub.partial_file import PART, PartialFile, PartState, stamp_of
from app.hub.queued_download import QueuedDownload


def is_given_up(item: QueuedDownload) -> bool:
    """Delete what has come of a download, and return whether nothing is left that could go.

    A model that is whole stays, whoever has completed it, and so does what another program is writing.
    """
    if item.run is not None:
        return False  # its thread has not ended yet
    outcomes = [
        _is_part_gone(
            goal, PartState(item.wanted.repository, item.wanted.revision, file.path, file.size, file.sha256)
        )
        for goal, file in zip(item.goals, item.wanted.files, strict=False)
    ]
    if None in outcomes or all(map(_is_there, item.goals)):
        return all(outcome is not False for outcome in outcomes)
    came = [item.goals[number] for number, stamp in item.came.items() if stamp_of(item.goals[number]) == stamp]
    for goal in came:
        with suppress(OSError):  # it is in use, or its folder is away: the next start tries again
            goal.unlink(missing_ok=True)
    return all(outcomes) and not any(map(_is_there, came))


def _is_part_gone(goal: Path, wanted: PartState) -> bool | None:
    """Delete a partial file and return whether that is done; None where it belongs to another download."""
    path = goal.with_name(goal.name + PART)
    with suppress(OSError):
        if not path.exists():
            return True
        try:
            part = PartialFile(goal)
        except UserError:
            return None  # another program writes it
        kept = part.state()
        if kept is not None and not kept.is_part_of(msgspec.structs.replace(wanted, etag=kept.etag)):
            part.close()
            return None
        part.delete()
        return not path.exists()
    return False


def _is_there(path: Path) -> bool:
    with suppress(OSError):
        return path.exists()
    return False
