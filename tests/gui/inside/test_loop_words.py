"""The boxes of the loop and the sentences below them, held against what the engine told, and the words of each kind of model."""

from __future__ import annotations

from array import array

import msgspec
import pytest

from app.core.chat import PromptSpan
from app.core.events import Finished, PrefillProgress, PromptReady
from app.core.model import MemoryKind
from app.core.model_shape import ModelShape, Range
from app.core.words import Sentence
from app.engine.grammar import ENDED_BY_GRAMMAR, TOO_SLOW
from app.gui.inside.loop.faces import face_of
from app.gui.inside.loop.memory_words import explained_by_kind
from app.gui.inside.loop.number_words import number
from app.gui.inside.loop.stage_words import explanation
from app.services.loop_example import example
from app.services.loop_values import LoopPrompt, LoopToken, LoopValues, StageName
from tests.fake_engine import metrics
from tests.gui.inside.conftest import Inspector, desk, inspector, model, stage
from tests.gui.inside.test_loop import asks, catch_up

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
SECOND = 1_000_000_000


def of_kind(kind: MemoryKind, window: int = 0) -> LoopValues:
    values = example()
    assert values.model is not None
    per_token = values.model.bytes_per_token if kind == "plain" else None
    changed = msgspec.structs.replace(values.model, memory_kind=kind, window=window, bytes_per_token=per_token)
    return msgspec.structs.replace(values, model=changed, cache_bytes=2_000_000)


def reads(looker: Inspector, name: StageName) -> str:
    """Choose a stage, and return the sentence with its number."""
    looker.stage.clicks(f"loop_{name}")
    return looker.reads("loop_number")


def test_boxes_and_sentences_say_what_the_engine_told(inspector: Inspector) -> None:
    part = asks(inspector)
    engine = inspector.stage.engine
    request = engine.question.request
    ids = array("i", range(100, 700)).tobytes()
    engine.say(PromptReady(request, ids, (PromptSpan(4, 600, "prompt", 1),), 88, SECOND, seed=7))
    for done, at_ns in ((344, 2 * SECOND), (600, 3 * SECOND)):
        engine.say(PrefillProgress(request, done, 600, 88, at_ns))
    engine.write("w", 3)
    inspector.stage.settle()
    inspector.known()
    catch_up(part)
    boxes = part.map.boxes
    assert boxes["prompt"].face.figure == "“And the sea?”"
    assert boxes["prompt"].face.lines == ("12 characters, in the chat template",)
    assert reads(inspector, "prompt") == "Your message has 12 characters; the whole prompt has 600 tokens."
    assert boxes["tokens"].face.figure == "600 tokens"
    assert reads(inspector, "tokens").startswith(
        "The whole prompt is 600 tokens: chat template 4, prompt 596. Your message begins with "
    )
    assert "(104)" in reads(inspector, "tokens")
    assert (boxes["prefill"].face.figure, boxes["prefill"].face.lines[0]) == ("256 tok/s", "88 of 600 cached")
    assert reads(inspector, "prefill").startswith(
        "2 s for the 512 tokens of the whole prompt that were not in the cache yet"
    )
    assert boxes["kv"].face.figure == "602 of 4,096" and boxes["answer"].face.figure == "3 tokens"
    assert reads(inspector, "kv").startswith("602 of 4,096 cells are taken.")
    assert reads(inspector, "answer").startswith("The answer has 3 tokens. It says: “")


def test_line_breaks_and_indents_are_counted(inspector: Inspector) -> None:
    part = asks(inspector)
    inspector.stage.engine.prompt()
    inspector.stage.engine.finish()
    inspector.stage.settle()
    inspector.known()
    assert inspector.stage.desk.program.chat.send("if a:\n\n        return 1 + 23")
    inspector.stage.settle()
    catch_up(part)
    assert part.map.boxes["prompt"].face.lines == ("28 characters, in the chat template",)
    assert part.map.boxes["prompt"].face.figure == "“if a: return 1 + 23”"
    assert reads(inspector, "prompt").startswith("Your message has 28 characters;")


@pytest.mark.parametrize(
    ("note", "short"),
    [(ENDED_BY_GRAMMAR, "nothing fitted the grammar"), (TOO_SLOW, "the grammar took too long")],
)
def test_an_end_by_the_grammar_is_said(inspector: Inspector, note: Sentence, short: str) -> None:
    part = asks(inspector)
    engine = inspector.stage.engine
    engine.prompt()
    engine.write("w", 3)
    ids = array("i", range(3)).tobytes()
    engine.say(Finished(engine.question.request, "www", ids, "end", metrics(3), 7, (), (note,)))
    inspector.stage.settle()
    inspector.known()
    catch_up(part)
    assert part.map.boxes["stop"].face.lines == (short,)
    said = reads(inspector, "stop")
    assert said.startswith("It ended after 3 tokens:") and "grammar" in said and "end token" not in said
    assert "end token" not in part.place.said.text()


