"""The candidates of the latest step: what a moved slider would leave of them, without asking anybody."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from app.core.commands import Watch
from app.core.events import Finished
from app.core.sampling import PRESETS, SamplingSettings
from app.probability.what_if import NOT_CUT, replay
from app.services.next_token import CandidatesView
from tests.fake_engine import metrics
from tests.made_up_steps import Row, loaded, pieces_of, prompt_of, row_of, step_of, tokens_of
from tests.onlooker import Onlooker

SIZE = 5000
TEXTS = [f"t{n}".encode() for n in range(SIZE)]
OPEN = SamplingSettings(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0)


@pytest.fixture
def desk() -> Onlooker:
    made = Onlooker(OPEN)
    made.load(loaded(1, "a.gguf", SIZE), pieces_of(TEXTS))
    return made


def tell(
    desk: Onlooker,
    row: Row,
    *,
    request: int = 5,
    prompt: list[int] | None = None,
    answer: int = 0,
    whole: bool = True,
    seed: int | None = None,
) -> None:
    """Let an answer with one token be written, drawn from a row: the most likely one."""
    session = desk.session
    session.sent.emit(request, 0)
    session.answer_told.emit(prompt_of(request, prompt or [1, 2, 3], answer, seed))
    session.answer_told.emit(tokens_of(request, 0, [int(row.argmax())]))
    session.answer_told.emit(step_of(row, request, 0, whole=whole))


def finish(desk: Onlooker, seed: int, request: int = 5) -> None:
    desk.session.answer_told.emit(Finished(request, "", b"", "end", metrics(1), seed, ()))


def watches(desk: Onlooker) -> list[bool]:
    return [command.on for command in desk.sent if isinstance(command, Watch)]


def cut(view: CandidatesView) -> dict[str, int]:
    """Return how many of the rows each stage cut."""
    stages = [row.cut_by for row in view.rows if row.cut_by is not None]
    return {stage: stages.count(stage) for stage in dict.fromkeys(stages)}


def test_the_most_likely_tokens_come_first_with_their_probabilities(desk: Onlooker) -> None:
    row = row_of(SIZE)
    tell(desk, row)
    view = desk.view
    order = np.argsort(-row)[:20]
    shares = np.exp(row.astype(np.float64) - row.max())
    shares /= shares.sum()
    assert [each.token for each in view.rows] == order.tolist()
    assert [each.text for each in view.rows] == [f"t{token}" for token in order]
    np.testing.assert_allclose([each.raw for each in view.rows], shares[order], rtol=1e-4)
    np.testing.assert_allclose([each.after or 0.0 for each in view.rows], shares[order], rtol=1e-4)
    assert [each.is_drawn for each in view.rows] == [True] + [False] * 19
    assert (view.survivors, view.vocabulary, view.is_exact, view.doubt) == (SIZE, SIZE, True, None)


def test_a_moved_slider_shows_what_it_would_leave_and_the_engine_hears_nothing(desk: Onlooker) -> None:
    tell(desk, row_of(SIZE))
    told: list[bool] = []
    desk.next_token.changed.connect(told.append)
    commands = len(desk.sent)
    before = desk.view
    desk.sampling.change(top_k=7)
    assert told == [True]
    view = desk.view
    assert view is not before and view.survivors == 7
    assert cut(view) == {"top_k": 13}
    assert sum(each.after or 0.0 for each in view.rows) == pytest.approx(1.0)
    assert (view.rows[0].after or 0.0) > (before.rows[0].after or 1.0) and view.rows[7].after == 0.0
    assert [each.raw for each in view.rows] == [each.raw for each in before.rows]
    desk.sampling.change(top_p=0.6)
    assert set(cut(desk.view)) == {"top_k", "top_p"}
    assert len(desk.sent) == commands
    assert desk.view is desk.view


def test_a_live_step_of_the_largest_logits_says_whether_it_is_exact(desk: Onlooker) -> None:
    row = row_of(SIZE)
    desk.sampling.change(top_k=40)
    tell(desk, row, whole=False)
    live = desk.view
    assert live.is_exact and live.survivors == 40
    desk.sampling.change(top_k=0, typical_p=0.9)
    assert not desk.view.is_exact
    assert desk.view.doubt is not None
    desk.session.answer_told.emit(step_of(row, 5, 0))
    assert desk.view.is_exact


def test_penalties_look_at_prompt_and_answer_before_the_step(desk: Onlooker) -> None:
    row = row_of(SIZE)
    first, second, third, fourth = (int(token) for token in np.argsort(-row)[:4])
    desk.sampling.change(presence_penalty=2.0, penalty_last_n=3)
    desk.session.sent.emit(5, 0)
    desk.session.answer_told.emit(prompt_of(5, [fourth, 1, third]))
    desk.session.answer_told.emit(tokens_of(5, 0, [second, 7]))
    desk.session.answer_told.emit(tokens_of(5, 2, [first, first]))
    desk.session.answer_told.emit(step_of(row, 5, 2))
    shares = np.exp(row.astype(np.float64) - row.max())
    shares[[second, third]] *= np.exp(-2.0)  # `first` is drawn from this step, `fourth` is further back
    shares /= shares.sum()
    after = {each.token: each.after for each in desk.view.rows}
    for token in (first, second, third, fourth):
        assert after[token] == pytest.approx(shares[token], rel=1e-3)
    assert [each.token for each in desk.view.rows if each.is_drawn] == [first]


def test_a_drawn_token_that_is_not_among_the_most_likely_is_shown_last(desk: Onlooker) -> None:
    row = row_of(SIZE)
    unlikely = int(np.argsort(-row)[3000])
    desk.session.answer_told.emit(prompt_of(5, [1]))
    desk.session.answer_told.emit(tokens_of(5, 0, [unlikely]))
    desk.session.answer_told.emit(step_of(row, 5, 0))
    last = desk.view.rows[-1]
    assert len(desk.view.rows) == 20
    assert (last.token, last.is_drawn, last.text, last.rank) == (unlikely, True, f"t{unlikely}", 3001)
    assert 0 < last.raw < desk.view.rows[-2].raw
    assert [each.rank for each in desk.view.rows[:-1]] == list(range(1, 20))
    raw = last.raw
    desk.sampling.change(top_k=40)
    last = desk.view.rows[-1]
    assert (last.token, last.rank, last.raw, last.cut_by) == (unlikely, 3001, raw, "top_k")


def test_a_drawn_token_that_is_not_at_hand_is_listed_without_figures(desk: Onlooker) -> None:
    row = row_of(SIZE)
    unlikely = int(np.argsort(-row)[3000])
    desk.session.answer_told.emit(prompt_of(5, [1]))
    desk.session.answer_told.emit(tokens_of(5, 0, [unlikely]))
    desk.session.answer_told.emit(step_of(row, 5, 0, whole=False))
    last = desk.view.rows[-1]
    assert (last.token, last.is_drawn, last.rank, last.raw, last.cut_by) == (unlikely, True, None, 0.0, None)
    assert desk.view.rows[-2].rank == 19


@pytest.mark.parametrize(
    "changes",
    [
        {"typical_p": 0.9},
        {"typical_p": 0.9, "repeat_penalty": 1.3},
        {"typical_p": 0.9, "top_p": 0.8, "dry_multiplier": 0.8, "dry_allowed_length": 1, "dry_sequence_breakers": ()},
        {"top_p": 0.95, "presence_penalty": -1.5},
        {"top_k": 2000, "frequency_penalty": 0.4},
        {"temperature": 1.7, "repeat_penalty": 1.1},
        {"xtc_probability": 1.0, "xtc_threshold": 0.02, "min_p": 0.001},
        {"top_p": 0.9, "order": ("top_p", "top_k", "temperature")},
        {"temperature": 1.9, "top_p": 0.9, "order": ("temperature", "min_p", "top_p")},
        {"repeat_penalty": 1.3, "top_k": 30, "order": ("top_k", "typical", "top_p", "penalties")},
        {
            "xtc_probability": 1.0,
            "xtc_threshold": 0.02,
            "top_p": 0.9,
            "order": ("xtc", "top_p"),
            "off": ("top_k", "min_p"),
        },
        {"temperature": 0.0, "off": ("temperature", "top_k")},
    ],
)
def test_what_is_shown_of_a_whole_row_is_what_the_chain_makes_of_it_one_stage_after_the_other(
    desk: Onlooker, changes: dict[str, object]
) -> None:
    row, prompt = row_of(SIZE, 7), [int(token) for token in np.argsort(-row_of(SIZE, 7))[:40:3]]
    desk.sampling.change(**changes)
    tell(desk, row, prompt=[*prompt, *prompt], seed=1)
    wanted = replay(
        np.arange(SIZE, dtype=np.int32), row, desk.sampling.values, np.array([*prompt, *prompt], np.int32), True
    )
    view = desk.view
    assert (view.survivors, view.is_exact) == (int((wanted.cut_by == NOT_CUT).sum()), True)
    for each in view.rows:
        cut = int(wanted.cut_by[each.token])
        assert each.cut_by == (None if cut == NOT_CUT else wanted.stages[cut].name)
        assert each.after == pytest.approx(float(wanted.after[each.token]), rel=1e-6)


def test_xtc_waits_for_the_seed_and_then_does_what_the_engine_did(desk: Onlooker) -> None:
    desk.sampling.change(xtc_probability=0.5, xtc_threshold=0.05)
    row = row_of(SIZE)
    acted: list[bool] = []
    for request in range(10, 30):
        tell(desk, row, request=request)
        assert not desk.view.is_exact and "xtc" not in cut(desk.view)
        finish(desk, seed=request, request=request)
        assert desk.view.is_exact
        acted.append("xtc" in cut(desk.view))
    assert 3 < sum(acted) < 17


def test_a_seed_that_was_told_decides_xtc_while_the_answer_is_written(desk: Onlooker) -> None:
    row = row_of(SIZE)
    acted: list[bool] = []
    for seed in range(20):
        desk.sampling.change(xtc_probability=0.5, xtc_threshold=0.05)
        tell(desk, row, request=40 + seed, seed=seed)
        view = desk.view
        acted.append("xtc" in cut(view))
        finish(desk, seed=seed, request=40 + seed)
        assert view.is_exact and desk.view is view
    assert 3 < sum(acted) < 17


def test_breakers_of_dry_are_found_in_the_vocabulary() -> None:
    row = row_of(8, likely=4)
    for breaker, text in (("*", b"*"), ("\n", b"b"), ("ab", b"ab")):
        desk = Onlooker(OPEN)
        desk.load(loaded(1, "a.gguf", 8), pieces_of([b"a", b"b", text, b"c", b"d", b"e", b"f", b"g"]))
        desk.sampling.change(dry_multiplier=3.0, dry_allowed_length=1, dry_sequence_breakers=(breaker,))
        # Token 2 stands between the repetition and the end: a match over it counts only where it is no breaker.
        tell(desk, row, prompt=[5, 2, 0, 5, 2])
        raw, after = ({each.token: getattr(each, name) for each in desk.view.rows} for name in ("raw", "after"))
        is_breaker = text == breaker.encode()
        assert (after[0] == pytest.approx(raw[0], rel=1e-4)) is is_breaker
        assert desk.view.is_exact is (len(breaker) == 1)


def test_a_view_stays_when_its_model_goes_and_ends_with_another_vocabulary(desk: Onlooker) -> None:
    tell(desk, row_of(SIZE))
    before = desk.view
    desk.go()
    assert desk.view.rows == before.rows
    desk.load(loaded(2, "b.gguf", SIZE))
    assert desk.view.rows == before.rows
    desk.load(loaded(3, "c.gguf", 100, "another"))
    assert desk.next_token.candidates() is None
    assert "Send a message" in desk.next_token.reason.english()


def test_without_a_model_the_reason_says_to_open_one() -> None:
    desk = Onlooker()
    assert desk.next_token.candidates() is None
    assert "Open a model" in desk.next_token.reason.english()


def test_tokens_that_nobody_can_read_yet_have_no_text_and_get_it_later() -> None:
    desk = Onlooker(OPEN)
    desk.load(loaded(1, "a.gguf", SIZE))
    tell(desk, row_of(SIZE))
    assert {each.text for each in desk.view.rows} == {None}
    told: list[bool] = []
    desk.next_token.changed.connect(told.append)
    desk.load(loaded(2, "a.gguf", SIZE), pieces_of(TEXTS))
    assert False in told
    assert desk.view.rows[0].text == f"t{desk.view.rows[0].token}"


def test_the_engine_is_told_who_looks_again_after_each_load_and_is_never_started_for_it() -> None:
    desk = Onlooker()
    assert watches(desk) == []
    desk.next_token.watch(False)
    desk.next_token.watch(True)
    assert watches(desk) == []
    desk.load(loaded(1, "a.gguf", SIZE))
    assert watches(desk) == [True]
    desk.next_token.watch(True)
    assert watches(desk) == [True]
    desk.next_token.watch(False)
    assert watches(desk) == [True, False]
    desk.go()
    desk.next_token.watch(True)
    assert watches(desk) == [True, False]
    desk.load(loaded(2, "a.gguf", SIZE))
    assert watches(desk) == [True, False, True]


def test_steps_that_nobody_looks_at_are_let_go(desk: Onlooker) -> None:
    desk.next_token.watch(False)
    tell(desk, row_of(SIZE))
    assert desk.next_token.candidates() is None


def test_a_step_that_is_not_the_latest_any_more_is_let_go_and_the_reason_is_told(desk: Onlooker) -> None:
    tell(desk, row_of(SIZE))
    desk.next_token.watch(False)
    desk.next_token.watch(True)
    assert desk.next_token.candidates() is not None
    desk.next_token.watch(False)
    desk.session.answer_told.emit(tokens_of(5, 1, [7]))
    desk.next_token.watch(True)
    assert desk.next_token.candidates() is None
    assert "while this was closed" in desk.next_token.reason.template
    desk.session.answer_told.emit(tokens_of(5, 2, [8]))
    desk.session.answer_told.emit(step_of(row_of(SIZE, 2), 5, 2))
    assert desk.view.token == 2


def test_a_step_of_another_request_is_ignored(desk: Onlooker) -> None:
    tell(desk, row_of(SIZE))
    before = desk.view
    desk.session.answer_told.emit(step_of(row_of(SIZE, 2), 99, 0))
    assert desk.view is before


@pytest.mark.parametrize("name", PRESETS)
def test_the_short_way_says_what_the_full_row_says(desk: Onlooker, name: str) -> None:
    row = row_of(SIZE, 4)
    desk.sampling.use_preset(name)
    tell(desk, row)
    whole = desk.view
    desk.session.answer_told.emit(step_of(row, 5, 0, whole=False))
    assert desk.view.survivors == whole.survivors
    for short, full in zip(desk.view.rows, whole.rows, strict=True):
        assert (short.token, short.cut_by) == (full.token, full.cut_by)
        assert short.after == pytest.approx(full.after, rel=1e-3)


def test_rows_that_come_whole_for_somebody_else_are_worked_out_whole_once_the_answer_ended(desk: Onlooker) -> None:
    row = row_of(SIZE)
    desk.change(SamplingSettings(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, typical_p=0.9))
    tell(desk, row, whole=False, seed=7)
    short = desk.view
    desk.next_token.watch_whole(True)
    moves: list[bool] = []
    desk.next_token.changed.connect(moves.append)
    desk.session.answer_told.emit(step_of(row, 5, 0))
    assert desk.view == short and not short.is_exact and moves == [False]
    finish(desk, 7)
    assert desk.view.is_exact and moves[-1]


def test_numpy_is_loaded_when_it_is_needed_and_not_before() -> None:
    script = (
        "import sys; from app.services.next_token import NextToken; "
        "before = 'numpy' in sys.modules; NextToken.warm_up(None); print(before, 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
