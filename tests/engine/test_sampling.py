"""The chain is llama.cpp's, the draw is ours, and the short array is exact."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.sampling import BOUNDS, PRESETS, SamplingSettings
from app.engine.kv_cache import KVCache
from app.engine.llama_model import LlamaBackend
from app.engine.logits import Logits
from app.engine.sampling import Sampler
from app.probability.draw import draw, uniform
from app.probability.record import NO_DRAW
from app.probability.row import RowReader

WIDE = SamplingSettings(temperature=5.0, top_k=0, top_p=1, min_p=0)
PROMPT = [1, 9690, 198, 2683, 359, 253, 5356, 5646, 11173, 2, 198]


@pytest.fixture
def row(cache: KVCache, starter_backend: LlamaBackend) -> np.ndarray:
    """One real row of logits."""
    cache.append(PROMPT, logits=True)
    return starter_backend.logits().copy()


def choose(
    backend: LlamaBackend, row: np.ndarray, settings: SamplingSettings, seed: int, position: int, history: list[int]
) -> tuple[int, float]:
    sampler = Sampler(backend, settings, seed, history)
    choice = sampler.draw(row, RowReader(len(row)).read(row), position)
    sampler.close()
    return choice.token, choice.probability


def choose_from_everything(
    backend: LlamaBackend, row: np.ndarray, settings: SamplingSettings, seed: int, position: int, history: list[int]
) -> tuple[int, float]:
    """The same with the whole vocabulary in the array."""
    chain = backend.chain(settings)
    for stage in chain.stages:
        for token in history:
            stage.accept(token)
    candidates = backend.candidates()
    candidates.fill(np.arange(len(row), dtype=np.int32), row)
    for stage in chain.stages:
        stage.apply(candidates)
    drawn = draw(*candidates.survivors(), uniform(seed, position))
    chain.close()
    return drawn.token, drawn.probability


@given(
    top_k=st.integers(1, 1024),
    top_p=st.floats(0, 1),
    min_p=st.floats(0, 1),
    repeat=st.floats(1, 2),
    presence=st.floats(0, 2),
    last_n=st.integers(0, 64),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_largest_logits_stand_for_the_whole_vocabulary(
    starter_row: np.ndarray,
    starter_backend: LlamaBackend,
    top_k: int,
    top_p: float,
    min_p: float,
    repeat: float,
    presence: float,
    last_n: int,
    seed: int,
) -> None:
    settings = SamplingSettings(
        top_k=top_k, top_p=top_p, min_p=min_p, repeat_penalty=repeat, presence_penalty=presence, penalty_last_n=last_n
    )
    history = [int(token) for token in np.argsort(-starter_row)[:40]]
    arguments = (starter_backend, starter_row, settings, seed, 3, history)
    token, probability = choose(*arguments)
    expected, expected_probability = choose_from_everything(*arguments)
    assert token == expected
    assert probability == pytest.approx(expected_probability, abs=1e-6)


@pytest.fixture(scope="module")
def starter_row(starter_backend: LlamaBackend) -> np.ndarray:
    starter_backend.remove(0, 0)
    starter_backend.decode(PROMPT, 0, sequence=0, logits=True)
    return starter_backend.logits().copy()


def test_a_penalty_that_raises_logits_takes_the_whole_vocabulary(
    starter_row: np.ndarray, starter_backend: LlamaBackend
) -> None:
    last = int(np.argsort(starter_row)[0])
    settings = SamplingSettings(top_k=1, presence_penalty=-2, frequency_penalty=-2, penalty_last_n=-1)
    token, _ = choose(starter_backend, starter_row, settings, 1, 0, [last] * 40)
    assert token == last


def test_temperature_zero_takes_the_largest_logit_and_says_that_nothing_was_drawn(
    starter_row: np.ndarray, starter_backend: LlamaBackend
) -> None:
    sampler = Sampler(starter_backend, PRESETS["Greedy"], 1, PROMPT)
    choice = sampler.draw(starter_row, RowReader(len(starter_row)).read(starter_row), 0)
    sampler.close()
    assert choice == (int(starter_row.argmax()), 1.0, NO_DRAW)


def test_temperature_zero_still_hears_the_penalties(starter_row: np.ndarray, starter_backend: LlamaBackend) -> None:
    best = int(starter_row.argmax())
    settings = msgspec.structs.replace(PRESETS["Greedy"], presence_penalty=2.0, frequency_penalty=2.0)
    token, probability = choose(starter_backend, starter_row, settings, 1, 0, [best] * 30)
    assert token != best
    assert probability == 1.0


def test_equal_logits_go_to_the_lower_id(starter_backend: LlamaBackend) -> None:
    row = np.full(starter_backend.vocabulary.size, -5, np.float32)
    row[[300, 200]] = 4
    assert choose(starter_backend, row, PRESETS["Greedy"], 1, 0, [])[0] == 200
    penalised = msgspec.structs.replace(PRESETS["Greedy"], repeat_penalty=1.5)
    assert choose(starter_backend, row, penalised, 1, 0, [7])[0] == 200


def test_a_moved_slider_shifts_no_later_draw(starter_row: np.ndarray, starter_backend: LlamaBackend) -> None:
    facts = RowReader(len(starter_row)).read(starter_row)
    still, moved = (Sampler(starter_backend, WIDE, 5, PROMPT) for _ in range(2))
    first = [still.draw(starter_row, facts, position).token for position in range(20)]
    second = []
    for position in range(20):
        if position == 5:
            moved.change(PRESETS["Precise"])
        if position == 6:
            moved.change(WIDE)
        second.append(moved.draw(starter_row, facts, position).token)
    still.close()
    moved.close()
    assert [token for index, token in enumerate(first) if index != 5] == [
        token for index, token in enumerate(second) if index != 5
    ]
    assert len(set(first)) > 3


def test_new_settings_know_the_tokens_before_them(starter_row: np.ndarray, starter_backend: LlamaBackend) -> None:
    best = int(starter_row.argmax())
    facts = RowReader(len(starter_row)).read(starter_row)
    sampler = Sampler(starter_backend, PRESETS["Greedy"], 1, [])
    assert sampler.draw(starter_row, facts, 0).token == best
    for _ in range(40):
        sampler.accept(best)
    sampler.change(msgspec.structs.replace(PRESETS["Greedy"], frequency_penalty=2.0))
    assert sampler.draw(starter_row, facts, 1).token != best
    sampler.close()


def test_xtc_strikes_as_often_as_its_chance_says(starter_backend: LlamaBackend) -> None:
    row = np.full(starter_backend.vocabulary.size, -30, np.float32)
    row[100], row[101] = 5.0, 4.9
    facts = RowReader(len(row)).read(row)
    settings = SamplingSettings(top_k=2, top_p=1, min_p=0, temperature=0.01, xtc_probability=0.3, xtc_threshold=0.1)
    sampler = Sampler(starter_backend, settings, 9, [])
    struck = [sampler.draw(row, facts, position).token == 101 for position in range(600)]
    sampler.close()
    assert 0.24 < np.mean(struck) < 0.36


@pytest.mark.parametrize("name", sorted(BOUNDS.keys() - {"max_tokens"}))
@pytest.mark.parametrize("end", ["low", "high"])
def test_every_border_of_every_setting_draws_a_token(
    starter_row: np.ndarray, starter_backend: LlamaBackend, name: str, end: str
) -> None:
    value = getattr(BOUNDS[name], end)
    base = SamplingSettings(repeat_penalty=1.1, dry_multiplier=0.5, xtc_probability=0.5)
    settings = msgspec.structs.replace(base, **{name: value}).validated()
    once = choose(starter_backend, starter_row, settings, 3, 2, PROMPT)
    assert once == choose(starter_backend, starter_row, settings, 3, 2, PROMPT)
    assert 0 < once[1] <= 1


def test_top_k_zero_is_off_and_not_greedy(starter_row: np.ndarray, starter_backend: LlamaBackend) -> None:
    tokens = {choose(starter_backend, starter_row, WIDE, seed, 0, [])[0] for seed in range(30)}
    assert len(tokens) > 10


def test_settings_outside_their_range_come_back_inside() -> None:
    wrong = SamplingSettings(temperature=-1, top_k=-5, top_p=1.5, min_p=float("nan"), seed=-1)
    right = wrong.validated()
    assert (right.temperature, right.top_k, right.top_p, right.min_p, right.seed) == (0.0, 0, 1.0, 0.05, 0)
    assert PRESETS["Balanced"].validated() == PRESETS["Balanced"]


def test_the_row_is_read_once_and_a_broken_one_is_said_to_be_broken(
    row: np.ndarray, starter_backend: LlamaBackend
) -> None:
    taken, facts = Logits(starter_backend).take()
    assert facts.maximum == float(row.max())
    exact = float(np.log(np.exp(row.astype(np.float64) - row.max()).sum()) + row.max())
    assert facts.log_sum_exp == pytest.approx(exact, abs=1e-4)
    assert taken.shape == row.shape


def test_typical_is_right_although_some_tokens_cannot_be_drawn_at_all(starter_backend: LlamaBackend) -> None:
    row = np.full(starter_backend.vocabulary.size, -300, np.float32)
    row[5] = np.log(100)  # a tenth of the mass, but far from the entropy: the 900 others are the typical ones
    row[100:1000] = 0
    settings = SamplingSettings(temperature=1, top_k=0, top_p=1, min_p=0, typical_p=0.5)
    sampler = Sampler(starter_backend, settings, 1, [])
    sampler.draw(row, RowReader(len(row)).read(row), 0)
    left, _ = sampler._candidates.survivors()
    sampler.close()
    assert 500 <= len(left) <= 502
    assert all(100 <= token < 1000 for token in left)
