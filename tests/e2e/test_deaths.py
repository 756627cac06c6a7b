"""An engine that dies, in whatever phase and of whatever: one sentence, what was written is kept, and it goes on."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from app.services.notices import Notice
from tests.e2e.inside import Inside
from tests.e2e.program import Program, events, is_one_plain_sentence

ANSWER = "Light bends in water. " * 3
LOAD, PREFILL, FIRST, LATER = -2, -1, 0, 12
"""Where a fault strikes: while the model is loaded, while the prompt is read, at a token."""


def write(script: Path, **fields: object) -> Path:
    script.write_text(json.dumps({"answers": [ANSWER], "tokens_per_s": 300, **fields}), encoding="utf-8")
    return script


def notice_of(inside: Inside) -> Notice:
    inside.until(lambda: inside.program.notices.latest)
    assert inside.program.notices.latest is not None
    return inside.program.notices.latest


@pytest.mark.parametrize(
    ("fault", "place"), [("abort", LOAD), ("abort", PREFILL), ("abort", FIRST), ("abort", LATER), ("exit", LATER)]
)
def test_an_engine_that_dies_in_any_phase_costs_an_answer_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, place: int
) -> None:
    script = write(tmp_path / "script.json", fault=fault, fault_at=place)
    with Inside(tmp_path / "home", monkeypatch, scripted=True) as inside:
        session, chat = inside.program.session, inside.program.chat
        inside.program.start(script)
        inside.send("Why?")
        inside.until(lambda: not chat.busy)
        notice = notice_of(inside)
        assert notice.sentence.english().startswith("The engine stopped")
        assert notice.remedy == "restart_engine"
        assert fault == "exit" or any("Fatal Python error: Aborted" in line for line in notice.details)
        assert session.phase == "gone" and inside.engine is None
        assert [turn.text for turn in chat.turns][:1] == ["Why?"]
        assert inside.answer.state == "interrupted" and inside.answer.reason == notice.sentence
        assert ANSWER.startswith(inside.answer.text)
        assert (inside.answer.text != "") == (place == LATER)
        assert len(inside.ends) == 1
        write(script)
        again = inside.ask("Again?")
        assert (again.text, again.state) == (ANSWER, "done")


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals there")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_an_idle_engine_that_is_killed_is_told_once_and_started_by_the_next_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    with Inside(tmp_path / "home", monkeypatch, scripted=True) as inside:
        inside.load(write(tmp_path / "script.json"))
        assert inside.engine is not None
        inside.engine.send_signal(number)
        notice = notice_of(inside)
        assert number.name in notice.sentence.english()
        assert inside.phase == "gone"
        assert inside.ask("Why?").text == ANSWER


def test_memory_that_runs_out_in_mid_answer_keeps_what_was_written_and_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Inside(tmp_path / "home", monkeypatch, scripted=True) as inside:
        inside.load(write(tmp_path / "script.json", fault="memory", fault_at=LATER))
        engine = inside.engine
        assert inside.ask("Why?").state == "interrupted"
        assert inside.answer.text == ANSWER[:LATER]
        assert inside.phase == "ready" and inside.engine == engine is not None
        assert "MemoryError" in notice_of(inside).sentence.english()


@pytest.mark.parametrize(("place", "form"), [(LOAD, []), (PREFILL, ["--json"])])
def test_on_the_command_line_it_is_one_sentence_and_exit_code_4(tmp_path: Path, place: int, form: list[str]) -> None:
    script = write(tmp_path / "script.json", fault="abort", fault_at=place)
    done = Program(tmp_path / "home").run("ask", "Hi", *form, "--fake-engine", "--model", str(script))
    assert done.returncode == 4
    assert done.stderr.startswith("The engine stopped") and is_one_plain_sentence(done.stderr)
    if form:
        failed = events(done.stdout)[-1]
        assert (failed["type"], failed["kind"], failed["sentence"]) == ("failed", "engine", done.stderr.strip())
        assert any("Fatal Python error: Aborted" in line for line in failed["details"])
    else:
        assert done.stdout == ""
