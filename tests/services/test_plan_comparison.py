"""Models beside GPUs as people choose them: rows in the background, what is wanted, people's own GPUs."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from app.core.kept_comparison import KeptComparison
from app.core.model import DEFAULT_CONTEXT
from app.core.own_gpu import MOST_OWN, OwnGpu
from app.gui.planner.comparison.words import verdict_hint
from app.planner.gpu_table import read_gpu_table
from app.services.plan_answer import PlanAsked
from app.services.plan_comparison import PlanComparison
from app.services.plan_report import usage_of
from app.services.plan_rows import Grounds, Worked, work_out
from app.services.plan_values import Chosen, ComparedRow, ModelChoice, Wanted
from app.services.planning_values import PlanChoice
from app.services.units import byte_size
from app.system.resources import find_resources
from tests.desk import Desk
from tests.planner.planned_models import planned
from tests.planner.works import GIB, PROCESSOR

GPUS = {gpu.id: gpu for gpu in read_gpu_table(find_resources().gpu_table()).gpus}


def rows_of(*gpus: str, wanted: Wanted = Wanted(), **use: int) -> Worked:  # noqa: B008  frozen
    chosen = Chosen((ModelChoice("a"), ModelChoice("a", "Q8_0")), gpus, wanted=wanted, **use)
    return work_out(Grounds(chosen, {"a": planned("llama-3.1-8b")}, tuple(GPUS[key] for key in gpus)))


def until(desk: Desk, chosen: Chosen) -> Worked:
    """Return the rows of a choice once they are there."""
    comparison = desk.program.planner.comparison
    comparison.choose(chosen)
    desk.until(lambda: comparison.worked and comparison.worked.chosen == chosen and len(comparison.worked.rows))
    assert comparison.worked is not None
    return comparison.worked


def names(worked: Worked) -> list[tuple[str, str]]:
    return [(row.shown_quantisation, row.gpu) for row in worked.rows]


def test_nothing_is_read_before_somebody_looks(desk: Desk) -> None:
    comparison = desk.program.planner.comparison
    desk.program.models.refresh()
    desk.until(lambda: desk.program.models.found)
    assert comparison.models == () and comparison.gpus == () and comparison.worked is None
    assert not desk.program.planner.devices._asked_for


def test_it_begins_with_the_open_model_on_this_machine_and_a_gpu_of_each_size(desk: Desk, model: Path) -> None:
    comparison = desk.program.planner.comparison
    desk.load(model)
    comparison.watch(True)
    desk.until(lambda: comparison.worked and comparison.worked.rows)
    (choice,) = comparison.chosen.models
    assert choice == ModelChoice(desk.loaded_path)
    assert comparison.chosen.gpus == ("here CPU", "rtx-3060", "rtx-4090", "l4", "h100-sxm")
    assert comparison.gpus[0].group == "here" and comparison.gpus[0].name
    assert comparison.worked is not None and len(comparison.worked.rows) == 5
    offered = next(each for each in comparison.models if each.path == choice.path)
    assert "Q8_0" in offered.estimates and offered.quantisation not in offered.estimates


def test_a_file_and_an_estimate_stand_beside_each_other(desk: Desk, model: Path) -> None:
    desk.program.planner.comparison.watch(True)
    worked = until(desk, Chosen((ModelChoice(str(model)), ModelChoice(str(model), "Q8_0")), ("rtx-3060", "rtx-4090")))
    file, _, estimate, _ = worked.rows
    assert not file.is_estimate and estimate.is_estimate and estimate.shown_quantisation == "≈ Q8_0"
    assert file.needed is not None and estimate.needed is not None and estimate.needed < file.needed
    assert file.each is not None and estimate.each is not None and file.each.value < estimate.each.value


def test_figures_have_bands_and_move_as_they_have_to() -> None:
    small, large = rows_of("rtx-3060", "rtx-4090", context=4096).rows[:2]
    for row in (small, large):
        assert row.each is not None and row.together is not None and row.first_token is not None
        assert row.each.low < row.each.value < row.each.high <= (row.ceiling or 0) * 1.5
        assert row.together == row.each
        assert [context for context, _ in row.line] == sorted({context for context, _ in row.line})
        speeds = [band.value for _, band in row.line]
        assert speeds == sorted(speeds, reverse=True) and row.roof is not None
        assert row.roof.prefill is not None and row.roof.decode is not None
        assert row.roof.prefill.intensity > row.roof.decode.intensity
    assert large.each is not None and small.each is not None and large.each.value > small.each.value
    assert (large.most_users or 0) > (small.most_users or 0)


def test_several_users_are_slower_each_and_faster_together() -> None:
    one, eight = (rows_of("rtx-4090", context=2048, users=users).rows[0] for users in (1, 8))
    assert one.each is not None and eight.each is not None and eight.together is not None
    assert eight.each.value < one.each.value < eight.together.value == pytest.approx(8 * eight.each.value)
    assert one.first_token_together == one.first_token
    assert eight.first_token is not None and eight.first_token_together is not None
    assert eight.first_token_together.value == pytest.approx(8 * eight.first_token.value)


def test_what_meets_a_need_comes_first_and_the_others_say_what_fails() -> None:
    worked = rows_of("rtx-3060", "h100-sxm", "rtx-4090", context=8192, wanted=Wanted(tokens_per_s=100.0))
    needs = [row.need for row in worked.rows]
    assert all(need is not None for need in needs)
    meets = [row for row in worked.rows if row.need is not None and row.need.meets]
    assert meets and worked.rows[: len(meets)] == tuple(meets)
    assert [row.gpu_memory for row in meets] == sorted(row.gpu_memory for row in meets)
    slow = next(row for row in worked.rows if row.gpu.endswith("3060") and not row.is_estimate)
    assert slow.need is not None and slow.need.words.english().endswith(" of 100 tok/s each")


@pytest.mark.parametrize(
    ("wanted", "use", "said"),
    [
        (Wanted(tokens_per_s=1.0), {"context": 131072}, "context "),
        (Wanted(room=True), {"context": 131072}, "context "),
        (Wanted(first_token_s=0.001), {"context": 4096}, "first token "),
        (Wanted(tokens_per_s=1.0), {"context": 4096}, "meets it"),
        (Wanted(tokens_per_s=9999.0), {"context": 4096}, " of 9,999 tok/s each"),
    ],
)
def test_one_thing_fails_in_words(wanted: Wanted, use: dict[str, int], said: str) -> None:
    row = next(row for row in rows_of("rtx-3060", wanted=wanted, **use).rows if not row.is_estimate)
    assert row.need is not None and said in row.need.words.english()
    assert row.need.meets == (said == "meets it")


def test_a_context_beyond_the_training_fails_however_much_memory_there_is() -> None:
    worked = rows_of("h200", "rtx-3060", context=200_000, wanted=Wanted(tokens_per_s=1.0))
    large = next(row for row in worked.rows if row.gpu.endswith("H200 SXM") and not row.is_estimate)
    assert large.verdict == "fits" and large.trained_context == 131_072 and large.need is not None
    assert not large.need.meets and large.need.words.english() == "context 131,072 of 200,000"

    slow = rows_of("h200", context=200_000, wanted=Wanted(tokens_per_s=9_999.0)).rows[0]
    assert slow.need is not None and slow.need.words.english() == "context 131,072 of 200,000", "no GPU helps there"


def test_without_a_need_nothing_is_judged() -> None:
    assert [row.need for row in rows_of("rtx-3060", wanted=Wanted(may_split=True)).rows] == [None, None]


def test_what_is_not_known_has_a_reason() -> None:
    too_large = work_out(
        Grounds(Chosen((ModelChoice("a"),), ("rtx-3060",)), {"a": planned("qwen3-32b")}, (GPUS["rtx-3060"],))
    ).rows[0]
    assert too_large.each is None and too_large.why_no_speed is not None and too_large.why_no_first_token is not None
    assert too_large.why_no_roof is not None and too_large.line == ()
    m1 = rows_of("m1-16").rows[0]
    if m1.first_token is None:
        assert m1.why_no_first_token is not None


def test_of_too_many_at_once_the_size_is_that_of_the_gpu_and_it_is_said_how_many_there_is_room_for() -> None:
    chosen = Chosen((ModelChoice("a"),), ("rtx-3060",), context=8192, users=40)
    host = replace(PROCESSOR, memory=16 * GIB, usable=16 * GIB)
    chosen = replace(chosen, wanted=Wanted(room=True))
    (row,) = work_out(Grounds(chosen, {"a": planned("qwen3-32b")}, (GPUS["rtx-3060"],), host)).rows
    assert row.verdict == "too_large" and row.needed is not None and row.needed > row.usable
    assert row.need is not None and row.need.words.english().startswith(f"needs {byte_size(row.needed)}, has")
    assert row.largest_context and row.most_users
    said = f"room for {row.most_users} conversations at once, or for a context of {row.largest_context:,} tokens"
    assert said in verdict_hint(row)


def test_rows_beyond_a_comparison_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.services.plan_rows.MOST_ROWS", 3)
    worked = rows_of("rtx-3060", "rtx-4090")
    assert (len(worked.rows), worked.left_out) == (3, 1)


def test_a_file_that_is_no_model_is_told(desk: Desk, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"no model")
    comparison = desk.program.planner.comparison
    comparison.watch(True)
    comparison.choose(Chosen((ModelChoice(str(broken)),), ("l4",)))
    desk.until(lambda: comparison.problems)
    ((path, problem),) = comparison.problems
    assert path == str(broken) and "no model" in problem.english()


def test_people_add_change_and_remove_a_gpu(desk: Desk, model: Path) -> None:
    comparison = desk.program.planner.comparison
    comparison.watch(True)
    desk.until(lambda: comparison.gpus)
    comparison.choose(Chosen((ModelChoice(str(model)),), ("l4",)))
    taken = comparison.own_gpus.keep("NVIDIA L4", OwnGpu(24, 300))
    assert taken is not None and "NVIDIA L4" in taken.english()
    assert comparison.own_gpus.keep("  ", OwnGpu(24, 300)) is not None
    assert comparison.own_gpus.keep("My card", OwnGpu(24, 500, 80)) is None
    assert comparison.chosen.gpus[-1] == "my-card" and comparison.own_gpus.get("my-card") == (
        "My card",
        OwnGpu(24, 500, 80),
    )
    desk.until(lambda: _of(comparison, "My card"))
    assert comparison.own_gpus.keep("Other card", OwnGpu(24, 1000, 80), "my-card") is None
    assert "my-card" not in comparison.chosen.gpus and "My card" not in desk.program.settings.values.gpus
    desk.until(lambda: _of(comparison, "Other card") and not _of(comparison, "My card"))
    comparison.own_gpus.remove("other-card")
    assert comparison.own_gpus.get("other-card") is None
    desk.until(
        lambda: comparison.worked and len(comparison.worked.rows) in (1, 2) and not _of(comparison, "Other card")
    )


def test_what_is_compared_is_there_again_after_a_restart(desk: Desk, model: Path) -> None:
    planner = desk.program.planner
    comparison = planner.comparison
    desk.load(model)
    comparison.watch(True)
    desk.until(lambda: comparison.worked and comparison.worked.rows)
    assert desk.program.settings.values.comparison is None, "what it begins with by itself nobody chose"
    models = (ModelChoice(str(model)), ModelChoice(str(model), "Q8_0"))
    chosen = Chosen(models, ("l4", "t4"), 2048, 3, 512, Wanted(2.5, 10.0, may_split=True, room=True))
    comparison.choose(chosen)

    def again() -> PlanComparison:
        made = PlanComparison(
            planner.models,
            planner.devices,
            desk.program.session,
            desk.program.settings,
            desk.dry_run,
            desk.program.jobs,
        )
        made.watch(True)
        return made

    assert again().chosen == chosen
    comparison.choose(replace(chosen, gpus=()))
    begun = again().chosen
    assert begun.gpus and begun == replace(chosen, models=begun.models, gpus=begun.gpus), (
        "nothing chosen is a beginning"
    )
    comparison.begin_anew()
    assert again().chosen == comparison.chosen == replace(chosen, models=begun.models, gpus=begun.gpus)


def _of(comparison: PlanComparison, gpu: str) -> list[ComparedRow]:
    return [row for row in comparison.worked.rows if row.gpu == gpu] if comparison.worked is not None else []


def test_what_chats_use_is_asked_of_the_store(desk: Desk, model: Path) -> None:
    use = desk.program.planner.chat_use
    desk.program.conversations.start()
    use.refresh()
    assert use.measured is not None and use.measured.answers == 0 and use.context is None
    desk.load(model)
    desk.program.chat.send("Hello")
    desk.answer("Hello")
    use.refresh()
    assert use.measured.answers == 1 and use.measured.context is not None
    assert use.context == -(-use.measured.context.longest // 256) * 256


def test_a_context_and_requests_at_once_alone_are_a_need() -> None:
    rows = rows_of("h100-sxm", "rtx-3060", "rtx-4090", context=100_000, wanted=Wanted(room=True)).rows
    needs = [row.need for row in rows if row.need is not None]
    assert len(needs) == len(rows) and [need.rank for need in needs] == list(range(len(rows)))
    meeting = [row.gpu_memory for row in rows if row.need is not None and row.need.meets]
    assert meeting and meeting == sorted(meeting) and len(meeting) < len(rows)
    assert all(need.meets or "of 100,000" in need.words.english() or "has" in need.words.english() for need in needs)
    only_room, with_speed = (
        rows_of("l4", users=8, wanted=Wanted(room=True, tokens_per_s=speed)).rows for speed in (None, 1.0)
    )
    assert all(row.need is not None and row.need.is_of_room for row in only_room)
    assert not any(row.need is None or row.need.is_of_room for row in with_speed)


@pytest.mark.parametrize("context", [DEFAULT_CONTEXT, DEFAULT_CONTEXT + 1])
@pytest.mark.parametrize("users", [1, 2])
def test_a_need_is_one_by_being_asked_for_and_not_by_its_value(context: int, users: int) -> None:
    gpus = ("h100-sxm", "rtx-3060")
    assert [row.need for row in rows_of(*gpus, context=context, users=users).rows] == [None] * 4
    asked = rows_of(*gpus, context=context, users=users, wanted=Wanted(room=True)).rows
    assert [row.need.rank for row in asked if row.need is not None] == [0, 1, 2, 3]
    assert [row.gpu_memory for row in asked] == sorted(row.gpu_memory for row in asked)


def test_a_speed_says_how_sure_it_is() -> None:
    (h200, ada), said = rows_of("h200", "rtx-4090").rows[:2], {}
    for row in (h200, ada):
        said[row.gpu] = " ".join(sentence.english() for sentence in row.how_sure)
    assert said["NVIDIA H200 SXM"] == (
        "In published runs llama.cpp read 1,650 of the 4,800 GB/s of NVIDIA H200 SXM, or of GPUs of its class. "
        "With one conversation it gets no more out of so fast a memory. The speed may be 30 % lower or 15 % higher."
    )
    assert "no more out of" not in said["NVIDIA GeForce RTX 4090"]


def test_everything_is_planned_for_the_same_use_at_first() -> None:
    chosen, kept, asked = Chosen(), KeptComparison(), usage_of(PlanAsked("model"), None)
    for context, prompt in (
        (chosen.context, chosen.prompt),
        (kept.context, kept.prompt),
        (asked.context, asked.prompt),
    ):
        assert (context, prompt) == (PlanChoice().context, PlanChoice().prompt)


def test_two_files_or_gpus_of_one_name_are_two_rows() -> None:
    twin = replace(GPUS["rtx-4090"], id="own-4090")
    same = planned("llama-3.1-8b")
    chosen = Chosen((ModelChoice("a"), ModelChoice("b")), ("rtx-4090", "own-4090"))
    worked = work_out(Grounds(chosen, {"a": same, "b": same}, (GPUS["rtx-4090"], twin)))
    assert len({row.key for row in worked.rows}) == len(worked.rows) == 4


def test_all_of_the_context_that_a_model_was_trained_for_can_be_had() -> None:
    wanted = Wanted(room=True)
    rows = [rows_of("h200", context=context, wanted=wanted).rows[0] for context in (131_072, 131_073)]
    assert [row.need.meets for row in rows if row.need is not None] == [True, False]


def test_a_model_that_was_trained_for_less_comes_behind_one_that_meets_the_need() -> None:
    less = planned("llama-3.1-8b")
    models = {"less": less, "more": replace(less, trained_context=1 << 20)}
    chosen = Chosen((ModelChoice("less"), ModelChoice("more")), ("h200",), context=200_000, wanted=Wanted(room=True))
    rows = work_out(Grounds(chosen, models, (GPUS["h200"],))).rows
    assert [(row.path, row.need.meets) for row in rows if row.need is not None] == [("more", True), ("less", False)]


def test_there_is_room_for_so_many_gpus_of_ones_own(desk: Desk) -> None:
    comparison, settings = desk.program.planner.comparison, desk.program.settings
    settings.change(gpus={f"Card {number}": OwnGpu(8, 100) for number in range(MOST_OWN - 1)})
    assert comparison.own_gpus.keep("The last", OwnGpu(8, 100)) is None
    refused = comparison.own_gpus.keep("One more", OwnGpu(8, 100))
    assert refused is not None and f"{MOST_OWN} GPUs" in refused.english() and len(settings.values.gpus) == MOST_OWN
    assert comparison.own_gpus.keep("Renamed", OwnGpu(8, 100), "the-last") is None, "that is none more"
