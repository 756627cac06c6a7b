"""Models beside GPUs, and what meets a need."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from app.planner.comparison import Row, Usage, chart_contexts, compare, parts_of, parts_on, speed_by_context
from app.planner.decode_speed import decode_speed
from app.planner.gpu import Gpu
from app.planner.layout import all_layers
from app.planner.memory_plan import PlannedDevice
from app.planner.needs import Need, judge, judged
from app.planner.plan_options import PlanOptions
from app.planner.planned_model import PlannedModel
from app.planner.planning import plan_memory
from app.planner.prefill_speed import prefill_time
from app.planner.quantised import ALL_BITS, quantised
from tests.planner.planned_models import planned
from tests.planner.works import GIB, PROCESSOR, TABLE, mixture, planned_8b


def row(gpu: Gpu | str, usage: Usage, host: Gpu | None = None, model: PlannedModel | None = None) -> Row:
    chosen = TABLE[gpu] if isinstance(gpu, str) else gpu
    (only,) = compare([model or planned_8b()], [chosen], usage, host)
    return only


@pytest.mark.parametrize(
    ("gpu", "users"),
    [("l4", 16), ("l40s", 38), ("a100-80-sxm", 72), ("h100-sxm", 72), ("h200", 134), ("rtx-4090", 17)],
)
def test_conversations_of_8192_tokens_at_once_with_an_8b(gpu: str, users: int) -> None:
    assert row(gpu, Usage(8192, prompt=2048)).most_users == pytest.approx(users, abs=1)
    assert row(gpu, Usage(8192, users, 2048)).most_users == pytest.approx(users, abs=1)


def test_a_row_says_what_fits_and_how_fast_it_is() -> None:
    found = row("l4", Usage(2048, 1, 2048))
    assert found.fits and found.verdict == "fits" and found.limited_by == "bandwidth"
    assert found.largest_context == 131_072
    assert found.speed is not None and found.speed.tokens_per_s == pytest.approx(44, rel=0.01)
    assert found.first_token is not None and found.first_token.seconds == pytest.approx(1.15, rel=0.03)
    assert found.first_token_together == found.first_token


def test_several_users_share_the_memory_and_the_time() -> None:
    one, four = row("l4", Usage(4096, 1, 2048)), row("l4", Usage(4096, 4, 2048))
    assert one.speed and four.speed and one.first_token and four.first_token_together
    assert four.speed.tokens_per_s < one.speed.tokens_per_s < four.speed.together
    assert four.speed.sequences == 4
    assert four.first_token_together.seconds == pytest.approx(4 * one.first_token.seconds)
    assert four.first_token == one.first_token
    assert four.plan.options.cells == 4 * 4096
    assert four.largest_context is not None and 34_000 < four.largest_context < 40_000
    roomy = row("h200", Usage(4096, 4, 2048))
    assert roomy.largest_context == 131_072, "each of them may have what the model was trained for"


@pytest.mark.parametrize("host", [None, PROCESSOR])
@pytest.mark.parametrize("users", [1, 4])
def test_where_less_context_fits_all_figures_are_of_that_plan(host: Gpu | None, users: int) -> None:
    long = row("rtx-3070", Usage(65_536, users), host)
    assert long.verdict == "less_context" and long.limited_by == "memory"
    assert long.largest_context == long.context and 4_000 < long.context < 30_000
    short = row("rtx-3070", Usage(long.context, users), host)
    assert short.fits and short.context == long.context
    assert short.most_users is not None and short.most_users >= users, "so many do fit"
    assert (long.speed, long.first_token, long.most_users) == (short.speed, short.first_token, short.most_users)
    assert (long.plan.devices, long.plan.gpu_layers) == (short.plan.devices, short.plan.gpu_layers)
    assert row("rtx-3070", Usage(65_536, users, 40_000), host).first_token is None, "so long a prompt has no room"


def test_what_does_not_fit_is_limited_by_memory_and_has_no_speed() -> None:
    large = row("rtx-3070", Usage(4096), model=planned_8b(scale=3.3))
    assert large.verdict == "partly" and large.limited_by == "memory"
    assert (large.speed, large.first_token, large.largest_context, large.most_users) == (None, None, 0, 0)
    huge = row("rtx-3070", Usage(4096), PROCESSOR, planned_8b(scale=40))
    assert huge.verdict == "too_large" and huge.speed is None and huge.limited_by == "memory"


def test_with_main_memory_behind_it_a_large_model_runs_slowly() -> None:
    large = row("rtx-3070", Usage(4096), PROCESSOR, planned_8b(scale=3.3))
    assert large.verdict == "partly" and large.limited_by == "processor"
    assert large.largest_context is not None and large.largest_context > 4096
    small = row("rtx-3070", Usage(4096), PROCESSOR)
    assert large.speed and small.speed and large.speed.tokens_per_s < small.speed.tokens_per_s / 4
    assert small.verdict == "fits"


def test_a_mixture_keeps_its_experts_in_main_memory_first() -> None:
    found = row("rtx-3070", Usage(4096), PROCESSOR, mixture())
    assert found.verdict == "partly" and found.plan.options.experts_on_cpu
    on_gpu, rest = parts_of(found.model, found.plan, found.gpu, PROCESSOR)
    moved = found.plan.options.experts_on_cpu
    assert 0 < moved < 24 and rest.work.expert_bytes == moved * 424_000_000 and rest.work.dense_bytes == 0
    assert on_gpu.work.expert_bytes == (24 - moved) * 424_000_000
    assert found.speed is not None and found.speed.limited_by == "processor"


@pytest.mark.parametrize("name", ["gpt-oss-20b", "mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v2-lite"])
@pytest.mark.parametrize("gpu", ["rtx-3060", "rtx-3070", "l4"])
def test_what_is_chosen_by_itself_is_as_fast_as_any_layers_that_people_choose(name: str, gpu: str) -> None:
    def speed(layers: int | None, experts: int = 0) -> float:
        options = PlanOptions(context=8192, gpu_layers=layers, experts_on_cpu=experts)
        found = row(gpu, Usage(8192, options=options), PROCESSOR, model)
        return found.speed.tokens_per_s if found.speed and found.verdict in ("fits", "partly") else 0.0

    model = planned(name)
    everything = all_layers(model) or 0
    slower = [speed(layers) for layers in range(0, everything + 1, 3)]
    assert speed(None) >= max(slower) > 0
    assert speed(None) >= max(speed(everything, moved) for moved in range(0, everything, 3))


FAST, SLOW = TABLE["rtx-4090"], TABLE["l4"]
MACHINE = (
    PlannedDevice("CUDA0", True, 24 * GIB, 16 * GIB),
    PlannedDevice("CUDA1", True, 24 * GIB, 8 * GIB),
    PlannedDevice("CPU", False, 64 * GIB, 60 * GIB),
)


@pytest.mark.parametrize("speeds", [(FAST, SLOW), (SLOW, FAST)])
def test_each_of_several_gpus_works_at_its_own_speed(speeds: tuple[Gpu, Gpu]) -> None:
    model = planned_8b()
    plan = plan_memory(model, PlanOptions(context=4096), MACHINE)
    parts = parts_on(model, plan, MACHINE, speeds, PROCESSOR)
    assert [part.gpu for part in parts] == list(speeds)
    assert parts[0].work.layers == 22 and parts[1].work.layers == 10, "two thirds of what is free are on the first"
    assert parts[0].work.head_parameters == 0 < parts[1].work.head_parameters
    both = decode_speed(parts, 4096)
    each = [decode_speed([part], 4096) for part in parts]
    assert both and each[0] and each[1]
    assert both.tokens_per_s == pytest.approx(1 / (1 / each[0].tokens_per_s + 1 / each[1].tokens_per_s))
    reads = [prefill_time([part], 2048) for part in parts]
    whole = prefill_time(parts, 2048)
    assert whole and reads[0] and reads[1]
    assert whole.seconds == pytest.approx(reads[0].seconds + reads[1].seconds)


def test_several_gpus_share_what_main_memory_leaves_them() -> None:
    model = planned_8b()
    plan = plan_memory(model, PlanOptions(context=4096, gpu_layers=17), MACHINE)
    parts = parts_on(model, plan, MACHINE, (FAST, SLOW), PROCESSOR)
    assert [part.gpu for part in parts] == [FAST, SLOW, PROCESSOR]
    assert [part.work.layers for part in parts] == [12, 4, 16]
    assert parts_on(model, plan, MACHINE, (FAST, None), PROCESSOR) == ()
    assert parts_on(model, plan, MACHINE, (FAST, SLOW), None) == ()
    one_layer = plan_memory(model, PlanOptions(context=4096, gpu_layers=1), MACHINE)
    assert [part.gpu for part in parts_on(model, one_layer, MACHINE, (FAST, None), PROCESSOR)] == [FAST, PROCESSOR]


def test_experts_of_several_gpus_are_in_main_memory_together() -> None:
    model = mixture()
    plan = plan_memory(model, PlanOptions(context=4096, gpu_layers=-1, experts_on_cpu=-1), MACHINE)
    first, second, rest = parts_on(model, plan, MACHINE, (FAST, SLOW), PROCESSOR)
    assert first.work.expert_bytes == second.work.expert_bytes == 0
    assert rest.work.expert_bytes == 24 * 424_000_000 and first.work.layers + second.work.layers == 24
    one = parts_of(model, plan, FAST, PROCESSOR)
    assert first.work.parameters + second.work.parameters == pytest.approx(one[0].work.parameters)
    assert rest.work.parameters == pytest.approx(one[1].work.parameters)


def test_a_processor_does_all_of_it() -> None:
    found = row(PROCESSOR, Usage(4096))
    assert found.fits and found.speed is not None and found.speed.limited_by == "bandwidth"
    assert found.speed.tokens_per_s == pytest.approx(50 * 0.7 / (4.69 + 0.54), rel=0.03)


def test_an_unknown_model_is_unknown() -> None:
    found = row("l4", Usage(4096), model=PlannedModel("strange", "strange", "unknown"))
    assert found.verdict == "unknown"
    assert (found.speed, found.first_token, found.limited_by, found.largest_context) == (None, None, None, None)
    assert judge(found, Need(Usage(4096))).shortfall == "unknown"
    assert speed_by_context(found, Usage(4096)) is None


def test_rows_go_by_model_and_then_by_gpu() -> None:
    models, gpus = [planned_8b("a"), planned_8b("b")], [TABLE["l4"], TABLE["h200"]]
    rows = compare(models, gpus, Usage(4096))
    assert [(each.model.name, each.gpu.id) for each in rows] == [
        ("a", "l4"),
        ("a", "h200"),
        ("b", "l4"),
        ("b", "h200"),
    ]


def test_the_chart_falls_with_the_context_and_says_where_it_ends() -> None:
    usage = Usage(4096)
    line = speed_by_context(row("rtx-3070", usage), usage, largest=32_768)
    assert line is not None
    contexts, speeds = zip(*line.points, strict=True)
    assert contexts[0] == 256 and contexts[-1] == 32_768 and list(contexts) == sorted(set(contexts))
    rates = [speed.tokens_per_s for speed in speeds]
    assert rates == sorted(rates, reverse=True) and rates[-1] < rates[0]
    assert line.fits_up_to is not None and 10_000 < line.fits_up_to < 30_000
    assert line.fits_up_to in contexts, "drawn up to the very context that fits, not to the step before it"
    windowed = row("rtx-4090", usage, model=mixture())
    flat = speed_by_context(windowed, usage, largest=32_768)
    assert flat is not None and flat.points[-1][1].tokens_per_s > 0.5 * flat.points[0][1].tokens_per_s


def test_a_charts_contexts_end_where_they_are_told() -> None:
    assert chart_contexts(1) == (256,)
    assert chart_contexts(1000)[-1] == 1000 and chart_contexts(131_072)[-1] == 131_072
    assert 5000 in chart_contexts(131_072, 5000) and 5000 not in chart_contexts(131_072)
    assert {5000, 700} <= set(chart_contexts(131_072, 5000, None, 700)), "also where the figures of a row are"
    assert chart_contexts(1000, 5000)[-1] == 1000 and chart_contexts(1000, 0) == chart_contexts(1000)


LARGE_CONTEXT = Usage(32_768, 1, 4096)


def shortfalls(need: Need, *gpus: str) -> dict[str, str | None]:
    rows = compare([planned_8b()], [TABLE[gpu] for gpu in gpus], need.usage)
    return {found.row.gpu.id: found.shortfall for found in judged(rows, need)}


def test_what_meets_a_need_comes_first_and_the_smallest_memory_before_all() -> None:
    need = Need(LARGE_CONTEXT, first_token_s=2.0, tokens_per_s=30)
    gpus = ("h200", "l4", "rtx-4090", "t4", "rtx-3070", "rtx-4060", "a100-80-sxm", "rtx-4070")
    found = shortfalls(need, *gpus)
    assert list(found)[:4] == ["rtx-4070", "rtx-4090", "a100-80-sxm", "h200"]
    assert [gpu for gpu, shortfall in found.items() if shortfall is None] == list(found)[:4]
    assert (found["l4"], found["t4"]) == ("speed", "speed")
    assert list(found)[-2:] == ["rtx-3070", "rtx-4060"] and found["rtx-3070"] == "context"


@pytest.mark.parametrize(
    ("need", "gpu", "shortfall", "wanted"),
    [
        (Need(Usage(8192), tokens_per_s=60), "l4", "speed", 60),
        (Need(Usage(8192, prompt=8000), first_token_s=1.0), "l4", "first_token", 1.0),
        (Need(Usage(65_536)), "rtx-3070", "context", 65_536),
        (Need(Usage(8192, users=20)), "l4", "context", 8192),
        (Need(Usage(8192)), "l4", None, None),
    ],
)
def test_the_one_thing_that_fails_is_named_with_its_figures(
    need: Need, gpu: str, shortfall: str | None, wanted: float | None
) -> None:
    found = judge(row(gpu, need.usage), need)
    assert (found.shortfall, found.wanted) == (shortfall, wanted)
    assert found.meets == (shortfall is None)
    if wanted is not None:
        assert found.there is not None and (found.there > wanted) == (shortfall == "first_token")


def test_a_model_that_is_too_large_says_how_much_it_needs() -> None:
    need = Need(Usage(4096))
    found = judge(row("rtx-3070", need.usage, model=planned_8b(scale=4.0)), need)
    assert found.shortfall == "memory" and found.there == TABLE["rtx-3070"].usable
    assert found.wanted is not None


@pytest.mark.parametrize("host", [None, PROCESSOR])
@pytest.mark.parametrize(("scale", "users", "context"), [(4.0, 1, 4096), (4.0, 8, 8192), (25.0, 1, 4096)])
def test_what_a_gpu_would_have_to_hold_is_the_same_whatever_lies_in_main_memory(
    host: Gpu | None, scale: float, users: int, context: int
) -> None:
    usage = Usage(context, users)
    whole = row("h200", usage, model=planned_8b(scale=scale))
    small = row("rtx-3070", usage, host, planned_8b(scale=scale))
    found = judge(small, Need(usage))
    assert found.shortfall == "memory" and whole.needed is not None and found.wanted is not None
    on_h200 = whole.needed - (whole.plan.devices[0].reserve or 0)  # a larger GPU keeps another margin
    assert found.wanted == small.needed_whole == on_h200 + (small.plan.devices[0].reserve or 0)
    if small.verdict == "too_large":
        assert small.needed == small.needed_whole > small.gpu.usable, "a figure that looks as if it fits misleads"
    else:
        assert small.verdict == "partly" and small.needed is not None and small.needed <= small.gpu.usable


def test_where_main_memory_is_what_is_too_small_no_figure_of_the_gpu_is_given_for_it() -> None:
    tiny = replace(PROCESSOR, memory=GIB // 8, usable=GIB // 8)
    found = judge(row("rtx-4090", Usage(4096), tiny), Need(Usage(4096)))
    assert found.row.verdict == "too_large"
    assert found.shortfall == "memory" and found.wanted is None


def test_all_who_ask_at_once_have_to_be_served_in_time() -> None:
    alone = Need(Usage(4096, 1, 2048), first_token_s=0.5)
    many = replace(alone, usage=Usage(4096, 4, 2048))
    assert judge(row("rtx-4090", alone.usage), alone).meets
    assert judge(row("rtx-4090", many.usage), many).shortfall == "first_token"


def test_a_split_model_meets_a_need_only_where_that_is_allowed() -> None:
    need = Need(Usage(4096))
    split = row("rtx-3070", need.usage, PROCESSOR, planned_8b(scale=3.3))
    assert not judge(split, need).meets
    assert judge(split, replace(need, may_split=True)).meets


def test_quantisations_of_one_model_are_estimated_by_bits_per_weight() -> None:
    model = planned_8b()
    found = [other for name in ALL_BITS if (other := quantised(model, name)) is not None]
    sizes = [each.file_bytes or 0 for each in found]
    assert sizes == sorted(sizes, reverse=True)
    assert [each.quantisation for each in found][:2] == ["F16", "Q8_0"]
    eight = quantised(model, "Q8_0")
    assert eight is not None and eight.file_bytes == pytest.approx(8.03e9 * 8.5 / 8, rel=0.01)
    assert eight.cache == model.cache
    assert quantised(model, "Q9") is None and quantised(replace(model, weights=None), "Q8_0") is None
    need = Need(Usage(8192), tokens_per_s=18)
    meeting = [each.row for each in judged(compare(found, [TABLE["l4"]], need.usage), need) if each.meets]
    sizes = [row.model.file_bytes or 0 for row in meeting]
    assert sizes == sorted(sizes) and meeting[-1].model.quantisation == "Q8_0"


def test_usage_asks_for_room_for_everybody() -> None:
    planned = Usage(1000, 3, options=PlanOptions(context=5, kv_type_k="q8_0", micro_batch=256)).planned
    assert (planned.context, planned.sequences, planned.kv_type_k, planned.micro_batch) == (3000, 3, "q8_0", 256)
    assert TABLE["l4"].memory == 24 * GIB
