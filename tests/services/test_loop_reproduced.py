"""An answer that is written once more keeps its own figures, and it is said that they are those of then."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.desk import Desk
from tests.services.asking import say
from tests.services.replaying import answer, compared, end, read


@pytest.mark.parametrize("how", ["end", "fail"])
def test_the_loop_and_the_cells_know_that_an_answer_is_written_once_more(desk: Desk, model: Path, how: str) -> None:
    program = desk.program
    program.conversations.start()
    desk.load(model)
    say(desk, "Why?", "a", "b")
    loop, cells = program.views.loop, program.views.kv_map
    told: list[bool] = []
    program.inspecting.watch(True)
    loop.watch(True)
    desk.until(lambda: not program.inspecting.is_busy)
    before = loop.values
    assert cells.saving is not None and not cells.saving.is_again and not before.is_reproduced
    loop.changed.connect(lambda: told.append(loop.values.is_reproduced))
    assert program.reproducing.begin(answer(desk))
    read(desk)
    compared(desk, 1)
    assert told and told[-1] and cells.saving.is_again
    assert loop.values.prefill == before.prefill and loop.values.written == before.written
    if how == "end":
        end(desk)
    else:
        desk.engine.fail("engine", desk.engine._request)
        desk.settle()
    assert not told[-1] and loop.values == before
    assert cells.saving.is_again, "the cells hold what was read for it"
    program.chat.send("And now?")
    desk.engine.prompt()
    desk.settle()
    assert not cells.saving.is_again
    desk.engine.finish()
    desk.settle()
