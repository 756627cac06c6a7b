"""An answer fits its grammar: the stage masks what llama.cpp masks, and nothing that does not fit ever reaches it."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from app.core.chat import TokenPrompt
from app.core.commands import Generate
from app.core.errors import UserError
from app.core.events import Event, Held, PromptReady, Step, Tokens
from app.core.grammar import Grammar, WrongGrammar
from app.core.grammar_check import gbnf_of
from app.core.sampling import PRESETS, SamplingSettings
from app.engine.backend import Row
from app.engine.control import Control
from app.engine.grammar import ENDED_BY_GRAMMAR, NOT_FITTING, Fitting, GrammarFit, NothingFits
from app.engine.kv_cache import KVCache
from app.engine.llama_grammar import LlamaGrammar
from app.engine.llama_model import LlamaBackend
from app.engine.loop import Answer
from app.engine.sampling import Sampler
from app.probability.row import RowReader
from tests.engine.comparisons import compare
from tests.engine.grammars import (
    FOREIGN,
    JUDGES,
    LIST,
    PERSON,
    YES_OR_NO,
    Judge,
    free,
    native,
    natively_fitting,
    tell,
    with_grammar,
)
from tests.engine.harness import GREEDY, ids_of, user
from tests.engine.replays import again, assert_same, end_of, written
from tests.engine.test_going_on import QUESTION, open_prompt
from tests.engine.test_loop import finished, run
from tests.examples import repeats

BALANCED = msgspec.structs.replace(PRESETS["Balanced"], seed=11, max_tokens=120)
WILD = msgspec.structs.replace(PRESETS["Wild"], seed=3, max_tokens=120)

NOWHERE = "\\U00FFFFFF"
"""No bytes say this character."""


def fitting_by_mask(event: Held | Step) -> np.ndarray:
    assert event.grammar is not None
    size = len(event.logits) // 4
    fits = np.unpackbits(np.frombuffer(event.grammar.fits, np.uint8), bitorder="little")[:size]
    assert event.grammar.masked == size - np.count_nonzero(fits)
    return np.flatnonzero(fits)


FREE = Grammar("gbnf", "root ::= [^<]{600}")
ROUND = Grammar("gbnf", 'root ::= ("a"? "b"?)* "c"')


@pytest.mark.parametrize(
    "grammar", [YES_OR_NO, LIST, FOREIGN, PERSON, ROUND], ids=["yes", "list", "foreign", "person", "round"]
)
def test_the_stage_leaves_exactly_what_llama_cpp_leaves(starter_backend: LlamaBackend, grammar: Grammar) -> None:
    rng = np.random.default_rng(5)
    steps = 0
    while steps < repeats(60):
        sampler, judge = GrammarFit(starter_backend, grammar, []), native(starter_backend, gbnf_of(grammar))
        for _ in range(40):
            row: Row = rng.normal(0, 4, starter_backend.vocabulary.size).astype(np.float32)
            ids, logits = sampler.fitting(row)
            expected, expected_logits = natively_fitting(starter_backend, judge, row)
            assert np.array_equal(ids, expected)
            assert np.array_equal(logits, expected_logits)
            assert all(sampler.allows(token) for token in ids[:5].tolist())
            steps += 1
            token = int(rng.choice(ids))
            if starter_backend.vocabulary.is_end(token):
                break
            sampler.accept(token)
            tell(judge, [token])
        sampler.close()
        free(judge)


def test_bytes_of_characters_come_one_by_one_and_only_to_whole_characters(starter_backend: LlamaBackend) -> None:
    fit = GrammarFit(starter_backend, FOREIGN, [])
    row = np.zeros(starter_backend.vocabulary.size, np.float32)
    pieces = starter_backend.vocabulary.piece
    begins = [token for token in fit.fitting(row)[0].tolist() if len(pieces(token)) == 1]
    assert begins
    assert {pieces(token)[0] for token in begins} <= {0xE3, *range(0xE4, 0xEA), 0xF0}
    fit.accept(next(token for token in begins if pieces(token) == b"\xe3"))
    follow = {pieces(token)[:1] for token in fit.fitting(row)[0].tolist()}
    assert follow == {b"\x81", b"\x82", b"\x83"}
    fit.close()


@pytest.mark.parametrize(("grammar", "judge"), JUDGES, ids=["yes", "list", "foreign", "person"])
@pytest.mark.parametrize("settings", [GREEDY, BALANCED, WILD], ids=["greedy", "balanced", "wild"])
def test_answers_fit_their_grammar_and_end_where_it_may_end(
    starter_backend: LlamaBackend, cache: KVCache, grammar: Grammar, judge: Judge, settings: SamplingSettings
) -> None:
    limited = with_grammar(settings, grammar, max_tokens=150)
    events = run(starter_backend, user("Tell me of a person."), limited, cache=cache)
    done = finished(events)
    assert done.stop_reason == "end", done.text
    assert judge(done.text), done.text
    assert starter_backend.vocabulary.is_end(ids_of(done.ids)[-1])


def test_greedy_takes_the_likeliest_of_what_fits(starter_backend: LlamaBackend) -> None:
    row = np.random.default_rng(1).normal(0, 4, starter_backend.vocabulary.size).astype(np.float32)
    facts = RowReader(len(row)).read(row)
    for settings in (GREEDY, msgspec.structs.replace(GREEDY, presence_penalty=1.0)):
        sampler = Sampler(starter_backend, with_grammar(settings, FOREIGN), 1, [5, 6])
        ids, logits = natively_fitting(starter_backend, judge := native(starter_backend, FOREIGN.text), row)
        free(judge)
        assert sampler.draw(row, facts, 0).token == ids[logits.argmax()] != row.argmax()
        sampler.close()


@pytest.mark.parametrize(
    "settings",
    [
        GREEDY,
        PRESETS["Balanced"],
        SamplingSettings(top_k=3, presence_penalty=1.5),
        SamplingSettings(top_k=0, top_p=0.9),
    ],
    ids=["greedy", "balanced", "penalised", "without top-k"],
)
@pytest.mark.parametrize("grammar", [FREE, FOREIGN], ids=["free", "foreign"])
def test_the_likeliest_that_fit_stand_for_all_that_fit(
    starter_backend: LlamaBackend, grammar: Grammar, settings: SamplingSettings
) -> None:
    rng = np.random.default_rng(8)
    asked: list[Row] = []
    quick, whole = (
        Sampler(starter_backend, with_grammar(settings, grammar, penalty_last_n=-1), 4, [11, 12]) for _ in range(2)
    )
    assert quick._fit is not None and whole._fit is not None
    every = quick._fit.fitting

    def noted(row: Row) -> Fitting:
        asked.append(row)
        return every(row)

    quick._fit.fitting = noted  # type: ignore[method-assign]
    for position in range(30):
        row = rng.normal(0, 3, starter_backend.vocabulary.size).astype(np.float32)
        facts = RowReader(len(row)).read(row)
        whole.mask(row)  # all tokens are asked about: the same draw comes of them
        expected = whole.draw(row, facts, position)
        choice = quick.draw(row, facts, position)
        assert choice.token == expected.token
        assert choice.probability == pytest.approx(expected.probability, abs=1e-6)
        if starter_backend.vocabulary.is_end(choice.token):
            break
        for sampler in (quick, whole):
            sampler.accept(choice.token)
    if grammar is FREE:  # after half a character few tokens fit, so there all are asked about
        has_k = settings.is_greedy or settings.top_k > 0
        assert (len(asked) < 10) is has_k
    quick.close()
    whole.close()


def test_a_slider_that_moves_leaves_the_answer_where_it_is_in_its_grammar(
    starter_backend: LlamaBackend, cache: KVCache
) -> None:
    def move(event: Event, control: Control) -> None:
        if isinstance(event, Tokens):
            other = PRESETS["Wild"] if event.first % 2 else PRESETS["Precise"]
            control.settings = with_grammar(other, LIST, seed=99)  # another grammar is for later answers

    person = with_grammar(BALANCED, PERSON, max_tokens=300)
    command = written(starter_backend, cache, person, on_event=move)
    assert len(command.settings) > 1
    assert {change.settings.grammar for change in command.settings} == {PERSON}
    text = b"".join(map(starter_backend.vocabulary.piece, ids_of(command.ids))).decode()
    assert dict(JUDGES)[PERSON](text)
    assert_same(end_of(again(starter_backend, cache, command)), command)


def test_an_answer_goes_on_within_its_grammar_and_one_that_does_not_fit_is_refused(
    starter_backend: LlamaBackend, cache: KVCache
) -> None:
    settings = with_grammar(BALANCED, PERSON)
    first = finished(run(starter_backend, user(QUESTION.text), msgspec.structs.replace(settings, max_tokens=6)))
    events = run(starter_backend, open_prompt(first), settings, cache=cache, first_token=6)
    assert dict(JUDGES)[PERSON](first.text + finished(events).text)
    with pytest.raises(UserError, match="does not fit the grammar that is set"):
        run(starter_backend, open_prompt(first), with_grammar(BALANCED, LIST), cache=cache, first_token=6)


def test_tokens_of_the_prompt_are_none_of_the_answer(starter_backend: LlamaBackend, cache: KVCache) -> None:
    ids = np.array([1, 9690, 198, 2683, 359], np.int32)
    prompt = TokenPrompt(ids.tobytes())
    assert finished(run(starter_backend, prompt, with_grammar(GREEDY, YES_OR_NO), cache=cache)).text in ("yes", "no")


def test_a_chosen_token_that_does_not_fit_is_refused_before_anything_runs(
    starter_backend: LlamaBackend, cache: KVCache
) -> None:
    (yes,) = starter_backend.vocabulary.tokenize("yes", special=False)
    (maybe,) = starter_backend.vocabulary.tokenize("maybe", special=False)
    settings = with_grammar(BALANCED, YES_OR_NO)
    done = finished(run(starter_backend, user("Well?"), settings, cache=cache, forced=(yes,)))
    assert done.text == "yes"
    seen: list[Event] = []
    with pytest.raises(UserError, match="set for this chat now does not allow that token"):
        run(
            starter_backend,
            user("Well?"),
            settings,
            cache=cache,
            forced=(maybe,),
            on_event=lambda event, _: seen.append(event),
        )
    assert seen == []


def test_a_step_to_a_token_that_does_not_fit_is_refused_and_the_answer_still_waits(
    starter_backend: LlamaBackend, cache: KVCache
) -> None:
    vocabulary = starter_backend.vocabulary
    (no,), (maybe,) = (vocabulary.tokenize(word, special=False) for word in ("no", "maybe"))
    held: list[Held] = []

    def choose(event: Event, control: Control) -> None:
        if isinstance(event, Held):
            held.append(event)
            control.pacing.give({1: maybe, 2: no}.get(len(held)), event.token)

    settings = with_grammar(BALANCED, YES_OR_NO)
    control = Control(1, 0.0)
    events = []
    for event in Answer(starter_backend, cache, Generate(1, user("Well?"), settings, 0), control).run(lambda: False):
        events.append(event)
        choose(event, control)
    assert finished(events).text == "no"
    assert [event.token for event in held] == [0, 0, 1]
    assert [event.refused for event in held] == [None, NOT_FITTING, None]
    pieces = {vocabulary.piece(token) for token in fitting_by_mask(held[0]).tolist()}
    assert pieces == {b"yes", b"y", b"ye", b"no", b"n"}
    assert [vocabulary.is_end(token) for token in fitting_by_mask(held[2]).tolist()] == [True] * len(
        fitting_by_mask(held[2])
    )


def test_who_looks_is_told_how_many_tokens_are_masked(starter_backend: LlamaBackend, cache: KVCache) -> None:
    settings = with_grammar(GREEDY, YES_OR_NO)
    steps = [
        event
        for event in run(starter_backend, user("Well?"), settings, cache=cache, watched=True)
        if isinstance(event, Step)
    ]
    assert steps
    for step in steps:
        assert step.grammar is not None
        assert step.grammar.masked is not None and step.grammar.masked > starter_backend.vocabulary.size - 10
    plain = run(starter_backend, user("Well?"), msgspec.structs.replace(GREEDY, max_tokens=3), watched=True)
    assert all(event.grammar is None for event in plain if isinstance(event, Step))


def test_a_wrong_grammar_is_told_before_anything_runs(starter_backend: LlamaBackend, cache: KVCache) -> None:
    with pytest.raises(WrongGrammar, match="Line 1, column 10"):
        run(starter_backend, None, with_grammar(GREEDY, Grammar("gbnf", "root ::= nothing")), cache=cache)
    assert cache.used == 0
    with pytest.raises(UserError, match=r"llama\.cpp does not take this grammar"):
        run(starter_backend, None, with_grammar(GREEDY, Grammar("gbnf", "root ::= <no such token>")), cache=cache)


def test_an_answer_ends_where_no_token_of_the_model_fits(quick_backend: LlamaBackend, quick_cache: KVCache) -> None:
    pieces = [quick_backend.vocabulary.piece(token) for token in range(quick_backend.vocabulary.size)]
    letter = next(piece.decode() for piece in pieces if piece.isalpha() and len(piece) == 1)
    grammar = Grammar("gbnf", f'root ::= "{letter}" "{NOWHERE}"')
    settings = with_grammar(GREEDY, grammar, stop=(f"{letter}!",))  # so the letter is held back
    prompt = TokenPrompt(np.array([1, 2, 3], np.int32).tobytes())
    done = finished(run(quick_backend, prompt, settings, cache=quick_cache))
    assert (done.text, done.stop_reason, done.notes) == (letter, "end", (ENDED_BY_GRAMMAR,))
    told = compare(quick_backend, quick_cache, [settings, msgspec.structs.replace(GREEDY, max_tokens=4)], prompt)
    lane = told.lane(0).finished
    assert (lane.text, lane.stop_reason, lane.notes) == (letter, "end", (ENDED_BY_GRAMMAR,))
    assert told.streamed(0) == (ids_of(lane.ids), letter)
    assert told.lane(1).finished.notes == ()
    sampler = Sampler(quick_backend, with_grammar(GREEDY, Grammar("gbnf", f'root ::= "{NOWHERE}"')), 1, [])
    row = np.zeros(quick_backend.vocabulary.size, np.float32)
    with pytest.raises(NothingFits):
        sampler.draw(row, RowReader(len(row)).read(row), 0)
    sampler.close()


def test_each_lane_has_a_grammar_of_its_own(starter_backend: LlamaBackend, cache: KVCache) -> None:
    lanes = [with_grammar(BALANCED, grammar) for grammar, _ in JUDGES]
    told = compare(starter_backend, cache, [*lanes, msgspec.structs.replace(BALANCED, max_tokens=5)])
    for number, (_, judge) in enumerate(JUDGES):
        done = told.lane(number).finished
        assert done.stop_reason == "end"
        assert judge(done.text), done.text
    alone = finished(run(starter_backend, user("Why is the sky blue?"), lanes[0], cache=cache))
    assert alone.text == told.lane(0).finished.text
    with pytest.raises(WrongGrammar):
        compare(starter_backend, cache, [lanes[0], with_grammar(GREEDY, Grammar("gbnf", "x"))])


def test_native_grammars_are_freed(starter_backend: LlamaBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[LlamaGrammar] = []
    build = starter_backend.grammar

    def noted(gbnf: str) -> LlamaGrammar:
        made.append(build(gbnf))
        return made[-1]

    monkeypatch.setattr(starter_backend, "grammar", noted)
    sampler = Sampler(starter_backend, with_grammar(GREEDY, YES_OR_NO), 1, [])
    sampler.change(with_grammar(BALANCED, YES_OR_NO))
    assert len(made) == 1  # other sliders keep it
    sampler.change(with_grammar(BALANCED, LIST))
    sampler.change(BALANCED)
    sampler.close()
    with pytest.raises(UserError):
        GrammarFit(starter_backend, YES_OR_NO, [1])
    assert len(made) == 3
    assert [stage._sampler for stage in made] == [None] * 3


def test_the_prompt_of_an_answer_is_not_read_where_its_words_do_not_fit(
    starter_backend: LlamaBackend, cache: KVCache
) -> None:
    first = finished(run(starter_backend, user(QUESTION.text), msgspec.structs.replace(BALANCED, max_tokens=4)))
    seen: list[Event] = []
    with pytest.raises(UserError, match="so it cannot go on"):
        run(
            starter_backend,
            open_prompt(first),
            with_grammar(BALANCED, YES_OR_NO),
            cache=cache,
            on_event=lambda event, _: seen.append(event),
        )
    assert not any(isinstance(event, PromptReady) for event in seen)
