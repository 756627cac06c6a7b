"""Whatever a model and a GPU are like: figures are finite and positive, in order, and move the way they have to."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.planner.calibration import AnswerFigures, Calibration, calibrated, with_answer
from app.planner.decode_speed import Part, decode_speed
from app.planner.gpu import Gpu, PrefillTime, Speed
from app.planner.model_work import ModelWork, split_work
from app.planner.plan_options import PlanOptions
from app.planner.planned_model import PlannedModel
from app.planner.prefill_speed import prefill_time
from app.planner.roofline import roofline
from tests.planner.works import PROCESSOR, TABLE, mixture, planned_8b

GPUS = st.sampled_from([*TABLE.values(), PROCESSOR])
CONTEXTS = st.integers(0, 1 << 22)
SEQUENCES = st.integers(1, 256)
BYTES = st.integers(0, 10**12)


@st.composite
def works(draw: st.DrawFn) -> ModelWork:
    experts = draw(st.sampled_from([0, 0, 8, 128]))
    return ModelWork(
        layers=draw(st.integers(1, 200)),
        dense_bytes=draw(st.integers(1, 10**12)),
        full_bytes=draw(st.integers(0, 10**7)),
        window_bytes=draw(st.integers(0, 10**7)),
        window=draw(st.sampled_from([0, 128, 4096])),
        state_bytes=draw(st.integers(0, 10**9)),
        expert_bytes=draw(BYTES) if experts else 0,
        experts=experts,
        experts_used=draw(st.integers(0, experts)),
        parameters=draw(_figures(1e12)),
        head_parameters=draw(_figures(1e10)),
        full_width=draw(_figures(1e7)),
        window_width=draw(_figures(1e7)),
    )


def _figures(most: float) -> st.SearchStrategy[float]:
    """Nothing, or so much that it is no figure lost in rounding."""
    return st.one_of(st.just(0.0), st.floats(1e-3, most))


def speed(work: ModelWork, gpu: Gpu, context: int, sequences: int = 1) -> Speed:
    found = decode_speed([Part(work, gpu)], context, sequences)
    assert found is not None
    return found


def prefill(work: ModelWork, gpu: Gpu, prompt: int, cached: int = 0) -> PrefillTime:
    found = prefill_time([Part(work, gpu)], prompt, cached)
    assert found is not None
    return found


@given(works(), GPUS, CONTEXTS, SEQUENCES)
def test_decode_is_finite_positive_and_under_its_ceiling(
    work: ModelWork, gpu: Gpu, context: int, sequences: int
) -> None:
    found = speed(work, gpu, context, sequences)
    assert 0 < found.low <= found.tokens_per_s <= found.high <= found.ceiling * (1 + 1e-9)
    assert all(map(math.isfinite, (found.low, found.high, found.ceiling, found.together)))


@given(works(), GPUS, CONTEXTS, CONTEXTS)
def test_prefill_is_finite_and_in_order(work: ModelWork, gpu: Gpu, prompt: int, cached: int) -> None:
    found = prefill(work, gpu, prompt, cached)
    assert 0 <= found.low <= found.seconds <= found.high and math.isfinite(found.high)
    assert found.tokens == max(min(1, prompt), prompt - cached)
    assert (found.seconds > 0) == (prompt > 0)


@given(works(), GPUS, CONTEXTS, CONTEXTS, SEQUENCES)
def test_a_longer_context_is_never_faster(work: ModelWork, gpu: Gpu, context: int, more: int, sequences: int) -> None:
    before, after = speed(work, gpu, context, sequences), speed(work, gpu, context + more, sequences)
    assert after.tokens_per_s <= before.tokens_per_s and after.ceiling <= before.ceiling


@given(works(), GPUS, CONTEXTS, st.integers(1, 100), SEQUENCES)
def test_more_layers_are_slower(work: ModelWork, gpu: Gpu, context: int, more: int, sequences: int) -> None:
    larger = replace(work, layers=work.layers + more)
    assert speed(larger, gpu, context, sequences).tokens_per_s < speed(work, gpu, context, sequences).tokens_per_s
    assert prefill(larger, gpu, 1024).seconds >= prefill(work, gpu, 1024).seconds


@given(works(), GPUS, CONTEXTS, st.floats(1.01, 10), SEQUENCES)
def test_more_bandwidth_is_never_slower(
    work: ModelWork, gpu: Gpu, context: int, factor: float, sequences: int
) -> None:
    wider = replace(gpu, bandwidth=gpu.bandwidth * factor)
    before, after = speed(work, gpu, context, sequences), speed(work, wider, context, sequences)
    assert after.tokens_per_s >= before.tokens_per_s * (1 - 1e-9) and after.ceiling > before.ceiling
    assert prefill(work, wider, 1024).seconds <= prefill(work, gpu, 1024).seconds


@given(works(), GPUS, CONTEXTS, SEQUENCES)
def test_another_sequence_never_makes_the_others_faster(
    work: ModelWork, gpu: Gpu, context: int, sequences: int
) -> None:
    before, after = speed(work, gpu, context, sequences), speed(work, gpu, context, sequences + 1)
    assert after.tokens_per_s <= before.tokens_per_s * (1 + 1e-9)


@given(works(), GPUS, CONTEXTS, CONTEXTS, st.integers(1, 1 << 20))
def test_a_longer_prompt_or_a_deeper_one_is_never_faster(
    work: ModelWork, gpu: Gpu, prompt: int, depth: int, more: int
) -> None:
    first = prefill(work, gpu, prompt + depth, depth)
    assert prefill(work, gpu, prompt + depth + more, depth).seconds >= first.seconds
    if prompt:
        assert prefill(work, gpu, prompt + depth + more, depth + more).seconds >= first.seconds


@given(st.sampled_from([planned_8b(), mixture()]), st.integers(-1, 40), st.integers(-1, 40), CONTEXTS)
def test_a_split_loses_nothing_of_a_model(model: PlannedModel, layers: int, on_cpu: int, context: int) -> None:
    options = PlanOptions(context=8192, experts_on_cpu=on_cpu)
    whole, split = split_work(model, PlanOptions(context=8192)), split_work(model, options, layers)
    assert whole is not None and split is not None
    parts = (split.on_gpu, split.on_processor)
    assert sum(part.dense_bytes for part in parts) == whole.on_gpu.dense_bytes
    assert sum(part.expert_bytes for part in parts) == whole.on_gpu.expert_bytes
    assert sum(part.cache_bytes(context) for part in parts) == whole.on_gpu.cache_bytes(context)
    total = sum(part.parameters + part.head_parameters for part in parts)
    assert math.isclose(total, whole.on_gpu.parameters + whole.on_gpu.head_parameters, rel_tol=1e-9)


@given(
    works(),
    GPUS,
    st.lists(st.tuples(st.floats(1e-6, 1e8), st.integers(0, 1 << 20), st.floats(1e-6, 1e6)), min_size=1, max_size=8),
)
def test_no_answer_makes_a_machine_impossible(
    work: ModelWork, gpu: Gpu, answers: list[tuple[float, int, float]]
) -> None:
    calibration = Calibration()
    for rate, context, seconds in answers:
        calibration = with_answer(calibration, AnswerFigures(50, rate, context, 500, seconds), work)
    found = calibrated(gpu, calibration).gpu
    assert 0 < found.efficiency <= 1 and found.layer_us >= 0 and found.cache_cost > 0
    assert 0 < found.below < 1 and 0 < found.above < 1 and 0 < found.prefill_band < 1
    after = speed(work, found, 1000)
    assert 0 < after.low <= after.tokens_per_s <= after.high and math.isfinite(after.ceiling)
    assert math.isfinite(prefill(work, found, 1000).high)


@given(works(), st.sampled_from(list(TABLE.values())), CONTEXTS, SEQUENCES)
def test_dots_stay_under_the_roof(work: ModelWork, gpu: Gpu, context: int, sequences: int) -> None:
    picture = roofline([Part(work, gpu)], context, max(1, context), sequences)
    assert (picture is None) == (gpu.tflops is None)
    for dot in (picture.prefill, picture.decode) if picture else ():
        assert dot is None or 0 < dot.tflops <= dot.roof
