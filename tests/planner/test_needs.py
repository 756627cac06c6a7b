"""What meets a need, and in which order: how far the band lets it miss it, and what surely does."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from app.planner.comparison import Usage, compare
from app.planner.needs import Need, judge, judged
from tests.planner.test_comparison import row
from tests.planner.works import TABLE, planned_8b


def test_what_the_band_leaves_open_is_said_to_be_close() -> None:
    found = row("l4", Usage(2048, 1, 2048))
    assert judge(found, Need(Usage(2048), tokens_per_s=40)).is_close
    assert not judge(found, Need(Usage(2048), tokens_per_s=20)).is_close
    near, far = (judge(found, Need(Usage(2048), tokens_per_s=rate)) for rate in (48, 200))
    assert near.shortfall == far.shortfall == "speed" and near.is_close and not far.is_close


def test_what_the_band_leaves_open_counts_all_who_ask_at_once() -> None:
    found = row("l4", Usage(2048, 4, 2048))
    one, last = found.first_token, found.first_token_together
    assert one and last and one.high < last.seconds < last.high
    assert judge(found, Need(Usage(2048), first_token_s=(last.seconds + last.high) / 2)).is_close
    assert not judge(found, Need(Usage(2048), first_token_s=last.high + 1)).is_close


def test_a_first_token_of_which_only_the_most_is_known_misses_no_need_that_it_may_meet() -> None:
    least = replace(TABLE["l4"], prefill_tflops=0.5, is_prefill_least=True)
    (found,) = compare([planned_8b()], [least], Usage(2048, 1, 2048))
    first = found.first_token_together
    assert first is not None and first.is_most and first.low < first.seconds == first.high
    between = (first.low + first.seconds) / 2
    told = [judge(found, Need(Usage(2048), first_token_s=most)).shortfall for most in (first.seconds, between)]
    assert told == [None, "unknown"]
    assert judge(found, Need(Usage(2048), first_token_s=first.low / 2)).shortfall == "first_token"


def test_nothing_is_close_that_fails_elsewhere_too() -> None:
    found = row("l4", Usage(2048, 4, 2048))
    assert found.speed and found.first_token_together
    slow, early = found.speed.high - 0.01, found.first_token_together.low
    assert judge(found, Need(Usage(2048), early, slow)).is_close
    late = judge(found, Need(Usage(2048), early * 0.9, slow))
    assert late.shortfall == "speed" and not late.is_close


def test_of_quantisations_the_smallest_that_meets_the_need_comes_first() -> None:
    models = [planned_8b(name, name, scale) for name, scale in (("Q4_K_M", 1.0), ("Q8_0", 1.7), ("F16", 3.3))]
    need = Need(Usage(8192), tokens_per_s=20)
    found = judged(compare(models, [TABLE["l4"]], need.usage), need)
    assert [each.row.model.name for each in found] == ["Q4_K_M", "Q8_0", "F16"]
    assert found[-1].shortfall == "speed"


def test_the_smaller_file_comes_first_though_a_larger_one_hardly_meets_the_need() -> None:
    models = [planned_8b(name, name, scale) for name, scale in (("Q4_K_M", 1.0), ("Q8_0", 1.7))]
    rows = compare(models, [TABLE["l4"], TABLE["rtx-3060"]], Usage(8192))
    larger = next(each.speed for each in rows if each.model.name == "Q8_0" and each.gpu.id == "rtx-3060")
    assert larger is not None
    found = judged(rows, Need(Usage(8192), tokens_per_s=(larger.low + larger.tokens_per_s) / 2))
    told = [(each.row.gpu.id, each.row.model.name, each.is_close) for each in found if each.meets]
    assert told[:2] == [("rtx-3060", "Q4_K_M", False), ("rtx-3060", "Q8_0", True)]


def test_what_is_needed_exactly_is_enough() -> None:
    found = row("l4", Usage(2048, 4, 2048))
    speed, last = found.speed, found.first_token_together
    assert speed and last
    use = Usage(2048, 4, 2048)
    assert judge(found, Need(use, last.seconds, speed.tokens_per_s)).meets
    assert judge(found, Need(use, tokens_per_s=speed.tokens_per_s + 0.01)).shortfall == "speed"
    assert judge(found, Need(use, last.seconds - 0.0001)).shortfall == "first_token"


def test_the_very_end_of_a_band_is_within_it() -> None:
    found = row("l4", Usage(2048, 4, 2048))
    speed, last = found.speed, found.first_token_together
    assert speed and last
    use = Usage(2048, 4, 2048)
    assert not judge(found, Need(use, last.high, speed.low)).is_close, "the slow end is enough"
    at_best = judge(found, Need(use, tokens_per_s=speed.high))
    assert at_best.shortfall == "speed" and at_best.is_close


@pytest.mark.parametrize("may_split", [False, True])
def test_layers_in_main_memory_count_only_where_they_may_lie_there(may_split: bool) -> None:
    found = row("l4", Usage(2048))
    partly = replace(found, plan=replace(found.plan, verdict="partly"))
    judged_so = judge(partly, Need(Usage(2048), may_split=may_split))
    assert judged_so.shortfall == (None if may_split else "memory")


def test_a_gpu_that_would_just_do_is_not_what_is_too_small() -> None:
    found = row("l4", Usage(2048))
    large = replace(found, plan=replace(found.plan, verdict="too_large"), needed_whole=found.gpu.usable)
    assert judge(large, Need(Usage(2048))).wanted is None, "main memory is"
    larger = replace(large, needed_whole=found.gpu.usable + 1)
    assert judge(larger, Need(Usage(2048))).wanted == found.gpu.usable + 1
