"""How long chats are, read from the figures of their answers."""

from __future__ import annotations

from pathlib import Path

import msgspec

from app.core.conversation import StoredAnswer
from app.core.model import ModelRef
from app.core.store_commands import MeasureUse, ReadModelUse, RemoveMessages
from app.core.store_events import Lengths, ModelUseRead, UseMeasured
from app.store.use import lengths
from tests.fake_engine import metrics
from tests.store.shelf import Shelf, end, head, question, shelf


def answered(kept: Shelf, first: int, prompt: int, sampled: int) -> None:
    """Keep a question and its answer of such a length."""
    ended = end(first + 1, "a")
    figures = metrics(sampled, prompt)
    answer: StoredAnswer = msgspec.structs.replace(ended.answer, metrics=figures)
    kept.send(question(first, head(), first), msgspec.structs.replace(ended, answer=answer))


def test_no_chat_has_no_length(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        assert kept.ask(MeasureUse(7), UseMeasured) == UseMeasured(7, 0)
        kept.send(question(1, head(), 1), end(2, "an answer without figures"))
        assert kept.ask(MeasureUse(8), UseMeasured) == UseMeasured(8, 0)


def test_prompt_answer_and_both_together_have_a_usual_and_a_longest_length(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        for number in range(19):
            answered(kept, 10 * number + 1, 100 + number, 50 - number)
        answered(kept, 500, 4000, 7)
        told = kept.ask(MeasureUse(1), UseMeasured)
    assert told == UseMeasured(1, 20, Lengths(150, 4007), Lengths(118, 4000), Lengths(49, 50))


def test_what_was_deleted_and_what_is_no_figure_does_not_count(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        for first, prompt in ((1, 10), (11, 20), (21, 30), (31, 40)):
            answered(kept, first, prompt, 5)
        kept.send(RemoveMessages((41, 31, 32), 9))
        kept.sql("UPDATE answer SET metrics = 'none' WHERE message = 2")
        kept.sql("UPDATE answer SET metrics = json_set(metrics, '$.prompt_tokens', -3) WHERE message = 12")
        assert kept.ask(MeasureUse(1), UseMeasured) == UseMeasured(
            1, 1, *(Lengths(each, each) for each in (35, 30, 5))
        )


def test_95_of_100_stay_within_the_usual_length() -> None:
    assert lengths([]) is None
    assert lengths([3]) == Lengths(3, 3)
    assert lengths(range(100, 0, -1)) == Lengths(95, 100)
    assert lengths(range(1, 11)) == Lengths(10, 10)


def test_the_chats_that_a_model_wrote_in_are_told_wherever_its_file_was(tmp_path: Path) -> None:
    asked, other = ModelRef(5, "abc", "/old/a.gguf"), ModelRef(6, "abc", "/a.gguf")
    with shelf(tmp_path) as kept:
        for first, model in (
            (1, asked),
            (11, other),
            (21, msgspec.structs.replace(asked, path="/new.gguf")),
            (31, asked),
        ):
            ended = end(first + 1, "a", first)
            answer: StoredAnswer = msgspec.structs.replace(ended.answer, model=model)
            kept.send(question(first, head(first), first), msgspec.structs.replace(ended, answer=answer))
        assert kept.ask(ReadModelUse(7, ModelRef(5, "abc")), ModelUseRead) == ModelUseRead(
            7, ("Chat 31", "Chat 21", "Chat 1")
        )
        kept.send(RemoveMessages((31, 32), 9))
        kept.sql("UPDATE answer SET model = 'abc none' WHERE message = 2")
        assert kept.ask(ReadModelUse(8, ModelRef(5, "abc")), ModelUseRead).titles == ("Chat 21",)


def test_before_any_chat_no_model_wrote_anything(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        assert kept.ask(ReadModelUse(7, ModelRef(5, "abc")), ModelUseRead) == ModelUseRead(7, ())


def test_who_has_not_opened_the_chats_reads_them_and_leaves_nothing_behind(tmp_path: Path) -> None:
    unopened = Shelf(tmp_path / "none")
    assert unopened.ask(ReadModelUse(1, ModelRef(5, "abc")), ModelUseRead).titles == ()
    unopened.close()
    assert not (tmp_path / "none").exists()
    with shelf(tmp_path) as kept:
        ended = end(2, "a")
        answer: StoredAnswer = msgspec.structs.replace(ended.answer, model=ModelRef(5, "abc"))
        kept.send(question(1, head(), 1), msgspec.structs.replace(ended, answer=answer))
    reader = Shelf(tmp_path)
    assert reader.ask(ReadModelUse(1, ModelRef(5, "abc")), ModelUseRead).titles == ("Chat 1",)
    reader.close()
