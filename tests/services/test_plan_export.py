"""A comparison as files: what spreadsheets and texts make of it."""

from __future__ import annotations

import csv
import io

from msgspec.structs import replace

from app.services.plan_export import plan_csv, plan_markdown, use_words
from app.services.plan_rows import Grounds, Worked, work_out
from app.services.plan_values import Chosen, ModelChoice, Wanted
from tests.planner.planned_models import planned
from tests.planner.works import PROCESSOR, TABLE
from tests.services.test_plan_comparison import rows_of

WORKED = rows_of("rtx-3060", "rtx-4090", context=8192, users=2, wanted=Wanted(tokens_per_s=70.0))


def read(worked: Worked) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(plan_csv(worked).decode("utf-8-sig"))))


def test_each_row_is_a_line_with_what_it_was_planned_for() -> None:
    rows = read(WORKED)
    assert [(row["quantisation"], row["gpu"]) for row in rows] == [(row.quantisation, row.gpu) for row in WORKED.rows]
    assert {(row["context"], row["users"], row["prompt"]) for row in rows} == {("8192", "2", "1024")}
    assert {row["is_estimate"] for row in rows} == {"true", "false"}
    for line, row in zip(rows, WORKED.rows, strict=True):
        assert row.each is not None and row.need is not None
        each = [float(line[f"tokens_per_s_each{end}"]) for end in ("_low", "", "_high")]
        assert each == [float(f"{value:.6g}") for value in (row.each.low, row.each.value, row.each.high)]
        assert line["meets_need"] == ("true" if row.need.meets else "false")


def test_both_say_at_which_fill_the_speed_is() -> None:
    assert [row["tokens_per_s_at_tokens_in_cache"] for row in read(WORKED)] == [
        str(row.context) for row in WORKED.rows
    ]
    unknown = Worked(WORKED.chosen, (replace(WORKED.rows[0], each=None),))
    assert read(unknown)[0]["tokens_per_s_at_tokens_in_cache"] == ""
    text = plan_markdown(WORKED).decode()
    assert "| tok/s each, context full | tok/s together, context full |" in text
    assert "\nTok/s: with the context full, where they are slowest.\n" in text


def test_what_is_unknown_is_empty_and_no_text_is_a_formula() -> None:
    row = replace(WORKED.rows[0], model="=1+1", each=None, first_token=None, largest_context=None, need=None)
    (line,) = read(Worked(WORKED.chosen, (row,)))
    assert line["model"] == "'=1+1"
    empty = ("tokens_per_s_each", "tokens_per_s_each_low", "first_token_s", "largest_context", "meets_need", "need")
    assert [line[name] for name in empty] == [""] * len(empty)


def test_a_name_cannot_break_the_table_of_a_text() -> None:
    row = replace(WORKED.rows[0], model="a|b\n*c* <d>", each=None)
    lines = plan_markdown(Worked(WORKED.chosen, (row,))).decode().splitlines()
    assert lines[0] == "# Context of 8,192 tokens, 2 conversations at once, prompt of 1,024 tokens"
    head, rule, cells = (line for line in lines if line.startswith("|"))
    assert cells.startswith("| a\\|b \\*c\\* \\<d\\> ") and "| – |" in cells
    assert cells.replace("\\|", "").count("|") == head.count("|") == rule.count("|")


def test_a_text_has_the_need_only_where_something_is_wanted() -> None:
    assert "| Need |" in plan_markdown(WORKED).decode()
    bare = Worked(WORKED.chosen, tuple(replace(row, need=None) for row in WORKED.rows))
    assert "Need" not in plan_markdown(bare).decode()


def test_what_is_wanted_stands_in_both() -> None:
    wanted = Wanted(first_token_s=2.0, tokens_per_s=70.0, may_split=True, room=True)
    worked = rows_of("rtx-4090", context=8192, wanted=wanted)
    for line in read(worked):
        said = ("wanted_first_token_s", "wanted_tokens_per_s", "wanted_room", "layers_in_main_memory_allowed")
        assert [line[name] for name in said] == ["2.0", "70.0", "true", "true"]
    text = plan_markdown(worked).decode()
    assert (
        "\nWanted: first token within 2 s. Wanted: at least 70 tok/s each. Wanted: room for this context, for so many at"
        " once. Layers may lie in main memory.\n" in text
    )


def test_one_token_is_not_several() -> None:
    for users in (1, 2):
        said = use_words(Chosen(context=256, users=users, prompt=1)).english()
        assert said.endswith("prompt of 1 token")


def test_layers_beside_another_gpu_are_said_to_be_judged_by_the_processor_of_this_machine() -> None:
    grounds = Grounds(
        Chosen((ModelChoice("a"),), ()), {"a": planned("qwen3-32b")}, (TABLE["rtx-4070"], TABLE["h200"])
    )
    worked = work_out(replace(grounds, host=PROCESSOR))
    assert [row.verdict for row in worked.rows] == ["partly", "fits"]
    partly, whole = worked.rows
    assert partly.beside is not None and partly.beside in partly.how_sure and whole.beside is None
    text = plan_markdown(worked).decode()
    assert text.count("by the processor of this machine") == 1


def test_a_prompt_that_is_longer_than_the_context_has_no_first_token_and_says_what_to_do() -> None:
    (row, _) = rows_of("rtx-4090", context=4096, prompt=5000).rows
    assert row.verdict == "fits" and row.each is not None and row.first_token is None
    assert row.why_no_first_token is not None
    assert "does not fit into a context of 4,096. Make the context longer" in row.why_no_first_token.english()
