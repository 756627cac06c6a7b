"""The keys that mean something in one place of the window alone, as those places tell them; nobody can change them."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence

from app.core.comparison import MOST_AT_ONCE
from app.gui.chat.queued_list import queue_keys
from app.gui.chat.transcript_keys import message_keys
from app.gui.chat.writing_keys import writing_keys
from app.gui.compare.lane_words import lane_key, lane_keys
from app.gui.discover.library_keys import library_keys
from app.gui.history.list_keys import list_keys
from app.gui.inside.stage_keys import stage_keys
from app.gui.inside.token_keys import token_keys
from app.gui.next_token.candidates import candidate_keys
from app.gui.planner.comparison.points import chart_keys
from app.gui.preferences.keys import Keys, KeysOf
from app.gui.widgets.section import section_keys


def fixed_keys() -> dict[KeysOf, list[Keys]]:
    """Return the keys of each place but the window itself."""
    return {
        KeysOf.COMPARISON: [Keys(*each) for each in lane_keys()],
        KeysOf.MESSAGE: [Keys(each.words, each.keys) for each in message_keys()],
        KeysOf.COMPOSER: [Keys(*each) for each in writing_keys("composer")],
        KeysOf.EDITOR: [Keys(*each) for each in writing_keys("editor")],
        KeysOf.QUEUE: [Keys(*each) for each in queue_keys()],
        KeysOf.CHATS: [Keys(*each) for each in list_keys()],
        KeysOf.MODELS: [Keys(*each) for each in library_keys()],
        KeysOf.SECTION: [Keys(*each) for each in section_keys()],
        KeysOf.CANDIDATE: [Keys(*each) for each in candidate_keys()],
        KeysOf.TOKEN: [Keys(*each) for each in token_keys()],
        KeysOf.STAGE: [Keys(*each) for each in stage_keys()],
        KeysOf.CHART: [Keys(*each) for each in chart_keys()],
    }


def unlisted_keys() -> dict[KeysOf, list[Keys]]:
    """Return those that stand in no list by themselves: of the lanes, that names the first and the last."""
    words, _ends = lane_keys()[0]
    return {KeysOf.COMPARISON: [Keys(words, tuple(QKeySequence(lane_key(at)) for at in range(MOST_AT_ONCE)))]}


def place_keys() -> set[QKeySequence]:
    """Return all of these keys, in whatever place they mean something."""
    places = (*fixed_keys().values(), *unlisted_keys().values())
    return {key for listed in places for each in listed for key in each.keys}
