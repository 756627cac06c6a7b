"""Which lanes of a comparison are there, what they were asked with, and what running them again would ask.

Plain functions of values; a lane that was deleted is not there until that is undone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from app.core.comparison import Comparison, Layout
from app.core.sampling import SamplingSettings
from app.services.lane_starts import Lanes, with_seed
from app.services.lanes_run import Lane, LanesRun
from app.services.open_conversation import OpenConversation
from app.services.turns import Turn


def lane_of(conversation: OpenConversation, message: int) -> Turn | None:
    """Return a lane, whether it was kept or not; None for one that was deleted.

    One that was kept and goes on is still what it was: where it went on becomes another message.
    """
    earlier = conversation.run.earlier if conversation.run is not None else None
    if earlier is not None and earlier.message == message and message in conversation.known:
        return earlier
    return conversation.lanes.hidden.get(message) or conversation.known.get(message)


def lanes_there(conversation: OpenConversation, comparison: Comparison, known: Sequence[Lane] = ()) -> list[Lane]:
    """Return the lanes that are there, each as it stands now; `known` are those that were looked at before."""
    before = {lane.index: lane for lane in known}
    found: list[Lane] = []
    for index, turn in _turns_there(conversation, comparison):
        lane = before.get(index) or Lane(index, turn, settings_of(turn))
        lane.turn = turn
        found.append(lane)
    return found


def question_of(conversation: OpenConversation, comparison: Comparison) -> Turn | None:
    """Return what all lanes answer, as they say it themselves; None where no lane is there, or it is not."""
    for _index, turn in _turns_there(conversation, comparison):
        return conversation.known.get(turn.parent) if turn.parent is not None else None
    return None


def _turns_there(conversation: OpenConversation, comparison: Comparison) -> Iterator[tuple[int, Turn]]:
    """Yield number and turn of each lane that is there."""
    for index, message in enumerate(comparison.lanes):
        turn = lane_of(conversation, message)
        if turn is not None and (turn.comparison, turn.lane) == (comparison.id, index):
            yield index, turn


def asked_again(run: LanesRun) -> Lanes:
    """Return what running a comparison once more asks: its lanes that are there, and a grid only where all are."""
    settings = tuple(lane.settings for lane in run.lanes)
    baseline = next((place for place, lane in enumerate(run.lanes) if lane.index == run.comparison.baseline), 0)
    is_whole = len(run.lanes) == len(run.comparison.lanes)
    return Lanes(settings, run.comparison.layout if is_whole else Layout(), baseline)


def settings_of(turn: Turn) -> SamplingSettings:
    """Return the settings that a lane was written with, its seed among them."""
    changes = turn.finished.settings if turn.finished is not None else turn.settings
    settings = changes[0].settings if changes else SamplingSettings()
    return settings if turn.seed is None else msgspec.structs.replace(settings, seed=turn.seed)


def seeded(settings: Sequence[SamplingSettings]) -> tuple[SamplingSettings, ...]:
    """Return complete settings: lanes without a seed share one, so that what differs is the setting."""
    seed = next((each.seed for each in settings if each.seed is not None), None)
    shared = seed if seed is not None else with_seed(settings[0]).seed
    return tuple(
        (each if each.seed is not None else msgspec.structs.replace(each, seed=shared)).validated()
        for each in settings
    )
