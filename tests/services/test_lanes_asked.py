"""Lanes as the session asks for them: what the engine is told, and what is left when it goes."""

from __future__ import annotations

from pathlib import Path

from app.core.chat import TextPrompt
from app.core.commands import Compare, Load
from app.core.events import Failed
from app.core.sampling import SamplingSettings
from app.services.wishes import LanesQuestion
from tests.desk import Desk
from tests.services.asking import ask, phase


def test_a_comparison_is_told_of_main_memory_and_takes_the_model_along_when_its_engine_goes(
    desk: Desk, model: Path
) -> None:
    desk.load(model)
    session, ends = desk.program.session, list[Failed]()
    session.lanes_told.connect(lambda event: ends.append(event) if isinstance(event, Failed) else None)
    session.ask(LanesQuestion(session.new_request(), TextPrompt("Hi"), (SamplingSettings(),) * 2))
    compare = desk.engine.all(Compare)[-1]
    assert compare.main_memory is not None
    assert 0 < compare.main_memory.available <= compare.main_memory.total
    desk.engine.die(compare.request)
    desk.settle()
    assert [end.kind for end in ends] == ["engine"]
    assert (phase(desk), session.model, desk.notice.remedy) == ("gone", None, "restart_engine")
    ask(desk)
    desk.until(lambda: len(desk.engine.all(Load)) == 2)
