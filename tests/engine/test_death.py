"""What people are told when the engine process ended by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.engine.death import LOST_PAGE, TAIL_LINES, Phase, death_sentence, log_tail
from app.engine.entry import LIBRARY_MISSING


@pytest.mark.parametrize(
    ("code", "phases", "greeted", "words"),
    [
        (-9, ("answering",), True, "SIGKILL"),
        (1, ("answering",), True, "exit code 1"),
        (-6, ("loading", "answering"), True, "smaller context"),
        (1, ("preparing",), True, "chat template"),
        (-9, ("scoring", "preparing"), True, "went over a prompt"),
        (-6, (), True, "Your chat is safe"),
        (1, ("loading",), False, "could not start"),
        (-9, ("loading",), False, "ended from outside"),
        (-9, (), False, "Close other programs and try again"),
        (LIBRARY_MISSING, ("loading",), False, "set-up"),
        (LOST_PAGE[0], ("preparing",), True, "lost the model's file"),
        (LOST_PAGE[0], ("loading",), True, "download it again"),
        (-77, ("answering",), True, "signal 77"),
    ],
)
def test_each_end_has_its_sentence_and_a_next_step(
    code: int, phases: tuple[Phase, ...], greeted: bool, words: str
) -> None:
    sentence = death_sentence(code, phases, greeted=greeted).english()
    assert words in sentence
    assert sentence.endswith(".")


def test_the_tail_of_the_log_begins_where_this_process_began(tmp_path: Path) -> None:
    log = tmp_path / "engine.log"
    log.write_text("an earlier life\n")
    start = log.stat().st_size
    with log.open("a") as file:
        file.write("".join(f"line {number}\n" for number in range(200)))
    tail = log_tail(str(log), start)
    assert len(tail) == TAIL_LINES
    assert tail[-1] == "line 199"
    assert log_tail(str(log), log.stat().st_size) == ()
    assert log_tail(str(tmp_path / "none"), 0) == () == log_tail("", 0)
