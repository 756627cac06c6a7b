"""What is typed is kept and checked in the background, and only what is chosen is in force."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.commands import StepOn
from app.core.errors import UserError
from app.core.grammar import Grammar
from app.core.sampling import PRESETS, SamplingSettings
from app.core.words import translate
from app.services.chat import Chat
from app.services.grammar_editing import GrammarEditing
from app.services.grammar_files import read_grammar
from app.services.lane_starts import differing, is_greedy, lanes_for
from tests.desk import Desk
from tests.services.asking import say

RIGHT = Grammar("gbnf", 'root ::= "yes" | "no"')
WRONG = Grammar("gbnf", "root ::= yes")
SCHEMA = Grammar("json_schema", '{"type": "integer"}')


@pytest.fixture
def editing(desk: Desk) -> GrammarEditing:
    return desk.program.grammar_editing


def checked(desk: Desk, grammar: Grammar) -> str:
    """Write something, and return what its check said."""
    editing = desk.program.grammar_editing
    editing.write(grammar)
    desk.until(lambda: editing.verdict(grammar) is not None)
    verdict = editing.verdict(grammar)
    assert verdict is not None
    return "" if verdict.problem is None else verdict.problem.sentence.english()


def test_what_is_typed_is_checked_and_the_newest_counts(desk: Desk, editing: GrammarEditing) -> None:
    told: list[bool] = []
    editing.changed.connect(lambda: told.append(True))
    assert checked(desk, RIGHT) == ""
    assert "no rule “yes”" in checked(desk, WRONG)
    assert editing.verdict(RIGHT) is None
    assert checked(desk, SCHEMA) == ""
    assert len(told) == 3
    editing.write(SCHEMA)
    assert not desk.program.inbox.drain(), "the same text is checked once"


def test_each_kind_keeps_its_text_until_it_is_used(desk: Desk, editing: GrammarEditing) -> None:
    assert (editing.text("gbnf"), editing.text("json_schema")) == ("", "")
    checked(desk, WRONG)
    checked(desk, SCHEMA)
    assert (editing.text("gbnf"), editing.text("json_schema")) == (WRONG.text, SCHEMA.text)
    assert editing.in_force is None
    editing.use(SCHEMA)
    assert editing.in_force == desk.program.sampling.values.grammar == SCHEMA
    assert (editing.text("gbnf"), editing.text("json_schema")) == (WRONG.text, SCHEMA.text)
    editing.use(None)
    assert editing.in_force is None
    assert editing.text("json_schema") == ""


def test_what_is_typed_belongs_to_its_chat_and_what_is_in_force_is_no_draft(
    desk: Desk, chat: Chat, editing: GrammarEditing
) -> None:
    editing.use(RIGHT)
    editing.write(RIGHT)
    other = Grammar("gbnf", 'root ::= "left"')
    desk.program.sampling.show(SamplingSettings(grammar=other))
    assert editing.text("gbnf") == other.text
    editing.write(WRONG)
    first = chat.shown.head.id
    say(desk, "Well?")
    assert editing.text("gbnf") == WRONG.text
    desk.program.conversations.new()
    assert editing.text("gbnf") == RIGHT.text, "what new chats begin with"
    desk.program.conversations.open(first)
    assert editing.text("gbnf") == WRONG.text
    editing.write(other)
    desk.program.sampling.show(SamplingSettings())
    assert editing.text("gbnf") == "", "typed back to what is in force"


def test_a_grammar_is_sent_with_the_next_question_and_kept_with_the_chat(
    desk: Desk, chat: Chat, editing: GrammarEditing
) -> None:
    editing.use(RIGHT)
    say(desk, "Well?")
    assert desk.engine.question.settings.grammar == RIGHT
    settings = desk.program.conversations.heads[0].settings
    assert settings.grammar == RIGHT
    assert not chat.busy


def test_presets_that_ship_leave_the_grammar(desk: Desk, editing: GrammarEditing) -> None:
    editing.use(RIGHT)
    desk.program.sampling.use_preset("Precise")
    assert editing.in_force == RIGHT
    assert desk.program.sampling.preset == "Precise"
    with_it = lanes_for("greedy", desk.program.sampling.values).settings
    assert {each.grammar for each in with_it} == {RIGHT}
    assert is_greedy(with_it[0])
    assert differing([SamplingSettings(), SamplingSettings(grammar=RIGHT)]) == ("grammar",)
    assert PRESETS["Precise"].grammar is None


def test_files_of_grammars_are_read(tmp_path: Path) -> None:
    file = tmp_path / "a.gbnf"
    file.write_text("\ufeff" + RIGHT.text, "utf-8")
    assert read_grammar("gbnf", file) == RIGHT
    file.write_text(WRONG.text, "utf-8")
    with pytest.raises(UserError, match="Line 1, column 10"):
        read_grammar("gbnf", file)
    file.write_text('{"type": "integer",\n "minimum": 3}', "utf-8")
    with pytest.raises(UserError, match="Line 2, column 2"):
        read_grammar("json_schema", file)
    file.write_bytes(b"\xff\xfe")
    for unreadable in (file, tmp_path, tmp_path / "none"):
        with pytest.raises(UserError, match="cannot be read"):
            read_grammar("json_schema", unreadable)


def test_a_step_to_a_token_that_does_not_fit_is_told_and_the_answer_still_waits(desk: Desk, chat: Chat) -> None:
    desk.program.step_mode.pause()
    chat.send("Well?")
    desk.settle()
    desk.engine.prompt()
    desk.engine.hold()
    desk.settle()
    request = desk.engine.question.request
    desk.program.step_mode.choose(request, 0, 7)
    desk.engine.hold(refused=translate("Engine", "That does not fit."))
    desk.settle()
    assert desk.told == "That does not fit."
    assert chat.turns[-1].is_held
    desk.program.step_mode.choose(request, 0, 8)
    assert [each.token for each in desk.engine.all(StepOn)] == [7, 8]