def test_a_recurrent_model_has_no_cells_and_no_attention() -> None:
    values = of_kind("recurrent")
    for name in ("kv", "transformer"):
        said = f"{number(name, values)} {face_of(name, values)} {explained_by_kind(name, values.model)}"
        assert "state" in number(name, values)
        for word in (" cell", "heads", "8,192", "a token adds"):
            assert word not in said
    face = face_of("kv", values)
    assert (face.figure, face.lines, face.meter) == ("one state", ("of a fixed size", "1.9 MiB in use"), ())
    assert "no keys and values" in explained_by_kind("kv", values.model)
    assert face_of("transformer", values).lines[0] == "no attention"


def test_a_hybrid_model_has_cells_for_the_layers_with_attention_alone() -> None:
    values = of_kind("hybrid")
    assert "Only the layers with attention use them" in number("kv", values)
    assert "Some have a running state" in number("transformer", values)
    assert "In each, attention" not in number("transformer", values)
    assert face_of("kv", values).lines[0] == "cells, and states"
    assert "In some, attention" in explained_by_kind("transformer", values.model)


def test_a_window_is_said() -> None:
    values = of_kind("window", 1024)
    assert "Some layers keep the last 1,024 tokens alone." in number("kv", values)
    assert "Some layers look back 1,024 tokens at most." in number("transformer", values)
    assert face_of("kv", values).lines[0] == "window 1,024"
    assert explained_by_kind("kv", values.model) == ""


def test_the_sheet_explains_the_kind_of_model_that_is_loaded(inspector: Inspector) -> None:
    part = asks(inspector)
    for name in ("transformer", "kv"):
        part.sheet.show_stage(name, of_kind("plain"))
        assert inspector.reads("loop_explanation") == explanation(name)
        part.sheet.show_stage(name, of_kind("recurrent"))
        assert inspector.reads("loop_explanation") == explained_by_kind(name, of_kind("recurrent").model)


def test_the_tour_tells_of_the_kind_of_model_too(inspector: Inspector) -> None:
    part = asks(inspector)
    part.begin_tour()
    told = set[str]()
    while True:
        step = part.tour.stop.stages[0]
        part.tour.show_number(of_kind("recurrent"))
        other = explained_by_kind(step, of_kind("recurrent").model)
        assert (other or part.tour.stop.text) in part.tour.spoken()
        told |= {step} if other else set()
        if part.tour.stop is part.tour._stops[-1]:
            break
        part.tour.go(part.tour._at + 1)
    assert told == {"transformer", "kv"}
    part.tour.go(3)
    part.tour.show_number(of_kind("plain"))
    assert part.tour.stop.text in part.tour.spoken()


def test_tokens_of_the_template_are_not_said_to_be_those_of_the_message() -> None:
    prompt = LoopPrompt("Hi", 2, 9, (LoopToken(1, "<s>"),), is_of_question=False)
    values = msgspec.structs.replace(example(), prompt=prompt)
    assert number("tokens", values) == "The whole prompt is 9 tokens. It begins with “<s>” (1)."
    own = msgspec.structs.replace(prompt, is_of_question=True)
    assert "Your message begins with" in number("tokens", msgspec.structs.replace(values, prompt=own))


def test_one_is_said_as_one() -> None:
    values = example()
    assert values.model is not None and values.step is not None
    one = Range(1, 1)
    small = msgspec.structs.replace(values.model, layers=1, shape=ModelShape(8, one, one, Range(32, 32)))
    values = msgspec.structs.replace(
        values,
        model=small,
        prompt=LoopPrompt("I", 1, 1),
        cells_used=1,
        written=1,
        step=msgspec.structs.replace(values.step, survivors=1),
    )
    assert number("transformer", values).startswith(
        "1 layer. In each, attention has 1 head and 1 set of keys and values."
    )
    assert face_of("transformer", values).figure == "1 layer"
    assert face_of("transformer", values).lines[0] == "1 head, 1 for KV"
    assert number("prompt", values) == "Your message has 1 character; the whole prompt has 1 token."
    assert face_of("tokens", values).figure == "1 token"
    assert number("kv", values).startswith("1 of 8,192 cells is taken.")
    assert number("answer", values) == "The answer has 1 token."
    assert number("sampling", values).startswith("1 of 49,152 tokens is left")
