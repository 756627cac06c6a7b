"""What a comparison says that was cut short by a hard end of the program."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.probability.divergence import divergence
from app.services.lane_analysis import Analysis
from app.services.lane_starts import Lanes
from tests.desk import Desk
from tests.made_up_steps import loaded
from tests.services.recorded_lanes import OPEN, SIZE, RecordedLead, pieces
from tests.services.test_comparison_analysis import NARROW, analysed, begun, desk, lead, reopened

__all__ = ["desk", "lead"]


@pytest.mark.parametrize("is_told", [True, False])
def test_after_a_kill_tokens_are_words_from_the_store_or_with_the_model_that_wrote_them(
    desk: Desk,
    lead: RecordedLead,
    tmp_path: Path,
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_told: bool,
) -> None:
    begun(desk, lead, Lanes((OPEN, NARROW)))
    for number in range(2):
        lead.draw(number, 10)
    shutil.copytree(tmp_path / "home", tmp_path / "left", ignore=shutil.ignore_patterns("*.new"))
    later = Desk(tmp_path / "left", monkeypatch)
    try:
        later.program.conversations.start()
        later.program.conversations.open(later.program.conversations.heads[0].id)
        later.settle()
        if not is_told:  # the model was not loaded yet when the comparison began
            for turn in later.program.chat.shown.lanes.hidden.values():
                turn.tokenizer = ""
        found = reopened(later)
        if not is_told:
            assert _first_token(found) is None
            later.begin_load(model)
            later.engine.say(loaded(later.engine.load.request, str(model), SIZE))
            found = analysed(later)
        expected = divergence(lead.drawn[0], lead.drawn[1])
        assert expected is not None
        token = int(lead.drawn[1].tokens[expected.index])
        assert _first_token(found) == pieces()[token].decode()
    finally:
        later.program.stop()


def _first_token(found: Analysis) -> str | None:
    told = found.divergence(1)
    assert told is not None and told.lane_token is not None
    return told.lane_token.text
